import { describe, expect, test } from 'vitest';
import { RETRY_MS } from '../../shared/calls/call-times.ts';
import { isHardDecline } from '../../shared/core/decline-advice.ts';
import { DECLINE_CODES, type DeclineCode } from '../../shared/core/outcome.ts';
import { DAY_MS, HOUR_MS, iso, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import { type Customer, customerShape } from '../../shared/customers/customer.ts';
import { recordKey } from '../../shared/platform/keys.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import { lastRetry, nextRetry } from '../../shared/subscriptions/billing/dunning.ts';
import {
  markCanceled,
  markPaused,
  pauseAfterTrial,
  reactivateInPaidPeriod,
  resumeInPaidPeriod,
} from '../../shared/subscriptions/billing/lifecycle.ts';
import {
  dropMethod,
  isPaidFor,
  openNextPeriod,
  periodPaymentRequest,
  startFirstPeriod,
} from '../../shared/subscriptions/billing/periods.ts';
import {
  abandonCharge,
  type ChargedPayment,
  type ChargeFailure,
  chargeOpenCondition,
  claimChargeAttempt,
  dropCharge,
  endDunning,
  enterPeriod,
  isChargeOpen,
  openCharge,
  periodPaymentId,
  recordFailed,
  recordPaid,
  recordPending,
  settleCharge,
} from '../../shared/subscriptions/billing/subscription-charge.ts';
import { type Charge, type Subscription, subscriptionShape } from '../../shared/subscriptions/record/subscription.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { DUNNING, subscription, trial } from '../builders/subscription.ts';

const NEXT = NOON + 31 * DAY_MS;
const first = { anchor: iso(NOON), period: 0, start: NOON, end: NEXT };
const settlement = { now: NOON + HOUR_MS, policy: DUNNING };

/** A subscription with a paid first month and an open renewal charge. */
const renewing = (fields: Partial<Subscription> = {}): Subscription => {
  const running = recordPaid(openCharge(subscription(), first, { cause: 'create', now: NOON }), NOON);
  return { ...openNextPeriod(running, { now: NEXT, policy: DUNNING }), ...fields };
};
const opening = (cause: Charge['cause'] = 'create', fields: Partial<Subscription> = {}): Subscription =>
  openCharge(subscription(fields), first, { cause, now: NOON });
const failure = (fields: Partial<ChargeFailure> = {}): ChargeFailure => ({
  code: 'insufficient_funds',
  attempts: 1,
  spent: false,
  ...fields,
});
const paymentOf = ({ charge }: Subscription, fields: Partial<ChargedPayment>): ChargedPayment => ({
  id: charge?.paymentId ?? '',
  status: 'succeeded',
  attempt: 1,
  ...fields,
});

describe('the dunning schedule', () => {
  test.each([
    [0, 1],
    [DAY_MS - MINUTE_MS - 1, 1],
    [DAY_MS - MINUTE_MS, 3],
    [DAY_MS, 3],
    [3 * DAY_MS - 2 * MINUTE_MS, 3],
    [3 * DAY_MS - SECOND_MS, 7],
    [7 * DAY_MS, 14],
    [14 * DAY_MS - 2 * MINUTE_MS, 14],
  ])('plans, %i ms after the first failure, the next retry on day %i', (after, day) => {
    expect(nextRetry(DUNNING, NOON, NOON + after)).toBe(NOON + day * DAY_MS);
  });

  test('ends with the last retry', () => {
    expect(nextRetry(DUNNING, NOON, NOON + 14 * DAY_MS - SECOND_MS)).toBeUndefined();
    expect(lastRetry(DUNNING, NOON)).toBe(NOON + 14 * DAY_MS);
  });

  test('can have no retries, so the first failure is final', () => {
    const none = { days: [], finalAction: 'cancel' } as const;
    expect(nextRetry(none, NOON, NOON)).toBeUndefined();
    expect(lastRetry(none, NOON)).toBe(NOON);
  });

  test.each(DECLINE_CODES)('retries a decline unless the card is lost or stolen: %s', (code) => {
    expect(isHardDecline(code)).toBe(code === 'lost_card' || code === 'stolen_card');
  });
});

const customerNamed = (id: string): Customer => ({
  ...{ id, version: 1, createdAt: iso(NOON), updatedAt: iso(NOON) },
  ...{ providerId: 'provider_a', providerCustomerId: 'cus_1' },
});

describe('an open charge', () => {
  test('names its period and its payment, and has a lookup after a minute', () => {
    expect(opening().charge).toEqual({
      ...{ cause: 'create', anchor: iso(NOON), period: 0, start: iso(NOON), end: iso(NEXT) },
      ...{ paymentId: periodPaymentId(subscription().id, iso(NOON), 0), generation: 0, attempts: 0 },
      lookAt: iso(NOON + MINUTE_MS),
    });
    expect(opening().latestPaymentId).toBe(opening().charge?.paymentId);
  });

  test('has one payment per subscription, period and generation', () => {
    const ids = [
      periodPaymentId('subs_1', iso(NOON), 0),
      periodPaymentId('subs_2', iso(NOON), 0),
      periodPaymentId('subs_1', iso(NEXT), 0),
      periodPaymentId('subs_1', iso(NOON), 1),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => id.startsWith('pay_'))).toBe(true);
    expect(periodPaymentId('subs_1', iso(NOON), 0)).toBe(ids[0]);
  });

  test('has another payment if the earlier charge of its period was dropped', () => {
    const again = openCharge(dropCharge(opening()), first, { cause: 'create', now: NOON });
    expect(again.charge?.generation).toBe(1);
    expect(again.charge?.paymentId).toBe(periodPaymentId(subscription().id, iso(NOON), 1));
  });

  test('is looked up a minute after each attempt is claimed', () => {
    const past = { ...renewing(), latestPaymentId: 'pay_other' };
    const claimed = claimChargeAttempt(past, NEXT + DAY_MS);
    expect(claimed.charge).toEqual({ ...past.charge, lookAt: iso(NEXT + DAY_MS + MINUTE_MS) });
    expect(claimed.latestPaymentId).toBe(past.charge?.paymentId);
    expect(claimChargeAttempt(subscription(), NOON)).toMatchObject({ charge: undefined, latestPaymentId: undefined });
  });

  test('can be collected while its subscription waits for its payment', async () => {
    const { table } = memoryTable({ now: () => NOON });
    const was = opening();
    const id = was.charge?.paymentId ?? '';
    const subscriptionId = was.id;
    expect(await isChargeOpen(table, { id: 'pay_1' })).toBe(true);
    expect(await isChargeOpen(table, { id, subscriptionId })).toBe(false);
    await table.put({ ...recordKey('SUB', subscriptionId), tombstone: true });
    expect(await isChargeOpen(table, { id, subscriptionId })).toBe(false);
    const stored = async (next: Subscription) => {
      await table.put(recordItem(subscriptionShape, next));
      const condition = chargeOpenCondition(subscriptionId, id);
      const { ok } = await table.transact([condition]);
      return [await isChargeOpen(table, { id, subscriptionId }), ok];
    };
    await table.put({ ...recordKey('CUS', was.customerId), tombstone: true });
    expect(await isChargeOpen(table, { id, subscriptionId })).toBe(false);
    await table.put(recordItem(customerShape, customerNamed(was.customerId)));
    expect(await stored(was)).toEqual([true, true]);
    expect(await stored({ ...was, ...abandonCharge(was, NOON) })).toEqual([false, false]);
    expect(await stored(dropCharge(was))).toEqual([false, false]);
    const other = { ...was, charge: was.charge && { ...was.charge, paymentId: 'pay_other' } };
    expect(await stored(other)).toEqual([false, false]);
    expect(chargeOpenCondition(subscriptionId, id).if).toContainEqual({ exists: true });
  });

  test('is open only while its customer exists if a person pays, but needs no customer if an organization pays', async () => {
    const { table } = memoryTable({ now: () => NOON });
    const was = opening();
    const charge = { id: was.charge?.paymentId ?? '', subscriptionId: was.id };
    await table.put(recordItem(subscriptionShape, was));
    expect(await isChargeOpen(table, charge)).toBe(false);
    await table.put(recordItem(subscriptionShape, { ...was, userId: undefined, organizationId: 'org_1' }));
    expect(await isChargeOpen(table, charge)).toBe(true);
  });
});

