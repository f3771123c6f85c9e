/** @module Subscriptions as API callers see them, and their schemas for the API document and the tests. */

import * as z from 'zod';
import type { Showing } from '../../access/included-records.ts';
import { once } from '../../core/once.ts';
import { jsonValue, nextActionSchema, optionalText, timestamp } from '../../http/fields.ts';
import { guestTokenView } from '../../http/guest-fields.ts';
import { type IdempotentRequest, replayedFor } from '../../http/idempotency.ts';
import type { Reply } from '../../http/request.ts';
import { PAYMENT_STATUSES } from '../../payments/payment.ts';
import {
  pendingChangeSchema,
  pendingChangeView,
  scheduledChangeView,
  scheduledChangeViewSchema,
} from './plan-change-view.ts';
import {
  BILLING_OWNERS,
  BILLING_STATUSES,
  billingStatusOf,
  CANCEL_REASONS,
  cancelReasonView,
  endsWithPeriod,
  isGuestSubscription,
  isVisibleSubscription,
  nextRetryOf,
  SUBSCRIPTION_STATUSES,
  type Subscription,
  subscriptionRecord,
  type VisibleSubscription,
} from './subscription.ts';
import { shownPeriodsLeft } from './subscription-discount.ts';

const orNull = <T>(value: T | undefined): T | null => value ?? null;

export const subscriptionView = (subscription: VisibleSubscription) => ({
  id: subscription.id,
  customer_id: subscription.customerId,
  product_id: orNull(subscription.productId),
  quantity: subscription.quantity,
  payment_method_id: orNull(subscription.paymentMethodId),
  provider_id: subscription.providerId,
  provider_subscription_id: orNull(providerIdOf(subscription)),
  status: subscription.status,
  billing_status: billingStatusOf(subscription),
  billing_owner: subscription.billingOwner,
  current_period_start: subscription.currentPeriodStart,
  current_period_end: subscription.currentPeriodEnd,
  next_billing_date: nextBillingDate(subscription),
  pending_change: pendingChangeView(subscription),
  scheduled_change: scheduledChangeView(subscription),
  cancel_at_period_end: subscription.cancelAtPeriodEnd,
  ...cancelReasonView(subscription),
  canceled_at: (subscription.status === 'canceled' && subscription.canceledAt) || null,
  trial_end: orNull(subscription.trialEnd),
  resume_at: (subscription.status === 'paused' && subscription.resumeAt) || null,
  subtotal_cents: subscription.subtotalCents,
  tax_cents: subscription.taxCents,
  discount_cents: subscription.discountCents,
  discount: discountView(subscription),
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
  guest_email: orNull(subscription.guestEmail),
  ...(subscription.importedAt && { imported_at: subscription.importedAt }),
  created_at: subscription.createdAt,
  updated_at: subscription.updatedAt,
});

const discountView = (subscription: VisibleSubscription) => {
  const { discount } = subscription;
  if (!discount) return null;
  const { code, percentBp, amountCents, full } = discount;
  return {
    code,
    ...(percentBp === undefined ? { amount_cents: amountCents } : { percent_bp: percentBp }),
    periods_left: shownPeriodsLeft(subscription),
    full: {
      subtotal_cents: full.subtotalCents,
      tax_cents: full.taxCents,
      discount_cents: full.discountCents,
      total_cents: full.totalCents,
    },
  };
};

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
  'quantity',
  'resume_at',
] as const satisfies readonly (keyof ReturnType<typeof subscriptionView>)[];

export const subscriptionBeside: Showing<VisibleSubscription> = { kind: subscriptionRecord, view: subscriptionView };

/** The provider's id. Until a new subscription exists there, the id of the most recent former one. */
const providerIdOf = ({ providerSubscriptionId, formerProviderIds }: Subscription): string | undefined =>
  providerSubscriptionId ?? formerProviderIds?.at(-1);

/** The response to a command. @throws Error for a subscription hidden from readers (a bug) */
export const commandView = (subscription: Subscription) => {
  if (!isVisibleSubscription(subscription))
    throw new Error('a command returned a subscription that readers must not see');
  return subscriptionView(subscription);
};

/** The response to a command with a possible charge. While the charge is pending, a repeat shows the new state. */
export const standingReply = (subscription: Subscription, request?: IdempotentRequest): Reply => ({
  data: commandView(subscription),
  isOpen: isVisibleSubscription(subscription) && billingStatusOf(subscription) === 'pending',
  ...replayedFor(request),
});

