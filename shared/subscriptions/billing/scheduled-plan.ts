/** @module The plan that is scheduled for the next period takes effect when that period opens. Pure. */

import { type Instant, instant } from '../../core/time.ts';
import { changedPlan } from '../record/held-plan.ts';
import { hasSameInterval } from '../record/plan-change.ts';
import type { Subscription } from '../record/subscription.ts';
import { edit } from '../record/subscription-versions.ts';

/** The subscription with the scheduled plan. Another interval starts its own anchor at the end of the present period. */
export const withScheduledPlan = (subscription: Subscription): Subscription => {
  const { scheduledChange, currentPeriodEnd } = subscription;
  if (!scheduledChange) return subscription;
  const { plan } = scheduledChange;
  return {
    ...subscription,
    ...changedPlan(subscription, plan, instant(currentPeriodEnd)),
    ...(!hasSameInterval(plan, subscription) && { anchor: currentPeriodEnd, period: -1 }),
  };
};

/** The version in which the scheduled plan begins to hold. */
export const openScheduledPlan = (subscription: Subscription, now: Instant): Subscription =>
  subscription.scheduledChange
    ? edit(withScheduledPlan(subscription), { reason: 'plan_changed', now }, {})
    : subscription;
