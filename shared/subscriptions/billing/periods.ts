/**
 * @module The periods of a subscription. Period n starts at anchor + n × interval × multiplier, at the anchor's time of
 * day in UTC, on the anchor's day of the month or the last day of a shorter month. Every period is counted from the
 * anchor, so 31 January and 28 February are followed by 31 March.
 */

import { addDays, addMonths, create, toString as isoDay } from 'temporal-polyfill/fns/PlainDate';
import type { BillingInterval } from '../../catalog/billing-intervals.ts';
import { DAY_MS, type Instant, instant, iso } from '../../core/time.ts';
import type { PeriodPayment } from '../../payments/collect-payment.ts';
import type { Charge, Subscription } from '../record/subscription.ts';
import { codesPart } from '../record/subscription-discount.ts';
import { pauseAfterTrial } from './lifecycle.ts';
import { openScheduledPlan, withScheduledPlan } from './scheduled-plan.ts';
import {
  type BilledPeriod,
  clearScheduledCancel,
  enterPeriod,
  openCharge,
  recordFailed,
  type SettleOptions,
} from './subscription-charge.ts';

export interface Schedule {
  /** ISO start time of period 0. */
  readonly anchor: string;
  readonly billingInterval: BillingInterval;
  readonly intervalMultiplier: number;
}

/** The length of an interval in whole days or whole months. */
const LENGTH: Readonly<Record<BillingInterval, { readonly days: number } | { readonly months: number }>> = {
  daily: { days: 1 },
  weekly: { days: 7 },
  monthly: { months: 1 },
  quarterly: { months: 3 },
  yearly: { months: 12 },
};

const DAYS_OF_MONTH = 365.2425 / 12;

export const periodStart = (schedule: Schedule, period: number): Instant => {
  const anchor = instant(schedule.anchor);
  const at = new Date(anchor);
  const day = create(at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate());
  const length = LENGTH[schedule.billingInterval];
  const count = period * schedule.intervalMultiplier;
  const date = 'days' in length ? addDays(day, count * length.days) : addMonths(day, count * length.months);
  return instant(isoDay(date)) + timeOfDay(anchor);
};

/** The period that contains a moment. Negative before the anchor. */
export const periodAt = (schedule: Schedule, at: Instant): number => {
  const length = LENGTH[schedule.billingInterval];
  const days = schedule.intervalMultiplier * ('days' in length ? length.days : length.months * DAYS_OF_MONTH);
  let period = Math.floor((at - instant(schedule.anchor)) / (days * DAY_MS));
  while (periodStart(schedule, period) > at) period -= 1;
  while (periodStart(schedule, period + 1) <= at) period += 1;
  return period;
};

const timeOfDay = (at: Instant): number => ((at % DAY_MS) + DAY_MS) % DAY_MS;

/**
 * Maximum number of missed periods to bill. They are billed one by one, so a payer is never charged for all together.
 */
export const MAX_MISSED_PERIODS = 12;

type Calendar = Pick<Subscription, 'billingInterval' | 'intervalMultiplier'>;

const periodOf = (schedule: Schedule, period: number): BilledPeriod => ({
  anchor: schedule.anchor,
  period,
  start: periodStart(schedule, period),
  end: periodStart(schedule, period + 1),
});

/** The first period of a new calendar that begins now. */
export const firstPeriod = ({ billingInterval, intervalMultiplier }: Calendar, now: Instant): BilledPeriod =>
  periodOf({ anchor: iso(now), billingInterval, intervalMultiplier }, 0);

const scheduleOf = ({ anchor, billingInterval, intervalMultiplier }: Subscription): Schedule => ({
  anchor,
  billingInterval,
  intervalMultiplier,
});

/** The number of missed periods too old to bill. */
export const missedPeriods = (subscription: Subscription, now: Instant): number => {
  const oldest = periodAt(scheduleOf(subscription), now) - MAX_MISSED_PERIODS + 1;
  return Math.max(0, oldest - (subscription.period + 1));
};

const nextPeriod = (subscription: Subscription, now: Instant): BilledPeriod =>
  periodOf(scheduleOf(subscription), subscription.period + 1 + missedPeriods(subscription, now));

/** Opens the next period with a charge. If the total is 0, enters the period immediately. */
export const openNextPeriod = (subscription: Subscription, { now, policy }: SettleOptions): Subscription => {
  const next = nextPeriod(subscription, now);
  const inTrial = subscription.status === 'trialing';
  if (subscription.totalCents === 0) {
    return enterPeriod(subscription, next, { cause: 'charge', reason: inTrial ? 'trial_ended' : 'renewed', now });
  }
  const charged = openCharge(subscription, next, { cause: 'renew', now });
  if (subscription.paymentMethodId !== undefined) return charged;
  if (inTrial) return pauseAfterTrial(subscription, now);
  const failure = { code: 'processing_error', attempts: 0, spent: false } as const;
  return dropMethod(recordFailed(charged, failure, { now, policy }));
};

/** Removes the method. A past-due subscription then waits for another method, without retries. */
export const dropMethod = (subscription: Subscription): Subscription => ({
  ...subscription,
  paymentMethodId: undefined,
  methodRef: undefined,
  ...(subscription.status === 'past_due' && { reason: 'payment_method_unavailable' }),
  ...(subscription.charge && { charge: { ...subscription.charge, retryAt: undefined } }),
});

/** True during a trial or a paid period. */
export const isPaidFor = ({ period, currentPeriodEnd, paidUntil }: Subscription, now: Instant): boolean => {
  const until = period < 0 ? currentPeriodEnd : paidUntil;
  return until !== undefined && instant(until) > now;
};

/** Starts a new calendar now with a charge. If the total is 0, enters the first period immediately. */
export const startFirstPeriod = (
  subscription: Subscription,
  cause: Exclude<Charge['cause'], 'renew'>,
  now: Instant,
): Subscription => {
  const planned = withScheduledPlan(subscription);
  const first = firstPeriod(planned, now);
  if (planned.totalCents > 0) return openCharge(openScheduledPlan(subscription, now), first, { cause, now });
  const [how, reason] = FREE_START[cause];
  const next = enterPeriod(planned, first, { cause: how, reason, now });
  return { ...next, ...clearScheduledCancel(subscription), canceledAt: undefined };
};

const FREE_START = {
  create: ['open', 'created'],
  reactivate: ['reactivate', 'reactivated'],
  resume: ['resume', 'resumed'],
} as const;

/** The request for the payment with this id, for a period or a plan change. */
export const periodPaymentRequest = (subscription: Subscription, id: string): PeriodPayment => {
  const { subtotalCents, taxCents, discountCents, totalCents, currency, projectId, productId } = subscription;
  const quantity = subscription.quantity === 1 ? undefined : subscription.quantity;
  const { userId, userEmail, guestId, guestEmail, guestName, organizationId } = subscription;
  const { customerId, providerCustomerId, paymentMethodId, methodRef, billingAddressId, providerId } = subscription;
  const { description, concept, referenceCode, category, tags } = subscription;
  return {
    id,
    subscriptionId: subscription.id,
    ...{ subtotalCents, taxCents, discountCents, totalCents, currency, projectId, productId, quantity },
    ...{ userId, userEmail, guestId, guestEmail, guestName, organizationId },
    ...{ customerId, providerCustomerId, paymentMethodId, methodRef, billingAddressId, providerId },
    ...{ description: description ?? concept, concept, referenceCode, category, tags },
    discount: codesPart(subscription),
  };
};
