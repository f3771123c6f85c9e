/**
 * @module The plan of the next period. Pure. A scheduled plan takes effect when that period opens. Without a scheduled
 * plan, a used-up discount code ends then.
 */

import { type Instant, instant } from '../../core/time.ts';
import { changedPlan } from '../record/held-plan.ts';
import { hasSameInterval } from '../record/plan-change.ts';
import type { Subscription } from '../record/subscription.ts';
import { isUsedUp, withoutDiscount } from '../record/subscription-discount.ts';
import { edit } from '../record/subscription-versions.ts';

/** The subscription with the plan of its next period. A new interval is anchored at the end of the current period. */
export const withScheduledPlan = (subscription: Subscription): Subscription => {
  const { scheduledChange, currentPeriodEnd } = subscription;
  if (!scheduledChange) return isUsedUp(subscription) ? withoutDiscount(subscription) : subscription;
  const { plan } = scheduledChange;
  return {
    ...subscription,
    ...changedPlan(subscription, plan, instant(currentPeriodEnd)),
    ...(!hasSameInterval(plan, subscription) && { anchor: currentPeriodEnd, period: -1 }),
  };
};

/** The version in which the scheduled plan takes effect or the discount code ends. */
export const openScheduledPlan = (subscription: Subscription, now: Instant): Subscription => {
  const planned = withScheduledPlan(subscription);
  if (planned === subscription) return subscription;
  return edit(planned, { reason: subscription.scheduledChange ? 'plan_changed' : 'discount_ended', now }, {});
};
