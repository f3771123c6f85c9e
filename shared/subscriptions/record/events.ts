import { type BusEvent, type CanonicalEvent, changeId } from '../../events/bus-event.ts';
import { payerOf } from '../../events/canonical-event.ts';
import { billingStatusOf, isVisibleSubscription, type Subscription, type VisibleSubscription } from './subscription.ts';

/** The one event of a stored version: created, updated or cancelled. */
export const subscriptionEvents = (before: Subscription | undefined, after: Subscription): readonly BusEvent[] => {
  if (!isVisibleSubscription(after) || before?.version === after.version) return [];
  const existed = before !== undefined && isVisibleSubscription(before);
  if (!existed) return [canonical('subscription.created', after)];
  const ended = after.status === 'canceled' && before.status !== 'canceled';
  return [canonical(ended ? 'subscription.cancelled' : 'subscription.updated', after)];
};

const canonical = (event: CanonicalEvent, subscription: VisibleSubscription): BusEvent => {
  const id = changeId(subscription.id, subscription.version, event);
  return {
    id,
    source: 'payments',
    type: event,
    detail: {
      id,
      organization_id: subscription.organizationId ?? null,
      user_id: subscription.userId ?? null,
      payload: {
        event,
        provider: subscription.providerId,
        timestamp: subscription.updatedAt,
        data: dataOf(subscription),
      },
    },
  };
};

const dataOf = (subscription: VisibleSubscription) => ({
  subscription_id: subscription.id,
  status: subscription.status,
  billing_status: billingStatusOf(subscription),
  customer_id: subscription.customerId,
  product_id: subscription.productId ?? null,
  amount: subscription.totalCents,
  currency: subscription.currency,
  billing_interval: subscription.billingInterval,
  interval_multiplier: subscription.intervalMultiplier,
  current_period_start: subscription.currentPeriodStart,
  current_period_end: subscription.currentPeriodEnd,
  cancel_at_period_end: subscription.cancelAtPeriodEnd,
  trial_end: subscription.trialEnd ?? null,
  reason: subscription.reason ?? null,
  user: payerOf(subscription),
  project: subscription.projectId ? { id: subscription.projectId } : null,
  organization_id: subscription.organizationId ?? null,
});
