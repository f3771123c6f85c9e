import * as z from 'zod';
import type { Instant } from '../../core/time.ts';
import { refundableCents } from './amounts.ts';
import { isGuestPayment, liveSecret, PAYMENT_STATUSES, type Payment, type VisiblePayment } from './payment.ts';

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
  refunded_cents: payment.refundedCents ?? 0,
  refundable_cents: refundableCents(payment),
  refund_status: refundStatusOf(payment),
  disputed: payment.openDisputes !== undefined,
  is_guest_payment: isGuestPayment(payment),
  guest_email: payment.guestEmail ?? null,
  billing_address_id: payment.billingAddressId ?? null,
  metadata: payment.metadata ?? {},
  ...optionalFields(payment),
  ...nextActionView(payment),
  created_at: payment.createdAt,
  updated_at: payment.updatedAt,
  completed_at: payment.completedAt ?? null,
});

/** How much of a payment has been given back. */
export const REFUND_EXTENTS = ['none', 'partial', 'full'] as const;

export const refundStatusOf = ({
  refundedCents = 0,
  totalCents,
}: Pick<Payment, 'refundedCents' | 'totalCents'>): (typeof REFUND_EXTENTS)[number] => {
  if (refundedCents === 0) return 'none';
  return refundedCents < totalCents ? 'partial' : 'full';
};

/** Left out where they are not set. */
const optionalFields = (payment: VisiblePayment) => ({
  ...(payment.organizationId && { organization_id: payment.organizationId }),
  ...(payment.projectId && { project_id: payment.projectId }),
  ...(payment.productId && { product_id: payment.productId }),
  ...(payment.subscriptionId && { subscription_id: payment.subscriptionId }),
  ...(payment.setupFutureUsage && { setup_future_usage: payment.setupFutureUsage }),
  ...(payment.returnUrl && { return_url: payment.returnUrl }),
  ...(payment.failureCode && { failure_code: payment.failureCode }),
});

export const nextActionView = (payment: Payment) =>
  payment.nextAction && {
    next_action: { type: payment.nextAction.type, ...(payment.nextAction.url && { url: payment.nextAction.url }) },
  };

/** The columns of payments in CSV. */
export const PAYMENT_COLUMNS = [
  'id',
  'status',
  'currency',
  'amount_cents',
  'subtotal_cents',
  'tax_cents',
  'discount_cents',
  'total_cents',
  'refunded_cents',
  'refundable_cents',
  'refund_status',
  'disputed',
  'description',
  'concept',
  'reference_code',
  'category',
  'tags',
  'provider_id',
  'provider_payment_id',
  'provider_intent_id',
  'payment_method_id',
  'customer_id',
  'billing_address_id',
  'user_id',
  'organization_id',
  'project_id',
  'product_id',
  'subscription_id',
  'is_guest_payment',
  'guest_email',
  'failure_code',
  'created_at',
  'updated_at',
  'completed_at',
] as const satisfies readonly (keyof ReturnType<typeof paymentView>)[];

/** With the client secret, for callers who may confirm, until the secret expires. */
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

/** The fields that need no credential. */
export const guestPaymentView = (payment: VisiblePayment) => ({
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

/** The responses of payment routes, for the API document and the generated tests. */
const text = z.string().nullable();

const cents = z.int().nonnegative();

export const nextActionSchema = z.object({
  type: z.enum(['use_provider_sdk', 'redirect_to_url']),
  url: z.string().optional(),
});

export const paymentViewSchema = z.looseObject({
  id: z.string(),
  user_id: text,
  customer_id: text,
  subtotal_cents: cents,
  tax_cents: cents,
  discount_cents: cents,
  total_cents: cents,
  amount_cents: cents,
  currency: z.string(),
  status: z.enum(PAYMENT_STATUSES),
  description: text,
  concept: text,
  reference_code: text,
  category: text,
  tags: text,
  provider_id: z.string(),
  provider_payment_id: text,
  provider_intent_id: text,
  client_secret: z.string().optional(),
  payment_method_id: text,
  refunded_cents: cents,
  refundable_cents: cents,
  refund_status: z.enum(REFUND_EXTENTS),
  disputed: z.boolean(),
  is_guest_payment: z.boolean(),
  guest_email: text,
  organization_id: z.string().optional(),
  project_id: z.string().optional(),
  product_id: z.string().optional(),
  billing_address_id: text,
  metadata: z.record(z.string(), z.json()),
  failure_code: z.string().optional(),
  next_action: nextActionSchema.optional(),
  created_at: z.string(),
  updated_at: z.string(),
  completed_at: text,
});

export const createdPaymentSchema = paymentViewSchema.extend({
  guest_token: z.string().optional(),
  guest_token_expires_at: z.string().optional(),
});

export const confirmationSchema = z.object({
  id: z.string(),
  status: z.enum(PAYMENT_STATUSES),
  provider_payment_id: text,
  completed_at: text,
  next_action: nextActionSchema.optional(),
});

export const guestPaymentSchema = z.looseObject({
  id: z.string(),
  status: z.enum(PAYMENT_STATUSES),
  amount_cents: cents,
  total_cents: cents,
  currency: z.string(),
  description: text,
  is_guest_payment: z.boolean(),
  created_at: z.string(),
  completed_at: text,
});
