import { derivedId } from '../../core/ids.ts';
import type { DeclineCode } from '../../core/outcome.ts';
import { DAY, epochSeconds, HOUR, type Instant, instant, iso, MINUTE } from '../../core/time.ts';
import type { PaymentStatus } from '../../payments/record/payment.ts';
import type { Clause } from '../../table/expression.ts';
import { recordKey } from '../../table/keys.ts';
import type { Table } from '../../table/table.ts';
import { isFirst } from '../record/states.ts';
import { type Charge, type Reason, type Subscription, subscriptionOf } from '../record/subscription.ts';
import { advance, type Transition } from '../record/versions.ts';
import { type DunningPolicy, isHardDecline, lastRetry, nextRetry } from './dunning.ts';

/** The first look at a charge that nobody finished; the next ones are rare, since its payment tells by itself. */
const FIRST_LOOK_MS = MINUTE;
const NEXT_LOOK_MS = HOUR;
/** Where nothing tells by itself: the provider may not even have been reached. */
export const UNANSWERED_LOOK_MS = 5 * MINUTE;
const CLAIM_KEPT_MS = DAY;

/** The payment of a period: its id follows from subscription and period, so that two runs cannot charge twice. */
export const periodPaymentId = (subscriptionId: string, start: string, generation: number): string =>
  derivedId('payment', subscriptionId, start, String(generation));

export interface BilledPeriod {
  readonly anchor: string;
  /** Counted from the anchor. */
  readonly period: number;
  readonly start: Instant;
  readonly end: Instant;
}

/** Opens the charge of a period: committed before anybody is asked for money. Nothing that a reader sees. */
export const openCharge = (
  subscription: Subscription,
  cause: Charge['cause'],
  { anchor, period, start, end }: BilledPeriod,
  now: Instant,
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

/** Claims one more attempt at the open charge. */
export const claimAttempt = (subscription: Subscription, now: Instant): Subscription => ({
  ...subscription,
  charge: subscription.charge && { ...subscription.charge, lookAt: iso(now + FIRST_LOOK_MS) },
  latestPaymentId: subscription.charge?.paymentId,
});

/** In a period that is paid for, or costs nothing. */
export const enterPeriod = (
  subscription: Subscription,
  { anchor, period, start, end }: BilledPeriod,
  move: Omit<Transition, 'to'>,
): Subscription =>
  advance(subscription, { ...move, to: 'active' }, { ...periodFields({ anchor, period, start, end }, subscription) });

const periodFields = ({ anchor, period, start, end }: BilledPeriod, { activeSince }: Subscription) => ({
  anchor,
  period,
  currentPeriodStart: iso(start),
  currentPeriodEnd: iso(end),
  paidUntil: iso(end),
  activeSince: activeSince ?? iso(start),
  charge: undefined,
});

/** The open charge has been paid. */
export const recordPaid = (subscription: Subscription, now: Instant): Subscription => {
  const { charge } = subscription;
  if (!charge) return subscription;
  const billed = { ...charge, start: instant(charge.start), end: instant(charge.end) };
  if (charge.abandoned) {
    // The money moved although nobody wanted it any more: what was paid for is said, the state stays.
    const move = { to: subscription.status, cause: 'charge', reason: 'renewed', now } as const;
    return advance(subscription, move, periodFields(billed, subscription));
  }
  const reason = paidReason(subscription, charge);
  const next = enterPeriod(subscription, billed, { cause: 'charge', reason, now });
  return { ...next, ...clearScheduledCancel(subscription), canceledAt: undefined };
};

/** Whoever comes back from a cancelation has taken it back; one that is asked for later is another. */
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
  /** Attempts of the payment by now. */
  readonly attempts: number;
  /** Its payment is over for good: the next attempt is another payment's. */
  readonly spent: boolean;
}

/** An attempt at the open charge came to nothing. */
export const recordFailed = (
  subscription: Subscription,
  failure: ChargeFailure,
  now: Instant,
  policy: DunningPolicy,
): Subscription => {
  const { charge } = subscription;
  if (!charge) return subscription;
  if (charge.abandoned) return dropCharge(subscription);
  if (isFirst(charge) && subscription.status !== 'past_due') return firstRefused(subscription, failure.code);
  const failed = failedCharge(subscription.id, charge, failure, now);
  if (isFirst(charge)) {
    return advance(
      subscription,
      { to: 'past_due', cause: 'charge', reason: 'payment_failed', now },
      { charge: failed },
    );
  }
  const failedAt = instant(failed.failedAt ?? iso(now));
  const retryAt = nextRetry(policy, failedAt, now);
  if (retryAt === undefined) return endDunning(subscription, now, policy);
  return advance(
    subscription,
    { to: 'past_due', cause: 'charge', reason: 'payment_failed', now },
    {
      charge: {
        ...failed,
        retryAt: isHardDecline(failure.code) ? undefined : iso(retryAt),
        finalAt: iso(lastRetry(policy, failedAt)),
      },
    },
  );
};

