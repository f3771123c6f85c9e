/** @module The current plan of a subscription, and the plan at its billing provider. Pure. */

import { epochSeconds, type Instant, instant, iso } from '../../core/time.ts';
import { unpaidByPlan } from './paid-tier.ts';
import type { SubscriptionPlan } from './plan-change.ts';
import { isProviderBilled, type Subscription } from './subscription.ts';
import { discountOfPlan } from './subscription-discount.ts';

/** The subscription's fields under a new plan. Clears a scheduled change. */
export const changedPlan = (
  subscription: Subscription,
  { productId, productName, tierId, discount, ...plan }: SubscriptionPlan,
  now: Instant,
): Partial<Subscription> => {
  const { tierId: formerTier, formerTierIds = [], tierSince } = subscription;
  const former = formerTier === undefined || formerTier === tierId ? formerTierIds : [...formerTierIds, formerTier];
  const tiers = [...new Set(former)].filter((tier) => tier !== tierId);
  return {
    ...plan,
    ...{ productId, productName, tierId, listCents: undefined },
    discount: discountOfPlan(subscription, discount),
    tierSince: formerTier === tierId ? tierSince : iso(now),
    ...unpaidByPlan(subscription, { tierId }, now),
    formerTierIds: tiers.length > 0 ? tiers : undefined,
    scheduledChange: undefined,
  };
};

/** The billing provider's plan, now or after a pending update. */
export const planAtProvider = ({ change, scheduledChange, ...subscription }: Subscription): SubscriptionPlan =>
  change?.step === 'paid' ? change.plan : (scheduledChange?.plan ?? subscription);

/**
 * Schedules a sync if the billing provider reported after the claim. Reports during a change do not set the price,
 * because the price may belong to either plan.
 */
export const syncAfterChange = (
  subscription: Subscription,
  claimedAt: string,
  now: Instant,
): Pick<Subscription, 'syncAt'> => ({
  syncAt:
    isProviderBilled(subscription) && (subscription.knownAt ?? 0) >= epochSeconds(instant(claimedAt))
      ? iso(now)
      : subscription.syncAt,
});
