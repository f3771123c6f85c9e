/**
 * @module A refused request changes nothing in the table or at the provider. The service checks the request, including
 * against stored records, before its first write and its first call.
 */

import { describe, expect, test } from 'vitest';
import { intentBody, paidIntentBody } from '../builders/intent.ts';
import { MINUTE_SECONDS } from '../builders/seconds.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { createIntent, createPaidIntent, itemsOf, signIn, type User } from './flow.ts';
import { type RequestOptions, type TestHost, withHost } from './host.ts';
import { company, createAddress, createCustomer, saveMethod } from './payers.ts';
import { anotherMethod, OWN_BILLING, payer, readSubscription, subscribe, subscriber } from './subscribers.ts';

interface Request {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly options: RequestOptions;
  readonly body?: unknown;
}

interface Case {
  readonly name: string;
  readonly code: string;
  readonly make: (host: TestHost) => Promise<Request>;
}

const keys = (count: number, prefix: string, value = 'v') =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${prefix}${at}`, value]));

/** All state that a request could change: the table, the ledger of the providers, and the number of events. */
const world = async (host: TestHost) => {
  await host.settle();
  const items = await itemsOf(host);
  return {
    items: items.filter(({ pk }) => !pk.startsWith('IDEM#') && !pk.startsWith('RATE#')),
    ledger: await host.ledger(),
    events: (await host.busEvents()).length,
  };
};

const expectUnchanged = async (host: TestHost, { code, make }: Case): Promise<void> => {
  const { method, path, options, body } = await make(host);
  const before = await world(host);
  await host.clearProviderRequests();
  const answer = await host.request(method, path, { ...options, ...(body !== undefined && { body }) });
  expect({ status: answer.status, body: answer.body }).toMatchObject({ body: { success: false, code } });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  expect(await host.providerRequests()).toEqual([]);
  expect(await world(host)).toEqual(before);
};

/** A subscription with 30 metadata keys, and another method of its payer. */
const withMetadata = async (host: TestHost, fields: object = {}) => {
  const who = await subscriber(host);
  const made = await subscribe(host, who, { metadata: keys(30, 'a'), ...fields });
  return { who, made, other: await anotherMethod(host, who) };
};

const PATCHES: readonly Case[] = [
  {
    name: 'a new method together with metadata that would exceed 50 keys',
    code: 'VALIDATION_ERROR',
    make: async (host) => {
      const { who, made, other } = await withMetadata(host);
      const body = { payment_method_id: other, metadata: keys(30, 'b') };
      return { method: 'PATCH', path: `/subscriptions/${made.id}`, options: who.options, body };
    },
  },
  {
    name: 'a new method together with metadata that would exceed 16 KB',
    code: 'VALIDATION_ERROR',
    make: async (host) => {
      const { who, made, other } = await withMetadata(host, { metadata: keys(20, 'a', 'v'.repeat(490)) });
      const body = { payment_method_id: other, metadata: keys(20, 'b', 'v'.repeat(490)) };
      return { method: 'PATCH', path: `/subscriptions/${made.id}`, options: who.options, body };
    },
  },
  {
    name: 'a new method for a past-due amount together with metadata that would exceed 50 keys',
    code: 'VALIDATION_ERROR',
    make: async (host) => {
      const who = await subscriber(host, 'pm_card_chargeCustomerFail');
      const made = await subscribe(host, who, { metadata: keys(30, 'a'), trial_days: 1 });
      const good = await anotherMethod(host, who);
      await host.advance(24 * 60 * MINUTE_SECONDS + 3 * 60 * MINUTE_SECONDS);
      expect(await readSubscription(host, who, made.id)).toMatchObject({ status: 'past_due' });
      const body = { payment_method_id: good, metadata: keys(30, 'b') };
      return { method: 'PATCH', path: `/subscriptions/${made.id}`, options: who.options, body };
    },
  },
];

describe('a refused change of a provider-billed subscription', () => {
  const service = withHost({ frozen: true });

  test.each(PATCHES)('changes nothing at the provider or in the table: $name', (one) => expectUnchanged(service, one));
});

describe('a refused change of a service-billed subscription', () => {
  const service = withHost({ frozen: true, env: OWN_BILLING });

  test.each(PATCHES)('changes nothing at the provider or in the table: $name', (one) => expectUnchanged(service, one));
});

const onPayment = (payment: { readonly id: string }, { options }: User, body: object): Request => ({
  method: 'PUT',
  path: `/payments/intents/${payment.id}`,
  options,
  body,
});

/** Requests with these fields save the method, which would create a customer at the provider. */
const SAVES = { setup_future_usage: 'off_session' } as const;

const REQUESTS: readonly Case[] = [
  {
    name: 'POST /payments/intents with prices that disagree',
    code: 'PRICING_MISMATCH',
    make: async (host) => ({
      method: 'POST',
      path: '/payments/intents',
      options: (await signIn(host)).options,
      body: paidIntentBody({ ...SAVES, total_cents: 100, subtotal_cents: 100, tax_cents: 5 }),
    }),
  },
  {
    name: 'POST /payments/intents with the method of another provider',
    code: 'PROVIDER_MISMATCH',
    make: async (host) => {
      const { options } = await signIn(host);
      const { id } = await saveMethod(host, options, {
        provider_id: 'provider_c',
        provider_payment_method_token: 'cnon:card-nonce-ok',
      });
      return {
        method: 'POST',
        path: '/payments/intents',
        options,
        body: intentBody({ ...SAVES, payment_method_id: id }),
      };
    },
  },
  {
    name: 'POST /payments/intents with a key that was used for another request',
    code: 'IDEMPOTENCY_KEY_REUSED',
    make: async (host) => {
      const { options } = await signIn(host);
      const keyed = { ...options, idempotencyKey: 'one-key-for-two-requests' };
      expect((await host.post('/payments/intents', paidIntentBody(), keyed)).status).toBe(201);
      const body = paidIntentBody({ ...SAVES, total_cents: 77 });
      return { method: 'POST', path: '/payments/intents', options: keyed, body };
    },
  },
  {
    name: 'PUT /payments/intents/:id with a price that disagrees with the stored price',
    code: 'PRICING_MISMATCH',
    make: async (host) => {
      const payer = await signIn(host);
      const payment = await createIntent(host, payer, { subtotal_cents: 900, tax_cents: 100, total_cents: 1_000 });
      return onPayment(payment, payer, { ...SAVES, total_cents: 1_000, subtotal_cents: 950 });
    },
  },
  {
    name: 'PUT /payments/intents/:id with another provider',
    code: 'VALIDATION_ERROR',
    make: async (host) => {
      const payer = await signIn(host);
      return onPayment(await createIntent(host, payer), payer, { ...SAVES, provider_id: 'provider_b' });
    },
  },
  {
    name: 'PUT /payments/intents/:id of a confirmed payment',
    code: 'PAYMENT_NOT_UPDATABLE',
    make: async (host) => {
      const payer = await signIn(host);
      const payment = await createPaidIntent(host, payer);
      expect((await host.post(`/payments/confirm/${payment.id}`, {}, payer.options)).status).toBe(200);
      return onPayment(payment, payer, { ...SAVES, total_cents: 5 });
    },
  },
  {
    name: 'POST /payments/confirm/:id with the method of another provider',
    code: 'PROVIDER_MISMATCH',
    make: async (host) => {
      const payer = await signIn(host);
      const payment = await createPaidIntent(host, payer);
      const { id } = await saveMethod(host, payer.options, {
        provider_id: 'provider_c',
        provider_payment_method_token: 'cnon:card-nonce-ok',
      });
      const path = `/payments/confirm/${payment.id}`;
      return { method: 'POST', path, options: payer.options, body: { payment_method_id: id } };
    },
  },
  {
    name: 'POST /payments/confirm/:id without a method',
    code: 'PAYMENT_METHOD_REQUIRED',
    make: async (host) => {
      const payer = await signIn(host);
      const { id } = await createIntent(host, payer, SAVES);
      return { method: 'POST', path: `/payments/confirm/${id}`, options: payer.options, body: {} };
    },
  },
  {
    name: 'POST /addresses with an incomplete address',
    code: 'VALIDATION_ERROR',
    make: async (host) => ({
      method: 'POST',
      path: '/addresses',
      options: (await signIn(host)).options,
      body: { country: 'US', type: 'billing', is_partial: false, is_default: true },
    }),
  },
  {
    name: 'PUT /addresses/:id that would leave the address incomplete',
    code: 'VALIDATION_ERROR',
    make: async (host) => {
      const { options } = await signIn(host);
      await createAddress(host, options, { type: 'billing', is_default: true });
      const { id } = await createAddress(host, options, { type: 'shipping' });
      return {
        method: 'PUT',
        path: `/addresses/${id}`,
        options,
        body: { type: 'billing', is_default: true, city: null, alias: 'home' },
      };
    },
  },
  {
    name: 'PUT /customers/:id with metadata and an invalid e-mail',
    code: 'VALIDATION_ERROR',
    make: async (host) => {
      const { options } = await signIn(host);
      const { id } = await createCustomer(host, options);
      const body = { name: 'New', email: 'none', metadata: keys(3, 'a') };
      return { method: 'PUT', path: `/customers/${id}`, options, body };
    },
  },
  {
    name: 'POST /customers with a key that was used for another request',
    code: 'IDEMPOTENCY_KEY_REUSED',
    make: async (host) => {
      const { options } = await signIn(host);
      const keyed = { ...options, idempotencyKey: 'one-key-for-two-customers' };
      await createCustomer(host, keyed);
      const body = { provider_id: 'provider_a', email: 'another@example.com' };
      return { method: 'POST', path: '/customers', options: keyed, body };
    },
  },
  {
    name: 'DELETE /customers/:id of a customer with a method that pays another customer’s subscription',
    code: 'PAYMENT_METHOD_IN_USE',
    make: async (host) => {
      const { id: organization_id, owner } = await company(host);
      const own = await payer(host, owner.options);
      const theirs = await payer(host, owner.options, { token: 'pm_card_visa', fields: { organization_id } });
      await subscribe(host, own);
      const used = { payment_method_id: own.names.payment_method_id, organization_id };
      await subscribe(host, { ...theirs, names: { ...theirs.names, ...used } }, { organization_id });
      const { body: method } = await host.get(`/payment-methods/${own.names.payment_method_id}`, owner.options);
      return { method: 'DELETE', path: `/customers/${method.customer_id}`, options: owner.options };
    },
  },
  {
    name: 'POST /payment-methods with a raw card although raw cards are disabled',
    code: 'RAW_CARD_DISABLED',
    make: async (host) => ({
      method: 'POST',
      path: '/payment-methods',
      options: (await signIn(host)).options,
      body: {
        provider_id: 'provider_c',
        card_number: '4242424242424242',
        card_exp_month: '12',
        card_exp_year: '2030',
        card_cvc: '123',
      },
    }),
  },
  {
    name: 'PUT /payment-methods/:id with another user’s address',
    code: 'RESOURCE_NOT_FOUND',
    make: async (host) => {
      const { options } = await signIn(host);
      const { id } = await saveMethod(host, options);
      const address = await createAddress(host, (await signIn(host)).options);
      const body = { alias: 'mine', is_default: true, billing_address_id: address.id };
      return { method: 'PUT', path: `/payment-methods/${id}`, options, body };
    },
  },
  {
    name: 'POST /subscriptions with a method of another provider',
    code: 'PROVIDER_MISMATCH',
    make: async (host) => {
      const who = await subscriber(host);
      const { id } = await saveMethod(host, who.options, {
        provider_id: 'provider_c',
        provider_payment_method_token: 'cnon:card-nonce-ok',
      });
      const body = subscriptionBody({ ...who.names, payment_method_id: id });
      return { method: 'POST', path: '/subscriptions', options: who.options, body };
    },
  },
  {
    name: 'POST /subscriptions/:id/reactivate of an active subscription',
    code: 'SUBSCRIPTION_NOT_CANCELED',
    make: async (host) => {
      const who = await subscriber(host);
      const { id } = await subscribe(host, who);
      return { method: 'POST', path: `/subscriptions/${id}/reactivate`, options: who.options, body: {} };
    },
  },
  {
    name: 'PUT /organizations/:id with a name that is too long',
    code: 'VALIDATION_ERROR',
    make: async (host) => {
      const { id, owner } = await company(host);
      const body = { business_email: 'new@example.com', name: 'n'.repeat(201) };
      return { method: 'PUT', path: `/organizations/${id}`, options: owner.options, body };
    },
  },
  {
    name: 'POST /organizations/:id/members with a role that cannot be assigned',
    code: 'INVALID_ROLE',
    make: async (host) => {
      const { id, owner } = await company(host);
      const body = { email: 'invited@example.com', role: 'owner' };
      return { method: 'POST', path: `/organizations/${id}/members`, options: owner.options, body };
    },
  },
  {
    name: 'PUT /admin/products/:id with prices that disagree',
    code: 'VALIDATION_ERROR',
    make: async (host) => {
      const { options } = await signIn(host, { is_admin: true });
      const path = '/admin/products/half-a-product';
      expect((await host.put(path, { name: 'Whole', total_cents: 100, currency: 'USD' }, options)).status).toBe(200);
      const body = { name: 'Half', subtotal_cents: 50, total_cents: 100, currency: 'USD' };
      return { method: 'PUT', path, options, body };
    },
  },
];

describe('a refused request', () => {
  const service = withHost({ frozen: true });

  test.each(REQUESTS)('changes nothing at the provider or in the table: $name', (one) => expectUnchanged(service, one));
});
