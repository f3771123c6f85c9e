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

/** A subscription as its readers see it. */
export const subscriptionView = (subscription: VisibleSubscription) => ({
  id: subscription.id,
  customer_id: subscription.customerId,
  product_id: subscription.productId ?? null,
  payment_method_id: subscription.paymentMethodId ?? null,
  provider_id: subscription.providerId,
  provider_subscription_id: subscription.providerSubscriptionId ?? subscription.formerProviderIds?.at(-1) ?? null,
  status: subscription.status,
  billing_status: billingStatusOf(subscription),
  billing_owner: subscription.billingOwner,
  current_period_start: subscription.currentPeriodStart,
  current_period_end: subscription.currentPeriodEnd,
  next_billing_date: nextBillingDate(subscription),
  cancel_at_period_end: subscription.cancelAtPeriodEnd,
  canceled_at: (subscription.status === 'canceled' && subscription.canceledAt) || null,
  trial_end: subscription.trialEnd ?? null,
  subtotal_cents: subscription.subtotalCents,
  tax_cents: subscription.taxCents,
  discount_cents: subscription.discountCents,
  total_cents: subscription.totalCents,
  currency: subscription.currency,
  billing_interval: subscription.billingInterval,
  interval_multiplier: subscription.intervalMultiplier,
  concept: subscription.concept ?? null,
  description: subscription.description ?? null,
  reference_code: subscription.referenceCode ?? null,
  category: subscription.category ?? null,
  tags: subscription.tags ?? null,
  project_id: subscription.projectId ?? null,
  organization_id: subscription.organizationId ?? null,
  user_id: subscription.userId ?? null,
  billing_address_id: subscription.billingAddressId ?? null,
  latest_payment_id: subscription.latestPaymentId ?? null,
  metadata: subscription.metadata ?? {},
  is_guest_subscription: isGuestSubscription(subscription),
  created_at: subscription.createdAt,
  updated_at: subscription.updatedAt,
});

export const subscriptionBeside: Showing<VisibleSubscription> = { kind: subscriptionRecord, view: subscriptionView };

/** What a command answers. */
export const commandView = (subscription: Subscription) => {
  if (!isVisibleSubscription(subscription)) throw new Error('a subscription that is shown to nobody');
  return subscriptionView(subscription);
};

/** When money is asked for next; null where nothing is planned. */
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

/** The small set of fields that needs no credential. */
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