describe('a paid charge', () => {
  test('starts its period, which is paid until its end', () => {
    const paid = recordPaid(opening(), NOON + MINUTE_MS);
    expect(paid).toMatchObject({
      ...{ status: 'active', reason: 'created', version: 1, updatedAt: iso(NOON + MINUTE_MS), charge: undefined },
      ...{ anchor: iso(NOON), period: 0, currentPeriodStart: iso(NOON), currentPeriodEnd: iso(NEXT) },
      ...{ paidUntil: iso(NEXT), activeSince: iso(NOON) },
    });
  });

  test('keeps the start of the subscription’s active time', () => {
    expect(recordPaid(renewing(), NEXT)).toMatchObject({
      activeSince: iso(NOON),
      currentPeriodStart: iso(NEXT),
      period: 1,
    });
  });

  test.each([
    ['created', opening('create')],
    ['activated', opening('create', { status: 'past_due' })],
    ['renewed', renewing()],
    ['renewed', renewing({ status: 'past_due' })],
    ['trial_ended', openCharge(trial(2, { status: 'trialing' }), first, { cause: 'renew', now: NOON })],
    ['reactivated', opening('reactivate', { status: 'canceled' })],
    ['resumed', opening('resume', { status: 'paused' })],
  ])('has the reason of the charge: %s', (reason, was) => {
    expect(recordPaid(was, NEXT).reason).toBe(reason);
  });

  test('clears the cancellation after a reactivation, and otherwise keeps a scheduled cancellation', () => {
    const back = recordPaid(
      opening('reactivate', { status: 'canceled', cancelAtPeriodEnd: true, canceledAt: iso(NOON) }),
      NOON,
    );
    expect([back.cancelAtPeriodEnd, back.canceledAt]).toEqual([false, undefined]);
    expect(recordPaid(renewing({ cancelAtPeriodEnd: true }), NEXT).cancelAtPeriodEnd).toBe(true);
    expect(recordPaid(renewing(), NEXT).cancelAtPeriodEnd).toBe(false);
  });

  test('still counts as paid after it was abandoned, and the subscription stays ended', () => {
    const ended = markCanceled(renewing({ lapsed: 2 }), NEXT + HOUR_MS);
    const paid = recordPaid(ended, NEXT + DAY_MS);
    expect(paid).toMatchObject({
      ...{ status: 'canceled', reason: 'renewed', canceledAt: iso(NEXT + HOUR_MS), version: ended.version + 1 },
      ...{ currentPeriodStart: iso(NEXT), charge: undefined, updatedAt: iso(NEXT + DAY_MS) },
    });
    expect(paid.paidUntil).toBe(paid.currentPeriodEnd);
  });

  test('changes nothing if no charge is open', () => {
    const was = subscription({ status: 'active' });
    expect(recordPaid(was, NOON)).toBe(was);
  });
});

