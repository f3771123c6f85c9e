/**
 * @module The price with which the next period opens. Pure. A scheduled plan takes effect then. Otherwise a discount code
 * without a period left ends.
 */

import { type Instant, instant } from '../../core/time.ts';
import { changedPlan } from '../record/held-plan.ts';
import { hasSameInterval } from '../record/plan-change.ts';
import type { Subscription } from '../record/subscription.ts';
import { isUsedUp, withoutDiscount } from '../record/subscription-discount.ts';
import { edit } from '../record/subscription-versions.ts';

/** The subscription with the plan of its next period. Another interval starts its own anchor at the end of the present period. */
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

/** The version in which the scheduled plan begins to hold, or the discount code ends. */
export const openScheduledPlan = (subscription: Subscription, now: Instant): Subscription => {
  const planned = withScheduledPlan(subscription);
  if (planned === subscription) return subscription;
  return edit(planned, { reason: subscription.scheduledChange ? 'plan_changed' : 'discount_ended', now }, {});
};
