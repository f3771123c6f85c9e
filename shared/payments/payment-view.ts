/** @module The views of a payment for its readers, and their schemas for the API document and the generated tests. */

import * as z from 'zod';
import type { Audience } from '../access/audience.ts';
import { once } from '../core/once.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import type { Instant } from '../core/time.ts';
import { jsonValue, nextActionSchema, optionalText, timestamp } from '../http/fields.ts';
import { guestTokenView } from '../http/guest-fields.ts';
import { paymentDiscountView, pricesBeforeCode } from './discount-of-payment.ts';
import { declineView, methodDetailsView, paymentFactSchemas, settlementFor } from './facts-view.ts';
import { holdSchemas, holdView } from './holds/hold-view.ts';
import { type AccountFields, accountView, moneyAccount, openDisputesOf } from './money-account.ts';
import { payingCustomerIdOf } from './paying-customer.ts';
import {
  BILLING_REASONS,
  isGuestPayment,
  liveSecret,
  PAYMENT_STATUSES,
  type Payment,
  type VisiblePayment,
} from './payment.ts';

export const paymentView = (payment: VisiblePayment, audience: Audience) => ({
  id: payment.id,
  user_id: payment.userId ?? null,
  customer_id: payingCustomerIdOf(payment) ?? null,
  subtotal_cents: payment.subtotalCents,
  tax_cents: payment.taxCents,
  discount_cents: payment.discountCents,
  discount: paymentDiscountView(payment) ?? null,
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
  ...factsView(payment),
  ...settlementFor(audience, payment),
  ...holdView(payment),
  ...accountView(payment),
  refund_status: refundStatusOf(payment),
  disputed: openDisputesOf(payment).length > 0,
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

const factsView = (payment: VisiblePayment) => ({
  payment_method_details: methodDetailsView(payment.details),
  decline: declineView(payment),
  receipt_url: payment.receiptUrl ?? null,
});

export const REFUND_EXTENTS = ['none', 'partial', 'full'] as const;

export const refundStatusOf = (payment: AccountFields): (typeof REFUND_EXTENTS)[number] => {
  const { refunded } = moneyAccount(payment);
  if (refunded === 0) return 'none';
  return refunded < payment.totalCents ? 'partial' : 'full';
};

const optionalFields = (payment: VisiblePayment) => ({
  ...(payment.organizationId && { organization_id: payment.organizationId }),
  ...(payment.projectId && { project_id: payment.projectId }),
  ...(payment.productId && { product_id: payment.productId, quantity: payment.quantity ?? 1 }),
  ...(payment.subscriptionId && { subscription_id: payment.subscriptionId }),
  ...(payment.paymentLink && { payment_link_id: payment.paymentLink.id }),
  ...(payment.billingReason && { billing_reason: payment.billingReason }),
  ...(payment.setupFutureUsage && { setup_future_usage: payment.setupFutureUsage }),
  ...(payment.returnUrl && { return_url: payment.returnUrl }),
  ...(payment.failureCode && { failure_code: payment.failureCode }),
  ...(payment.discount && { own_discount_cents: pricesBeforeCode(payment).discountCents }),
});

export const nextActionView = (payment: Payment) =>
  payment.nextAction && {
    next_action: { type: payment.nextAction.type, ...(payment.nextAction.url && { url: payment.nextAction.url }) },
  };

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

/** The view with the client secret, for callers who may confirm, until the secret expires. */
export const paymentWithSecret = (payment: VisiblePayment, audience: Audience, now: Instant) => {
  const secret = liveSecret(payment, now);
  return { ...paymentView(payment, audience), ...(secret !== undefined && { client_secret: secret }) };
};

export const confirmationView = (payment: VisiblePayment) => ({
  id: payment.id,
  status: payment.status,
  provider_payment_id: payment.providerPaymentId ?? null,
  completed_at: payment.completedAt ?? null,
  ...nextActionView(payment),
});

/** The view for readers without a credential. */
export const guestPaymentView = (payment: VisiblePayment) => ({
  id: payment.id,
  status: payment.status,
  provider_id: payment.providerId,
  subtotal_cents: payment.subtotalCents,
  tax_cents: payment.taxCents,
  discount_cents: payment.discountCents,
  amount_cents: payment.totalCents,
  total_cents: payment.totalCents,
  currency: payment.currency,
  description: payment.description ?? null,
  is_guest_payment: isGuestPayment(payment),
  guest_email: payment.guestEmail ?? null,
  created_at: payment.createdAt,
  updated_at: payment.updatedAt,
  completed_at: payment.completedAt ?? null,
});

/** The fields that several schemas share. */
const sharedFields = /* @__PURE__ */ once(() => {
  const text = z.string().nullable();

  const cents = z.int().nonnegative();
  const id = z
    .string()
    .meta({ description: 'Id of the payment: `pay_` and 24 characters.', examples: ['pay_814fd0524add4278431c499b'] });
  const currency = z.string().meta({ description: 'The ISO 4217 code in upper case.', examples: ['EUR'] });
  const status = z.enum(PAYMENT_STATUSES).meta({
    id: 'PaymentStatus',
    description: `The status of the payment:
      - \`requires_payment_method\`: waits for a payment method; no attempt has been made
      - \`created\`: has a method and waits for its confirmation
      - \`pending\`: the payer must act (\`next_action\`), or a slow method such as a bank debit is under way
      - \`processing\`: an attempt is at the provider, and its outcome is open
      - \`requires_capture\`: the amount is held, and the merchant captures or releases it
      - \`failed\`: the last attempt was declined; it can be confirmed again with another method
      - \`canceled\`: canceled, or expired 24 hours after its creation without a confirmation
      - \`succeeded\`: the money is collected; final. Refunds and disputes do not change it`,
  });
  const total = cents.meta({
    description: 'The total price in minor units: subtotal + tax − discount.',
    examples: [2975],
  });
  const prices = {
    subtotal_cents: cents.meta({ description: 'The price before tax and discount, in minor units.', examples: [2500] }),
    tax_cents: cents.meta({ description: 'The tax in minor units; 0 if not sent.', examples: [475] }),
    discount_cents: cents.meta({
      description: 'The discount in minor units; 0 if not sent.',
      examples: [0],
    }),
    total_cents: total,
  };
  const amount = cents.describe('Always the same value as `total_cents`.');
  const completedAt = timestamp.nullable().describe('When the payment first succeeded; null before.');
  const description = text.describe('The purpose of the payment, in your words; null if not sent.');
  const isGuest = z.boolean().describe('True if a guest without a session made the payment.');
  const createdAt = timestamp.describe('When the payment was created.');
  const updatedAt = timestamp.describe('When the payment last changed.');
  const guestEmail = text.describe("The guest's e-mail address; null for a signed-in user.");
  const providerId = z
    .string()
    .meta({ description: 'The provider slot that collects the money.', examples: ['provider_a'] });
  const providerPaymentId = text.describe(
    'The id of the payment at the provider, as `POST /payments/sync/{provider_payment_id}` accepts it.',
  );

  const nextAction = nextActionSchema
    .optional()
    .describe('Present while the payer must act, for example authenticate a card (3-D Secure) or approve an order.');
  return {
    text,
    cents,
    id,
    currency,
    status,
    prices,
    amount,
    completedAt,
    description,
    isGuest,
    createdAt,
    updatedAt,
    guestEmail,
    providerId,
    providerPaymentId,
    nextAction,
  };
});

const discountSchemas = () => ({
  discount: z
    .object({
      code: z.string().meta({ description: 'The code in upper case.', examples: ['SPRING-25'] }),
      cents: z.int().describe("The code's own part of `discount_cents`, in minor units."),
    })
    .nullable()
    .describe('The discount code of the payment; null without one.'),
  own_discount_cents: z
    .int()
    .nonnegative()
    .optional()
    .describe('The discount without the part of the code, in minor units; present with a code.'),
});

/** The schemas of the payment's owner and of the subject of the payment. */
const boughtSchemas = () => ({
  organization_id: optionalText.describe('The organization that owns the payment; absent for a personal payment.'),
  project_id: optionalText.describe('The project of the payment; absent if it has none.'),
  product_id: optionalText.describe('The product that was bought; absent if the payment has none.'),
  quantity: z.int().positive().optional().describe('Units of the product; present with `product_id`.'),
  subscription_id: optionalText.describe(
    'The subscription whose period this pays, `subs_…`; absent for a single payment.',
  ),
  payment_link_id: optionalText.describe('The payment link that started the payment, `lnk_…`; absent without one.'),
  billing_reason: z
    .enum(BILLING_REASONS)
    .optional()
    .describe(
      'Why the subscription was charged: for its first period, a further period, a change of its plan or the period after a pause; absent for single payments.',
    ),
});

export const paymentViewSchema = /* @__PURE__ */ once(() => {
  const given = sharedFields();
  return z
    .looseObject({
      id: given.id,
      user_id: given.text.describe('The user who made the payment; null for a guest.'),
      customer_id: given.text.describe('The customer that pays, `cust_…`; null for a payment without a customer.'),
      ...given.prices,
      ...discountSchemas(),
      amount_cents: given.amount,
      currency: given.currency,
      status: given.status,
      description: given.description,
      concept: given.text.describe('A short title, such as an invoice line, for your own use.'),
      reference_code: given.text.describe('Your own reference, such as an order or invoice number.'),
      category: given.text.describe('A category of your choice.'),
      tags: given.text.describe('Tags of your choice, separated by commas.'),
      provider_id: given.providerId,
      provider_payment_id: given.providerPaymentId,
      provider_intent_id: given.text.describe(
        'The id of the intent or order at the provider; it stays the same over several attempts.',
      ),
      client_secret: optionalText.describe(
        "For the provider's library in the browser. Present for 24 hours after the creation, for callers who may confirm the payment; never in a list.",
      ),
      payment_method_id: given.text.describe(
        'The saved payment method, `pmt_…`; null before a method is set, and for a one-time token.',
      ),
      ...paymentFactSchemas(),
      ...holdSchemas(),
      refunded_cents: given.cents.describe('The sum of the succeeded refunds, in minor units.'),
      refundable_cents: given.cents.describe(
        'The amount that can be refunded now, in minor units: `captured_cents` less succeeded and pending refunds, open disputes and lost disputes; never below 0.',
      ),
      disputed_cents: given.cents.describe('The sum of the open disputes, in minor units.'),
      lost_cents: given.cents.describe('The sum of the lost disputes, in minor units. It went back to the payer.'),
      refund_status: z.enum(REFUND_EXTENTS).describe('Whether nothing, a part or the whole total was refunded.'),
      disputed: z.boolean().describe('True while a dispute about the payment is open.'),
      is_guest_payment: given.isGuest,
      guest_email: given.guestEmail,
      ...boughtSchemas(),
      setup_future_usage: z
        .literal('off_session')
        .optional()
        .describe('Present if the method is saved for later payments once this payment succeeds.'),
      return_url: optionalText.describe(
        'The URL to which the provider returns the payer; absent if the payment has none.',
      ),
      billing_address_id: given.text.describe(
        'The billing address for tax and audit, `addr_…`; null if the payment has none.',
      ),
      metadata: z
        .record(z.string(), jsonValue)
        .describe('Your own data, as the request set it; an empty object without metadata.'),
      failure_code: z
        .enum(DECLINE_CODES)
        .optional()
        .describe('Why the last attempt was declined; absent if it was not declined.'),
      next_action: given.nextAction,
      created_at: given.createdAt,
      updated_at: given.updatedAt,
      completed_at: given.completedAt,
    })
    .meta({ id: 'Payment', description: 'One intent to collect an amount, and its outcome.' });
});

export const createdPaymentSchema = /* @__PURE__ */ once(() =>
  paymentViewSchema().extend(guestTokenView).meta({
    id: 'CreatedPayment',
    description: 'A new payment, with the client secret and, for a guest, a guest token.',
  }),
);

export const confirmationSchema = /* @__PURE__ */ once(() => {
  const { id, status, completedAt, providerPaymentId, nextAction } = sharedFields();
  return z
    .object({
      id,
      status,
      provider_payment_id: providerPaymentId,
      completed_at: completedAt,
      next_action: nextAction,
    })
    .meta({ id: 'Confirmation', description: 'The payment after a confirmation.' });
});

export const guestPaymentSchema = /* @__PURE__ */ once(() => {
  const given = sharedFields();
  return z
    .looseObject({
      id: given.id,
      status: given.status,
      provider_id: given.providerId,
      ...given.prices,
      amount_cents: given.amount,
      currency: given.currency,
      description: given.description,
      is_guest_payment: given.isGuest,
      guest_email: given.guestEmail,
      created_at: given.createdAt,
      updated_at: given.updatedAt,
      completed_at: given.completedAt,
    })
    .meta({
      id: 'GuestPayment',
      description:
        'The fields of a guest payment that need no credential. With the guest token, the list has all fields.',
    });
});