/** The time of the next charge or retry; null if none is planned. */
const nextBillingDate = (subscription: VisibleSubscription): string | null => {
  if (endsWithPeriod(subscription)) return null;
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
  provider_id: subscription.providerId,
  subtotal_cents: subscription.subtotalCents,
  tax_cents: subscription.taxCents,
  discount_cents: subscription.discountCents,
  total_cents: subscription.totalCents,
  currency: subscription.currency,
  billing_interval: subscription.billingInterval,
  interval_multiplier: subscription.intervalMultiplier,
  current_period_end: subscription.currentPeriodEnd,
  next_billing_date: nextBillingDate(subscription),
  cancel_at_period_end: subscription.cancelAtPeriodEnd,
  is_guest_subscription: isGuestSubscription(subscription),
  guest_email: orNull(subscription.guestEmail),
  created_at: subscription.createdAt,
  updated_at: subscription.updatedAt,
});

/** The fields that several schemas share. */
const commonFields = /* @__PURE__ */ once(() => {
  const textOrNull = z.string().nullable();
  const cents = z.int().nonnegative();
  const status = z.enum(SUBSCRIPTION_STATUSES).meta({
    id: 'SubscriptionStatus',
    description: `The status of the subscription:
      - \`trialing\`: in its trial; the first charge follows at \`trial_end\`
      - \`active\`: the current period is paid for
      - \`past_due\`: a charge is open or was declined; \`billing_status\` says which
      - \`paused\`: nothing is charged until it is resumed
      - \`canceled\`: ended; it can be reactivated`,
  });
  return { textOrNull, cents, status };
});

export const guestSubscriptionSchema = /* @__PURE__ */ once(() => {
  const { textOrNull, cents, status } = commonFields();
  return z
    .looseObject({
      id: z.string().meta({
        description: 'Id of the subscription: `subs_` and 24 characters.',
        examples: ['subs_1f2e3d4c5b6a79880796a5b4'],
      }),
      status,
      provider_id: z
        .string()
        .meta({ description: 'The provider slot that collects the money.', examples: ['provider_a'] }),
      currency: z.string().meta({ description: 'The ISO 4217 code in upper case.', examples: ['EUR'] }),
      subtotal_cents: cents.describe('The price of a period before tax and discount, in minor units.'),
      tax_cents: cents.describe('The tax of a period in minor units; 0 if not sent.'),
      discount_cents: cents.describe('The discount of a period in minor units; 0 if not sent.'),
      total_cents: cents.meta({
        description: 'The price of a period, in minor units: subtotal + tax − discount.',
        examples: [990],
      }),
      billing_interval: z
        .string()
        .describe('The unit of a period: `daily`, `weekly`, `monthly`, `quarterly` or `yearly`.'),
      interval_multiplier: z
        .int()
        .positive()
        .describe('Units of `billing_interval` per period: 3 with `monthly` is a charge every three months.'),
      current_period_end: timestamp.describe('When the current period, or the trial, ends.'),
      next_billing_date: timestamp
        .nullable()
        .describe(
          'When the next charge or retry is due; null if none is planned because the subscription is paused, canceled, unpaid or ends with its period.',
        ),
      cancel_at_period_end: z
        .boolean()
        .describe(
          'True if the subscription ends with its current period, or on a date that was set at the provider. If that date is later than the period, `next_billing_date` is the time of the next charge.',
        ),
      is_guest_subscription: z.boolean().describe('True if a guest without a session made the subscription.'),
      guest_email: textOrNull.describe("The guest's e-mail address; null for a signed-in user."),
      created_at: timestamp.describe('When the subscription was created.'),
      updated_at: timestamp.describe('When the subscription last changed.'),
    })
    .meta({
      id: 'GuestSubscription',
      description:
        'The fields of a guest subscription that need no credential. With the guest token, the list has all fields.',
    });
});

const discountViewSchema = () => {
  const { cents } = commonFields();
  return z
    .object({
      code: z.string().meta({ description: 'The code in upper case.', examples: ['HALF-3'] }),
      percent_bp: z.int().optional().describe('The percentage in basis points; absent for an amount.'),
      amount_cents: z.int().optional().describe('The amount in minor units; absent for a percentage.'),
      periods_left: z
        .int()
        .nonnegative()
        .nullable()
        .describe('Further periods at the reduced price; null for a code that lasts forever.'),
      full: z
        .object({
          subtotal_cents: cents.describe('The price of a period before tax and discount, in minor units.'),
          tax_cents: cents.describe('The tax of a period without the code, in minor units.'),
          discount_cents: cents.describe('The discount of a period without the code, in minor units.'),
          total_cents: cents.describe('The price of a period without the code, in minor units.'),
        })
        .describe('The price after the code ends, in minor units.'),
    })
    .nullable()
    .describe('The discount code, included in the prices; null without one.');
};

