import { derivedId } from '../core/ids.ts';
import type { DeclineCode } from '../core/outcome.ts';
import { DAY, epochSeconds, HOUR, type Instant, instant, iso, MINUTE } from '../core/time.ts';
import type { Charge, Reason, StoredStatus, Subscription } from './subscription.ts';
import {
  type Cause,
  type DunningPolicy,
  isFirst,
  isHardDecline,
  isUnclear,
  lastRetry,
  mayChange,
  nextRetry,
} from './transitions.ts';

/** Pure next states of a subscription. Each returns a whole record; the store commits it under the one it came from. */
interface Move {
  readonly to: StoredStatus;
  readonly cause: Cause;
  readonly reason: Reason;
  readonly now: Instant;
}

/** The next version: a change that readers see. */
export const moved = (
  subscription: Subscription,
  { to, cause, reason, now }: Move,
  changed: Partial<Subscription> = {},
): Subscription => {
  if (!mayChange(subscription.status, to, cause)) {
    throw new Error(`a ${subscription.status} subscription does not become ${to} by ${cause}`);
  }
  return {
    ...subscription,
    busyUntil: undefined,
    ...changed,
    status: to,
    reason,
    version: subscription.version + 1,
    updatedAt: iso(now),
  };
};

/** A change that leaves status and billing as they are. */
export const edited = (
  subscription: Subscription,
  reason: Reason,
  now: Instant,
  changed: Partial<Subscription>,
): Subscription => moved(subscription, { to: subscription.status, cause: 'provider', reason, now }, changed);

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
export const chargeOpened = (
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
export const attemptClaimed = (subscription: Subscription, now: Instant): Subscription => ({
  ...subscription,
  charge: subscription.charge && { ...subscription.charge, lookAt: iso(now + FIRST_LOOK_MS) },
  latestPaymentId: subscription.charge?.paymentId,
});

/** In a period that is paid for, or costs nothing. */
export const inPeriod = (
  subscription: Subscription,
  { anchor, period, start, end }: BilledPeriod,
  move: Omit<Move, 'to'>,
): Subscription =>
  moved(subscription, { ...move, to: 'active' }, { ...periodFields({ anchor, period, start, end }, subscription) });

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
export const chargePaid = (subscription: Subscription, now: Instant): Subscription => {
  const { charge } = subscription;
  if (!charge) return subscription;
  const billed = { ...charge, start: instant(charge.start), end: instant(charge.end) };
  if (charge.abandoned) {
    // The money moved although nobody wanted it any more: what was paid for is said, the state stays.
    const move = { to: subscription.status, cause: 'charge', reason: 'renewed', now } as const;
    return moved(subscription, move, periodFields(billed, subscription));
  }
  const reason = paidReason(subscription, charge);
  const next = inPeriod(subscription, billed, { cause: 'charge', reason, now });
  return { ...next, ...whollyBack(subscription), canceledAt: undefined };
};

/** Whoever comes back from a cancelation has taken it back; one that is asked for later is another. */
export const whollyBack = ({ status, cancelAtPeriodEnd }: Subscription): Pick<Subscription, 'cancelAtPeriodEnd'> => ({
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

export interface Failure {
  readonly code: DeclineCode;
  /** Attempts of the payment by now. */
  readonly attempts: number;
  /** Its payment is over for good: the next attempt is another payment's. */
  readonly spent: boolean;
}

/** An attempt at the open charge came to nothing. */
export const chargeFailed = (
  subscription: Subscription,
  failure: Failure,
  now: Instant,
  policy: DunningPolicy,
): Subscription => {
  const { charge } = subscription;
  if (!charge) return subscription;
  if (charge.abandoned) return chargeDropped(subscription);
  if (isFirst(charge) && subscription.status !== 'past_due') return firstRefused(subscription, failure.code);
  const failed = failedCharge(subscription.id, charge, failure, now);
  if (isFirst(charge)) {
    return moved(subscription, { to: 'past_due', cause: 'charge', reason: 'payment_failed', now }, { charge: failed });
  }
  const failedAt = instant(failed.failedAt ?? iso(now));
  const retryAt = nextRetry(policy, failedAt, now);
  if (retryAt === undefined) return retriesOver(subscription, now, policy);
  return moved(
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
  { code, attempts, spent }: Failure,
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
  const dropped = chargeDropped(subscription);
  if (dropped.status !== 'creating') return dropped;
  const ttl = epochSeconds(instant(subscription.createdAt) + CLAIM_KEPT_MS);
  return { ...dropped, status: 'declined', busyUntil: undefined, declineCode, ttl };
};

/** Let go unpaid. Nothing that a reader sees. */
export const chargeDropped = (subscription: Subscription): Subscription => ({
  ...subscription,
  ...withoutCharge(subscription),
});

const withoutCharge = ({ charge, lapsed }: Subscription): Pick<Subscription, 'charge' | 'lapsed'> => ({
  charge: undefined,
  lapsed: charge ? charge.generation + 1 : lapsed,
});

/** Retries are used up. */
export const retriesOver = (subscription: Subscription, now: Instant, policy: DunningPolicy): Subscription => {
  const over = { cause: 'dunning', reason: 'payment_failed', now } as const;
  const rest = withoutCharge(subscription);
  if (policy.finalAction === 'pause') return moved(subscription, { ...over, to: 'paused' }, rest);
  return moved(subscription, { ...over, to: 'canceled' }, { ...rest, canceledAt: iso(now) });
};

/** Nobody knows yet what came of it. Whoever waits for a first charge is told that it is pending. */
export const chargeUnclear = (subscription: Subscription, now: Instant, lookInMs = NEXT_LOOK_MS): Subscription => {
  const charge = subscription.charge && { ...subscription.charge, lookAt: iso(now + lookInMs) };
  if (!charge) return subscription;
  const { status } = subscription;
  if (charge.abandoned || !isFirst(charge) || status === 'past_due') return { ...subscription, charge };
  const reasons = { create: 'created', reactivate: 'reactivated', resume: 'resumed', renew: 'renewed' } as const;
  const move = { to: 'past_due', cause: 'charge', reason: reasons[charge.cause], now } as const;
  const { anchor, period, start: currentPeriodStart, end: currentPeriodEnd } = charge;
  const begun = charge.cause === 'create' ? { anchor, period, currentPeriodStart, currentPeriodEnd } : {};
  // Until it is paid, it is not back: when it was canceled still counts.
  return moved(subscription, move, { charge, ...begun, ...whollyBack(subscription) });
};

/** What is under way is followed to its end; anything else is dropped. */
const abandoned = (subscription: Subscription): Pick<Subscription, 'charge' | 'lapsed'> => {
  const { charge, lapsed } = subscription;
  if (!charge || !isUnclear(charge)) return withoutCharge(subscription);
  return { charge: { ...charge, abandoned: true, retryAt: undefined, finalAt: undefined }, lapsed };
};

export const canceledNow = (subscription: Subscription, now: Instant): Subscription =>
  moved(
    subscription,
    { to: 'canceled', cause: 'cancel', reason: 'canceled', now },
    { canceledAt: iso(now), ...abandoned(subscription), syncAt: undefined },
  );

export const pausedNow = (subscription: Subscription, now: Instant): Subscription =>
  moved(subscription, { to: 'paused', cause: 'pause', reason: 'paused', now }, abandoned(subscription));

/** The trial is over and there is nothing to charge it to. */
export const trialWithoutMethod = (subscription: Subscription, now: Instant): Subscription =>
  moved(subscription, { to: 'paused', cause: 'trial', reason: 'paused', now });

/** Running again in a period that is paid for. */
export const resumedFree = (subscription: Subscription, now: Instant): Subscription =>
  moved(subscription, { to: 'active', cause: 'resume', reason: 'resumed', now });

export const reactivatedFree = (subscription: Subscription, now: Instant): Subscription => {
  const to = subscription.period < 0 ? 'trialing' : 'active';
  const changed = { cancelAtPeriodEnd: false, canceledAt: undefined };
  return moved(subscription, { to, cause: 'reactivate', reason: 'reactivated', now }, changed);
};
