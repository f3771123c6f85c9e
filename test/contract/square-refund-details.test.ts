/** @module Tests refunds and disputes of the Square adapter, beyond the contract of every adapter. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { REFUND_REASONS } from '../../shared/core/money-back.ts';
import type { Outcome } from '../../shared/core/outcome.ts';
import { MINUTE_MS } from '../../shared/core/time.ts';
import {
  type CreateRefund,
  REFUND_DISPUTED,
  REFUND_EXCEEDS,
  type RefundedCharge,
  type RefundsPort,
} from '../../shared/providers/refund-port.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { SQUARE } from './provider-subjects.ts';

const AMOUNT = 2_500;

let rig: ProviderRig;
let made = 0;
beforeEach(async () => {
  rig = await openRig(SQUARE);
  made = 0;
});
afterEach(() => rig.close());

const doneValue = <T>(outcome: Outcome<T>): T => {
  if (outcome.kind === 'done') return outcome.value;
  throw new Error(`not done: ${JSON.stringify(outcome)}`);
};

const refundsOf = (provider = rig.provider): RefundsPort => {
  if (!provider.refunds) throw new Error('Square gives money back; absence is a bug');
  return provider.refunds;
};

interface Paid extends RefundedCharge {
  /** Our id of the payment. */
  readonly id: string;
}

const pay = async (method = 'cnon:card-nonce-ok'): Promise<Paid> => {
  made += 1;
  const id = `pay_${String(made).padStart(24, '0')}`;
  const input = {
    paymentId: id,
    amountCents: AMOUNT,
    currency: 'USD',
    description: 'Two books',
    method,
    customerId: undefined,
    saveMethod: false,
    returnUrl: undefined,
  };
  const { intentId } = doneValue(await rig.provider.createIntent({ ...input, idempotencyKey: `${id}:create` }));
  const report = doneValue(await rig.provider.confirmIntent({ ...input, intentId, idempotencyKey: `${id}:confirm` }));
  return { id, intentId, paymentId: report.paymentId };
};

const refundId = (n: number): string => `ref_${String(n).padStart(24, '0')}`;

const wanted = (payment: RefundedCharge, n: number, more: Partial<CreateRefund> = {}): CreateRefund => ({
  refundId: refundId(n),
  idempotencyKey: `${refundId(n)}:create`,
  payment: { intentId: payment.intentId, paymentId: payment.paymentId },
  amountCents: AMOUNT,
  currency: 'USD',
  reason: 'requested_by_customer',
  ...more,
});

const refund = (payment: RefundedCharge, n: number, more: Partial<CreateRefund> = {}) =>
  refundsOf().createRefund(wanted(payment, n, more));

const listed = async (payment: RefundedCharge) => doneValue(await refundsOf().listRefunds(payment));
const disputed = async (payment: RefundedCharge) => doneValue(await refundsOf().listDisputes(payment));

interface Ledger {
  readonly refunds: readonly { readonly id: string; readonly refund_id: string | null; readonly amount: number }[];
}
const ledger = () => rig.control<Ledger>('GET', '/ledger');