describe('a failed renewal', () => {
  test('makes the subscription past due until its next retry', () => {
    const was = renewing();
    const failed = recordFailed(was, failure(), { now: NEXT, policy: DUNNING });
    expect(failed).toMatchObject({
      ...{ status: 'past_due', reason: 'payment_failed', version: was.version + 1 },
      charge: {
        ...{ attempts: 1, failureCode: 'insufficient_funds', failedAt: iso(NEXT), generation: 0 },
        ...{ paymentId: was.charge?.paymentId, retryAt: iso(NEXT + DAY_MS), finalAt: iso(NEXT + 14 * DAY_MS) },
      },
    });
    expect(failed.charge?.lookAt).toBeUndefined();
  });

  test('counts the days from the first failure', () => {
    const once = recordFailed(renewing(), failure(), { now: NEXT, policy: DUNNING });
    const twice = recordFailed(once, failure({ attempts: 2 }), { now: NEXT + DAY_MS, policy: DUNNING });
    expect(twice.charge).toMatchObject({
      ...{ failedAt: iso(NEXT), retryAt: iso(NEXT + 3 * DAY_MS), finalAt: iso(NEXT + 14 * DAY_MS), attempts: 2 },
    });
  });

  test('is not retried after a decline for a stolen card', () => {
    const failed = recordFailed(renewing(), failure({ code: 'stolen_card' }), { now: NEXT, policy: DUNNING });
    expect(failed).toMatchObject({ status: 'past_due', charge: { finalAt: iso(NEXT + 14 * DAY_MS) } });
    expect(failed.charge?.retryAt).toBeUndefined();
  });

  test('is retried with a new payment, whose attempts count from 0, if its payment is used up', () => {
    const failed = recordFailed(renewing(), failure({ spent: true, attempts: 3 }), { now: NEXT, policy: DUNNING });
    expect(failed.charge).toMatchObject({
      ...{ generation: 1, attempts: 0 },
      paymentId: periodPaymentId(subscription().id, iso(NEXT), 1),
    });
  });

  test.each([
    ['cancel', { status: 'canceled', canceledAt: iso(NEXT + 14 * DAY_MS) }],
    ['pause', { status: 'paused' }],
  ] as const)('ends the subscription after the last retry, by the policy: %s', (finalAction, ended) => {
    const once = recordFailed(renewing(), failure(), { now: NEXT, policy: DUNNING });
    const policy = { ...DUNNING, finalAction };
    const last = recordFailed(once, failure({ attempts: 5 }), { now: NEXT + 14 * DAY_MS, policy });
    expect(last).toMatchObject({ ...ended, reason: 'payment_failed', charge: { abandoned: true } });
    expect([last.charge?.retryAt, last.charge?.finalAt]).toEqual([undefined, undefined]);
    if (finalAction === 'pause') expect(last.canceledAt).toBeUndefined();
  });

  test('drops an abandoned charge, and changes nothing that readers see', () => {
    const ended = markCanceled(renewing({ lapsed: 2 }), NEXT);
    const dropped = recordFailed(ended, failure(), settlement);
    expect(dropped).toEqual({ ...ended, charge: undefined, lapsed: 1 });
  });

  test('changes nothing if no charge is open', () => {
    const was = subscription({ status: 'active' });
    expect(recordFailed(was, failure(), settlement)).toBe(was);
  });
});

