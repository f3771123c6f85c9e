/** @module Tests the refusals that the providers document, with the providers' own errors. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { DESCRIBED } from '../../infra/make/docs/simulator-operations.ts';
import { MINUTE_MS } from '../../shared/core/time.ts';
import { openBraintree } from '../../shared/providers/braintree/braintree.ts';
import { type Bound, openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL, SQUARE, STRIPE } from './provider-subjects.ts';

const BRAINTREE: Bound = {
  slot: 'provider_d',
  adapter: 'braintree',
  open: openBraintree,
  settings: { MERCHANT_ID: 'local', PUBLIC_KEY: 'local_public', PRIVATE_KEY: 'local_private' },
  credentials: { apiKey: 'local_private', webhookSecret: '' },
};

let rig: ProviderRig;
afterEach(() => rig.close());

const objectSchema = z.record(z.string(), z.unknown());

const answerOf = async (response: Response) => ({
  status: response.status,
  body: objectSchema.parse(await response.json()),
  notOffered: response.headers.get('x-simulator') === 'not-offered',
});

const stripe = async (path: string, fields?: Readonly<Record<string, string>>) => {
  rig = await openRig(STRIPE);
  const headers = { authorization: 'Bearer sk_test_local' };
  const init = fields === undefined ? { headers } : { method: 'POST', headers, body: new URLSearchParams(fields) };
  return answerOf(await fetch(`${rig.url}${path}`, init));
};

const intent = (amount: number | string, currency: string, more: Readonly<Record<string, string>> = {}) =>
  stripe('/v1/payment_intents', { amount: String(amount), currency, ...more });

const withToken = async (): Promise<Record<string, string>> => {
  rig = await openRig(PAYPAL);
  const response = await fetch(`${rig.url}/v1/oauth2/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from('local_client:local_secret').toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token: token } = z.object({ access_token: z.string() }).parse(await response.json());
  return { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
};

const order = async (value: string, currency: string, more: object = {}) => {
  const headers = await withToken();
  const unit = { amount: { currency_code: currency, value }, ...more };
  const body = JSON.stringify({ intent: 'CAPTURE', purchase_units: [unit] });
  return answerOf(await fetch(`${rig.url}/v2/checkout/orders`, { method: 'POST', headers, body }));
};

const square = async (path: string, body?: object) => {
  rig = await openRig(SQUARE);
  const headers = { authorization: 'Bearer local_token', 'content-type': 'application/json' };
  const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
  return answerOf(await fetch(`${rig.url}${path}`, init));
};

const payment = (amount: unknown, currency: string, more: object = {}) =>
  square('/v2/payments', {
    idempotency_key: 'k1',
    source_id: 'cnon:card-nonce-ok',
    amount_money: { amount, currency },
    ...more,
  });

describe('an amount at the simulated Stripe', () => {
  const expectRefusal = async (amount: number | string, currency: string, error: { code: string; message: string }) => {
    const { status, body } = await intent(amount, currency);
    expect(status).toBe(400);
    expect(body['error']).toMatchObject({ type: 'invalid_request_error', code: error.code, param: 'amount' });
    expect(String(objectSchema.parse(body['error'])['message']).replaceAll('\u00a0', ' ')).toBe(
      error.message.replaceAll('\u00a0', ' '),
    );
  };

  test.each<[number | string, string, string]>([
    [49, 'usd', 'Amount must be at least $0.50 usd'],
    [199, 'aed', 'Amount must be at least AED 2.00 aed'],
    [49, 'aud', 'Amount must be at least $0.50 aud'],
    [99, 'bgn', 'Amount must be at least BGN 1.00 bgn'],
    [49, 'brl', 'Amount must be at least R$0.50 brl'],
    [49, 'cad', 'Amount must be at least $0.50 cad'],
    [49, 'chf', 'Amount must be at least CHF 0.50 chf'],
    [1_499, 'czk', 'Amount must be at least Kč 15.00 czk'],
    [249, 'dkk', 'Amount must be at least kr 2.50 dkk'],
    [49, 'eur', 'Amount must be at least €0.50 eur'],
    [29, 'gbp', 'Amount must be at least £0.30 gbp'],
    [399, 'hkd', 'Amount must be at least $4.00 hkd'],
    [17_499, 'huf', 'Amount must be at least Ft 175.00 huf'],
    [49, 'inr', 'Amount must be at least ₹0.50 inr'],
    [49, 'jpy', 'Amount must be at least ¥50 jpy'],
    [999, 'mxn', 'Amount must be at least $10.00 mxn'],
    [199, 'myr', 'Amount must be at least RM 2.00 myr'],
    [299, 'nok', 'Amount must be at least kr 3.00 nok'],
    [49, 'nzd', 'Amount must be at least $0.50 nzd'],
    [199, 'pln', 'Amount must be at least zł 2.00 pln'],
    [199, 'ron', 'Amount must be at least lei 2.00 ron'],
    [299, 'sek', 'Amount must be at least kr 3.00 sek'],
    [49, 'sgd', 'Amount must be at least $0.50 sgd'],
    [999, 'thb', 'Amount must be at least ฿10.00 thb'],
  ])('is refused as too small for %s %s: %s', async (amount, currency, message) => {
    await expectRefusal(amount, currency, { code: 'amount_too_small', message });
  });

  test.each<[number | string, string, string]>([
    [100_000_000, 'usd', 'Amount must be no more than $999,999.99'],
    [100_000_000, 'jpy', 'Amount must be no more than ¥99,999,999'],
    [1_000_000_000_000, 'idr', 'Amount must be no more than Rp 9,999,999,999.99'],
    [1_000_000_000, 'inr', 'Amount must be no more than ₹9,999,999.99'],
  ])('is refused as too large for %s %s: %s', async (amount, currency, message) => {
    await expectRefusal(amount, currency, { code: 'amount_too_large', message });
  });

  test.each<[number | string, string, string]>([
    [0, 'usd', 'This value must be greater than or equal to 1.'],
    [-5, 'usd', 'This value must be greater than or equal to 1.'],
    ['12.5', 'usd', 'Invalid integer: 12.5'],
    [550, 'isk', 'Invalid amount: 550. Amounts in isk must be evenly divisible by 100.'],
    [550, 'ugx', 'Invalid amount: 550. Amounts in ugx must be evenly divisible by 100.'],
    [5_125, 'kwd', 'Invalid amount: 5125. Amounts in kwd must be evenly divisible by 10.'],
  ])('is refused as an invalid integer for %s %s: %s', async (amount, currency, message) => {
    await expectRefusal(amount, currency, { code: 'parameter_invalid_integer', message });
  });

  test.each([
    [50, 'usd'],
    [99_999_999, 'usd'],
    [999_999_999_999, 'idr'],
    [9_999_999_999, 'cop'],
    [999_999_999, 'inr'],
    [500, 'isk'],
    [500, 'ugx'],
    [17_501, 'huf'],
    [1_001, 'twd'],
    [50, 'jpy'],
    [1, 'krw'],
    [5_120, 'kwd'],
  ])('is accepted for %s %s', async (amount, currency) => {
    expect((await intent(amount, currency)).status).toBe(200);
  });

  test.each(['xyz', 'dollars', 'btc'])(
    'is refused in %s, and the error lists the currencies that Stripe accepts',
    async (currency) => {
      const { status, body } = await intent(1_000, currency);
      expect(status).toBe(400);
      expect(body['error']).toMatchObject({
        param: 'currency',
        message: expect.stringMatching(
          new RegExp(`^Invalid currency: ${currency}\\. Stripe currently supports these currencies: usd, aed, `),
        ),
      });
    },
  );
});

describe('a request to the simulated Stripe', () => {
  test.each<[Record<string, string>, { readonly code?: string; readonly param: string }, string]>([
    [{ statement_descriptor: 'Gold Club' }, { param: 'statement_descriptor' }, 'Use `statement_descriptor_suffix`'],
    [{ statement_descriptor_suffix: '12345' }, { param: 'statement_descriptor_suffix' }, 'at least one letter'],
    [{ statement_descriptor_suffix: 'Gold*Club' }, { param: 'statement_descriptor_suffix' }, 'cannot contain'],
    [{ statement_descriptor_suffix: 'x'.repeat(23) }, { param: 'statement_descriptor_suffix' }, 'at most 22'],
    [{ amounts: '1' }, { code: 'parameter_unknown', param: 'amounts' }, 'Received unknown parameter: amounts'],
    [{ 'expand[]': 'latest_charge.nothing' }, { param: 'expand' }, 'cannot be expanded'],
    [{ 'expand[]': 'balance' }, { param: 'expand' }, 'cannot be expanded'],
    [{ customer: 'cus_unknown' }, { code: 'resource_missing', param: 'customer' }, "No such customer: 'cus_unknown'"],
  ])('is refused with %o', async (fields, { code, param }, message) => {
    const charged = { confirm: 'true', payment_method: 'pm_card_visa', return_url: 'https://shop.example/' };
    const { status, body } = await intent(1_000, 'usd', { ...charged, ...fields });
    expect(status).toBe(400);
    expect(body['error']).toMatchObject({ type: 'invalid_request_error', param });
    expect(objectSchema.parse(body['error'])['code']).toBe(code);
    expect(objectSchema.parse(body['error'])['message']).toContain(message);
  });

  test.each([
    'customers',
    'payment_intents',
    'payment_intents/search',
    'charges',
    'refunds',
    'disputes',
    'events',
    'invoices',
    'subscriptions',
    'setup_intents',
    'payment_methods',
  ])('is refused for a page of %s that is too large or too small', async (list) => {
    const query = list.endsWith('search') ? "&query=status:'succeeded'" : '';
    for (const [limit, message] of [
      ['0', 'This value must be greater than or equal to 1.'],
      ['101', 'This value must be less than or equal to 100.'],
    ]) {
      const { status, body } = await stripe(`/v1/${list}?limit=${limit}${query}`);
      await rig.close();
      expect(status).toBe(400);
      expect(body['error']).toMatchObject({ code: 'parameter_invalid_integer', param: 'limit', message });
    }
    expect((await stripe(`/v1/${list}?limit=100${query}`)).status).toBe(200);
  });

  test.each([
    'customers',
    'payment_intents',
    'charges',
    'refunds',
    'disputes',
    'events',
    'invoices',
    'subscriptions',
    'setup_intents',
  ])('filters %s by time and customer', async (list) => {
    rig = await openRig(STRIPE);
    const headers = { authorization: 'Bearer sk_test_local' };
    const post = async (path: string, fields: Record<string, string>) =>
      objectSchema.parse(
        await (await fetch(`${rig.url}${path}`, { method: 'POST', headers, body: new URLSearchParams(fields) })).json(),
      );
    const count = async (query: string): Promise<number> =>
      z
        .object({ data: z.array(z.unknown()) })
        .parse(await (await fetch(`${rig.url}/v1/${list}?limit=100&${query}`, { headers })).json()).data.length;
    const made = async () => {
      const customer = String((await post('/v1/customers', { email: 'a@example.com' }))['id']);
      const method = String((await post('/v1/payment_methods/pm_card_visa/attach', { customer }))['id']);
      const confirmed = { customer, payment_method: method, confirm: 'true' };
      const back = { return_url: 'https://shop.example/' };
      const paid = await post('/v1/payment_intents', { amount: '500', currency: 'usd', ...confirmed, ...back });
      await post('/v1/refunds', { payment_intent: String(paid['id']) });
      const disputed = { customer, payment_method: 'pm_card_createDispute', confirm: 'true' };
      await post('/v1/payment_intents', { amount: '500', currency: 'usd', ...disputed, ...back });
      await post('/v1/setup_intents', confirmed);
      const product = String((await post('/v1/products', { name: 'Gold' }))['id']);
      await post('/v1/subscriptions', {
        customer,
        default_payment_method: method,
        'items[0][price_data][currency]': 'usd',
        'items[0][price_data][product]': product,
        'items[0][price_data][unit_amount]': '500',
        'items[0][price_data][recurring][interval]': 'month',
      });
      return customer;
    };
    const first = await made();
    const start = Math.floor(rig.clock.now() / 1_000);
    const once = await count('');
    expect(once).toBeGreaterThan(0);
    await rig.clock.advance(MINUTE_MS);
    await made();
    expect(await count('')).toBe(2 * once);
    expect(await count(`created[gt]=${start}`)).toBe(once);
    expect(await count(`created[lte]=${start}`)).toBe(once);
    expect(await count(`created=${start + 60}`)).toBe(once);
    expect(await count(`created[gte]=${start}&created[lt]=${start + 60}`)).toBe(once);
    if (!['customers', 'events', 'refunds', 'disputes'].includes(list))
      expect(await count(`customer=${first}`)).toBe(once);
  });
});

describe('an amount at the simulated PayPal', () => {
  test.each([
    ['10.005', 'USD', 'DECIMAL_PRECISION'],
    ['10.5', 'JPY', 'DECIMAL_PRECISION'],
    ['10.5', 'HUF', 'DECIMAL_PRECISION'],
    ['10.5', 'TWD', 'DECIMAL_PRECISION'],
    ['0.00', 'USD', 'CANNOT_BE_ZERO_OR_NEGATIVE'],
    ['-1.00', 'USD', 'CANNOT_BE_ZERO_OR_NEGATIVE'],
    ['0', 'JPY', 'CANNOT_BE_ZERO_OR_NEGATIVE'],
    ['10.00', 'KWD', 'INVALID_CURRENCY_CODE'],
    ['10.00', 'XYZ', 'INVALID_CURRENCY_CODE'],
    ['1000000000000000.00', 'USD', 'MAX_VALUE_EXCEEDED'],
  ])('is refused for %s %s: %s', async (value, currency, issue) => {
    const { status, body } = await order(value, currency);
    expect(status).toBe(422);
    expect(body).toMatchObject({ name: 'UNPROCESSABLE_ENTITY', details: [{ issue }] });
  });

  test('is refused as a violation of the schema if it is no number or the statement text is too long', async () => {
    for (const refused of [
      await order('ten', 'USD'),
      await order('1.00', 'USD', { soft_descriptor: 'x'.repeat(23) }),
    ]) {
      expect(refused.status).toBe(400);
      expect(refused.body).toMatchObject({ name: 'INVALID_REQUEST' });
    }
  });
});

describe('the stored credential of a wallet at the simulated PayPal', () => {
  const MERCHANT = { payment_initiator: 'MERCHANT', usage: 'SUBSEQUENT', usage_pattern: 'IMMEDIATE' };

  const charge = async (stored_credential: object) => {
    const made = z.object({ id: z.string() }).parse((await order('5.00', 'USD')).body);
    const { body: granted } = await answerOf(
      await fetch(`${rig.url}/v1/oauth2/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from('local_client:local_secret').toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      }),
    );
    const headers = { authorization: `Bearer ${granted['access_token']}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ payment_source: { paypal: { vault_id: 'SIM-OK', stored_credential } } });
    return answerOf(await fetch(`${rig.url}/v2/checkout/orders/${made.id}/capture`, { method: 'POST', headers, body }));
  };

  test.each(['IMMEDIATE', 'DEFERRED', 'RECURRING_PREPAID', 'SUBSCRIPTION_POSTPAID'])('accepts %s', async (pattern) => {
    expect((await charge({ ...MERCHANT, usage_pattern: pattern })).status).toBe(201);
  });

  test.each([
    ['without an initiator', { ...MERCHANT, payment_initiator: undefined }, 400],
    ['with an unknown initiator', { ...MERCHANT, payment_initiator: 'SHOP' }, 400],
    ['with an unknown pattern', { ...MERCHANT, usage_pattern: 'RECURRING' }, 400],
    ['of a first use by the merchant', { ...MERCHANT, usage: 'FIRST' }, 422],
  ])('is refused %s', async (_, credential, status) => {
    expect((await charge(credential)).status).toBe(status);
  });
});

describe('an amount at the simulated Square', () => {
  test.each<[unknown, string, string]>([
    [500, 'EUR', 'INVALID_VALUE'],
    [500, 'XYZ', 'INVALID_VALUE'],
    [0, 'USD', 'VALUE_TOO_SHORT'],
    [-5, 'USD', 'VALUE_TOO_SHORT'],
    ['500', 'USD', 'INCORRECT_TYPE'],
    [1.5, 'USD', 'INCORRECT_TYPE'],
  ])('is refused for %s %s: %s', async (amount, currency, code) => {
    const { status, body } = await payment(amount, currency);
    expect(status).toBe(400);
    expect(body).toMatchObject({ errors: [{ category: 'INVALID_REQUEST_ERROR', code }] });
  });

  test('is refused with a statement text of more than 20 characters', async () => {
    const refused = await payment(500, 'USD', { statement_description_identifier: 'x'.repeat(21) });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ code: 'VALUE_TOO_LONG' }] } });
  });
});

describe('the header for unsupported requests', () => {
  test.each<[string, () => Promise<{ status: number; notOffered: boolean }>]>([
    ['a route of Stripe', () => stripe('/v1/balance')],
    ['a parameter of Stripe', () => intent(500, 'usd', { confirmation_token: 'ctoken_1' })],
    ['a value of Stripe', () => intent(500, 'usd', { 'payment_method_data[type]': 'ideal' })],
    ['a route of Square', () => square('/v2/invoices')],
    ['a parameter of Square', () => payment(500, 'USD', { tip_money: { amount: 1, currency: 'USD' } })],
    [
      'a route of PayPal',
      async () => {
        const headers = await withToken();
        return answerOf(await fetch(`${rig.url}/v1/billing/plans`, { headers }));
      },
    ],
    [
      'a route of Braintree',
      async () => {
        rig = await openRig(BRAINTREE);
        const secret = Buffer.from('local_public:local_private').toString('base64');
        const headers = { authorization: `Basic ${secret}` };
        const { status, headers: answered } = await fetch(`${rig.url}/merchants/m/transactions`, { headers });
        return { status, notOffered: answered.get('x-simulator') === 'not-offered' };
      },
    ],
  ])('marks the refusal of %s', async (_, call) => {
    const { status, notOffered } = await call();
    expect(status).toBeGreaterThanOrEqual(400);
    expect(notOffered).toBe(true);
  });

  test('is absent from the refusal of a supported request', async () => {
    expect((await intent(49, 'usd')).notOffered).toBe(false);
  });
});

const contracts = resolve(import.meta.dirname, '../../../shared/contracts');
const COUNTED: readonly (readonly [keyof typeof DESCRIBED, readonly string[]])[] = [
  ['stripe', ['stripe/spec3.2026-10-28.json']],
  [
    'paypal',
    [
      'billing_subscriptions_v1',
      'catalogs_products_v1',
      'checkout_orders_v2',
      'notifications_webhooks_v1',
      'payments_payment_v2',
      'vault_payment_tokens_v3',
    ].map((name) => `paypal/${name}.json`),
  ],
  ['square', ['square/api.json']],
];
const METHODS: readonly string[] = ['get', 'post', 'put', 'patch', 'delete'];

describe.skipIf(!existsSync(contracts))(
  'the counts of provider operations (skipped unless their API descriptions are next to the project)',
  () => {
    test.each(COUNTED)('are right for %s on the page of the local host', (vendor, files) => {
      const described = z.object({ paths: z.record(z.string(), z.record(z.string(), z.unknown())) });
      const counts = files.map((file) => {
        const { paths } = described.parse(JSON.parse(readFileSync(resolve(contracts, file), 'utf8')));
        return Object.values(paths).flatMap((path) => Object.keys(path).filter((method) => METHODS.includes(method)))
          .length;
      });
      expect(DESCRIBED[vendor].theirs?.count).toBe(counts.reduce((sum, count) => sum + count, 0));
    });
  },
);
