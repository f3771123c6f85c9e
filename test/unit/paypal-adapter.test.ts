import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { currencyDigits } from '../../shared/core/money.ts';
import { parseSettings } from '../../shared/core/settings.ts';
import type { KnownPayment } from '../../shared/providers/payment-port.ts';
import { centsOf, paypalMoney } from '../../shared/providers/paypal/amounts.ts';
import { openPayPal, openPayPalReceiver } from '../../shared/providers/paypal/paypal.ts';
import { readPayPalOrder } from '../../shared/providers/paypal/report.ts';
import type { Order } from '../../shared/providers/paypal/schemas.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';

describe('an amount at PayPal', () => {
  const CURRENCIES = ['USD', 'EUR', 'JPY', 'HUF', 'TWD', 'BRL'] as const;

  test('is the same after conversion to PayPal’s form and back, unless PayPal cannot express it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...CURRENCIES), fc.integer({ min: 1, max: 99_999_999 }), (currency, cents) => {
        const money = paypalMoney({ amountCents: cents, currency });
        const wholeOnly = ['HUF', 'TWD'].includes(currency) && cents % 10 ** currencyDigits(currency) !== 0;
        if (wholeOnly) expect(money).toBeUndefined();
        else expect(money && centsOf(money)).toBe(cents);
      }),
    );
  });

  test('never equals our amount if it has fractions of a minor unit', () => {
    expect(centsOf({ currency_code: 'USD', value: '1.005' })).toBe(100.5);
    expect(centsOf({ currency_code: 'USD', value: '1.0000' })).toBe(100);
    expect(centsOf({ currency_code: 'dollars', value: '1' })).toBeUndefined();
  });
});

type Captured = NonNullable<NonNullable<Order['purchase_units'][number]['payments']>['captures']>;
const order = (status: string, captures: Captured = [], more: Partial<Order> = {}): Order => ({
  id: 'O1',
  status,
  purchase_units: [{ amount: { currency_code: 'USD', value: '25.00' }, payments: { captures } }],
  ...more,
});
const capture = (id: string, status: string) => ({ id, status, amount: { currency_code: 'USD', value: '25.00' } });
const known = (status: KnownPayment['status'], method?: string) => ({ status, method });

describe('the status of a PayPal order', () => {
  test.each([
    ['COMPLETED', 'succeeded'],
    ['PARTIALLY_REFUNDED', 'succeeded'],
    ['REFUNDED', 'succeeded'],
    ['PENDING', 'processing'],
    ['DECLINED', 'failed'],
    ['FAILED', 'failed'],
    ['SOMETHING_NEW', 'processing'],
    ['constructor', 'processing'],
  ])('is derived from the capture %s as %s, because the order alone proves nothing', (status, expected) => {
    expect(readPayPalOrder(order('COMPLETED', [capture('C1', status)]), known('processing'))).toMatchObject({
      status: expected,
      intentId: 'O1',
      paymentId: 'C1',
      attemptRef: 'C1',
    });
  });

  test('is not settled by a completed order without a capture', () => {
    expect(readPayPalOrder(order('COMPLETED'), known('processing'))).toMatchObject({
      status: 'processing',
      paymentId: 'O1',
    });
  });

  test.each([
    [['DECLINED', 'COMPLETED', 'DECLINED'], 'C2', 'succeeded'],
    [['DECLINED', 'PENDING', 'DECLINED'], 'C2', 'processing'],
    [['DECLINED', 'DECLINED'], 'C2', 'failed'],
  ])('is taken from the deciding capture among %j: %s is %s', (statuses, paymentId, status) => {
    const captures = statuses.map((one, index) => capture(`C${index + 1}`, one));
    expect(readPayPalOrder(order('COMPLETED', captures), known('processing'))).toMatchObject({ paymentId, status });
  });

  test.each<[string, KnownPayment['status'], string | undefined, string]>([
    ['CREATED', 'created', 'm', 'created'],
    ['CREATED', 'requires_payment_method', undefined, 'requires_payment_method'],
    ['PAYER_ACTION_REQUIRED', 'created', 'm', 'created'],
    ['PAYER_ACTION_REQUIRED', 'requires_payment_method', undefined, 'requires_payment_method'],
    ['PAYER_ACTION_REQUIRED', 'pending', undefined, 'pending'],
    ['CREATED', 'processing', 'm', 'created'],
    ['CREATED', 'failed', 'm', 'failed'],
    ['CREATED', 'canceled', 'm', 'canceled'],
    ['CREATED', 'succeeded', 'm', 'created'],
    ['VOIDED', 'created', 'm', 'canceled'],
    ['APPROVED', 'requires_payment_method', undefined, 'pending'],
    ['APPROVED', 'pending', 'm', 'pending'],
    ['APPROVED', 'processing', undefined, 'requires_payment_method'],
    ['APPROVED', 'failed', undefined, 'failed'],
    ['APPROVED', 'canceled', undefined, 'canceled'],
  ])(
    'is derived from the order %s, the record %s and the method %s as %s',
    (...[status, recorded, method, expected]) => {
      const report = readPayPalOrder(order(status), known(recorded, method));
      expect(report.status).toBe(expected);
      expect(report.awaitsCapture).toBe(status === 'APPROVED' && expected === 'pending' ? true : undefined);
    },
  );
});

