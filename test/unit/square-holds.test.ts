import { describe, expect, test } from 'vitest';
import { parseSettings } from '../../shared/core/settings.ts';
import type { HoldsPort } from '../../shared/providers/hold-port.ts';
import type { KnownPayment } from '../../shared/providers/payment-port.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { openSquare } from '../../shared/providers/square/square.ts';

interface Sent {
  readonly call: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
}
type Reply = readonly [status: number, body: object] | object;

/** An adapter that gets these responses in the order of its calls. `sent` lists the calls. */
const answeredBy = (...replies: readonly Reply[]) => {
  const sent: Sent[] = [];
  const left = [...replies];
  const provider = openSquare({
    slot: 'provider_c',
    settings: {
      ...parseSettings({}).slots.provider_c,
      ACCESS_TOKEN: 't',
      LOCATION_ID: 'L',
      BASE_URL: 'https://sq.test',
    },
    timeoutMs: 50,
    fetch: async (input, init) => {
      const { pathname, searchParams } = new URL(String(input));
      const body = init?.body === undefined ? undefined : JSON.parse(String(init.body));
      sent.push({ call: `${init?.method} ${pathname}`, query: Object.fromEntries(searchParams), body });
      const reply = left.shift();
      if (!reply) throw new Error(`no response is prepared for ${pathname}`);
      const [status, json] = Array.isArray(reply) ? reply : [200, reply];
      return new Response(JSON.stringify(json), { status });
    },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  if (!provider) throw new Error('it stays closed');
  return { provider, sent };
};

const usd = (amount: number) => ({ amount, currency: 'USD' });
const PAYMENT = {
  id: 'P1',
  status: 'APPROVED',
  amount_money: usd(2_500),
  approved_money: usd(2_500),
  order_id: 'O-of-square',
  reference_id: 'pay_1',
  note: 'Order O1',
  delayed_until: '2030-01-08T00:00:00Z',
  updated_at: '2030-01-02T00:00:00.000Z',
  version_token: 'v1',
};
const ORDER = {
  id: 'O1',
  state: 'OPEN',
  version: 3,
  reference_id: 'pay_1',
  created_at: '2030-01-01T00:00:00Z',
  total_money: usd(2_500),
};
const paid = (more: object = {}) => ({ payment: { ...PAYMENT, ...more } });
const refusal = (code: string) => ({ errors: [{ category: 'INVALID_REQUEST_ERROR', code, detail: '' }] });

const KNOWN: KnownPayment = {
  intentId: 'O1',
  attemptRef: 'P1',
  method: 'cnon:x',
  status: 'requires_capture',
  captureMethod: 'manual',
};
const UNSEEN: KnownPayment = { ...KNOWN, attemptRef: undefined, status: 'processing' };
const eventOf = (payment: object) => ({
  event_id: 'e1',
  type: 'payment.updated',
  created_at: '2030-01-02T00:00:00Z',
  data: { type: 'payment', id: 'P1', object: { payment } },
});
const HOLD = { authorizedCents: 2_500, captureBefore: '2030-01-08T00:00:00.000Z' };

const port = ({ holds }: PaymentProvider): HoldsPort => {
  if (!holds) throw new Error('Square holds amounts; absence is a bug');
  return holds;
};
const capture = (provider: PaymentProvider, amountCents: number) =>
  port(provider).capture({
    ...{ ...KNOWN, paymentId: 'pay_1', providerPaymentId: 'P1', authorizedCents: 2_500 },
    ...{ amountCents, currency: 'USD', idempotencyKey: 'pay_1:capture:0' },
  });
const callsOf = (sent: readonly Sent[]): readonly string[] => sent.map(({ call }) => call);

describe('a payment that holds an amount at Square', () => {
  test.each<[string, object, object]>([
    ['held', {}, { status: 'requires_capture', amountCents: 2_500, hold: { ...HOLD, capturableCents: 2_500 } }],
    [
      'lowered at Square',
      { amount_money: usd(1_000) },
      { status: 'requires_capture', amountCents: 1_000, hold: { ...HOLD, capturableCents: 1_000 } },
    ],
    [
      'captured in part',
      { status: 'COMPLETED', amount_money: usd(1_000) },
      { status: 'succeeded', amountCents: 1_000, hold: { ...HOLD, capturableCents: 0, endedAt: undefined } },
    ],
    [
      'ended',
      { status: 'CANCELED' },
      { status: 'canceled', hold: { ...HOLD, capturableCents: 0, endedAt: '2030-01-02T00:00:00.000Z' } },
    ],
    ['not held yet', { status: 'PENDING', approved_money: undefined }, { status: 'processing', hold: undefined }],
    [
      'held, without the facts that cannot be read',
      { approved_money: 'much', delayed_until: 'soon', version_token: 1 },
      { status: 'requires_capture', hold: { authorizedCents: 2_500, captureBefore: undefined } },
    ],
  ])('is read as %s, by one call', async (_, more, expected) => {
    const { provider, sent } = answeredBy(paid(more));
    expect(await provider.findPayment(KNOWN)).toMatchObject({
      kind: 'done',
      value: { ...expected, intentId: 'O1', paymentId: 'P1', attemptRef: 'P1', ourPaymentId: 'pay_1' },
    });
    expect(callsOf(sent)).toEqual(['GET /v2/payments/P1']);
  });

  test.each<[string, object, object]>([
    ['held', {}, { type: 'payment_intent.amount_capturable_updated', object: { hold: HOLD, amountCents: 2_500 } }],
    ['captured', { status: 'COMPLETED' }, { type: 'payment_intent.succeeded', object: { hold: HOLD } }],
    [
      'ended',
      { status: 'CANCELED' },
      { type: 'payment_intent.canceled', object: { hold: { endedAt: '2030-01-02T00:00:00.000Z' } } },
    ],
  ])('is read from its event as %s, under our order', (_, more, expected) => {
    const { provider } = answeredBy();
    const read = provider.readEvent(eventOf({ ...PAYMENT, ...more }));
    expect(read).toMatchObject(expected);
    expect(read?.object).toMatchObject({ id: 'P1', intentId: 'O1', attemptRef: 'P1', ourPaymentId: 'pay_1' });
  });

  test.each([undefined, null, 'Two books', 'Order of the day', 'An Order O1'])(
    'is not found in the event of another payment, with the note %j',
    (note) => {
      const read = answeredBy().provider.readEvent(eventOf({ ...PAYMENT, note }));
      expect(read).toMatchObject({ type: 'payment_intent.processing', object: { intentId: 'O-of-square' } });
      expect(read?.object.hold).toBeUndefined();
    },
  );

  test('is read as processing if its capture is automatic', async () => {
    const { provider } = answeredBy({ order: { ...ORDER, tenders: [{ payment_id: 'P1' }] } }, paid());
    const found = await provider.findPayment({ ...UNSEEN, captureMethod: undefined });
    expect(found).toMatchObject({ value: { status: 'processing' } });
    expect(found).not.toHaveProperty('value.hold');
  });
});

describe('a capture at Square', () => {
  test('of the full amount completes the payment version that it read', async () => {
    const { provider, sent } = answeredBy(paid(), paid({ status: 'COMPLETED' }));
    expect(await capture(provider, 2_500)).toMatchObject({ value: { status: 'succeeded', amountCents: 2_500 } });
    expect(sent.map(({ call, body }) => [call, body])).toEqual([
      ['GET /v2/payments/P1', undefined],
      ['POST /v2/payments/P1/complete', { version_token: 'v1' }],
    ]);
  });

  test('of a part lowers the amount under a separate key, then completes the lowered version', async () => {
    const keys: unknown[] = [];
    for (const version_token of ['v1', 'v1', 'v2']) {
      const lowered = { amount_money: usd(1_000), version_token: 'v9' };
      const { provider, sent } = answeredBy(
        paid({ version_token }),
        paid(lowered),
        paid({ ...lowered, status: 'COMPLETED' }),
      );
      expect(await capture(provider, 1_000)).toMatchObject({ value: { status: 'succeeded', amountCents: 1_000 } });
      const idempotency_key = expect.stringMatching(/^[\w-]{20,45}$/);
      expect(sent.slice(1).map(({ call, body }) => [call, body])).toEqual([
        ['PUT /v2/payments/P1', { idempotency_key, payment: { amount_money: usd(1_000), version_token } }],
        ['POST /v2/payments/P1/complete', { version_token: 'v9' }],
      ]);
      keys.push(sent[1]?.body);
    }
    expect(keys[1]).toEqual(keys[0]);
    expect(new Set(keys.map((body) => JSON.stringify(body))).size).toBe(2);
  });

  test.each<[string, Reply, object]>([
    ['meets a rate limit', [429, refusal('RATE_LIMITED')], { kind: 'unknown' }],
    ['gets a server error', [500, {}], { kind: 'unknown' }],
    ['is refused', [400, refusal('BAD_REQUEST')], { kind: 'refused', reason: 'BAD_REQUEST' }],
  ])('of a part reports the correct outcome if its completion %s', async (_, reply, expected) => {
    const { provider } = answeredBy(paid(), paid({ amount_money: usd(1_000) }), reply, reply);
    expect(await capture(provider, 1_000)).toMatchObject(expected);
  });

  test('of an already lowered amount only completes the payment', async () => {
    const lowered = { amount_money: usd(1_000) };
    const { provider, sent } = answeredBy(paid(lowered), paid({ ...lowered, status: 'COMPLETED' }));
    await capture(provider, 1_000);
    expect(callsOf(sent)).toEqual(['GET /v2/payments/P1', 'POST /v2/payments/P1/complete']);
  });

  test.each<[string, object, object]>([
    ['the same amount was captured', { status: 'COMPLETED' }, { kind: 'done', value: { status: 'succeeded' } }],
    ['another amount was captured', { status: 'COMPLETED', amount_money: usd(1_000) }, { kind: 'refused' }],
    ['less is held', { amount_money: usd(1_000) }, { kind: 'refused', reason: 'amount_exceeds_hold' }],
    ['the hold has ended', { status: 'CANCELED' }, { kind: 'refused' }],
    ['the bank has not decided', { status: 'PENDING' }, { kind: 'refused' }],
    ['the status is unknown', { status: 'X' }, { kind: 'refused' }],
  ])('takes nothing if %s', async (_, more, expected) => {
    const { provider, sent } = answeredBy(paid(more));
    expect(await capture(provider, 2_500)).toMatchObject(expected);
    expect(callsOf(sent)).toEqual(['GET /v2/payments/P1']);
  });
});

describe('a hold at Square without a stored payment id', () => {
  const foreign = { payments: [{ id: 'cash' }, { ...PAYMENT, id: 'P0', reference_id: 'pay_2' }] };

  test('is searched by our reference among the payments of its amount, on every page', async () => {
    const failed = { ...PAYMENT, id: 'P0', status: 'FAILED', approved_money: undefined };
    const { provider, sent } = answeredBy(
      { order: ORDER },
      { ...foreign, cursor: 'next' },
      { payments: [PAYMENT, failed] },
    );
    expect(await provider.findPayment(UNSEEN)).toMatchObject({
      value: { status: 'requires_capture', paymentId: 'P1', intentId: 'O1', hold: HOLD },
    });
    const query = { location_id: 'L', total: '2500', sort_order: 'ASC', begin_time: '2030-01-01T00:00:00Z' };
    expect(sent.slice(1).map((one) => one.query)).toEqual([query, { ...query, cursor: 'next' }]);
  });

  test('does not exist if no payment has our reference', async () => {
    const { provider } = answeredBy({ order: ORDER }, foreign);
    const none = { value: { status: 'created', paymentId: 'O1' } };
    expect(await provider.findPayment(UNSEEN)).toMatchObject(none);
    const unnamed = answeredBy({ order: { ...ORDER, reference_id: undefined } }, foreign);
    expect(await unnamed.provider.findPayment(UNSEEN)).toMatchObject(none);
  });

  test.each<[string, readonly Reply[]]>([
    ['the list cannot be read', [[500, {}]]],
    ['our payment in the list cannot be read', [{ payments: [{ ...PAYMENT, amount_money: 'much' }] }]],
    ['the list does not end', Array.from({ length: 100 }, () => ({ ...foreign, cursor: 'more' }))],
  ])('is unknown if %s', async (_, replies) => {
    const { provider } = answeredBy({ order: ORDER }, ...replies);
    expect(await provider.findPayment(UNSEEN)).toEqual({ kind: 'unknown', reason: 'error' });
  });

  test('is not canceled with its order', async () => {
    const cancel = (...replies: readonly Reply[]) => {
      const { provider, sent } = answeredBy(...replies);
      const outcome = provider.cancelIntent({ ...UNSEEN, idempotencyKey: 'pay_1:cancel' });
      return outcome.then(({ kind }) => [kind, callsOf(sent).at(-1)]);
    };
    expect(await cancel({ order: ORDER }, { payments: [PAYMENT] })).toEqual(['refused', 'GET /v2/payments']);
    expect(await cancel({ order: ORDER }, [500, {}])).toEqual(['unknown', 'GET /v2/payments']);
    const ended = { ...PAYMENT, status: 'CANCELED' };
    expect(await cancel({ order: ORDER }, { payments: [ended] })).toEqual(['done', 'GET /v2/payments']);
    const canceled = { order: { ...ORDER, state: 'CANCELED' } };
    expect(await cancel({ order: ORDER }, foreign, { order: ORDER }, canceled)).toEqual(['done', 'PUT /v2/orders/O1']);
  });
});
