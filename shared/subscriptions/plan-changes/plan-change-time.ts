/** @module Prices a plan change exactly for one moment, before rounding to a chargeable amount. Pure. */

import type { Product } from '../../catalog/catalog-records.ts';
import { DAY_MS, type Instant, instant, iso, startOfSecond } from '../../core/time.ts';
import { creditOf, type Parts, type PaymentsById, paidPeriodOf, unpaidPeriod } from '../billing/paid-period.ts';
import { firstPeriod } from '../billing/periods.ts';
import { hasSameInterval, type SubscriptionPlan } from '../record/plan-change.ts';
import type { VisibleSubscription } from '../record/subscription.ts';
import { FREE_CHANGE, type LineTerms, NO_CREDIT, priceOfChange } from './plan-change-price.ts';
import type { PricedChange } from './plan-change-steps.ts';

/** A plan change with its exact price at one moment. */
export interface TimedChange extends Omit<PricedChange, 'lines'> {
  readonly kind: 'upgrade' | 'downgrade';
  /** Undefined if the change is free whatever the price. */
  readonly lineTerms?: LineTerms;
}

interface Target {
  readonly plan: SubscriptionPlan;
  readonly product: Product | undefined;
  /** The payments of the current period. */
  readonly payments: PaymentsById;
  /** The plan's price as the provider charges it. */
  readonly charged: Parts;
}

/** Prices the change as if it took effect at this moment. */
export const timedChange = (record: VisibleSubscription, target: Target, at: Instant): TimedChange => {
  const { plan, charged, payments } = target;
  const period = { start: instant(record.currentPeriodStart), end: instant(record.currentPeriodEnd) };
  if (record.status === 'trialing') return changeInTrial(record, target, at);
  if (at >= period.end) {
    return { plan, kind: 'upgrade', at, price: FREE_CHANGE, period, startsPeriod: false };
  }
  const startsPeriod = !hasSameInterval(plan, record);
  const paid = paidPeriodOf(record);
  const credit = creditOf(paid, { period, at }, payments);
  const price = priceOfChange({ credit, to: charged, period, at, startsPeriod });
  const next = startsPeriod ? firstPeriod(plan, at) : period;
  const lineTerms = { from: record, to: plan, period, at, startsPeriod, next };
  const kind = price.forfeitedCents > 0 ? 'downgrade' : 'upgrade';
  const begins = startsPeriod ? { ...next, startsAt: iso(at) } : undefined;
  const paying = { paid, payments, credit, period, at, begins, to: charged, isWaived: false };
  return { plan, kind, at, price, lineTerms, paying, period: { start: next.start, end: next.end }, startsPeriod };
};

/**
 * A change within a continuing trial is free. A different product allows at most its own trial length, counted from the
 * subscription's creation. If that has passed, the trial ends and a first period begins at the full price.
 */
const changeInTrial = (record: VisibleSubscription, target: Target, at: Instant): TimedChange => {
  const { plan, product, charged, payments } = target;
  const [start, end] = [instant(record.currentPeriodStart), instant(record.currentPeriodEnd)];
  const isOther = product !== undefined && plan.productId === product.id && plan.productId !== record.productId;
  const ownEnd = isOther ? startOfSecond(instant(record.createdAt) + product.trial_days * DAY_MS) : end;
  const trialEnd = Math.min(end, ownEnd);
  const changed = { plan, kind: 'upgrade' as const, at, ...(trialEnd < end && { trialEnd }) };
  if (trialEnd > at) {
    return { ...changed, price: FREE_CHANGE, period: { start, end: trialEnd }, startsPeriod: false };
  }
  const period = firstPeriod(plan, at);
  const terms = { period, at, startsPeriod: true };
  const price = priceOfChange({ ...terms, to: charged, credit: NO_CREDIT });
  const lineTerms = { ...terms, from: record, to: plan, next: period };
  const begins = { ...period, startsAt: iso(at) };
  const paid = unpaidPeriod(record.currentPeriodStart);
  const paying = {
    paid,
    payments,
    credit: NO_CREDIT,
    period: { start, end },
    at,
    begins,
    to: charged,
    isWaived: false,
  };
  return { ...changed, ...terms, price, lineTerms, paying };
};

/** The change without the amount due, which the merchant waives. */
export const waived = (timed: TimedChange): TimedChange => ({
  ...timed,
  price: FREE_CHANGE,
  paying: timed.paying && { ...timed.paying, isWaived: true },
});