describe('a refund at Square', () => {
  test('is pending first, and succeeds a little later', async () => {
    const payment = await pay();
    const first = doneValue(await refund(payment, 1));
    expect(first).toEqual({
      refundId: expect.any(String),
      status: 'pending',
      amountCents: AMOUNT,
      currency: 'USD',
      ourRefundId: refundId(1),
      reason: 'requested_by_customer',
      failureCode: undefined,
      createdAt: Math.floor(rig.clock.now() / 1_000),
    });
    expect(await listed(payment)).toEqual([first]);
    await rig.clock.advance(MINUTE_MS);
    expect(await listed(payment)).toEqual([{ ...first, status: 'succeeded' }]);
    expect(await ledger()).toMatchObject({
      refunds: [{ id: first.refundId, refund_id: refundId(1), payment_id: payment.id, status: 'succeeded' }],
      charges: [{ amount_refunded: AMOUNT }],
    });
  });

  test('can return a part of the payment, and later refunds return the rest', async () => {
    const payment = await pay();
    for (const [n, amountCents] of [900, 600, 1_000].entries()) {
      expect(doneValue(await refund(payment, n, { amountCents }))).toMatchObject({ amountCents });
      await rig.clock.advance(MINUTE_MS);
    }
    const refunds = await listed(payment);
    expect(refunds.map(({ amountCents, status }) => [amountCents, status])).toEqual([
      [900, 'succeeded'],
      [600, 'succeeded'],
      [1_000, 'succeeded'],
    ]);
    expect(await refund(payment, 9, { amountCents: 1 })).toEqual({ kind: 'refused', reason: REFUND_EXCEEDS });
  });

  test('never exceeds the payment in total among concurrent requests', async () => {
    const payment = await pay();
    const outcomes = await Promise.all(Array.from({ length: 50 }, (_, n) => refund(payment, n, { amountCents: 100 })));
    expect(outcomes.filter(({ kind }) => kind === 'done')).toHaveLength(25);
    expect(outcomes.filter(({ kind }) => kind !== 'done')).toEqual(
      Array.from({ length: 25 }, () => ({ kind: 'refused', reason: REFUND_EXCEEDS })),
    );
    expect(await listed(payment)).toHaveLength(25);
  });

  test.each([
    ['fails', 'cnon:sim-pending-refund-fail', 'FAILED'],
    ['is rejected', 'cnon:sim-pending-refund-reject', 'REJECTED'],
  ])('shows Square’s failure reason if it %s, and another refund can follow', async (_, method, failureCode) => {
    const payment = await pay(method);
    const { refundId: id, status } = doneValue(await refund(payment, 1));
    expect(status).toBe('pending');
    await rig.clock.advance(MINUTE_MS);
    expect(await listed(payment)).toMatchObject([{ refundId: id, status: 'failed', failureCode }]);
    expect(doneValue(await refund(payment, 2))).toMatchObject({ status: 'pending' });
    expect(await listed(payment)).toHaveLength(2);
  });

  test('cannot be canceled at Square', async () => {
    const { refundId: id } = doneValue(await refund(await pay(), 1));
    await expect(rig.control('POST', `/refunds/${id}`, { status: 'canceled' })).rejects.toThrow(/ 409 /);
  });

  test.each([...REFUND_REASONS, undefined])('is found with the reason %s', async (reason) => {
    const payment = await pay();
    const first = doneValue(await refund(payment, 1, { reason }));
    expect(first).toMatchObject({ reason, ourRefundId: refundId(1) });
    expect(await listed(payment)).toEqual([first]);
  });

  test('is refused with Square’s error for an unknown or incomplete payment', async () => {
    const absent = { intentId: 'absent', paymentId: 'absent' };
    expect(await refund(absent, 1)).toEqual({ kind: 'refused', reason: 'NOT_FOUND', parameter: 'payment_id' });
    expect(await refundsOf().listRefunds(absent)).toMatchObject({ kind: 'refused', reason: 'NOT_FOUND' });
    const pending = await pay('bnon:bank-nonce-ok');
    expect(await refund(pending, 2)).toMatchObject({ kind: 'refused', reason: 'PAYMENT_NOT_REFUNDABLE' });
  });

  test('is refused for a disputed payment, but not during an inquiry', async () => {
    const reason = REFUND_DISPUTED;
    expect(await refund(await pay('cnon:sim-dispute'), 1)).toMatchObject({ kind: 'refused', reason });
    expect(await refund(await pay('cnon:sim-dispute-inquiry'), 2)).toMatchObject({ kind: 'done' });
  });

  test('is refused in a currency that Square or the location does not accept', async () => {
    const payment = await pay();
    const calls = rig.exchanges.length;
    expect(await refund(payment, 1, { currency: 'KWD' })).toMatchObject({ kind: 'refused', parameter: 'currency' });
    expect(await refund(payment, 2, { currency: 'EUR' })).toMatchObject({ kind: 'refused', parameter: 'currency' });
    expect(rig.exchanges.length).toBe(calls + 1);
  });

  test('is listed without our id if it was made at Square', async () => {
    const payment = await pay();
    await rig.control('POST', `/payments/${payment.id}/refunds`, { amount: 700 });
    expect(await listed(payment)).toMatchObject([{ amountCents: 700, ourRefundId: undefined, reason: undefined }]);
    expect(await listed(await pay())).toEqual([]);
  });
});

describe('the lookup of refunds and disputes', () => {
  test.each([
    ['timeout_before', { kind: 'unknown', reason: 'timeout' }],
    ['timeout_after', { kind: 'unknown', reason: 'timeout' }],
    ['reset', { kind: 'unknown', reason: 'unreachable' }],
    ['error_500', { kind: 'unknown', reason: 'error' }],
    ['malformed', { kind: 'unknown', reason: 'error' }],
    ['rate_limit', { kind: 'not_done', reason: 'rate_limited' }],
  ])('has no result if %s hits the read of the payment or of a refund', async (action, seen) => {
    const payment = await pay();
    const first = doneValue(await refund(payment, 1));
    for (const path of ['/v2/payments/', '/v2/refunds/']) {
      await rig.control('POST', '/faults', { action, path, times: 2 });
      const provider = refundsOf(action.startsWith('timeout') ? rig.impatient : rig.provider);
      expect(await provider.listRefunds(payment)).toMatchObject(seen);
      await rig.control('DELETE', '/faults');
    }
    expect(await listed(payment)).toEqual([first]);
  });
});