const settings = (more: object = {}) => ({
  ...parseSettings({}).slots.provider_b,
  CLIENT_ID: 'id',
  CLIENT_SECRET: 'secret',
  ...more,
});
const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };

/** A PayPal stub that responds as the test says and records every call. */
const paypalThat = (answers: (path: string, init: RequestInit) => Response | Promise<Response>) => {
  const calls: { path: string; headers: Headers }[] = [];
  const provider = openPayPal({
    slot: 'provider_b',
    settings: settings(),
    timeoutMs: 1_000,
    log,
    fetch: async (input, init = {}) => {
      const path = String(input).replace('https://api-m.paypal.com', '');
      calls.push({ path, headers: new Headers(init.headers) });
      return answers(path, init);
    },
  });
  if (!provider) throw new Error('closed');
  return { provider, calls };
};

const sold = (text: string, seconds = HOUR_SECONDS) => Response.json({ access_token: text, expires_in: seconds });
const FOUND = { intentId: 'O1', attemptRef: undefined, method: 'm', status: 'created' } as const;
const find = (provider: PaymentProvider) => provider.findPayment(FOUND);
const bearer = (calls: readonly { path: string; headers: Headers }[]) =>
  calls.filter(({ path }) => !path.includes('oauth2')).map(({ headers }) => headers.get('authorization'));

describe('the PayPal access token', () => {
  afterEach(() => vi.useRealTimers());

  test('is kept until a minute before its end', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    let count = 0;
    const { provider, calls } = paypalThat((path) => {
      if (!path.includes('oauth2')) return Response.json(order('CREATED'));
      count += 1;
      return sold(`t${count}`);
    });
    await find(provider);
    vi.setSystemTime(Date.now() + (HOUR_SECONDS - 61) * 1_000);
    await find(provider);
    vi.setSystemTime(Date.now() + 2_000);
    await find(provider);
    expect(bearer(calls)).toEqual(['Bearer t1', 'Bearer t1', 'Bearer t2']);
  });

  test('is renewed once after a refusal, and a second refusal fails the call', async () => {
    let count = 0;
    const { provider, calls } = paypalThat((path) => {
      if (!path.includes('oauth2')) return Response.json({ name: 'AUTHENTICATION_FAILURE' }, { status: 401 });
      count += 1;
      return sold(`t${count}`);
    });
    expect(await find(provider)).toEqual({ kind: 'refused', reason: 'AUTHENTICATION_FAILURE', parameter: undefined });
    expect(bearer(calls)).toEqual(['Bearer t1', 'Bearer t2']);
  });

  test('is renewed once if PayPal refuses it to several calls at the same time', async () => {
    let bought = 0;
    const { provider } = paypalThat((path, { headers }) => {
      if (path.includes('oauth2')) {
        bought += 1;
        return sold(`t${bought}`);
      }
      const isOld = new Headers(headers).get('authorization') === 'Bearer t1';
      return isOld ? Response.json({}, { status: 401 }) : Response.json(order('CREATED'));
    });
    const found = await Promise.all([1, 2, 3].map(() => find(provider)));
    expect(found.map(({ kind }) => kind)).toEqual(['done', 'done', 'done']);
    expect(bought).toBe(2);
  });

  test('is requested again by the next call after a failed request', async () => {
    let isDown = true;
    const { provider } = paypalThat((path) => {
      if (!path.includes('oauth2')) return Response.json(order('CREATED'));
      return isDown ? new Response('', { status: 503 }) : sold('t1');
    });
    // The call itself was never sent, because the request for the token failed.
    expect(await find(provider)).toEqual({ kind: 'not_done', reason: 'unreachable' });
    isDown = false;
    expect(await find(provider)).toMatchObject({ kind: 'done' });
  });
});

