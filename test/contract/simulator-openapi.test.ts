import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { MINUTE_MS } from '../../shared/core/time.ts';
import { type OpenApi, parseOpenApi, schemaProblemsOf } from './openapi-check.ts';
import { createRig } from './simulator-harness.ts';

/**
 * Stripe's own API description is not part of this project. If a copy is next to the project, the tests compare
 * with it.
 */
const PLACES = ['../contracts/stripe', '../shared/contracts/stripe'];
const folder = PLACES.map((place) => resolve(import.meta.dirname, '../..', place)).find(existsSync);
const SPEC = 'spec3.2026-10-28.json';
const FIXTURES = 'fixtures3.head.json';
const fixturesSchema = z.object({ resources: z.record(z.string(), z.record(z.string(), z.unknown())) });

const rig = createRig();
afterAll(() => rig.close());
const AUTH = { authorization: 'Bearer sk_test_local_provider_a' };

interface Answered {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

const post = async (path: string, fields: Record<string, string> = {}): Promise<Answered> => {
  const response = await rig.raw(path, { method: 'POST', headers: AUTH, body: new URLSearchParams(fields) });
  return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) };
};
const get = async (path: string): Promise<Answered> => {
  const response = await rig.raw(path, { headers: AUTH });
  return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) };
};

const remove = async (path: string): Promise<Answered> => {
  const response = await rig.raw(path, { method: 'DELETE', headers: AUTH });
  return { status: response.status, body: z.record(z.string(), z.unknown()).parse(await response.json()) };
};

const INTENT = {
  amount: '500',
  currency: 'usd',
  'automatic_payment_methods[enabled]': 'true',
  'automatic_payment_methods[allow_redirects]': 'never',
};
const paidBy = (method: string, more: Record<string, string> = {}) =>
  post('/v1/payment_intents', { ...INTENT, confirm: 'true', payment_method: method, ...more });

const customer = () =>
  post('/v1/customers', {
    email: 'a@example.com',
    'address[city]': 'Porto',
    'address[country]': 'PT',
    'shipping[name]': 'Ana',
    'shipping[address][line1]': 'Rua 1',
  });
const attached = async () =>
  post('/v1/payment_methods/pm_card_visa/attach', { customer: String((await customer()).body['id']) });

const product = () => post('/v1/products', { name: 'Gold', 'metadata[subscription_id]': 'sub_1' });
const price = async () =>
  post('/v1/prices', {
    product: String((await product()).body['id']),
    currency: 'usd',
    unit_amount: '500',
    'recurring[interval]': 'month',
  });
const subscription = async (method = 'pm_card_visa', more: Record<string, string> = {}): Promise<Answered> => {
  const payer = String((await customer()).body['id']);
  const { body } = await post(`/v1/payment_methods/${method}/attach`, { customer: payer });
  return post('/v1/subscriptions', {
    customer: payer,
    default_payment_method: String(body['id']),
    'items[0][price]': String((await price()).body['id']),
    payment_behavior: 'error_if_incomplete',
    'metadata[subscription_id]': 'sub_1',
    ...more,
  });
};
const unauthenticated = () => subscription('pm_card_authenticationRequired', { payment_behavior: 'allow_incomplete' });
const trial = () => subscription('pm_card_visa', { trial_period_days: '7' });
const changed = async (fields: Record<string, string>) =>
  post(`/v1/subscriptions/${(await subscription()).body['id']}`, fields);
const coupon = () => post('/v1/coupons', { percent_off: '12.5', duration: 'forever' });
const taxRate = () => post('/v1/tax_rates', { display_name: 'VAT', percentage: '19', inclusive: 'false' });
const reduced = async () =>
  subscription('pm_card_visa', {
    'discounts[0][coupon]': String((await coupon()).body['id']),
    'default_tax_rates[0]': String((await taxRate()).body['id']),
  });
/** A valid end of a trial or of a subscription, within two years of the simulated start. */
const FAR = Date.UTC(2031, 0, 1) / 1_000;
const invoice = async (of = subscription()) =>
  get(`/v1/invoices/${(await of).body['latest_invoice']}?expand[]=payments`);