const failedCharge = (
  subscriptionId: string,
  charge: Charge,
  { code, attempts, spent }: ChargeFailure,
  now: Instant,
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

/** Somebody waited for it and is told; what was there before stays as it was. */
const firstRefused = (subscription: Subscription, declineCode: DeclineCode): Subscription => {
  const dropped = dropCharge(subscription);
  if (dropped.status !== 'creating') return dropped;
  const ttl = epochSeconds(instant(subscription.createdAt) + CLAIM_KEPT_MS);
  return { ...dropped, status: 'declined', busyUntil: undefined, declineCode, ttl };
};

/** Let go unpaid. Nothing that a reader sees. */
export const dropCharge = (subscription: Subscription): Subscription => ({
  ...subscription,
  ...withoutCharge(subscription),
});

export const withoutCharge = ({ charge, lapsed }: Subscription): Pick<Subscription, 'charge' | 'lapsed'> => ({
  charge: undefined,
  lapsed: charge ? charge.generation + 1 : lapsed,
});

/** Retries are used up. */
export const endDunning = (subscription: Subscription, now: Instant, policy: DunningPolicy): Subscription => {
  const over = { cause: 'dunning', reason: 'payment_failed', now } as const;
  const rest = withoutCharge(subscription);
  if (policy.finalAction === 'pause') return advance(subscription, { ...over, to: 'paused' }, rest);
  return advance(subscription, { ...over, to: 'canceled' }, { ...rest, canceledAt: iso(now) });
};

/** Nobody knows yet what came of it. Whoever waits for a first charge is told that it is pending. */
export const recordPending = (subscription: Subscription, now: Instant, lookInMs = NEXT_LOOK_MS): Subscription => {
  const charge = subscription.charge && { ...subscription.charge, lookAt: iso(now + lookInMs) };
  if (!charge) return subscription;
  const { status } = subscription;
  if (charge.abandoned || !isFirst(charge) || status === 'past_due') return { ...subscription, charge };
  const reasons = { create: 'created', reactivate: 'reactivated', resume: 'resumed', renew: 'renewed' } as const;
  const move = { to: 'past_due', cause: 'charge', reason: reasons[charge.cause], now } as const;
  const { anchor, period, start: currentPeriodStart, end: currentPeriodEnd } = charge;
  const begun = charge.cause === 'create' ? { anchor, period, currentPeriodStart, currentPeriodEnd } : {};
  // Until it is paid, it is not back: when it was canceled still counts.
  return advance(subscription, move, { charge, ...begun, ...clearScheduledCancel(subscription) });
};

/** What the open charge takes from its payment. */
export interface ChargedPayment {
  readonly id: string;
  readonly status: PaymentStatus;
  /** Attempts so far. */
  readonly attempt: number;
  readonly failureCode?: DeclineCode | undefined;
}

/** The subscription after its payment: whoever hears of it first, and however often, it ends the same. */
export const settleCharge = (
  subscription: Subscription,
  payment: ChargedPayment,
  now: Instant,
  policy: DunningPolicy,
): Subscription => {
  const { charge } = subscription;
  if (charge?.paymentId !== payment.id) return subscription;
  const code = payment.failureCode ?? 'processing_error';
  switch (payment.status) {
    case 'succeeded':
      return recordPaid(subscription, now);
    case 'failed':
      if (payment.attempt <= charge.attempts) return subscription;
      return recordFailed(subscription, { code, attempts: payment.attempt, spent: false }, now, policy);
    case 'canceled':
      return recordFailed(subscription, { code, attempts: payment.attempt, spent: true }, now, policy);
    case 'pending':
    case 'processing':
      return recordPending(subscription, now);
    case 'created':
    case 'requires_payment_method':
      return subscription;
  }
};

/** Is this payment still what its subscription wants collected? (A canceled one may have let it go.) */
export const isChargeOpen = async (
  table: Table,
  { id, subscriptionId }: { readonly id: string; readonly subscriptionId?: string | undefined },
): Promise<boolean> => {
  if (subscriptionId === undefined) return true;
  const item = await table.get(recordKey('SUB', subscriptionId));
  const charge = item && subscriptionOf(item)?.charge;
  return charge !== undefined && charge.paymentId === id && !charge.abandoned;
};

/** The same as a condition of a write. */
export const chargeOpenCondition = (subscriptionId: string, paymentId: string) => {
  const clauses: readonly Clause[] = [
    { exists: true },
    { equals: ['charge.paymentId', paymentId] },
    { lacks: 'charge.abandoned' },
  ];
  return { check: recordKey('SUB', subscriptionId), if: clauses };
};
