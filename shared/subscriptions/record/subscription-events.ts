import { type BusEvent, canonicalBusEvent, orderView, payerOf } from '../../platform/bus-event.ts';
import {
  billingStatusOf,
  cancelReasonView,
  isVisibleSubscription,
  type Subscription,
  type VisibleSubscription,
} from './subscription.ts';
import { isUsedUp } from './subscription-discount.ts';

/** One created, updated or cancelled event per version. Empty if readers do not see the change. */
export const subscriptionEvents = (before: Subscription | undefined, after: Subscription): readonly BusEvent[] => {
  if (!isVisibleSubscription(after) || before?.version === after.version) return [];
  const existed = before !== undefined && isVisibleSubscription(before);
  if (!existed) return [canonicalBusEvent('subscription.created', after, dataOf(undefined, after))];
  const ended = after.status === 'canceled' && before.status !== 'canceled';
  return [canonicalBusEvent(ended ? 'subscription.cancelled' : 'subscription.updated', after, dataOf(before, after))];
};

const dataOf = (before: Subscription | undefined, subscription: VisibleSubscription) => ({
  subscription_id: subscription.id,
  status: subscription.status,
  billing_status: billingStatusOf(subscription),
  customer_id: subscription.customerId,
  ...orderView(subscription),
  quantity: subscription.quantity,
  amount: subscription.totalCents,
  currency: subscription.currency,
  discount_code: subscription.discount?.code ?? null,
  billing_interval: subscription.billingInterval,
  interval_multiplier: subscription.intervalMultiplier,
  current_period_start: subscription.currentPeriodStart,
  current_period_end: subscription.currentPeriodEnd,
  cancel_at_period_end: subscription.cancelAtPeriodEnd,
  ...cancelReasonView(subscription),
  trial_end: subscription.trialEnd ?? null,
  reason: subscription.reason ?? null,
  ...(subscription.reason === 'renewal_due' && {
    amount: nextTotalOf(subscription),
    next_billing_date: subscription.currentPeriodEnd,
  }),
  previous: previousPlan(before, subscription),
  user: payerOf(subscription),
  project: subscription.projectId ? { id: subscription.projectId } : null,
  organization_id: subscription.organizationId ?? null,
});

/** The price of the next period. A scheduled plan has its own price, and a used-up code has ended by then. */
const nextTotalOf = ({ scheduledChange, discount, totalCents }: VisibleSubscription): number => {
  if (scheduledChange) return scheduledChange.plan.totalCents;
  return discount && isUsedUp({ discount }) ? discount.full.totalCents : totalCents;
};

/** The plan before this version; null if the version does not change it. */
const previousPlan = (before: Subscription | undefined, after: Subscription) => {
  if (!before || PLAN_FIELDS.every((field) => before[field] === after[field])) return null;
  const { productId, quantity, totalCents } = before;
  return { product_id: productId ?? null, quantity, amount: totalCents };
};

const PLAN_FIELDS = ['productId', 'quantity', 'totalCents', 'billingInterval', 'intervalMultiplier'] as const;
