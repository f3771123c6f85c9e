import type { Instant } from '../core/time.ts';
import { isGuestPayment, liveSecret, type Payment, type VisiblePayment } from './payment.ts';

/** A payment as its readers see it. */
export const paymentView = (payment: VisiblePayment) => ({
  id: payment.id,
  user_id: payment.userId ?? null,
  customer_id: payment.customerId ?? null,
  subtotal_cents: payment.subtotalCents,
  tax_cents: payment.taxCents,
  discount_cents: payment.discountCents,
  total_cents: payment.totalCents,
  amount_cents: payment.totalCents,
  currency: payment.currency,
  status: payment.status,
  description: payment.description ?? null,
  concept: payment.concept ?? null,
  reference_code: payment.referenceCode ?? null,
  category: payment.category ?? null,
  tags: payment.tags ?? null,
  provider_id: payment.providerId,
  provider_payment_id: payment.providerPaymentId ?? null,
  provider_intent_id: payment.providerIntentId ?? null,
  payment_method_id: payment.paymentMethodId ?? null,
  is_guest_payment: isGuestPayment(payment),
  guest_email: payment.guestEmail ?? null,
  billing_address_id: payment.billingAddressId ?? null,
  metadata: payment.metadata ?? {},
  ...(payment.organizationId && { organization_id: payment.organizationId }),
  ...(payment.projectId && { project_id: payment.projectId }),
  ...(payment.productId && { product_id: payment.productId }),
  ...(payment.subscriptionId && { subscription_id: payment.subscriptionId }),
  ...(payment.setupFutureUsage && { setup_future_usage: payment.setupFutureUsage }),
  ...(payment.returnUrl && { return_url: payment.returnUrl }),
  ...(payment.failureCode && { failure_code: payment.failureCode }),
  ...nextActionView(payment),
  created_at: payment.createdAt,
  updated_at: payment.updatedAt,
  completed_at: payment.completedAt ?? null,
});

const nextActionView = (payment: Payment) =>
  payment.nextAction && {
    next_action: { type: payment.nextAction.type, ...(payment.nextAction.url && { url: payment.nextAction.url }) },
  };

/** With the client secret, for those who may confirm, while it lives. */
export const paymentWithSecret = (payment: VisiblePayment, now: Instant) => {
  const secret = liveSecret(payment, now);
  return { ...paymentView(payment), ...(secret !== undefined && { client_secret: secret }) };
};

export const confirmationView = (payment: VisiblePayment) => ({
  id: payment.id,
  status: payment.status,
  provider_payment_id: payment.providerPaymentId ?? null,
  completed_at: payment.completedAt ?? null,
  ...nextActionView(payment),
});

/** The small set of fields that needs no credential. */
export const guestListView = (payment: VisiblePayment) => ({
  id: payment.id,
  status: payment.status,
  amount_cents: payment.totalCents,
  total_cents: payment.totalCents,
  currency: payment.currency,
  description: payment.description ?? null,
  is_guest_payment: isGuestPayment(payment),
  created_at: payment.createdAt,
  completed_at: payment.completedAt ?? null,
});
