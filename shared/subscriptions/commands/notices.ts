/**
 * @module Notices about a subscription before something happens to it: its renewal, and the end of the card that it
 * charges. Due work sends each once per cause, with both billers.
 */

import { DAY_MS, HOUR_MS, type Instant, instant, iso } from '../../core/time.ts';
import type { PaymentMethod } from '../../payment-methods/payment-method.ts';
import { endsWithPeriod, type Subscription } from '../record/subscription.ts';

export interface NoticePolicy {
  /** Days before a renewal; 0 sends no such notice. */
  readonly renewalDays: number;
  /** The shortest interval, in months, whose renewal has a notice. */
  readonly renewalMinMonths: number;
  /** Days before the end of the month of a card; 0 sends no such notice. */
  readonly methodDays: number;
}

/** Intervals of days have no notice. */
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
  /** What marks the notice as sent. */
  readonly sent: Pick<Subscription, 'renewalNoticed' | 'expiryNoticed'>;
}

/** The next notice of a subscription that goes on, sent or not yet due. */
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

/** A late notice is still sent until the announced event. */
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

/** The first moment of the month after the last of the card. The months of Date count from 0. */
const endOfCard = (method: PaymentMethod | undefined): Instant | undefined =>
  method?.expiryYear === undefined || method.expiryMonth === undefined
    ? undefined
    : Date.UTC(Number(method.expiryYear), Number(method.expiryMonth));

/** The period opens by then, and the notices of the next one are planned. */
const NEXT_PERIOD_MS = HOUR_MS;

/**
 * Time of the next check for notices. The provider may extend a card, so an announced card is checked again when
 * its month ends.
 * @returns undefined if none may follow without a change of the subscription
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