describe('an error response of PayPal', () => {
  const confirm = (provider: PaymentProvider) =>
    provider.confirmIntent({
      idempotencyKey: 'pay_1:confirm:1',
      intentId: 'O1',
      paymentId: 'pay_1',
      amountCents: 2_500,
      currency: 'USD',
      method: 'm',
      methodKind: 'wallet',
      customerId: undefined,
      returnUrl: undefined,
    });
  const answering = (status: number, body: unknown) =>
    paypalThat((path) => (path.includes('oauth2') ? sold('t') : Response.json(body, { status }))).provider;
  const issue = (name: string, field?: string) => ({ name: 'UNPROCESSABLE_ENTITY', details: [{ issue: name, field }] });

  test.each([
    ['INSTRUMENT_DECLINED', 'do_not_honor'],
    ['TRANSACTION_REFUSED', 'do_not_honor'],
    ['PAYER_CANNOT_PAY', 'do_not_honor'],
    ['CARD_EXPIRED', 'expired_card'],
  ])('is a decline for %s: %s', async (name, code) => {
    const facts = { details: { type: 'wallet', walletType: 'paypal' }, decline: { providerCode: name } };
    expect(await confirm(answering(422, issue(name)))).toEqual({
      kind: 'declined',
      code,
      attemptRef: undefined,
      facts,
    });
  });

  test.each([
    [422, issue('TOKEN_ID_NOT_FOUND'), 'TOKEN_ID_NOT_FOUND', 'payment_method'],
    [
      400,
      issue('INVALID_PARAMETER_SYNTAX', '/payment_source/paypal/vault_id'),
      'INVALID_PARAMETER_SYNTAX',
      'payment_method',
    ],
    [422, issue('CURRENCY_NOT_SUPPORTED'), 'CURRENCY_NOT_SUPPORTED', 'currency'],
    [422, issue('RETURN_URL_REQUIRED'), 'RETURN_URL_REQUIRED', 'return_url'],
    [422, issue('constructor'), 'constructor', undefined],
    [403, { name: 'NOT_AUTHORIZED' }, 'NOT_AUTHORIZED', undefined],
    [400, 'no JSON object', 'HTTP_400', undefined],
  ])('is a refusal for status %d with %j; reason %s, field %s', async (...[status, body, reason, parameter]) => {
    expect(await confirm(answering(status, body))).toEqual({ kind: 'refused', reason, parameter });
  });

  test('is not_done for 429, because PayPal did nothing', async () => {
    expect(await confirm(answering(429, {}))).toEqual({ kind: 'not_done', reason: 'rate_limited' });
  });

  test.each([409, 500, 503])('is an unknown outcome for %d', async (status) => {
    expect(await confirm(answering(status, {}))).toEqual({ kind: 'unknown', reason: 'error' });
  });

  test('cannot occur without keys, because the slot stays closed', () => {
    const options = { slot: 'provider_b' as const, timeoutMs: 1, log, fetch };
    for (const missing of [{ CLIENT_ID: '' }, { CLIENT_SECRET: '' }]) {
      expect(openPayPal({ ...options, settings: settings(missing) })).toBeUndefined();
      expect(openPayPalReceiver({ ...options, settings: settings({ WEBHOOK_ID: 'W', ...missing }) })).toBeUndefined();
    }
    expect(openPayPalReceiver({ ...options, settings: settings() })).toBeUndefined();
    expect(openPayPalReceiver({ ...options, settings: settings({ WEBHOOK_ID: 'W' }) })).toBeDefined();
  });
});