const refunded = async (method: string): Promise<Answered> =>
  post('/v1/refunds', { payment_intent: String((await paidBy(method)).body['id']) });
const listed = z.object({ data: z.array(z.object({ id: z.string() })) });
const disputed = async (method: string): Promise<Answered> => {
  const { body } = await get(`/v1/disputes?payment_intent=${(await paidBy(method)).body['id']}`);
  return get(`/v1/disputes/${listed.parse(body).data[0]?.id}`);
};
const answered = async (evidence: string): Promise<Answered> =>
  post(`/v1/disputes/${(await disputed('pm_card_createDispute')).body['id']}`, {
    'evidence[uncategorized_text]': evidence,
  });

/** A response for every kind of object in every state, with its schema at Stripe and its HTTP status. */
const ANSWERS: readonly (readonly [name: string, schema: string, status: number, answer: () => Promise<Answered>])[] = [
  ['a customer', 'customer', 200, customer],
  ['an attached method', 'payment_method', 200, attached],
  [
    'a method with billing details',
    'payment_method',
    200,
    async () =>
      post(`/v1/payment_methods/${(await attached()).body['id']}`, {
        'billing_details[name]': 'Ana',
        'billing_details[address][city]': 'Porto',
      }),
  ],
  ['a new intent', 'payment_intent', 200, () => post('/v1/payment_intents', INTENT)],
  [
    'an intent with a method',
    'payment_intent',
    200,
    () =>
      post('/v1/payment_intents', {
        ...INTENT,
        payment_method: 'pm_card_visa',
        description: 'x',
        setup_future_usage: 'off_session',
        'metadata[payment_id]': 'pay_1',
      }),
  ],
  [
    'a paid intent',
    'payment_intent',
    200,
    () => paidBy('pm_card_visa', { 'expand[0]': 'latest_charge', 'expand[1]': 'payment_method' }),
  ],
  ['a reserved intent', 'payment_intent', 200, () => paidBy('pm_card_visa', { capture_method: 'manual' })],
  ['a processing intent', 'payment_intent', 200, () => paidBy('pm_sim_processing_ok')],
  ['an intent that waits for its customer', 'payment_intent', 200, () => paidBy('pm_card_authenticationRequired')],
  [
    'one that waits elsewhere',
    'payment_intent',
    200,
    () => paidBy('pm_card_authenticationRequired', { return_url: 'https://shop.example/' }),
  ],
  [
    'a canceled intent',
    'payment_intent',
    200,
    async () =>
      post(`/v1/payment_intents/${(await post('/v1/payment_intents', INTENT)).body['id']}/cancel`, {
        cancellation_reason: 'abandoned',
      }),
  ],
  ['a decline', 'error', 402, () => paidBy('pm_card_chargeDeclinedInsufficientFunds')],
  ['a wrong parameter', 'error', 400, () => post('/v1/payment_intents', { amount: '-1', currency: 'usd' })],
  ['an unknown id', 'error', 404, () => get('/v1/payment_intents/pi_unknown')],
  [
    'a confirmation too many',
    'error',
    400,
    async () => post(`/v1/payment_intents/${(await paidBy('pm_card_visa')).body['id']}/confirm`),
  ],
  [
    'a charge',
    'charge',
    200,
    async () => get(`/v1/charges/${(await paidBy('pm_card_visa')).body['latest_charge']}?expand[]=payment_intent`),
  ],
  [
    'a failed charge',
    'charge',
    200,
    async () =>
      get(
        `/v1/charges/${z.object({ charge: z.string() }).parse((await paidBy('pm_card_chargeDeclined')).body['error']).charge}`,
      ),
  ],
  [
    'a refund',
    'refund',
    200,
    async () => post('/v1/refunds', { payment_intent: String((await paidBy('pm_card_visa')).body['id']) }),
  ],
  ['a pending refund', 'refund', 200, () => refunded('pm_card_pendingRefund')],
  [
    'a refund that failed',
    'refund',
    200,
    async () => {
      const { body } = await refunded('pm_card_refundFail');
      await rig.clock.advance(MINUTE_MS);
      return get(`/v1/refunds/${body['id']}`);
    },
  ],
  [
    'a refund with other metadata',
    'refund',
    200,
    async () =>
      post(`/v1/refunds/${(await refunded('pm_card_visa')).body['id']}`, { 'metadata[a]': 'b', 'expand[0]': 'charge' }),
  ],
  ['a dispute', 'dispute', 200, () => disputed('pm_card_createDispute')],
  ['a dispute about goods', 'dispute', 200, () => disputed('pm_card_createDisputeProductNotReceived')],
  ['an inquiry', 'dispute', 200, () => disputed('pm_card_createDisputeInquiry')],
  ['a dispute that is answered', 'dispute', 200, () => answered('Delivered on Monday')],
  ['a dispute that is won', 'dispute', 200, () => answered('winning_evidence')],
  [
    'a closed dispute',
    'dispute',
    200,
    async () => post(`/v1/disputes/${(await disputed('pm_card_createDispute')).body['id']}/close`),
  ],
  [
    'a refund of a disputed charge',
    'error',
    400,
    async () => post('/v1/refunds', { charge: String((await disputed('pm_card_createDispute')).body['charge']) }),
  ],
  ['a product', 'product', 200, product],
  ['a price', 'price', 200, price],
  ['a subscription', 'subscription', 200, subscription],
  ['a trial', 'subscription', 200, trial],
  ['a paused subscription', 'subscription', 200, () => changed({ 'pause_collection[behavior]': 'void' })],
  ['one that is to end', 'subscription', 200, () => changed({ cancel_at_period_end: 'true' })],
  ['a first charge that is declined', 'error', 402, () => subscription('pm_card_chargeCustomerFail')],
  ['a subscription that waits for its payer', 'subscription', 200, () => unauthenticated()],
  [
    'a subscription whose payer confirms',
    'subscription',
    200,
    () => subscription('pm_card_visa', { payment_behavior: 'default_incomplete' }),
  ],
  [
    'an expired subscription',
    'subscription',
    200,
    async () => remove(`/v1/subscriptions/${(await unauthenticated()).body['id']}`),
  ],
  [
    'an invoice that asks for authentication',
    'error',
    402,
    async () => post(`/v1/invoices/${(await unauthenticated()).body['latest_invoice']}/pay`),
  ],
  [
    'a void invoice',
    'invoice',
    200,
    async () => post(`/v1/invoices/${(await unauthenticated()).body['latest_invoice']}/void`),
  ],
  ['an invoice', 'invoice', 200, () => invoice()],
  ["a trial's invoice", 'invoice', 200, () => invoice(trial())],
  ['an open invoice', 'invoice', 200, () => invoice(subscription('pm_sim_processing_ok'))],
  ['a coupon', 'coupon', 200, () => coupon()],
  ['a tax rate', 'tax_rate', 200, () => taxRate()],
  [
    'a subscription with a discount and a tax',
    'subscription',
    200,
    async () =>
      changed({
        'discounts[0][coupon]': String((await coupon()).body['id']),
        'default_tax_rates[0]': String((await taxRate()).body['id']),
      }),
  ],
  ['one that ends at a date', 'subscription', 200, () => changed({ cancel_at: String(FAR) })],
  ['one with a trial added', 'subscription', 200, () => changed({ trial_end: String(FAR) })],
  ['an invoice with a discount and a tax', 'invoice', 200, () => invoice(reduced())],
  [
    'an uncollectible invoice',
    'invoice',
    200,
    async () => post(`/v1/invoices/${(await unauthenticated()).body['latest_invoice']}/mark_uncollectible`),
  ],
  [
    'an invoice paid elsewhere',
    'invoice',
    200,
    async () =>
      post(`/v1/invoices/${(await unauthenticated()).body['latest_invoice']}/pay`, { paid_out_of_band: 'true' }),
  ],
  ['a setup intent', 'setup_intent', 200, () => post('/v1/setup_intents')],
  [
    'a setup intent that succeeded',
    'setup_intent',
    200,
    () => post('/v1/setup_intents', { confirm: 'true', payment_method: 'pm_card_visa' }),
  ],
  [
    'a setup intent that waits for its customer',
    'setup_intent',
    200,
    () => post('/v1/setup_intents', { confirm: 'true', payment_method: 'pm_card_authenticationRequiredOnSetup' }),
  ],
  ['a deleted customer', 'deleted_customer', 200, async () => remove(`/v1/customers/${(await customer()).body['id']}`)],
];

