/** @module The charge of one subscription period, as pure functions. A subscription has at most one open charge. */

import { FIRST_LOOK_MS } from '../../calls/call-times.ts';
import { isHardDecline } from '../../core/decline-advice.ts';
import { subscriptionPaymentId } from '../../core/ids.ts';
import type { DeclineCode } from '../../core/outcome.ts';
import type { ProviderDecline } from '../../core/payment-facts.ts';
import { DAY_MS, epochSeconds, type Instant, instant, iso } from '../../core/time.ts';
import type { PaymentStatus } from '../../payments/payment.ts';
import type { Clause } from '../../platform/expression.ts';
import { recordKey } from '../../platform/keys.ts';
import type { Table } from '../../platform/table.ts';
import { readLinkedRecords } from '../record/linked-records.ts';
import type { PaidPeriod } from '../record/paid-period-record.ts';
import { unpaidOncePaid } from '../record/paid-tier.ts';
import { type Charge, isStopped, type Reason, type Subscription, subscriptionOf } from '../record/subscription.ts';
import { afterPeriod } from '../record/subscription-discount.ts';
import { EVENT_LATE_MS, isFirst } from '../record/subscription-states.ts';
import { advanceSubscription, type VersionChange } from '../record/subscription-versions.ts';
import { type DunningPolicy, lastRetry, nextRetry } from './dunning.ts';
import { periodPaidBy, unpaidPeriod } from './paid-period.ts';

const CLAIM_KEPT_MS = DAY_MS;

/** The id of a period's payment. It derives from subscription and period, so two runs cannot charge twice. */
export const periodPaymentId = (subscriptionId: string, start: string, generation: number): string =>
  subscriptionPaymentId(subscriptionId, start, String(generation));

export interface BilledPeriod {
  readonly anchor: string;
  /** Counted from the anchor. */
  readonly period: number;
  readonly start: Instant;
  readonly end: Instant;
}

/** Opens the charge of a period. Commit the result before the provider is called. Readers do not see the change. */
export const openCharge = (
  subscription: Subscription,
  { anchor, period, start, end }: BilledPeriod,
  { cause, now }: { readonly cause: Charge['cause']; readonly now: Instant },
): Subscription => {
  const generation = subscription.lapsed ?? 0;
  const paymentId = periodPaymentId(subscription.id, iso(start), generation);
  const charge: Charge = {
    cause,
    anchor,
    period,
    start: iso(start),
    end: iso(end),
    paymentId,
    generation,
    attempts: 0,
    lookAt: iso(now + FIRST_LOOK_MS),
  };
  return { ...subscription, charge, latestPaymentId: paymentId };
};

/** Claims the next attempt at the open charge. */
export const claimChargeAttempt = (subscription: Subscription, now: Instant): Subscription => ({
  ...subscription,
  charge: subscription.charge && { ...subscription.charge, lookAt: iso(now + FIRST_LOOK_MS) },
  latestPaymentId: subscription.charge?.paymentId,
});

/** Enters a paid or free period. */
export const enterPeriod = (
  subscription: Subscription,
  { anchor, period, start, end }: BilledPeriod,
  move: Omit<VersionChange, 'to'>,
): Subscription =>
  advanceSubscription(
    subscription,
    { ...move, to: 'active' },
    periodFields({ anchor, period, start, end }, subscription),
  );

const periodFields = ({ anchor, period, start, end }: BilledPeriod, subscription: Subscription) => ({
  anchor,
  period,
  currentPeriodStart: iso(start),
  currentPeriodEnd: iso(end),
  paidUntil: iso(end),
  paidPeriod: paidPeriodAt({ start: iso(start), end: iso(end) }, subscription),
  activeSince: subscription.activeSince ?? iso(start),
  ...afterPeriod(subscription),
  ...unpaidOncePaid(subscription),
  charge: undefined,
});

/** The new period's payments, from the open charge; none for a free period. */
const paidPeriodAt = (
  period: { readonly start: string; readonly end: string },
  subscription: Subscription,
): PaidPeriod => {
  const { charge, totalCents } = subscription;
  return charge
    ? periodPaidBy(period, subscription, { id: charge.paymentId, cents: totalCents })
    : unpaidPeriod(period.start);
};

