import { addDays, addMonths, create, toString as isoDay } from 'temporal-polyfill/fns/PlainDate';
import type { BillingInterval } from '../../catalog/records.ts';
import { DAY, type Instant, instant } from '../../core/time.ts';

/**
 * The calendar of a subscription: period n starts at anchor + n × interval × multiplier, on the anchor's day of the month
 * or the last day of a shorter month, at the anchor's time of day in UTC. Counting starts at the anchor each time, so that
 * 31 January, 28 February is followed by 31 March.
 */
export interface Schedule {
  /** ISO: when period 0 starts. */
  readonly anchor: string;
  readonly billingInterval: BillingInterval;
  readonly intervalMultiplier: number;
}

/** An interval as whole days or whole months. */
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

/** The period that contains a moment; negative before the anchor. */
export const periodAt = (schedule: Schedule, at: Instant): number => {
  const length = LENGTH[schedule.billingInterval];
  const days = schedule.intervalMultiplier * ('days' in length ? length.days : length.months * DAYS_OF_MONTH);
  let period = Math.floor((at - instant(schedule.anchor)) / (days * DAY));
  while (periodStart(schedule, period) > at) period -= 1;
  while (periodStart(schedule, period + 1) <= at) period += 1;
  return period;
};

const timeOfDay = (at: Instant): number => ((at % DAY) + DAY) % DAY;