/** The name of an event's schema, such as `CustomerCreatedEvent` for `customer.created`. */
const eventSchema = (type: string): string =>
  `${type.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;

describe.skipIf(folder === undefined)(
  "the simulator's responses (skipped unless Stripe's API description is next to the project)",
  () => {
    const api: OpenApi | undefined =
      folder === undefined ? undefined : parseOpenApi(readFileSync(resolve(folder, SPEC), 'utf8'));

    test.each(ANSWERS)('%s is a %s that matches Stripe’s description', async (...[_, schema, status, answer]) => {
      if (!api) return;
      const { status: answered, body } = await answer();
      expect(answered).toBe(status);
      expect(schemaProblemsOf(api, schema, body)).toEqual([]);
    });

    test('every delivered event and its object match Stripe’s description', async () => {
      if (!api) return;
      const events = await rig.events();
      expect(events.length).toBeGreaterThan(20);
      for (const event of events) {
        expect(schemaProblemsOf(api, eventSchema(event.type), event)).toEqual([]);
        const { object } = z.object({ object: z.string() }).parse(event.data.object);
        expect(schemaProblemsOf(api, object, event.data.object)).toEqual([]);
      }
    });

    test('the check finds a violation', () => {
      if (!api) return;
      const always = {
        balance: 0,
        invoice_settings: { custom_fields: null, default_payment_method: null },
        metadata: {},
      };
      const good = { ...always, id: 'cus_1', object: 'customer', created: 1, livemode: false };
      expect(schemaProblemsOf(api, 'customer', good)).toEqual([]);
      expect(schemaProblemsOf(api, 'customer', { ...good, created: '1' })).toEqual(['customer.created: is no integer']);
      expect(schemaProblemsOf(api, 'customer', { ...always, id: 'cus_1', object: 'customer', created: 1 })).toEqual([
        'customer.livemode: is missing',
      ]);
      expect(schemaProblemsOf(api, 'customer', { ...good, object: 'x' })).toHaveLength(1);
    });
  },
);

/** Fields that exist only with certain account features or in separate objects. */
const ABSENT: Readonly<Record<string, readonly string[]>> = {
  charge: ['source', 'refunds'],
  product: ['package_dimensions'],
  invoice: ['subscription'],
};

describe.skipIf(folder === undefined)(
  "the simulator's fields (skipped unless Stripe's fixtures are next to the project)",
  () => {
    test.each([
      ['payment_intent', () => paidBy('pm_card_visa')],
      ['customer', customer],
      ['product', product],
      ['price', price],
      ['coupon', coupon],
      ['tax_rate', taxRate],
      ['subscription', subscription],
      ['invoice', () => invoice()],
      ['payment_method', attached],
      ['setup_intent', () => post('/v1/setup_intents')],
      ['refund', () => refunded('pm_card_visa')],
      ['dispute', () => disputed('pm_card_createDispute')],
      ['charge', async () => get(`/v1/charges/${(await paidBy('pm_card_visa')).body['latest_charge']}`)],
    ] as const)("%s has every field of the newest version's example", async (kind, answer) => {
      const { resources } = fixturesSchema.parse(JSON.parse(readFileSync(resolve(folder ?? '', FIXTURES), 'utf8')));
      const { body } = await answer();
      const absent = ABSENT[kind] ?? [];
      expect(Object.keys(body)).toEqual(
        expect.arrayContaining(
          Object.keys(resources[kind] ?? {}).filter((field) => !absent.includes(field) && field !== 'managed_payments'),
        ),
      );
    });
  },
);