export const subscriptionViewSchema = /* @__PURE__ */ once(() => {
  const { textOrNull } = commonFields();
  return guestSubscriptionSchema()
    .extend({
      discount: discountViewSchema(),
      customer_id: z.string().describe('The customer that pays, `cust_…`.'),
      product_id: textOrNull.describe('The product of the subscription; null for a custom price.'),
      quantity: z
        .int()
        .positive()
        .describe('Units of the product per period; 1 without a product. The prices are for all units.'),
      payment_method_id: textOrNull.describe(
        'The saved payment method that is charged, `pmt_…`; null after the method was removed.',
      ),
      provider_subscription_id: textOrNull.describe(
        'The id of the subscription at the provider; null if the service bills the subscription.',
      ),
      billing_status: z.enum(BILLING_STATUSES).meta({
        id: 'BillingStatus',
        description: `The status of the charges:
        - \`active\`: paid for
        - \`trialing\`: nothing is charged yet
        - \`pending\`: the first charge is open: the payer must act, or the provider has not responded
        - \`retrying\`: a renewal is under way, or was declined and is retried at \`next_billing_date\`
        - \`unpaid\`: a renewal was declined and is not retried until the payment method changes
        - \`paused\`: paused
        - \`ended\`: canceled`,
      }),
      current_period_start: timestamp.describe('When the current period, or the trial, began.'),
      trial_end: timestamp.nullable().describe('When the trial ends or ended; null without a trial.'),
      resume_at: timestamp.nullable().describe('When the paused subscription resumes automatically; else null.'),
      project_id: textOrNull.describe('The project that gets the membership; null without one.'),
      organization_id: textOrNull.describe('The organization that pays; null for a personal subscription.'),
      user_id: textOrNull.describe('The user who made the subscription; null for a guest.'),
      billing_address_id: textOrNull.describe('The billing address for tax and audit, `addr_…`; null without one.'),
      billing_owner: z
        .enum(BILLING_OWNERS)
        .describe("Who charges each period: `service`, or the provider's own billing (`provider`)."),
      pending_change: pendingChangeSchema().nullable().describe('An unfinished plan change; null without one.'),
      scheduled_change: scheduledChangeViewSchema()
        .nullable()
        .describe('The plan of the next period if a change is scheduled; else null.'),
      canceled_at: timestamp.nullable().describe('When the subscription ended; null before.'),
      cancel_reason: z
        .enum(CANCEL_REASONS)
        .nullable()
        .describe('Why the payer canceled on the hosted page; null without a reason.'),
      cancel_comment: textOrNull.describe("The payer's own words about the cancellation; null without them."),
      concept: textOrNull.describe('A short title, such as an invoice line, for your own use.'),
      description: textOrNull.describe('The purpose of the subscription; null if not sent.'),
      reference_code: textOrNull.describe('Your own reference, such as a contract number.'),
      category: textOrNull.describe('A category of your choice.'),
      tags: textOrNull.describe('Tags of your choice, separated by commas.'),
      imported_at: timestamp
        .optional()
        .describe('When the subscription was imported; present if another integration made it.'),
      latest_payment_id: textOrNull.describe('The payment of the latest charge, `pay_…`; null before the first.'),
      metadata: z
        .record(z.string(), jsonValue)
        .describe('Your own data, as the requests set it; an empty object without metadata.'),
    })
    .meta({
      id: 'Subscription',
      description: 'A price that is charged every period, and the status of its charges.',
    });
});

export const createdSubscriptionSchema = /* @__PURE__ */ once(() =>
  subscriptionViewSchema()
    .extend({
      next_action: nextActionSchema
        .optional()
        .describe('Present if the payer must act for the first charge, for example authenticate a card.'),
      client_secret: optionalText.describe(
        "For the provider's library in the browser, while the payer must act for the first charge; present for 23 hours.",
      ),
      ...guestTokenView,
    })
    .meta({
      id: 'CreatedSubscription',
      description:
        'A new subscription, with the next action and client secret if the payer must act for the first charge and, for a guest, a guest token.',
    }),
);

export const shownSubscriptionSchema = /* @__PURE__ */ once(() => {
  const { textOrNull } = commonFields();
  return subscriptionViewSchema()
    .extend({
      open_payment: z
        .object({
          id: z.string().describe('Id of the payment, `pay_…`; confirm it to end the dunning.'),
          status: z.enum(PAYMENT_STATUSES).describe('The status of that payment, as in `Payment`.'),
          next_action: nextActionSchema.nullable().describe("The payer's next step; null if none."),
          client_secret: textOrNull.describe(
            "For the provider's library in the browser; null once it has expired, and for readers who may not pay.",
          ),
        })
        .meta({ id: 'OpenPayment', description: 'The open payment of a past-due subscription.' })
        .optional()
        .describe('The open payment of the subscription, for callers who may pay; absent without one.'),
    })
    .meta({ id: 'ShownSubscription', description: 'A subscription, with its open payment.' });
});
