/**
 * @module Lists a subscription's possible payments after its record was last written. Payment ids derive from periods,
 * so a payment found only at the provider is recognized, and its period is not charged again.
 */

import { type Instant, iso } from '../../core/time.ts';
import type { PeriodPayment } from '../../payments/collect-payment.ts';
import { isProviderBilled, type Subscription } from '../record/subscription.ts';
import { periodAt, periodPaymentRequest, periodStart, type Schedule } from './periods.ts';
import { periodPaymentId } from './subscription-charge.ts';

/** Payments per period to look for. A period gets another payment after each canceled payment. */
const MOST_GENERATIONS = 5;

/** Possible payments by id, from the record's period until now. Empty if the provider bills. */
export const possiblePayments = (subscription: Subscription, now: Instant): ReadonlyMap<string, PeriodPayment> => {
  if (isProviderBilled(subscription)) return new Map();
  const { id, lapsed = 0, charge, totalCents } = subscription;
  const generations = Array.from({ length: MOST_GENERATIONS }, (_, step) => lapsed + step);
  const starts = new Set([...startsUntil(subscription, now), ...(charge ? [charge.start] : [])]);
  const ids = [...starts].flatMap((start) => generations.map((one) => periodPaymentId(id, start, one)));
  const cause = charge?.cause === 'create' ? ('subscription_create' as const) : ('subscription_cycle' as const);
  const beside = { billingReason: cause, offSession: true as const };
  return new Map(
    totalCents === 0
      ? []
      : ids.map((paymentId) => [paymentId, { ...periodPaymentRequest(subscription, paymentId), ...beside }]),
  );
};

const startsUntil = (subscription: Subscription, now: Instant): readonly string[] => {
  const { anchor, billingInterval, intervalMultiplier, period } = subscription;
  const schedule: Schedule = { anchor, billingInterval, intervalMultiplier };
  const first = Math.max(0, period);
  const length = Math.max(0, periodAt(schedule, now) - first + 1);
  return Array.from({ length }, (_, step) => iso(periodStart(schedule, first + step)));
};
