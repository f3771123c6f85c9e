import type { Showing } from '../../access/beside.ts';
import {
  billingStatusOf,
  isGuestSubscription,
  isVisibleSubscription,
  nextRetryOf,
  type Subscription,
  subscriptionRecord,
  type VisibleSubscription,
} from './subscription.ts';

const orNull = <T>(value: T | undefined): T | null => value ?? null;

/** A subscription as readers see it. */
export const subscriptionView = (subscription: VisibleSubscription) => ({
  id: subscription.id,
  customer_id: subscription.customerId,
  product_id: orNull(subscription.productId),
  payment_method_id: orNull(subscription.paymentMethodId),
  provider_id: subscription.providerId,
  provider_subscription_id: orNull(providerIdOf(subscription)),
  status: subscription.status,
  billing_status: billingStatusOf(subscription),
  billing_owner: subscription.billingOwner,
  current_period_start: subscription.currentPeriodStart,
  current_period_end: subscription.currentPeriodEnd,
  next_billing_date: nextBillingDate(subscription),
  cancel_at_period_end: subscription.cancelAtPeriodEnd,
  canceled_at: (subscription.status === 'canceled' && subscription.canceledAt) || null,
  trial_end: orNull(subscription.trialEnd),
  subtotal_cents: subscription.subtotalCents,
  tax_cents: subscription.taxCents,
  discount_cents: subscription.discountCents,
  total_cents: subscription.totalCents,
  currency: subscription.currency,
  billing_interval: subscription.billingInterval,
  interval_multiplier: subscription.intervalMultiplier,
  concept: orNull(subscription.concept),
  description: orNull(subscription.description),
  reference_code: orNull(subscription.referenceCode),
  category: orNull(subscription.category),
  tags: orNull(subscription.tags),
  project_id: orNull(subscription.projectId),
  organization_id: orNull(subscription.organizationId),
  user_id: orNull(subscription.userId),
  billing_address_id: orNull(subscription.billingAddressId),
  latest_payment_id: orNull(subscription.latestPaymentId),
  metadata: subscription.metadata ?? {},
  is_guest_subscription: isGuestSubscription(subscription),
  created_at: subscription.createdAt,
  updated_at: subscription.updatedAt,
});

/** The columns of subscriptions in CSV. */
export const SUBSCRIPTION_COLUMNS = [
  'id',
  'status',
  'billing_status',
  'currency',
  'subtotal_cents',
  'tax_cents',
  'discount_cents',
  'total_cents',
  'billing_interval',
  'interval_multiplier',
  'billing_owner',
  'current_period_start',
  'current_period_end',
  'next_billing_date',
  'cancel_at_period_end',
  'canceled_at',
  'trial_end',
  'description',
  'concept',
  'reference_code',
  'category',
  'tags',
  'provider_id',
  'provider_subscription_id',
  'payment_method_id',
  'customer_id',
  'product_id',
  'billing_address_id',
  'latest_payment_id',
  'user_id',
  'organization_id',
  'project_id',
  'is_guest_subscription',
  'created_at',
  'updated_at',
] as const satisfies readonly (keyof ReturnType<typeof subscriptionView>)[];

export const subscriptionBeside: Showing<VisibleSubscription> = { kind: subscriptionRecord, view: subscriptionView };

/** Before a new subscription exists at the provider, the id of the latest earlier one. */
const providerIdOf = ({ providerSubscriptionId, formerProviderIds }: Subscription): string | undefined =>
  providerSubscriptionId ?? formerProviderIds?.at(-1);

/** The answer of a command. @throws Error for a subscription that no reader may see: a bug */
export const commandView = (subscription: Subscription) => {
  if (!isVisibleSubscription(subscription))
    throw new Error('a command returned a subscription that readers must not see');
  return subscriptionView(subscription);
};

/** The next charge; null where none is planned. */
const nextBillingDate = (subscription: VisibleSubscription): string | null => {
  switch (subscription.status) {
    case 'trialing':
    case 'active':
      return subscription.currentPeriodEnd;
    case 'past_due':
      return nextRetryOf(subscription) ?? null;
    case 'paused':
    case 'canceled':
      return null;
  }
};

/** The fields that a guest list shows without a credential. */
export const guestSubscriptionView = (subscription: VisibleSubscription) => ({
  id: subscription.id,
  status: subscription.status,
  currency: subscription.currency,
  total_cents: subscription.totalCents,
  billing_interval: subscription.billingInterval,
  current_period_end: subscription.currentPeriodEnd,
  cancel_at_period_end: subscription.cancelAtPeriodEnd,
  is_guest_subscription: isGuestSubscription(subscription),
  created_at: subscription.createdAt,
});