/** Records that the open charge is paid. */
export const recordPaid = (subscription: Subscription, now: Instant): Subscription => {
  const { charge } = subscription;
  if (!charge) return subscription;
  const billed = { ...charge, start: instant(charge.start), end: instant(charge.end) };
  if (charge.abandoned) {
    // A plan change has already paid for this period, so the charge is dropped.
    if ((subscription.paidUntil ?? '') >= charge.end) return dropCharge(subscription);
    // The payment succeeded after the charge was canceled. The period counts as paid; the status is unchanged.
    const move = { to: subscription.status, cause: 'charge', reason: 'renewed', now } as const;
    return advanceSubscription(subscription, move, periodFields(billed, subscription));
  }
  const reason = paidReason(subscription, charge);
  const next = enterPeriod(subscription, billed, { cause: 'charge', reason, now });
  return { ...next, ...clearScheduledCancel(subscription), canceledAt: undefined };
};

/** Reactivation clears a scheduled cancellation. */
export const clearScheduledCancel = ({
  status,
  cancelAtPeriodEnd,
}: Subscription): Pick<Subscription, 'cancelAtPeriodEnd'> => ({
  cancelAtPeriodEnd: status !== 'canceled' && cancelAtPeriodEnd,
});

const paidReason = ({ status }: Subscription, { cause }: Charge): Reason => {
  switch (cause) {
    case 'create':
      return status === 'creating' ? 'created' : 'activated';
    case 'renew':
      return status === 'trialing' ? 'trial_ended' : 'renewed';
    case 'reactivate':
      return 'reactivated';
    case 'resume':
      return 'resumed';
  }
};

export interface ChargeFailure {
  readonly code: DeclineCode;
  readonly decline?: ProviderDecline | undefined;
  /** Attempts of the payment so far. */
  readonly attempts: number;
  /** True if the payment is in a final state, so the next attempt needs a new payment. */
  readonly spent: boolean;
}

export interface SettleOptions {
  readonly now: Instant;
  readonly policy: DunningPolicy;
}

/** Records a failed attempt at the open charge. */
export const recordFailed = (
  subscription: Subscription,
  failure: ChargeFailure,
  { now, policy }: SettleOptions,
): Subscription => {
  const { charge } = subscription;
  if (!charge) return subscription;
  if (charge.abandoned) return dropCharge(subscription);
  if (isFirst(charge) && subscription.status !== 'past_due') return refuseFirstCharge(subscription, failure.code);
  const failed = failedCharge(charge, failure, { subscriptionId: subscription.id, now });
  const move = { to: 'past_due', cause: 'charge', reason: 'payment_failed', now } as const;
  if (isFirst(charge)) return advanceSubscription(subscription, move, { charge: failed });
  const failedAt = instant(failed.failedAt ?? iso(now));
  const retryAt = nextRetry(policy, failedAt, now);
  if (retryAt === undefined) return endDunning(subscription, { now, policy });
  return advanceSubscription(subscription, move, {
    charge: {
      ...failed,
      retryAt: isHardDecline(failure.code, failure.decline) ? undefined : iso(retryAt),
      finalAt: iso(lastRetry(policy, failedAt)),
    },
  });
};

const failedCharge = (
  charge: Charge,
  { code, attempts, spent }: ChargeFailure,
  { subscriptionId, now }: { readonly subscriptionId: string; readonly now: Instant },
): Charge => {
  const generation = charge.generation + (spent ? 1 : 0);
  return {
    ...charge,
    generation,
    paymentId: periodPaymentId(subscriptionId, charge.start, generation),
    attempts: spent ? 0 : attempts,
    failedAt: charge.failedAt ?? iso(now),
    failureCode: code,
    lookAt: undefined,
  };
};

/** Drops a declined charge. A new subscription becomes declined; any other subscription is unchanged. */
const refuseFirstCharge = (subscription: Subscription, declineCode: DeclineCode): Subscription => {
  const dropped = dropCharge(subscription);
  if (dropped.status !== 'creating') return dropped;
  const ttl = epochSeconds(instant(subscription.createdAt) + CLAIM_KEPT_MS);
  return { ...dropped, status: 'declined', busyUntil: undefined, declineCode, ttl };
};

/** Drops the open charge unpaid. Readers do not see the change. */
export const dropCharge = ({ charge, lapsed, ...subscription }: Subscription): Subscription => ({
  ...subscription,
  charge: undefined,
  lapsed: charge ? charge.generation + 1 : lapsed,
});

/**
 * Ends an open charge without retries. The charge is kept until its payment is canceled or has a known outcome, because
 * the payer may be authenticating the payment and could still pay it in the browser.
 */