describe('a dispute at Square', () => {
  const raise = async (payment: Paid, more: object = {}): Promise<string> =>
    (await rig.control<{ id: string }>('POST', `/payments/${payment.id}/disputes`, more)).id;

  test('is listed with its state, reason and date', async () => {
    const payment = await pay();
    const disputeId = await raise(payment, { reason: 'product_not_received', amount: 1_200 });
    const createdAt = Math.floor(rig.clock.now() / 1_000);
    expect(await disputed(payment)).toEqual([
      {
        disputeId,
        status: 'needs_response',
        amountCents: 1_200,
        currency: 'USD',
        reason: 'not_received',
        evidenceDueBy: createdAt + 7 * DAY_SECONDS,
        createdAt,
        reportedAt: rig.clock.now(),
      },
    ]);
    expect(await disputed(await pay())).toEqual([]);
  });

  test.each([
    [false, 'won', 'won'],
    [false, 'lost', 'lost'],
    [true, 'closed', 'closed'],
  ])('passes through review (inquiry: %s), and then is %s', async (inquiry, status, end) => {
    const payment = await pay();
    const id = await raise(payment, { inquiry });
    const states = [(await disputed(payment))[0]?.status];
    for (const next of ['under_review', status]) {
      await rig.control('POST', `/disputes/${id}`, { status: next });
      states.push((await disputed(payment))[0]?.status);
    }
    expect(states).toEqual(['needs_response', 'under_review', end]);
  });

  test('is found on every page among the disputes of other payments', async () => {
    const [payment, other] = [await pay(), await pay()];
    const ours = [await raise(payment)];
    for (let n = 0; n < 40; n += 1) await raise(other);
    await rig.clock.advance(MINUTE_MS);
    ours.push(await raise(payment));
    expect((await disputed(payment)).map(({ disputeId }) => disputeId)).toEqual(ours);
    expect(await disputed(other)).toHaveLength(40);
    expect(rig.exchanges.filter(({ path }) => path.endsWith('/disputes')).length).toBe(6);
  });
});

describe('the refund and dispute events of Square', () => {
  const events = async () => {
    const sent = await rig.delivered();
    for (const { headers, body } of sent) {
      const verified = await rig.receiver?.verifyWebhook({ raw: Buffer.from(body), headers, now: rig.clock.now() });
      expect(verified).toBe('valid');
    }
    return sent.map(({ body }) => rig.provider.readEvent(JSON.parse(body)));
  };
  const about = async (prefix: string) =>
    (await events()).filter((event) => event?.rawType.startsWith(prefix)).map((event) => event ?? raiseMissing());
  const raiseMissing = (): never => {
    throw new Error('an event cannot be read');
  };

  test('carry the refund, pending and then succeeded, and name its payment', async () => {
    const payment = await pay();
    const pending = doneValue(await refund(payment, 1));
    await rig.clock.advance(MINUTE_MS);
    const seen = await about('refund.');
    expect(seen.map(({ rawType, type }) => [rawType, type])).toEqual([
      ['refund.created', 'refund.updated'],
      ['refund.updated', 'refund.updated'],
    ]);
    expect(seen.map(({ object }) => object)).toMatchObject([
      { id: pending.refundId, chargedAs: [payment.paymentId], refund: pending },
      { id: pending.refundId, chargedAs: [payment.paymentId], refund: { ...pending, status: 'succeeded' } },
    ]);
  });

  test('carry a refund that fails', async () => {
    await refund(await pay('cnon:sim-pending-refund-fail'), 1);
    await rig.clock.advance(MINUTE_MS);
    expect((await about('refund.')).map(({ object }) => object.refund?.status)).toEqual(['pending', 'failed']);
  });

  test('keep the payment succeeded at its full amount', async () => {
    const payment = await pay();
    await refund(payment, 1, { amountCents: 700 });
    const updated = (await about('payment.updated')).at(-1);
    expect(updated).toMatchObject({
      type: 'payment_intent.succeeded',
      object: { id: payment.paymentId, intentId: payment.intentId, amountCents: AMOUNT, ourPaymentId: payment.id },
    });
    expect(updated?.object.refund).toBeUndefined();
    expect((await about('payment.created')).length).toBe(1);
    const sent = (await rig.delivered()).map(({ body }) => JSON.parse(body));
    const shown = sent.findLast(({ type }) => type === 'payment.updated').data.object.payment;
    expect(shown).toMatchObject({ status: 'COMPLETED', refunded_money: { amount: 700, currency: 'USD' } });
    expect(shown.refund_ids).toHaveLength(1);
  });

  test('carry the dispute in each state, and name its payment', async () => {
    const payment = await pay('cnon:sim-dispute');
    const [first] = await disputed(payment);
    await rig.control('POST', `/disputes/${first?.disputeId}`, { status: 'under_review' });
    await rig.control('POST', `/disputes/${first?.disputeId}`, { status: 'won' });
    const seen = await about('dispute.');
    expect(seen.map(({ rawType, type, object }) => [rawType, type, object.dispute?.status])).toEqual([
      ['dispute.created', 'dispute.updated', 'needs_response'],
      ['dispute.state.updated', 'dispute.updated', 'under_review'],
      ['dispute.state.updated', 'dispute.updated', 'won'],
    ]);
    for (const [index, { object }] of seen.entries()) {
      expect(object).toMatchObject({ id: first?.disputeId, chargedAs: [payment.paymentId] });
      const reportedAt = Number(first?.reportedAt) + index;
      expect(object.dispute).toEqual({ ...first, status: object.dispute?.status, reportedAt });
    }
  });
});
