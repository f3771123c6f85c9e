import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { parseSettings } from '../../shared/core/settings.ts';
import { joinName, splitName } from '../../shared/providers/adapter.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { SQUARE_VERSION, squareKey } from '../../shared/providers/square/outcome.ts';
import { openSquare } from '../../shared/providers/square/square.ts';
import { verifySquareSignature } from '../../shared/providers/square/verify.ts';

const KEY = 'a_signature_key';
const URLS = ['https://api.example/webhooks/provider_c', 'https://fn.example/'];
const BODY = '{"merchant_id":"M","type":"payment.updated","event_id":"e1"}';
const sign = (url: string, body: string, key = KEY): string =>
  createHmac('sha256', key).update(`${url}${body}`).digest('base64');
const verify = (
  signature: string | undefined,
  {
    body = BODY,
    keys = [KEY],
    urls = URLS,
  }: Partial<Record<'keys' | 'urls', readonly string[]>> & { body?: string } = {},
) =>
  verifySquareSignature(
    { raw: Buffer.from(body), headers: { 'x-square-hmacsha256-signature': signature } },
    keys,
    urls,
  );

test("our version of Square's API is the version that Square's SDK 46 pins", () => {
  expect(SQUARE_VERSION).toBe('2026-09-16');
});

describe("Square's signature", () => {
  test.each(URLS)('is valid for a configured URL: %s', (url) => {
    expect(verify(sign(url, BODY))).toBe('valid');
  });

  test('is valid under each of several keys, with each URL', () => {
    const keys = [KEY, 'a_second_key'];
    for (const key of keys) for (const url of URLS) expect(verify(sign(url, BODY, key), { keys })).toBe('valid');
    expect(verify(sign(URLS[0] ?? '', BODY, 'a_third_key'), { keys })).toBe('invalid');
    expect(verify(sign(URLS[0] ?? '', BODY, ''), { keys: [] })).toBe('invalid');
  });

  test('equals the signature that openssl computes from key, URL and body', () => {
    // printf 'https://x.example/{}' | openssl dgst -sha256 -hmac k -binary | base64
    expect(
      verify('r77jKNII3HtW3GEn48mUWhRzQbaifSH4cW6EPPxr1rA=', { body: '{}', keys: ['k'], urls: ['https://x.example/'] }),
    ).toBe('valid');
  });

  test.each([
    ['another URL', sign('https://api.example/webhooks/provider_c/', BODY)],
    ['another body', sign(URLS[0] ?? '', `${BODY} `)],
    ['another key', sign(URLS[0] ?? '', BODY, 'another')],
    ['the body alone', sign('', BODY)],
    ['nothing', ''],
    ['no header', undefined],
  ])('is invalid for %s', (_, signature) => {
    expect(verify(signature)).toBe('invalid');
  });

  test('is invalid without keys or URLs', () => {
    expect(verify(sign(URLS[0] ?? '', BODY, ''), { keys: [] })).toBe('invalid');
    expect(verify(sign(URLS[0] ?? '', BODY), { keys: [KEY], urls: [] })).toBe('invalid');
  });

  test('is valid for its own body only, and the body has no other valid signature', () => {
    const signature = sign(URLS[0] ?? '', BODY);
    const position = (text: string) => fc.integer({ min: 0, max: text.length - 1 });
    const changed = (text: string) =>
      fc
        .tuple(position(text), fc.string({ minLength: 0, maxLength: 2 }))
        .map(([at, piece]) => `${text.slice(0, at)}${piece}${text.slice(at + 1)}`)
        .filter((mutant) => mutant !== text);
    fc.assert(
      fc.property(changed(signature), changed(BODY), (mutant, body) => {
        expect([verify(mutant), verify(signature, { body })]).toEqual(['invalid', 'invalid']);
      }),
      { numRuns: 10_000 },
    );
  });

  test('is compared as text, so another encoding of the same bytes is invalid', () => {
    const signature = sign(URLS[0] ?? '', BODY);
    expect(verify(signature.replace(/=$/, ''))).toBe('invalid');
    expect(verify(`${signature}\n`)).toBe('invalid');
    expect(verify(signature.replaceAll('+', '-').replaceAll('/', '_').replace(/=$/, '.'))).toBe('invalid');
  });
});

