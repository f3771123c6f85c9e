import { type Instant, instant, iso } from '../core/time.ts';
import { periodAt, periodStart, type Schedule } from './calendar.ts';
import { type BilledPeriod, chargeFailed, chargeOpened, inPeriod, trialWithoutMethod, whollyBack } from './changes.ts';
import type { Charge, Subscription } from './subscription.ts';
import type { DunningPolicy } from './transitions.ts';

/**
 * Periods that were missed (an outage, or a long dunning of a short interval) are billed one after another, this many at
 * most; older ones are let go: nobody is charged for a year at a stroke.
 */
export const MAX_MISSED_PERIODS = 12;

type Calendar = Pick<Subscription, 'billingInterval' | 'intervalMultiplier'>;

const periodOf = (schedule: Schedule, period: number): BilledPeriod => ({
  anchor: schedule.anchor,
  period,
  start: periodStart(schedule, period),
  end: periodStart(schedule, period + 1),
});

/** The first period of a calendar that begins now. */
export const firstPeriod = ({ billingInterval, intervalMultiplier }: Calendar, now: Instant): BilledPeriod =>
  periodOf({ anchor: iso(now), billingInterval, intervalMultiplier }, 0);

const scheduleOf = ({ anchor, billingInterval, intervalMultiplier }: Subscription): Schedule => ({
  anchor,
  billingInterval,
  intervalMultiplier,
});

/** How many of the periods before now are too old to be billed. */
export const missedPeriods = (subscription: Subscription, now: Instant): number => {
  const oldest = periodAt(scheduleOf(subscription), now) - MAX_MISSED_PERIODS + 1;
  return Math.max(0, oldest - (subscription.period + 1));
};

/** The next period to be billed. */
const nextPeriod = (subscription: Subscription, now: Instant): BilledPeriod =>
  periodOf(scheduleOf(subscription), subscription.period + 1 + missedPeriods(subscription, now));

/** The current period is over: the next one is opened, for nothing where it costs nothing. */
export const billedNext = (subscription: Subscription, now: Instant, policy: DunningPolicy): Subscription => {
  const next = nextPeriod(subscription, now);
  const inTrial = subscription.status === 'trialing';
  if (subscription.totalCents === 0) {
    return inPeriod(subscription, next, { cause: 'charge', reason: inTrial ? 'trial_ended' : 'renewed', now });
  }
  if (subscription.paymentMethodId !== undefined) return chargeOpened(subscription, 'renew', next, now);
  if (inTrial) return trialWithoutMethod(subscription, now);
  const failure = { code: 'processing_error', attempts: 0, spent: false } as const;
  return withoutMethod(chargeFailed(chargeOpened(subscription, 'renew', next, now), failure, now, policy));
};

/** There is no method to try again with: a subscription that is past due waits for one. */
export const withoutMethod = (subscription: Subscription): Subscription => ({
  ...subscription,
  paymentMethodId: undefined,
  methodRef: undefined,
  ...(subscription.status === 'past_due' && { reason: 'payment_method_unavailable' }),
  ...(subscription.charge && { charge: { ...subscription.charge, retryAt: undefined } }),
});

/** In a trial, or in a period that has been paid. */
export const isPaidFor = ({ period, currentPeriodEnd, paidUntil }: Subscription, now: Instant): boolean => {
  const until = period < 0 ? currentPeriodEnd : paidUntil;
  return until !== undefined && instant(until) > now;
};

/** A new calendar from now, for whoever starts or comes back; for nothing where it costs nothing. */
export const startedNow = (
  subscription: Subscription,
  cause: Exclude<Charge['cause'], 'renew'>,
  now: Instant,
): Subscription => {
  const first = firstPeriod(subscription, now);
  if (subscription.totalCents > 0) return chargeOpened(subscription, cause, first, now);
  const [how, reason] = FREE[cause];
  const next = inPeriod(subscription, first, { cause: how, reason, now });
  return { ...next, ...whollyBack(subscription), canceledAt: undefined };
};

const FREE = {
  create: ['open', 'created'],
  reactivate: ['reactivate', 'reactivated'],
  resume: ['resume', 'resumed'],
} as const;
