/**
 * @module Advance notices of a subscription's renewal and of its card's expiry. Due work sends each notice once per
 * occasion, whether the provider or the service bills.
 */

import { DAY_MS, HOUR_MS, type Instant, instant, iso } from '../../core/time.ts';
import type { PaymentMethod } from '../../payment-methods/payment-method.ts';
import { endsWithPeriod, type Subscription } from '../record/subscription.ts';

export interface NoticePolicy {
  /** Days before a renewal; 0 turns the notice off. */
  readonly renewalDays: number;
  /** Shortest interval, in months, with a renewal notice. */
  readonly renewalMinMonths: number;
  /** Days before the card's expiry month ends; 0 turns the notice off. */
  readonly methodDays: number;
}

/** The number of months in each interval that may have a renewal notice. Daily and weekly intervals have none. */
const MONTHS: Readonly<Partial<Record<Subscription['billingInterval'], number>>> = {
  monthly: 1,
  quarterly: 3,
  yearly: 12,
};

const monthsIn = ({ billingInterval, intervalMultiplier }: Subscription): number =>
  (MONTHS[billingInterval] ?? 0) * intervalMultiplier;

export interface Notice {
  readonly reason: 'renewal_due' | 'method_expiring';
  readonly at: Instant;
  /** The fields that mark the notice as sent. */
  readonly sent: Pick<Subscription, 'renewalNoticed' | 'expiryNoticed'>;
}

/** The next unsent notice of a continuing subscription, due or planned. */
export const nextNotice = (
  subscription: Subscription,
  method: PaymentMethod | undefined,
  { policy, now }: { readonly policy: NoticePolicy; readonly now: Instant },
): Notice | undefined => {
  if (subscription.status !== 'active' || endsWithPeriod(subscription)) return undefined;
  const notices = [renewalNotice(subscription, policy), expiryNotice(subscription, method, policy)];
  return notices
    .filter((notice) => notice !== undefined)
    .filter(({ until }) => now < until)
    .toSorted((one, other) => one.at - other.at)[0];
};

/** A notice with the time of the announced event, until which a late notice is still sent. */
type Planned = Notice & { readonly until: Instant };

const renewalNotice = (subscription: Subscription, policy: NoticePolicy): Planned | undefined => {
  const { currentPeriodEnd: end, renewalNoticed } = subscription;
  const isLong = policy.renewalDays > 0 && monthsIn(subscription) >= policy.renewalMinMonths;
  if (!isLong || renewalNoticed === end) return undefined;
  const until = instant(end);
  return { reason: 'renewal_due', at: until - policy.renewalDays * DAY_MS, until, sent: { renewalNoticed: end } };
};

const expiryNotice = (
  { expiryNoticed }: Subscription,
  method: PaymentMethod | undefined,
  policy: NoticePolicy,
): Planned | undefined => {
  const until = endOfCard(method);
  if (policy.methodDays === 0 || until === undefined || method === undefined) return undefined;
  const month = `${method.id}:${method.expiryYear}-${method.expiryMonth}`;
  if (expiryNoticed === month) return undefined;
  return { reason: 'method_expiring', at: until - policy.methodDays * DAY_MS, until, sent: { expiryNoticed: month } };
};

/** The end of the card's expiry month. `Date.UTC` counts months from 0, so this is the start of the next month. */
const endOfCard = (method: PaymentMethod | undefined): Instant | undefined =>
  method?.expiryYear === undefined || method.expiryMonth === undefined
    ? undefined
    : Date.UTC(Number(method.expiryYear), Number(method.expiryMonth));

/** This long after a period's end, the next period is open, so its notices can be planned. */
const NEXT_PERIOD_MS = HOUR_MS;

/**
 * Time of the next check for notices. The card may be extended, so it is checked again when its expiry month ends.
 * @returns undefined if no notice can follow until the subscription changes
 */
export const nextNoticesLook = (
  subscription: Subscription,
  method: PaymentMethod | undefined,
  { policy, now }: { readonly policy: NoticePolicy; readonly now: Instant },
): string | undefined => {
  const next = nextNotice(subscription, method, { policy, now });
  const isRenewed = policy.renewalDays > 0 && monthsIn(subscription) >= policy.renewalMinMonths;
  const opens = instant(subscription.currentPeriodEnd) + NEXT_PERIOD_MS;
  const cardEnds = policy.methodDays > 0 ? endOfCard(method) : undefined;
  const times = [
    ...(next ? [next.at] : []),
    ...(isRenewed ? [Math.max(opens, now + NEXT_PERIOD_MS)] : []),
    ...(cardEnds !== undefined && cardEnds > now ? [cardEnds] : []),
  ];
  return times.length === 0 ? undefined : iso(Math.min(...times));
};