/** The adapter against one prepared response. */
const answeredBy = (status: number, body: unknown): PaymentProvider => open(async () => answer(status, body));
const answer = (status: number, body: unknown): Response =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
const open = (fetch: (url: string, init: RequestInit) => Promise<Response>): PaymentProvider => {
  const provider = openSquare({
    slot: 'provider_c',
    settings: {
      ...parseSettings({}).slots.provider_c,
      ACCESS_TOKEN: 't',
      LOCATION_ID: 'L',
      BASE_URL: 'https://sq.example/',
    },
    timeoutMs: 50,
    fetch: (input, init) => fetch(String(input), init ?? {}),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  if (!provider) throw new Error('it stays closed');
  return provider;
};

const PAYMENT = {
  id: 'P1',
  status: 'COMPLETED',
  amount_money: { amount: 2_500, currency: 'USD' },
  order_id: 'O1',
  reference_id: 'pay_1',
};
const ORDER = { id: 'O1', state: 'OPEN', version: 3, total_money: { amount: 2_500, currency: 'USD' } };

const charge = (provider: PaymentProvider) =>
  provider.confirmIntent({
    idempotencyKey: 'pay_1:confirm:1',
    intentId: 'O1',
    paymentId: 'pay_1',
    amountCents: 2_500,
    currency: 'USD',
    method: 'cnon:x',
    customerId: undefined,
    returnUrl: undefined,
  });
const refusal = (category: string, code: string, field?: string) => ({
  errors: [{ category, code, detail: '', field }],
});

const UNKNOWN: Outcome<never> = { kind: 'unknown', reason: 'error' };

describe('the response of Square to a charge', () => {
  test.each<[string, number, unknown, object]>([
    ['completed', 200, { payment: PAYMENT }, { kind: 'done', value: { status: 'succeeded', paymentId: 'P1' } }],
    [
      'failed',
      200,
      { payment: { ...PAYMENT, status: 'FAILED' } },
      { value: { status: 'failed', failureCode: 'do_not_honor' } },
    ],
    ['an unknown status', 200, { payment: { ...PAYMENT, status: 'X' } }, { value: { status: 'processing' } }],
    ['no payment', 200, {}, UNKNOWN],
    ['invalid JSON', 200, '<html>', UNKNOWN],
    ['an empty body', 200, '', UNKNOWN],
    ['a broken gateway', 502, '<html>', UNKNOWN],
    [
      'too many requests',
      429,
      refusal('RATE_LIMIT_ERROR', 'RATE_LIMITED'),
      { kind: 'not_done', reason: 'rate_limited' },
    ],
    ['a conflict', 409, refusal('INVALID_REQUEST_ERROR', 'CONFLICT'), UNKNOWN],
    ['an error of Square itself', 400, refusal('API_ERROR', 'INTERNAL_SERVER_ERROR'), UNKNOWN],
    ['a temporary error', 400, refusal('PAYMENT_METHOD_ERROR', 'TEMPORARY_ERROR'), UNKNOWN],
    ['a refusal that cannot be read', 403, '<html>', UNKNOWN],
    [
      'a wrong token',
      401,
      refusal('AUTHENTICATION_ERROR', 'UNAUTHORIZED'),
      { kind: 'refused', reason: 'UNAUTHORIZED' },
    ],
    [
      'an unknown source',
      404,
      refusal('INVALID_REQUEST_ERROR', 'NOT_FOUND', 'source_id'),
      { kind: 'refused', reason: 'NOT_FOUND', parameter: 'payment_method' },
    ],
    [
      'a spent source',
      400,
      refusal('PAYMENT_METHOD_ERROR', 'CARD_TOKEN_USED'),
      { kind: 'refused', reason: 'CARD_TOKEN_USED', parameter: 'payment_method' },
    ],
    [
      'another currency',
      400,
      refusal('INVALID_REQUEST_ERROR', 'INVALID_VALUE', 'amount_money.currency'),
      { kind: 'refused', parameter: 'currency' },
    ],
    [
      'a decline without its payment',
      402,
      refusal('PAYMENT_METHOD_ERROR', 'GENERIC_DECLINE'),
      { kind: 'declined', code: 'do_not_honor', attemptRef: undefined },
    ],
    [
      'a decline with a general and a specific reason',
      402,
      {
        errors: [
          ...refusal('PAYMENT_METHOD_ERROR', 'GENERIC_DECLINE').errors,
          ...refusal('PAYMENT_METHOD_ERROR', 'CVV_FAILURE').errors,
        ],
        payment: { id: 'P1' },
      },
      { kind: 'declined', code: 'incorrect_cvc', attemptRef: 'P1' },
    ],
  ])('is read correctly: %s', async (...[_, status, body, outcome]) => {
    expect(await charge(answeredBy(status, body))).toMatchObject(outcome);
  });

  test('is an unknown outcome after a timeout or without a connection', async () => {
    const silent = open(
      (_, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
    );
    expect(await charge(silent)).toEqual({ kind: 'unknown', reason: 'timeout' });
    const gone = open(() => Promise.reject(new TypeError('fetch failed')));
    expect(await charge(gone)).toEqual({ kind: 'unknown', reason: 'unreachable' });
  });
});

describe('a request to Square', () => {
  test('charges the whole order, under a valid key, only at the configured location', async () => {
    const sent: { url: string; init: RequestInit }[] = [];
    const provider = open(async (url, init) => {
      sent.push({ url, init });
      return answer(200, { payment: PAYMENT });
    });
    await charge(provider);
    await charge(provider);
    expect(sent[0]).toMatchObject({
      url: 'https://sq.example/v2/payments',
      init: {
        method: 'POST',
        redirect: 'error',
        headers: { authorization: 'Bearer t', 'square-version': SQUARE_VERSION },
      },
    });
    expect(JSON.parse(String(sent[0]?.init.body))).toEqual({
      idempotency_key: squareKey('pay_1:confirm:1'),
      source_id: 'cnon:x',
      amount_money: { amount: 2_500, currency: 'USD' },
      order_id: 'O1',
      location_id: 'L',
      reference_id: 'pay_1',
      autocomplete: true,
    });
    expect(sent[1]?.init.body).toBe(sent[0]?.init.body);
  });

  test('has keys of 45 characters, the same for the same parts', () => {
    fc.assert(
      fc.property(fc.array(fc.string(), { minLength: 1 }), (parts) => {
        expect(squareKey(...parts)).toBe(squareKey(...parts));
        expect(squareKey(...parts)).toMatch(/^[0-9a-f]{45}$/);
      }),
    );
    expect(squareKey('a', 'b')).not.toBe(squareKey('ab'));
  });

  test('is sent once, with ids encoded in its path', async () => {
    const urls: string[] = [];
    const provider = open(async (url) => {
      urls.push(url);
      return answer(404, refusal('INVALID_REQUEST_ERROR', 'NOT_FOUND'));
    });
    await provider.findMethod('../customers/x?y#z');
    expect(urls).toEqual(['https://sq.example/v2/cards/..%2Fcustomers%2Fx%3Fy%23z']);
  });
});

describe('a card on file', () => {
  const find = async (more: object) => {
    const card = { id: 'ccof:1', customer_id: 'C1', card_brand: 'VISA', last_4: '1111', ...more };
    return open(async () => answer(200, { card })).findMethod('ccof:1');
  };

  test('is found with its customer', async () => {
    const found = { kind: 'done', value: { methodId: 'ccof:1', customerId: 'C1' } };
    expect(await find({ enabled: true })).toMatchObject(found);
    expect(await find({})).toMatchObject(found);
  });

  test('is not found after it is disabled, although Square still shows it with its customer', async () => {
    expect(await find({ enabled: false })).toEqual({ kind: 'refused', reason: 'NOT_FOUND' });
  });
});

describe('the status of a Square order', () => {
  const find = async (order: object, attempts: readonly object[], known: object = {}) => {
    const provider = open(async (url) => {
      if (url.includes('/orders/')) return answer(200, { order: { ...ORDER, ...order } });
      const found = attempts.find((attempt) => url.endsWith(`/${'id' in attempt ? attempt.id : ''}`));
      return found
        ? answer(200, { payment: { ...PAYMENT, ...found } })
        : answer(404, refusal('INVALID_REQUEST_ERROR', 'NOT_FOUND'));
    });
    const outcome = await provider.findPayment({
      intentId: 'O1',
      attemptRef: undefined,
      method: 'cnon:x',
      status: 'processing',
      ...known,
    });
    return outcome.kind === 'done' ? [outcome.value.status, outcome.value.attemptRef] : outcome;
  };
  const failed = { id: 'P1', status: 'FAILED' };
  const tenders = [{ id: 'P2' }];

  test.each<[string, object, readonly object[], object, unknown[]]>([
    ['no attempt was made', {}, [], {}, ['created', undefined]],
    [
      'no attempt was made, and no method is known',
      {},
      [],
      { method: undefined },
      ['requires_payment_method', undefined],
    ],
    ['an attempt was refused without a trace', {}, [], { status: 'failed' }, ['failed', undefined]],
    ['the only attempt failed', {}, [failed], { attemptRef: 'P1' }, ['failed', 'P1']],
    [
      'a later charge succeeded, and its event has not arrived',
      { tenders },
      [failed, { id: 'P2' }],
      { attemptRef: 'P1' },
      ['succeeded', 'P2'],
    ],
    [
      'a later charge is in progress',
      { tenders },
      [failed, { id: 'P2', status: 'PENDING' }],
      { attemptRef: 'P1' },
      ['processing', 'P2'],
    ],
    ['it was canceled', { state: 'CANCELED' }, [], {}, ['canceled', undefined]],
    [
      'it was canceled after an attempt',
      { state: 'CANCELED' },
      [failed],
      { attemptRef: 'P1' },
      ['canceled', undefined],
    ],
    ['it is paid by a payment that cannot be found', { state: 'COMPLETED' }, [], {}, ['processing', undefined]],
    [
      'it is paid, and only a failed attempt can be found',
      { state: 'COMPLETED', tenders },
      [failed],
      { attemptRef: 'P1' },
      ['processing', undefined],
    ],
    ['the known attempt does not exist', {}, [], { attemptRef: 'P9' }, ['created', undefined]],
  ])('is correct if %s', async (...[_, order, attempts, known, expected]) => {
    expect(await find(order, attempts, known)).toEqual(expected);
  });

  test('is unknown if one of its attempts cannot be read', async () => {
    const provider = open(async (url) =>
      url.includes('/orders/') ? answer(200, { order: { ...ORDER, tenders } }) : answer(500, ''),
    );
    const known = { intentId: 'O1', attemptRef: undefined, method: undefined, status: 'processing' } as const;
    expect(await provider.findPayment(known)).toEqual(UNKNOWN);
  });
});

describe("Square's events", () => {
  const { readEvent } = answeredBy(200, {});
  const event = (type: string, object: object, data: object = {}) => ({
    merchant_id: 'M',
    type,
    event_id: 'e1',
    created_at: '2030-01-01T00:00:01.999Z',
    data: { type: 'x', id: 'from-data', object, ...data },
  });

  test.each([
    ['COMPLETED', 'payment_intent.succeeded'],
    ['FAILED', 'payment_intent.failed'],
    ['CANCELED', 'payment_intent.canceled'],
    ['APPROVED', 'payment_intent.processing'],
    ['PENDING', 'payment_intent.processing'],
  ])('report a payment that is %s as %s, when it is created and updated', (status, type) => {
    for (const raw of ['payment.created', 'payment.updated']) {
      expect(readEvent(event(raw, { payment: { ...PAYMENT, status } }))).toMatchObject({
        id: 'e1',
        rawType: raw,
        type,
        createdAt: Date.UTC(2030, 0, 1, 0, 0, 1) / 1_000,
        object: {
          id: 'P1',
          intentId: 'O1',
          attemptRef: 'P1',
          amountCents: 2_500,
          currency: 'USD',
          ourPaymentId: 'pay_1',
        },
      });
    }
  });

  test('contain the reason of a failure', () => {
    const details = { errors: [{ category: 'PAYMENT_METHOD_ERROR', code: 'INSUFFICIENT_FUNDS' }] };
    const payment = { ...PAYMENT, status: 'FAILED', card_details: details };
    expect(readEvent(event('payment.updated', { payment }))?.object.failureCode).toBe('insufficient_funds');
    const byBank = { ...PAYMENT, status: 'FAILED', bank_account_details: details };
    expect(readEvent(event('payment.updated', { payment: byBank }))?.object.failureCode).toBe('insufficient_funds');
  });

  test.each([
    ['card.created', 'payment_method.attached'],
    ['card.updated', 'payment_method.updated'],
    ['card.automatically_updated', 'payment_method.updated'],
    ['card.disabled', 'payment_method.detached'],
    ['card.forgotten', 'payment_method.detached'],
  ])('of the type %s are read as %s', (raw, type) => {
    const card = { id: 'ccof:1', card_brand: 'AMERICAN_EXPRESS', last_4: '0005', exp_month: 3, exp_year: 2031 };
    expect(readEvent(event(raw, { card }))).toMatchObject({
      type,
      object: { id: 'ccof:1', method: { cardBrand: 'amex', lastFour: '0005', expiryMonth: '03', expiryYear: '2031' } },
    });
  });

  test('contain a customer’s name, e-mail and phone, or only the id of a deleted customer', () => {
    const customer = { id: 'C1', given_name: 'Ana Maria', family_name: 'Silva', email_address: 'a@example.com' };
    expect(readEvent(event('customer.updated', { customer }))?.object.customer).toEqual({
      name: 'Ana Maria Silva',
      nameParts: { given: 'Ana Maria', family: 'Silva' },
      email: 'a@example.com',
      omitsUnset: true,
    });
    const nameless = { id: 'C1', given_name: 'cust_1', reference_id: 'cust_1' };
    expect(readEvent(event('customer.updated', { customer: nameless }))?.object.customer?.name).toBeUndefined();
    expect(readEvent(event('customer.deleted', {}))).toMatchObject({
      type: 'customer.deleted',
      object: { id: 'from-data' },
    });
  });

  test('are applied for an order only if the order is canceled', () => {
    const updated = (state: string) => event('order.updated', { order_updated: { order_id: 'O1', state } });
    expect(readEvent(updated('CANCELED'))).toMatchObject({ type: 'payment_intent.canceled', object: { id: 'O1' } });
    expect(readEvent(updated('COMPLETED'))).toMatchObject({ type: undefined });
  });

  test('are accepted without an action if they are of other types', () => {
    expect(readEvent(event('inventory.count.updated', { inventory_counts: [] }))).toMatchObject({
      id: 'e1',
      rawType: 'inventory.count.updated',
      type: undefined,
    });
    expect(readEvent(event('payment.updated', {}))).toMatchObject({ type: undefined });
    const bare = { merchant_id: 'M', type: 'labor.shift.updated', event_id: 'e1', created_at: '2030-01-01T00:00:01Z' };
    for (const data of [undefined, null, 'x', { object: 'shift' }, { id: 7 }, { object: { card: 'gone' } }]) {
      expect(readEvent({ ...bare, data })).toMatchObject({ id: 'e1', type: undefined });
    }
  });

  test('are rejected if they cannot be parsed', () => {
    expect(readEvent(event('payment.updated', { payment: { ...PAYMENT, id: 7 } }))).toBeUndefined();
    expect(readEvent(event('card.updated', { card: 'gone' }))).toBeUndefined();
  });
});

test('a name is the same after it is split in two and joined', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), (name) => {
      expect(joinName(...splitName(name))).toBe(name);
    }),
  );
  expect(splitName('Ana Maria Silva')).toEqual(['Ana Maria', 'Silva']);
});
