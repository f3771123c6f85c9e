/** @module Responses of `GET /pay/state`, for tests of how the hosted page shows each of them. */

import type { Page } from 'playwright-core';

interface ShownState {
  readonly name: string;
  readonly state: Readonly<Record<string, unknown>>;
  /** The HTTP status; 200 by default. */
  readonly status?: number;
  /** Waits until the page shows the state, and opens its hidden parts. */
  readonly show: (page: Page) => Promise<unknown>;
}

const PROVIDERS = {
  stripe: {
    provider_id: 'provider_a',
    provider: 'stripe',
    confirms_in: 'browser',
    publishable_key: 'pk_test_local_provider_a',
  },
  paypal: { provider_id: 'provider_b', provider: 'paypal', confirms_in: 'redirect', client_id: 'local' },
  square: {
    provider_id: 'provider_c',
    provider: 'square',
    confirms_in: 'server',
    application_id: 'sandbox-sq0idb-local',
    location_id: 'LOCAL',
  },
} as const;

const NOTHING = {
  payment_id: null,
  description: null,
  product: null,
  quantity: null,
  method: null,
  decline: null,
  client_secret: null,
  next_action: null,
  return_url: null,
  interval: null,
  next_billing_date: null,
  cancel_at_period_end: null,
  open_payment: null,
};

const SELLER = {
  name: 'Corner Shop',
  color: '#0b6e4f',
  terms_url: 'https://shop.example/terms',
  privacy_url: 'https://shop.example/privacy',
};

const payment = (fields: object) => ({
  ...NOTHING,
  kind: 'payment',
  seller: SELLER,
  test: true,
  payment_id: 'pay_000000000000000000000001',
  amount_cents: 12_900,
  currency: 'EUR',
  product: { name: 'Bicycle repair' },
  description: 'New chain and brakes, invoice 2026-118',
  quantity: 1,
  providers: [PROVIDERS.stripe],
  ...fields,
});

const subscription = (fields: object) => ({
  ...payment({}),
  kind: 'subscription',
  payment_id: null,
  status: 'active',
  amount_cents: 1_900,
  product: { name: 'Gold membership' },
  description: null,
  interval: { billing_interval: 'monthly', interval_multiplier: 1 },
  next_billing_date: '2026-12-30T10:00:00.000Z',
  cancel_at_period_end: false,
  method: { brand: 'visa', last_four: '4242' },
  ...fields,
});

const link = (fields: object) => ({
  ...payment({}),
  kind: 'link',
  payment_id: null,
  status: 'active',
  amount_cents: 2_500,
  quantity: { min: 1, max: 5 },
  providers: Object.values(PROVIDERS),
  ...fields,
});

const heading = (name: string | RegExp) => (page: Page) => page.getByRole('heading', { name }).waitFor();
const button = (name: string | RegExp) => (page: Page) => page.getByRole('button', { name }).waitFor();
const press = (name: string) => (page: Page) => page.getByRole('button', { name }).click();

export const PAGE_STATES: readonly ShownState[] = [
  {
    name: 'loading',
    state: { ...payment({}), kind: 'payment', status: 'created' },
    show: (page) => page.getByText('Loading').waitFor(),
  },
  {
    name: 'square',
    state: payment({ status: 'created', providers: [PROVIDERS.square] }),
    show: (page) => page.getByLabel('Test card').waitFor(),
  },
  {
    name: 'paypal',
    state: payment({
      status: 'created',
      providers: [PROVIDERS.paypal],
      next_action: { type: 'redirect_to_url', url: 'https://paypal.example/' },
    }),
    show: button('Pay with PayPal'),
  },
  {
    name: 'declined',
    state: payment({ status: 'failed', client_secret: 'pi_1_secret_1', decline: { advice: 'contact_bank' } }),
    show: (page) => page.getByRole('alert').waitFor(),
  },
  {
    name: 'authenticate',
    state: payment({ status: 'pending', client_secret: 'pi_1_secret_1', next_action: { type: 'use_stripe_sdk' } }),
    show: button('Continue to your bank'),
  },
  { name: 'processing', state: payment({ status: 'processing' }), show: heading('Processing') },
  {
    name: 'paid',
    state: payment({ status: 'succeeded', return_url: 'https://shop.example/thanks' }),
    show: heading('Paid'),
  },
  { name: 'authorized', state: payment({ status: 'requires_capture' }), show: heading('Authorized') },
  {
    name: 'gone',
    status: 404,
    state: { success: false, code: 'RESOURCE_NOT_FOUND' },
    show: heading(/no longer valid/),
  },
  { name: 'unreachable', status: 503, state: { success: false, code: 'X' }, show: heading(/cannot reach/) },
  { name: 'spent', state: link({ status: 'spent' }), show: heading(/has been used/) },
  { name: 'link', state: link({}), show: button('Continue') },
  {
    name: 'link-problems',
    state: link({}),
    show: async (page) => {
      await page.getByLabel('Quantity').fill('9');
      await page.getByRole('button', { name: 'Continue' }).click();
    },
  },
  {
    name: 'link-quantity',
    state: link({ providers: [PROVIDERS.stripe] }),
    show: (page) => page.getByLabel('Quantity').fill('3'),
  },
  { name: 'subscription', state: subscription({}), show: button('Change card') },
  {
    name: 'subscription-card',
    state: subscription({}),
    show: async (page) => {
      await press('Change card')(page);
      await page.getByLabel('Test card').waitFor();
    },
  },
  { name: 'subscription-cancel', state: subscription({}), show: press('Cancel subscription') },
  {
    name: 'subscription-ending',
    state: subscription({ cancel_at_period_end: true }),
    show: button('Keep subscription'),
  },
  {
    name: 'subscription-owed',
    state: subscription({ status: 'past_due', decline: { advice: 'retry_later' } }),
    show: button('Change card'),
  },
  {
    name: 'subscription-asks',
    state: subscription({
      open_payment: { payment_id: 'pay_1', status: 'pending', next_action: null, client_secret: 'pi_1_secret_1' },
    }),
    show: button('Continue to your bank'),
  },
  { name: 'subscription-ended', state: subscription({ status: 'canceled' }), show: heading(/ended/) },
];