export const abandonCharge = (
  { charge, lapsed }: Subscription,
  now: Instant,
): Pick<Subscription, 'charge' | 'lapsed'> => {
  if (!charge) return { charge, lapsed };
  const lookAt = charge.lookAt ?? iso(now + FIRST_LOOK_MS);
  return { charge: { ...charge, abandoned: true, retryAt: undefined, finalAt: undefined, lookAt }, lapsed };
};

/** Cancels or pauses the subscription, as the policy says, after the last retry. */
export const endDunning = (subscription: Subscription, { now, policy }: SettleOptions): Subscription => {
  const move = { cause: 'dunning', reason: 'payment_failed', now } as const;
  const dropped = abandonCharge(subscription, now);
  if (policy.finalAction === 'pause') return advanceSubscription(subscription, { ...move, to: 'paused' }, dropped);
  return advanceSubscription(subscription, { ...move, to: 'canceled' }, { ...dropped, canceledAt: iso(now) });
};

/** Records an unknown outcome. A first charge makes the subscription past due until the charge settles. */
export const recordPending = (subscription: Subscription, now: Instant, checkInMs = EVENT_LATE_MS): Subscription => {
  const charge = subscription.charge && { ...subscription.charge, lookAt: iso(now + checkInMs) };
  if (!charge) return subscription;
  const { status } = subscription;
  if (charge.abandoned || !isFirst(charge) || status === 'past_due') return { ...subscription, charge };
  const reasons = { create: 'created', reactivate: 'reactivated', resume: 'resumed', renew: 'renewed' } as const;
  const move = { to: 'past_due', cause: 'charge', reason: reasons[charge.cause], now } as const;
  const { anchor, period, start: currentPeriodStart, end: currentPeriodEnd } = charge;
  const firstPeriod = charge.cause === 'create' ? { anchor, period, currentPeriodStart, currentPeriodEnd } : {};
  // Keep `canceledAt` until the charge of a reactivation is paid.
  return advanceSubscription(subscription, move, { charge, ...firstPeriod, ...clearScheduledCancel(subscription) });
};

export interface ChargedPayment {
  readonly id: string;
  readonly status: PaymentStatus;
  /** Attempts so far. */
  readonly attempt: number;
  readonly failureCode?: DeclineCode | undefined;
  readonly decline?: ProviderDecline | undefined;
}

/** Settles the open charge by its payment. Idempotent in any order; ignores other payments. */
export const settleCharge = (
  subscription: Subscription,
  payment: ChargedPayment,
  settlement: SettleOptions,
): Subscription => {
  const { charge } = subscription;
  if (charge?.paymentId !== payment.id) return subscription;
  const { failureCode: code = 'processing_error', decline } = payment;
  switch (payment.status) {
    case 'succeeded':
      return recordPaid(subscription, settlement.now);
    case 'failed':
      if (payment.attempt <= charge.attempts) return subscription;
      return recordFailed(subscription, { code, decline, attempts: payment.attempt, spent: false }, settlement);
    case 'canceled':
      return recordFailed(subscription, { code, attempts: payment.attempt, spent: true }, settlement);
    case 'pending':
    case 'processing':
    case 'requires_capture':
      // This attempt may have been recorded as failed after the payment was read.
      return payment.attempt <= charge.attempts ? subscription : recordPending(subscription, settlement.now);
    case 'created':
    case 'requires_payment_method':
      return subscription;
  }
};

/** True if the payment may still be collected off-session. Always true for a payment without a subscription. */
export const isChargeOpen = async (
  table: Table,
  { id, subscriptionId }: { readonly id: string; readonly subscriptionId?: string | undefined },
): Promise<boolean> => {
  if (subscriptionId === undefined) return true;
  const item = await table.get(recordKey('SUB', subscriptionId));
  const subscription = item && subscriptionOf(item);
  if (!subscription || !(isOfOpenCharge(subscription, id) || isOfOpenChange(subscription, id))) return false;
  return (await readLinkedRecords(table, subscription)).hasPayer;
};

const isOfOpenCharge = ({ charge }: Subscription, paymentId: string): boolean =>
  charge?.paymentId === paymentId && !charge.abandoned;

const isOfOpenChange = (subscription: Subscription, paymentId: string): boolean =>
  subscription.change?.paymentId === paymentId && subscription.change.step !== 'dropped' && !isStopped(subscription);

/** The write condition that the subscription still has this open charge. */
export const chargeOpenCondition = (subscriptionId: string, paymentId: string) => {
  const clauses: readonly Clause[] = [
    { exists: true },
    { equals: ['charge.paymentId', paymentId] },
    { lacks: 'charge.abandoned' },
  ];
  return { check: recordKey('SUB', subscriptionId), if: clauses };
};