describe('a failed first charge', () => {
  test('declines a new subscription, and keeps the record for a day like its Idempotency-Key', () => {
    const declined = recordFailed(opening('create', { busyUntil: iso(NOON) }), failure(), settlement);
    expect(declined).toMatchObject({
      ...{ status: 'declined', declineCode: 'insufficient_funds', ttl: (NOON + DAY_MS) / 1_000 },
      ...{ charge: undefined, busyUntil: undefined, lapsed: 1, version: 0 },
    });
  });

  test.each([
    ['reactivate', 'canceled'],
    ['resume', 'paused'],
  ] as const)('leaves the subscription unchanged after a %s: %s', (cause, status) => {
    const was = opening(cause, { status });
    expect(recordFailed(was, failure(), settlement)).toEqual({ ...was, charge: undefined, lapsed: 1 });
  });

  test('keeps a pending subscription past due, without retries', () => {
    const pending = opening('create', { status: 'past_due' });
    const failed = recordFailed(pending, failure(), settlement);
    expect(failed).toMatchObject({ status: 'past_due', reason: 'payment_failed', charge: { attempts: 1 } });
    expect([failed.charge?.retryAt, failed.charge?.finalAt, failed.charge?.lookAt]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

describe('a charge with an unknown outcome', () => {
  test('is looked up after an hour if it is a renewal, and readers see no change', () => {
    const was = renewing();
    expect(recordPending(was, NEXT)).toEqual({ ...was, charge: { ...was.charge, lookAt: iso(NEXT + HOUR_MS) } });
    expect(recordPending(was, NEXT, RETRY_MS).charge?.lookAt).toBe(iso(NEXT + 5 * MINUTE_MS));
  });

  test.each([
    ['create', 'creating', 'created'],
    ['reactivate', 'canceled', 'reactivated'],
    ['resume', 'paused', 'resumed'],
  ] as const)('makes the subscription past due if the charge is a first charge: %s', (cause, status, reason) => {
    const was = opening(cause, { status, cancelAtPeriodEnd: true, canceledAt: iso(NOON), period: -1 });
    const pending = recordPending(was, NOON + MINUTE_MS);
    expect(pending).toMatchObject({
      ...{ status: 'past_due', reason, version: 1, canceledAt: iso(NOON), cancelAtPeriodEnd: status !== 'canceled' },
      charge: { lookAt: iso(NOON + MINUTE_MS + HOUR_MS) },
    });
    expect(pending).toMatchObject(
      cause === 'create'
        ? { anchor: iso(NOON), period: 0, currentPeriodStart: iso(NOON), currentPeriodEnd: iso(NEXT) }
        : { period: -1, currentPeriodEnd: iso(NOON) },
    );
  });

  test.each([
    ['past due already', opening('create', { status: 'past_due' })],
    ['ended', markCanceled(opening('create', { status: 'past_due' }), NOON)],
  ])('changes only the time of the next lookup if the subscription is %s', (_, was) => {
    expect(recordPending(was, NOON)).toEqual({ ...was, charge: { ...was.charge, lookAt: iso(NOON + HOUR_MS) } });
  });

  test('leaves the subscription ended if the charge is an abandoned first charge', () => {
    const was = { ...opening('reactivate', { status: 'canceled' }) };
    const ended = { ...was, ...abandonCharge(was, NOON) };
    expect(recordPending(ended, NOON).status).toBe('canceled');
  });

  test('changes nothing if no charge is open', () => {
    const was = subscription({ status: 'active' });
    expect(recordPending(was, NOON)).toBe(was);
  });
});

describe('the settlement of a charge by its payment', () => {
  const settled = (was: Subscription, fields: Partial<ChargedPayment>) =>
    settleCharge(was, paymentOf(was, fields), { now: NEXT, policy: DUNNING });

  test('records a succeeded payment as paid', () => {
    const was = renewing();
    expect(settled(was, {})).toEqual(recordPaid(was, NEXT));
  });

  test.each<[DeclineCode | undefined, DeclineCode]>([
    ['expired_card', 'expired_card'],
    [undefined, 'processing_error'],
  ])('records a failed payment with its decline code %s', (failureCode, code) => {
    const was = renewing();
    expect(settled(was, { status: 'failed', attempt: 1, failureCode })).toEqual(
      recordFailed(was, failure({ code }), { now: NEXT, policy: DUNNING }),
    );
  });

  test('records a canceled payment, so the next attempt uses another payment', () => {
    const was = renewing();
    const canceled = settled(was, { status: 'canceled', attempt: 1 });
    expect(canceled.charge).toMatchObject({ generation: 1, failureCode: 'processing_error', attempts: 0 });
  });

  test.each(['pending', 'processing'] as const)('leaves the charge open for the status %s', (status) => {
    const was = renewing();
    expect(settled(was, { status })).toEqual(recordPending(was, NEXT));
  });

  test.each(['created', 'requires_payment_method'] as const)('changes nothing without an attempt: %s', (status) => {
    const was = renewing();
    expect(settled(was, { status })).toBe(was);
  });

  test('counts a failed attempt once', () => {
    const once = settled(renewing(), { status: 'failed', attempt: 1 });
    expect(settled(once, { status: 'failed', attempt: 1 })).toBe(once);
    expect(settled(once, { status: 'failed', attempt: 2 }).charge?.attempts).toBe(2);
  });

  test('ignores a response that arrives after the event of the attempt’s failure', () => {
    const failed = settled(renewing(), { status: 'failed', attempt: 1 });
    for (const status of ['processing', 'pending'] as const) {
      expect(settled(failed, { status, attempt: 1 })).toBe(failed);
      expect(settled(failed, { status, attempt: 2 })).toEqual(recordPending(failed, NEXT));
    }
  });

  test('ignores the payment of another charge', () => {
    const was = renewing();
    expect(settled(was, { id: 'pay_other' })).toBe(was);
    expect(settled(subscription(), { id: 'pay_other' })).toEqual(subscription());
  });
});

describe('a charge that is no longer retried', () => {
  test('stays open until its outcome is known, and keeps its planned lookup', () => {
    const was = renewing({ lapsed: 2 });
    expect(abandonCharge(was, NEXT + DAY_MS)).toEqual({ charge: { ...was.charge, abandoned: true }, lapsed: 2 });
    const waiting = recordFailed(was, failure(), { now: NEXT, policy: DUNNING });
    expect(abandonCharge(waiting, NEXT + HOUR_MS).charge).toMatchObject({
      ...{ abandoned: true, retryAt: undefined, finalAt: undefined, lookAt: iso(NEXT + HOUR_MS + MINUTE_MS) },
    });
    expect(abandonCharge(subscription({ lapsed: 3 }), NEXT)).toEqual({ charge: undefined, lapsed: 3 });
  });

  test('sets the number of lapsed payments to its generation plus 1 when the charge is dropped', () => {
    expect(dropCharge(opening())).toMatchObject({ charge: undefined, lapsed: 1 });
    const again = { ...opening(), charge: { ...(opening().charge as Charge), generation: 4 } };
    expect(dropCharge(again).lapsed).toBe(5);
    expect(dropCharge(subscription({ lapsed: 3 })).lapsed).toBe(3);
  });

  test('ends the subscription at the end of dunning', () => {
    const waiting = recordFailed(renewing(), failure(), { now: NEXT, policy: DUNNING });
    const ended = endDunning(waiting, { now: NEXT + DAY_MS, policy: DUNNING });
    expect(ended).toMatchObject({ status: 'canceled', reason: 'payment_failed', canceledAt: iso(NEXT + DAY_MS) });
  });
});

describe('a subscription command', () => {
  const active = recordPaid(opening(), NOON);

  test('can cancel the subscription immediately, with its charge and its provider lookup', () => {
    const canceled = markCanceled({ ...renewing(), syncAt: iso(NEXT) }, NEXT + HOUR_MS);
    expect(canceled).toMatchObject({
      ...{ status: 'canceled', reason: 'canceled', canceledAt: iso(NEXT + HOUR_MS), updatedAt: iso(NEXT + HOUR_MS) },
      ...{ charge: { abandoned: true }, syncAt: undefined },
    });
  });

  test('can pause the subscription, and stops the retries', () => {
    const waiting = recordFailed(renewing(), failure(), { now: NEXT, policy: DUNNING });
    const paused = markPaused(waiting, NEXT + HOUR_MS);
    expect(paused).toMatchObject({ status: 'paused', reason: 'paused', charge: { abandoned: true } });
    expect(paused.charge?.retryAt).toBeUndefined();
  });

  test('can resume within the paid period without a charge', () => {
    const resumed = resumeInPaidPeriod(markPaused(active, NOON), NOON + DAY_MS);
    expect(resumed).toMatchObject({ status: 'active', reason: 'resumed', paidUntil: iso(NEXT), charge: undefined });
  });

  test.each([
    [0, 'active'],
    [-1, 'trialing'],
  ])(
    'can reactivate within the paid period or the trial, and then clears the cancellation: period %i',
    (period, status) => {
      const canceled = markCanceled({ ...active, period, cancelAtPeriodEnd: true }, NOON);
      expect(reactivateInPaidPeriod(canceled, NOON + DAY_MS)).toMatchObject({
        ...{ status, reason: 'reactivated', cancelAtPeriodEnd: false, canceledAt: undefined },
      });
    },
  );

  test('is not needed for the pause after a trial without a method', () => {
    const ended = pauseAfterTrial(trial(2, { status: 'trialing' }), NOON + 2 * DAY_MS);
    expect(ended).toMatchObject({ status: 'paused', reason: 'paused' });
  });
});

describe('the next period of a subscription', () => {
  const at = { now: NEXT, policy: DUNNING };
  const active = recordPaid(opening(), NOON);

  test('is charged to the subscription’s method', () => {
    expect(openNextPeriod(active, at).charge).toMatchObject({ cause: 'renew', period: 1, start: iso(NEXT) });
  });

  test.each([
    ['renewed', active],
    ['trial_ended', trial(2, { status: 'trialing' })],
  ])('begins immediately if it costs nothing: %s', (reason, was) => {
    const next = openNextPeriod({ ...was, totalCents: 0, paymentMethodId: undefined }, at);
    expect(next).toMatchObject({ status: 'active', reason, charge: undefined });
    expect(next.paidUntil).toBe(next.currentPeriodEnd);
  });

  test('makes the subscription past due without a retry if there is no method', () => {
    const next = openNextPeriod({ ...active, paymentMethodId: undefined, methodRef: undefined }, at);
    expect(next).toMatchObject({
      ...{ status: 'past_due', reason: 'payment_method_unavailable' },
      charge: { failureCode: 'processing_error', attempts: 0, generation: 0, finalAt: iso(NEXT + 14 * DAY_MS) },
    });
    expect(next.charge?.retryAt).toBeUndefined();
  });

  test('pauses the subscription if a trial ends without a method', () => {
    const next = openNextPeriod(trial(2, { status: 'trialing', paymentMethodId: undefined }), at);
    expect([next.status, next.charge]).toEqual(['paused', undefined]);
  });

  test('makes the subscription active when it begins', () => {
    const entered = enterPeriod(active, { ...first, period: 1 }, { cause: 'charge', reason: 'renewed', now: NEXT });
    expect(entered).toMatchObject({ status: 'active', period: 1, reason: 'renewed', updatedAt: iso(NEXT) });
  });
});

describe('the loss of the method', () => {
  test('ends the retries of a past-due subscription, and records the reason', () => {
    const waiting = recordFailed(renewing(), failure(), { now: NEXT, policy: DUNNING });
    const without = dropMethod(waiting);
    expect(without).toMatchObject({
      reason: 'payment_method_unavailable',
      charge: { finalAt: iso(NEXT + 14 * DAY_MS) },
    });
    expect([without.paymentMethodId, without.methodRef, without.charge?.retryAt]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('keeps the reason of a subscription that is not past due, and opens no charge', () => {
    const active = recordPaid(opening(), NOON);
    expect(dropMethod(active)).toEqual({ ...active, paymentMethodId: undefined, methodRef: undefined });
    expect('charge' in dropMethod(subscription())).toBe(false);
  });
});

describe('a new billing calendar', () => {
  const free = { totalCents: 0, subtotalCents: 0 };

  test.each([
    ['create', 'creating', 'created'],
    ['reactivate', 'canceled', 'reactivated'],
    ['resume', 'paused', 'resumed'],
  ] as const)('begins with a charge, or immediately if the total is 0: %s', (cause, status, reason) => {
    const was = subscription({ status, cancelAtPeriodEnd: true, canceledAt: iso(NOON - DAY_MS) });
    expect(startFirstPeriod(was, cause, NOON)).toMatchObject({
      status,
      charge: { cause, start: iso(NOON), period: 0 },
    });
    if (cause === 'resume') return;
    const started = startFirstPeriod({ ...was, ...free }, cause, NOON);
    expect(started).toMatchObject({
      ...{ status: 'active', reason, charge: undefined, canceledAt: undefined, cancelAtPeriodEnd: cause === 'create' },
      ...{ currentPeriodStart: iso(NOON), currentPeriodEnd: iso(NEXT), paidUntil: iso(NEXT) },
    });
  });

  test('begins immediately for a paused subscription that costs nothing', () => {
    const started = startFirstPeriod(subscription({ status: 'paused', ...free }), 'resume', NOON);
    expect(started).toMatchObject({ status: 'active', reason: 'resumed', paidUntil: iso(NEXT) });
  });
});

describe('the paid time of a subscription', () => {
  test.each([
    [{ period: 0, paidUntil: iso(NOON + 1) }, true],
    [{ period: 0, paidUntil: iso(NOON) }, false],
    [{ period: 0, paidUntil: undefined, currentPeriodEnd: iso(NOON + 1) }, false],
    [{ period: -1, paidUntil: undefined, currentPeriodEnd: iso(NOON + 1) }, true],
    [{ period: -1, paidUntil: iso(NOON + 1), currentPeriodEnd: iso(NOON) }, false],
  ])('still runs for %j: %s', (fields, expected) => {
    expect(isPaidFor(subscription(fields), NOON)).toBe(expected);
  });
});

test('the payment of a period has its subscription’s price, owner, method and texts', () => {
  const fields = {
    ...{ subtotalCents: 1_000, taxCents: 200, discountCents: 100, totalCents: 1_100, currency: 'EUR' },
    ...{ projectId: 'prj_1', productId: 'prd_1', organizationId: 'org_1', billingAddressId: 'addr_1' },
    ...{
      guestId: 'gst_1',
      guestEmail: 'g@example.com',
      guestName: 'Gus',
      referenceCode: 'R',
      category: 'C',
      tags: 'T',
    },
    ...{ concept: 'Tea', description: 'A box of tea' },
  };
  const { userId, userEmail, customerId, providerCustomerId, paymentMethodId, methodRef, providerId, id } =
    subscription();
  const own = { userId, userEmail, customerId, providerCustomerId, paymentMethodId, methodRef, providerId };
  expect(periodPaymentRequest(subscription(fields), 'pay_1')).toEqual({
    ...{ id: 'pay_1', subscriptionId: id },
    ...own,
    ...fields,
  });
  expect(periodPaymentRequest(subscription({ ...fields, description: undefined }), 'pay_1').description).toBe('Tea');
});

test('the condition of an open charge names the subscription’s record', () => {
  expect(chargeOpenCondition('subs_1', 'pay_1').check).toEqual(recordKey('SUB', 'subs_1'));
});
