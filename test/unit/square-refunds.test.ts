/** @module Refunds and disputes by Square's adapter with prepared responses. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { REFUND_REASONS, type RefundReason } from '../../shared/core/money-back.ts';
import { parseSettings } from '../../shared/core/settings.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { REFUND_EXCEEDS } from '../../shared/providers/refund-port.ts';
import { squareKey } from '../../shared/providers/square/outcome.ts';
import { openSquare } from '../../shared/providers/square/square.ts';

type Answer = readonly [status: number, body: unknown];
interface Sent {
  readonly method: string | undefined;
  readonly url: string;
  readonly body: unknown;
}

const open = (answerOf: (url: string) => Answer | Promise<never>, sent: Sent[] = []): PaymentProvider => {
  const provider = openSquare({
    slot: 'provider_c',
    settings: {
      ...parseSettings({}).slots.provider_c,
      ACCESS_TOKEN: 't',
      LOCATION_ID: 'L',
      BASE_URL: 'https://sq.example',
    },
    timeoutMs: 50,
    fetch: async (input, init) => {
      const url = String(input);
      sent.push({ method: init?.method, url, body: init?.body && JSON.parse(String(init.body)) });
      const [status, body] = await answerOf(url);
      return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
    },
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
  });
  if (!provider) throw new Error('it stays closed');
  return provider;
};
const refundsAt = (answerOf: (url: string) => Answer | Promise<never>, sent: Sent[] = []) => {
  const { refunds } = open(answerOf, sent);
  if (!refunds) throw new Error('Square gives money back; absence is a bug');
  return refunds;
};

const OURS = 'ref_0123456789abcdef01234567';
const PAYMENT = { intentId: 'O1', paymentId: 'P/1' };
const INPUT = {
  refundId: OURS,
  idempotencyKey: `${OURS}:create`,
  payment: PAYMENT,
  amountCents: 1_000,
  currency: 'USD',
  reason: 'duplicate' as RefundReason | undefined,
};
const REFUND = {
  id: 'R1',
  status: 'PENDING',
  amount_money: { amount: 1_000, currency: 'USD' },
  payment_id: 'P1',
  order_id: 'O9',
  reason: `duplicate (${OURS})`,
  created_at: '2030-01-01T00:00:01.999Z',
};
const CREATED_AT = Date.UTC(2030, 0, 1, 0, 0, 1) / 1_000;
const READ = {
  refundId: 'R1',
  status: 'pending',
  amountCents: 1_000,
  currency: 'USD',
  ourRefundId: OURS,
  reason: 'duplicate',
  failureCode: undefined,
  createdAt: CREATED_AT,
};
const refusal = (category: string, code: string, field?: string) => ({
  errors: [{ category, code, detail: '', field }],
});

describe('the response of Square to a refund', () => {
  test.each<[string, number, unknown, object]>([
    ['pending', 200, { refund: REFUND }, { kind: 'done', value: READ }],
    [
      'completed',
      200,
      { refund: { ...REFUND, status: 'COMPLETED' } },
      { kind: 'done', value: { ...READ, status: 'succeeded' } },
    ],
    ...['REJECTED', 'FAILED'].map((status): [string, number, unknown, object] => [
      status,
      200,
      { refund: { ...REFUND, status } },
      { kind: 'done', value: { ...READ, status: 'failed', failureCode: status } },
    ]),
    ['an unknown status', 200, { refund: { ...REFUND, status: 'X' } }, { kind: 'done', value: READ }],
    ['no status', 200, { refund: { ...REFUND, status: undefined } }, { kind: 'done', value: READ }],
    ['no refund', 200, {}, { kind: 'unknown', reason: 'error' }],
    ['invalid JSON', 200, '<html>', { kind: 'unknown', reason: 'error' }],
    [
      'an amount that cannot be read',
      200,
      { refund: { ...REFUND, amount_money: { amount: 1.5, currency: 'USD' } } },
      { kind: 'unknown', reason: 'error' },
    ],
    ['a broken gateway', 502, '<html>', { kind: 'unknown', reason: 'error' }],
    ['a conflict', 409, refusal('INVALID_REQUEST_ERROR', 'CONFLICT'), { kind: 'unknown', reason: 'error' }],
    [
      'an error of Square itself',
      400,
      refusal('API_ERROR', 'INTERNAL_SERVER_ERROR'),
      { kind: 'unknown', reason: 'error' },
    ],
    ['a temporary error', 400, refusal('REFUND_ERROR', 'TEMPORARY_ERROR'), { kind: 'unknown', reason: 'error' }],
    ['a refusal that cannot be read', 403, '<html>', { kind: 'unknown', reason: 'error' }],
    [
      'too many requests',
      429,
      refusal('RATE_LIMIT_ERROR', 'RATE_LIMITED'),
      { kind: 'not_done', reason: 'rate_limited', retryAfterSeconds: undefined },
    ],
    [
      'an amount above what is left',
      400,
      refusal('REFUND_ERROR', 'REFUND_AMOUNT_INVALID', 'amount_money.amount'),
      { kind: 'refused', reason: REFUND_EXCEEDS },
    ],
    ...[
      'PAYMENT_NOT_REFUNDABLE',
      'REFUND_ALREADY_PENDING',
      'REFUND_DECLINED',
      'INSUFFICIENT_PERMISSIONS_FOR_REFUND',
    ].map((code): [string, number, unknown, object] => [
      code,
      400,
      refusal('REFUND_ERROR', code),
      { kind: 'refused', reason: code, parameter: undefined },
    ]),
    [
      'a card that takes no refund',
      400,
      { ...refusal('PAYMENT_METHOD_ERROR', 'CARD_EXPIRED'), refund: { ...REFUND, status: 'FAILED' } },
      { kind: 'refused', reason: 'CARD_EXPIRED', parameter: undefined },
    ],
    [
      'a refusal together with an error of Square itself',
      400,
      {
        errors: [
          ...refusal('REFUND_ERROR', 'REFUND_DECLINED').errors,
          ...refusal('API_ERROR', 'GATEWAY_TIMEOUT').errors,
        ],
      },
      { kind: 'unknown', reason: 'error' },
    ],
    [
      'an unknown payment',
      404,
      refusal('INVALID_REQUEST_ERROR', 'NOT_FOUND', 'payment_id'),
      { kind: 'refused', reason: 'NOT_FOUND', parameter: 'payment_id' },
    ],
  ])('is read correctly: %s', async (...[_, status, body, outcome]) => {
    expect(await refundsAt(() => [status, body]).createRefund(INPUT)).toEqual(outcome);
  });
});

describe('the request for a refund to Square', () => {
  test('has the same key, payment, amount and text with our id each time', async () => {
    const sent: Sent[] = [];
    const refunds = refundsAt(() => [200, { refund: REFUND }], sent);
    await refunds.createRefund(INPUT);
    await refunds.createRefund(INPUT);
    expect(sent[0]).toEqual({
      method: 'POST',
      url: 'https://sq.example/v2/refunds',
      body: {
        idempotency_key: squareKey(`${OURS}:create`),
        payment_id: 'P/1',
        amount_money: { amount: 1_000, currency: 'USD' },
        reason: `duplicate (${OURS})`,
      },
    });
    expect(sent[1]).toEqual(sent[0]);
  });

  test('has a text of at most 192 characters, from which our id and the reason are read back', async () => {
    for (const reason of [...REFUND_REASONS, undefined]) {
      const sent: Sent[] = [];
      await refundsAt(() => [200, { refund: REFUND }], sent).createRefund({ ...INPUT, reason });
      const text = String(Object(sent[0]?.body).reason);
      expect(text).toContain(OURS);
      expect(text.length).toBeLessThanOrEqual(192);
      const again = await refundsAt(() => [200, { refund: { ...REFUND, reason: text } }]).createRefund(INPUT);
      expect(again).toMatchObject({ value: { ourRefundId: OURS, reason } });
    }
  });
});

describe('the reason text of a refund', () => {
  const read = async (reason: string | null | undefined) => {
    const outcome = await refundsAt(() => [200, { refund: { ...REFUND, reason } }]).createRefund(INPUT);
    if (outcome.kind !== 'done') throw new Error(`not done: ${outcome.kind}`);
    return [outcome.value.ourRefundId, outcome.value.reason];
  };

  test.each([
    [undefined],
    [null],
    [''],
    ['Returned goods'],
    [OURS],
    [`(${OURS})`],
    [`duplicate (${OURS}) `],
    [`duplicate (${OURS})\n`],
    [`duplicate (${OURS.toUpperCase()})`],
    [`duplicate (${OURS}0)`],
    [`duplicate (${OURS.slice(0, -1)})`],
    [`duplicate (${OURS}) (${OURS})`],
    ['duplicate (pay_0123456789abcdef01234567)'],
  ])('%j contains no refund id of ours', async (reason) => {
    expect(await read(reason)).toEqual([undefined, undefined]);
  });

  test('gives our refund id only in its exact form, for any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 300 }), async (text) => {
        expect(await read(`${text}(${OURS.slice(1)})`)).toEqual([undefined, undefined]);
      }),
    );
  });
});

describe('the refunds of a Square payment', () => {
  const refund = (id: string, second: number) => ({
    ...REFUND,
    id,
    created_at: `2030-01-01T00:00:${String(second).padStart(2, '0')}Z`,
  });
  const from = (answers: Readonly<Record<string, Answer>>, sent: Sent[] = []) =>
    refundsAt(
      (url) => answers[url.slice('https://sq.example'.length)] ?? [404, refusal('INVALID_REQUEST_ERROR', 'NOT_FOUND')],
      sent,
    );

  test('are the refunds that the payment names, each once, oldest first', async () => {
    const ids = ['R3', 'R1', 'R2', 'R1', 'R4', 'R5', 'R6', 'R7'];
    const sent: Sent[] = [];
    const refunds = from(
      {
        '/v2/payments/P%2F1': [200, { payment: { id: 'P/1', refund_ids: ids } }],
        ...Object.fromEntries(
          [1, 2, 3, 4, 5, 6, 7].map((n): [string, Answer] => [
            `/v2/refunds/R${n}`,
            [200, { refund: refund(`R${n}`, n) }],
          ]),
        ),
      },
      sent,
    );
    expect(await refunds.listRefunds(PAYMENT)).toMatchObject({
      kind: 'done',
      value: [1, 2, 3, 4, 5, 6, 7].map((n) => ({ refundId: `R${n}` })),
    });
    expect(sent).toHaveLength(8);
  });

  test.each([undefined, null, []])('are absent if the payment names %j', async (refund_ids) => {
    const refunds = from({ '/v2/payments/P%2F1': [200, { payment: { id: 'P/1', refund_ids } }] });
    expect(await refunds.listRefunds(PAYMENT)).toEqual({ kind: 'done', value: [] });
  });

  test.each<[string, Answer, object]>([
    ['causes a server error', [500, ''], { kind: 'unknown', reason: 'error' }],
    ['cannot be read', [200, { refund: { id: 'R2' } }], { kind: 'unknown', reason: 'error' }],
    ['does not exist', [404, refusal('INVALID_REQUEST_ERROR', 'NOT_FOUND')], { kind: 'refused', reason: 'NOT_FOUND' }],
  ])('have an unknown or refused outcome if one of them %s', async (_, answer, outcome) => {
    const refunds = from({
      '/v2/payments/P%2F1': [200, { payment: { id: 'P/1', refund_ids: ['R1', 'R2'] } }],
      '/v2/refunds/R1': [200, { refund: refund('R1', 1) }],
      '/v2/refunds/R2': answer,
    });
    expect(await refunds.listRefunds(PAYMENT)).toMatchObject(outcome);
  });
});

const DISPUTE = {
  id: 'D1',
  amount_money: { amount: 700, currency: 'USD' },
  reason: 'NO_KNOWLEDGE',
  state: 'EVIDENCE_REQUIRED',
  due_at: '2030-01-08T00:00:00.000Z',
  disputed_payment: { payment_id: 'P1' },
  created_at: '2030-01-01T00:00:01.999Z',
};
const DISPUTED = { intentId: 'O1', paymentId: 'P1' };

describe('the disputes of a Square payment', () => {
  const list = (pages: readonly unknown[], sent: Sent[] = []) =>
    refundsAt((url) => {
      const cursor = new URL(url).searchParams.get('cursor');
      return [200, pages[Number(cursor ?? 0)]];
    }, sent).listDisputes(DISPUTED);

  test.each([
    ['EVIDENCE_REQUIRED', 'needs_response'],
    ['PROCESSING', 'under_review'],
    ['ACCEPTED', 'lost'],
    ['WON', 'won'],
    ['LOST', 'lost'],
    ['INQUIRY_EVIDENCE_REQUIRED', 'needs_response'],
    ['INQUIRY_PROCESSING', 'under_review'],
    ['INQUIRY_CLOSED', 'closed'],
    ['A_STATE_OF_TOMORROW', 'needs_response'],
  ])('are mapped from the state %s to the status %s', async (state, status) => {
    expect(await list([{ disputes: [{ ...DISPUTE, state }] }])).toEqual({
      kind: 'done',
      value: [
        {
          disputeId: 'D1',
          status,
          amountCents: 700,
          currency: 'USD',
          reason: 'no_knowledge',
          evidenceDueBy: Date.UTC(2030, 0, 8) / 1_000,
          createdAt: CREATED_AT,
        },
      ],
    });
  });

  test('can lack a reason and a date, and can have their id under its earlier field name', async () => {
    const { id, reason: _, due_at: __, ...rest } = DISPUTE;
    const outcome = await list([{ disputes: [{ ...rest, dispute_id: id }] }]);
    expect(outcome).toMatchObject({
      value: [{ disputeId: 'D1', reason: undefined, evidenceDueBy: undefined }],
    });
  });

  test('are found on every page, oldest first, without the disputes of other payments', async () => {
    const at = (id: string, second: number) => ({ ...DISPUTE, id, created_at: `2030-01-01T00:00:0${second}Z` });
    const others = [{ id: 'X' }, { ...DISPUTE, id: 'Y', disputed_payment: { payment_id: 'P2' } }];
    const sent: Sent[] = [];
    const pages = [{ disputes: [...others, at('D2', 2)], cursor: '1' }, { cursor: '2' }, { disputes: [at('D1', 1)] }];
    expect(await list(pages, sent)).toMatchObject({ value: [{ disputeId: 'D1' }, { disputeId: 'D2' }] });
    expect(sent).toHaveLength(3);
    expect(await list([{}])).toEqual({ kind: 'done', value: [] });
  });

  test('are unknown if one of them cannot be read, or if the pages never end', async () => {
    const unknown = { kind: 'unknown', reason: 'error' };
    expect(await list([{ disputes: [{ ...DISPUTE, amount_money: null }] }])).toEqual(unknown);
    expect(await list([{ disputes: [{ ...DISPUTE, id: null }] }])).toEqual(unknown);
    const sent: Sent[] = [];
    expect(await list([{ cursor: '0' }], sent)).toEqual(unknown);
    expect(sent).toHaveLength(100);
  });
});

describe("Square's refund and dispute events", () => {
  const { readEvent } = open(() => [200, {}]);
  const event = (type: string, object: unknown) => ({
    merchant_id: 'M',
    type,
    event_id: 'e1',
    created_at: '2030-01-01T00:00:02Z',
    data: { type: 'x', id: 'from-data', object },
  });

  test.each(['refund.created', 'refund.updated'])(
    'contain, if the type is %s, the refund and only the id of its payment',
    (type) => {
      const read = readEvent(event(type, { refund: REFUND }));
      expect(read).toMatchObject({ id: 'e1', rawType: type, type: 'refund.updated', createdAt: CREATED_AT + 1 });
      expect(read?.object).toMatchObject({ id: 'R1', intentId: undefined, chargedAs: ['P1'], refund: READ });
      expect([read?.object.amountCents, read?.object.ourPaymentId, read?.object.dispute]).toEqual([
        undefined,
        undefined,
        undefined,
      ]);
    },
  );

  test.each([
    ['PENDING', 'pending'],
    ['COMPLETED', 'succeeded'],
    ['REJECTED', 'failed'],
    ['FAILED', 'failed'],
  ])('report a refund that is %s at Square as %s', (status, read) => {
    const { object } = readEvent(event('refund.updated', { refund: { ...REFUND, status } })) ?? {};
    expect(object?.refund?.status).toBe(read);
  });

  test.each(['dispute.created', 'dispute.state.updated', 'dispute.state.changed'])(
    'contain the dispute if the type is %s',
    (type) => {
      const { id, ...rest } = DISPUTE;
      for (const object of [{ dispute: DISPUTE }, { object: DISPUTE }, { dispute: { ...rest, dispute_id: id } }]) {
        expect(readEvent(event(type, object))).toMatchObject({
          rawType: type,
          type: 'dispute.updated',
          object: {
            id: 'D1',
            chargedAs: ['P1'],
            dispute: { disputeId: 'D1', status: 'needs_response', amountCents: 700 },
          },
        });
      }
    },
  );

  test('cause no action if the refund or dispute names no payment', () => {
    const unlinked = readEvent(event('refund.created', { refund: { ...REFUND, payment_id: null, unlinked: true } }));
    expect(unlinked).toMatchObject({ id: 'e1', type: undefined, object: { id: 'R1' } });
    const dispute = readEvent(event('dispute.created', { dispute: { ...DISPUTE, disputed_payment: null } }));
    expect(dispute).toMatchObject({ id: 'e1', type: undefined, object: { id: 'D1' } });
    for (const { object } of [unlinked, dispute].filter((one) => one !== undefined)) {
      expect([object.chargedAs, object.refund, object.dispute]).toEqual([undefined, undefined, undefined]);
    }
  });

  test('cause no action if they report evidence', () => {
    for (const type of ['dispute.evidence.created', 'dispute.evidence.added']) {
      expect(readEvent(event(type, { dispute: DISPUTE }))).toMatchObject({ type: undefined });
      expect(readEvent(event(type, { evidence: {} }))).toMatchObject({ type: undefined });
    }
  });

  test.each<[string, string, unknown]>([
    ['refund.created', 'no object', undefined],
    ['refund.updated', 'no refund', {}],
    ['refund.updated', 'no amount', { refund: { ...REFUND, amount_money: null } }],
    ['refund.updated', 'no time', { refund: { ...REFUND, created_at: 'yesterday' } }],
    ['refund.updated', 'no id', { refund: { ...REFUND, id: '' } }],
    ['refund.created', 'a dispute', { dispute: DISPUTE }],
    ['dispute.created', 'no dispute', {}],
    ['dispute.created', 'no id', { dispute: { ...DISPUTE, id: null } }],
    ['dispute.state.updated', 'no state', { dispute: { ...DISPUTE, state: null } }],
    ['dispute.state.changed', 'a text', { dispute: 'gone' }],
    ['dispute.state.updated', 'a refund', { refund: REFUND }],
  ])('cannot be read if a %s event has %s', (type, _, object) => {
    expect(readEvent(event(type, object))).toBeUndefined();
  });

  test('report a refunded payment as succeeded, with its full amount', () => {
    const payment = {
      id: 'P1',
      status: 'COMPLETED',
      amount_money: { amount: 2_500, currency: 'USD' },
      refunded_money: { amount: 2_500, currency: 'USD' },
      refund_ids: ['R1'],
      order_id: 'O1',
    };
    const read = readEvent(event('payment.updated', { payment }));
    expect(read).toMatchObject({ type: 'payment_intent.succeeded', object: { id: 'P1', amountCents: 2_500 } });
    expect(read?.object.chargedAs).toBeUndefined();
  });
});
