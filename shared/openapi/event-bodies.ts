/**
 * @module The bodies of canonical events in the API document. A test compares them with the service's derived events.
 */

import * as z from 'zod';
import { BILLING_INTERVALS } from '../catalog/billing-intervals.ts';
import { DISPUTE_STATUSES, REFUND_REASONS } from '../core/money-back.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { TAX_ID_TYPES } from '../customers/address.ts';
import { jsonValue } from '../http/fields.ts';
import { MEMBERSHIP_STATUSES } from '../memberships/membership.ts';
import { eventDetailsSchema } from '../payments/facts-view.ts';
import { HOLD_ENDS, HOLD_FAILURES } from '../payments/holds/hold-record.ts';
import { PAYMENT_STATUSES } from '../payments/payment.ts';
import type { CanonicalEvent } from '../platform/bus-event.ts';
import { ENTITY_TYPES } from '../platform/keys.ts';
import {
  BILLING_STATUSES,
  CANCEL_REASONS,
  REASONS,
  SUBSCRIPTION_STATUSES,
} from '../subscriptions/record/subscription.ts';

const time = z.string().meta({ format: 'date-time' });
const id = z.string();
const minorUnits = z.int().nonnegative();

const user = z
  .object({
    id: id.describe('The user id of the identity service; for a guest the `guest_id`, `gst_…`.'),
    type: z
      .enum(['authenticated', 'guest'])
      .describe('`authenticated` for a user with a session, `guest` for a guest.'),
    email: z.string().nullable().describe('The e-mail address at the time of the record; null if none is known.'),
  })
  .meta({ id: 'EventUser', description: 'The person who pays.' });

const project = z
  .object({ id: id.describe('Id of the project in the reference records.') })
  .meta({ id: 'EventProject', description: 'The project that the record belongs to.' });

const owner = {
  user: user.nullable().describe('The person who pays; null if the record names no person.'),
  project: project.nullable().describe('The project of the record; null if it has none.'),
};
const organizationId = id.nullable().describe('The organization that owns the record; null for a personal record.');

const address = z
  .object({
    id: id.describe('Id of the address, `addr_…`.'),
    country: z.string().describe('The ISO 3166 code of two letters.'),
    line1: z.string().nullable().describe('Street and number; null if not given.'),
    line2: z.string().nullable().describe('A further line; null if not given.'),
    city: z.string().nullable().describe('The city; null if not given.'),
    state: z.string().nullable().describe('The state or province; null if not given.'),
    postal_code: z.string().nullable().describe('The postal code; null if not given.'),
    name: z.string().nullable().describe('The name on the address; null if not given.'),
    is_business: z.boolean().describe('True for the address of a business.'),
    business_name: z.string().nullable().describe('The name of the business; null for a person.'),
    tax_id: z.string().nullable().describe('The tax id as it was sent; null if not given.'),
    tax_id_type: z.enum(TAX_ID_TYPES).nullable().describe('The kind of the tax id; null without one.'),
  })
  .meta({ id: 'EventAddress', description: 'A billing address as it was when the event was made.' });

const order = {
  reference_code: z.string().nullable().describe('Your own reference, such as an order number; null without one.'),
  metadata: z.record(z.string(), jsonValue).describe('Your own data; an empty object without metadata.'),
  product_id: id.nullable().describe('The product that is paid for; null for a custom price.'),
  quantity: z.int().positive().describe('Units of the product; 1 without a product.'),
  subtotal: minorUnits.describe('The price before tax and discount, in the minor unit of `currency`.'),
  tax: minorUnits.describe('The tax, in the minor unit of `currency`.'),
  discount: minorUnits.describe('The discount, in the minor unit of `currency`.'),
  billing_address: address
    .nullable()
    .describe('The billing address as it was when the event was made; null if the record names none.'),
};
const discountCode = z.string().nullable().describe('The discount code, in upper case; null without one.');

const payment = {
  payment_id: id.describe('Id of the payment, `pay_…`; read it with `GET /payments/{id}`.'),
  amount: minorUnits.describe('The total of the payment in the minor unit of `currency`.'),
  currency: z.string().describe('The ISO 4217 code in upper case, such as `USD`.'),
  discount_code: discountCode,
  payment_link_id: id.optional().describe('The payment link that started the payment, `lnk_…`; absent without one.'),
  status: z.enum(PAYMENT_STATUSES).describe('The status of the payment after this event.'),
  ...owner,
  provider_payment_id: id
    .nullable()
    .describe(
      'The id of the payment at the provider, as `POST /payments/sync/{provider_payment_id}` accepts it. Null until the provider has created the payment.',
    ),
  organization_id: organizationId,
  customer_id: id.nullable().describe('Id of the customer that pays, `cust_…`; null for a payment without a customer.'),
  subscription_id: id
    .nullable()
    .describe('The subscription that the payment is for, `subs_…`; null for a single payment.'),
  failure_code: z
    .enum(DECLINE_CODES)
    .nullable()
    .describe('Why the last attempt failed; null unless `status` is `failed`.'),
  ...order,
};

const attempted = {
  ...payment,
  payment_method_details: eventDetailsSchema()
    .nullable()
    .describe(
      'The method of the attempt, without its expiry date; null if the provider had not reported it when the event was made. `GET /payments/{id}` shows it once it is known.',
    ),
};

const held = {
  ...attempted,
  authorized_amount: minorUnits.describe('The held amount, in the minor unit of `currency`.'),
  capturable_amount: minorUnits.describe('The amount that can be captured now, in the minor unit of `currency`.'),
  capture_before: time.nullable().describe('When the provider ends the hold; null if unknown.'),
};

const failedCall = {
  reason: z
    .enum(HOLD_FAILURES)
    .describe('`not_done`: the provider has not carried out the call. `declined`: the bank has refused the capture.'),
  failure_code: z.enum(DECLINE_CODES).nullable().describe('Why the bank refused; null for `not_done`.'),
};

const refund = z
  .object({
    id: id.describe('Id of the refund, `ref_…`; read it with `GET /refunds/{id}`.'),
    amount: minorUnits.describe('The amount of the refund, in the minor unit of `currency`.'),
    reason: z.enum(REFUND_REASONS).nullable().describe('The reason that was given for the refund; null if none was.'),
    status: z
      .enum(['succeeded', 'failed', 'canceled'])
      .describe('`succeeded` in `payment.refunded`; `failed` or `canceled` in `payment.refund_failed`.'),
  })
  .meta({ id: 'EventRefund', description: 'A refund of the payment, with its outcome.' });

const dispute = z
  .object({
    id: id.describe('Id of the dispute, `dsp_…`.'),
    amount: minorUnits.describe('The disputed amount, in the minor unit of `currency`.'),
    reason: z
      .string()
      .nullable()
      .describe("The provider's reason in lower case, such as `fraudulent`; null if the provider gives no reason."),
    status: z
      .enum(DISPUTE_STATUSES)
      .describe('Open: `needs_response`, `under_review`. Closed: `won`, `lost`, `closed`.'),
    evidence_due_by: time
      .nullable()
      .describe('The deadline for evidence at the provider; null if the provider sets no deadline.'),
  })
  .meta({ id: 'EventDispute', description: 'A dispute of the payment, with its amount and status.' });

const subscription = {
  subscription_id: id.describe('Id of the subscription, `subs_…`; read it with `GET /subscriptions/{id}`.'),
  status: z.enum(SUBSCRIPTION_STATUSES).describe('The status of the subscription after the change.'),
  billing_status: z.enum(BILLING_STATUSES).describe('The status of the charges after the change.'),
  customer_id: id.describe('Id of the customer that pays, `cust_…`.'),
  ...order,
  amount: minorUnits.describe('The price of one period in the minor unit of `currency`, for the whole quantity.'),
  currency: z.string().describe('The ISO 4217 code in upper case, such as `USD`.'),
  discount_code: discountCode,
  billing_interval: z
    .enum(BILLING_INTERVALS)
    .describe('The unit of the period; with `interval_multiplier` its length.'),
  interval_multiplier: z.int().positive().describe('How many units of `billing_interval` one period has.'),
  current_period_start: time.describe('When the current period began.'),
  current_period_end: time.describe('When the current period ends and the next charge is due.'),
  cancel_at_period_end: z.boolean().describe('True if the subscription ends with its current period.'),
  cancel_reason: z
    .enum(CANCEL_REASONS)
    .nullable()
    .describe('Why the payer canceled on the hosted page; null without a reason.'),
  cancel_comment: z.string().nullable().describe("The payer's own words about the cancellation; null without them."),
  trial_end: time.nullable().describe('When the trial ends or ended; null without a trial.'),
  next_billing_date: time
    .optional()
    .describe(
      'Present with the reason `renewal_due`: the time of the renewal. `amount` is then the price of the renewal.',
    ),
  reason: z.enum(REASONS).nullable().describe('What changed; `created` or `imported` in the first event.'),
  previous: z
    .object({
      product_id: id.nullable().describe('The product before; null for a custom price.'),
      quantity: z.int().positive().describe('Units of the product per period.'),
      amount: minorUnits.describe('The price of one period before.'),
    })
    .meta({ id: 'EventPreviousPlan', description: 'The product, quantity and price before this event.' })
    .nullable()
    .describe('The plan before, if this event changes product, quantity, price or interval; else null.'),
  ...owner,
  organization_id: organizationId,
};

const importedReason = z
  .literal('imported')
  .optional()
  .describe('Present if the subscription was imported from another integration.');

const membership = {
  membership_id: id.describe('Id of the membership, `mbr_…`; read it with `GET /memberships/{id}`.'),
  membership_type_id: id.describe('The tier that the membership gives.'),
  entity_type: z.enum(ENTITY_TYPES).describe('Whether `entity_id` is a user, an organization or a project.'),
  entity_id: id.describe('The user, organization or project that the membership is for.'),
  subscription_id: id.describe('The subscription that pays for the membership, `subs_…`.'),
  status: z.enum(MEMBERSHIP_STATUSES).describe('The status of the membership after the change.'),
  starts_at: time.nullable().describe('The start of the membership; null while it is pending.'),
  ends_at: time.nullable().describe('The end of the paid time; null while the membership is pending.'),
  ...owner,
};

const customer = {
  customer_id: id.describe('Id of the customer, `cust_…`; read it with `GET /customers/{id}`.'),
  provider_customer_id: id.describe('The id of the customer at the provider, as in its dashboard.'),
  email: z.string().nullable().describe('The e-mail address of the customer; null if none is known.'),
  name: z.string().nullable().describe('The full name of the customer; null if none is known.'),
  is_guest: z.boolean().describe('True if a guest without a session made the customer.'),
  ...owner,
  organization_id: organizationId,
};

interface EventText {
  readonly summary: string;
  readonly when: string;
  readonly data: z.ZodRawShape;
}

const REFUNDED_CENTS = z
  .int()
  .nonnegative()
  .describe('The sum of all succeeded refunds of the payment after this event, in minor units.');

/** The meaning and the data of each event. */
export const EVENTS = {
  'payment.created': {
    summary: 'A payment was created',
    when: 'The provider has created the intent, and the payment can be read. No money has moved.',
    data: payment,
  },
  'payment.succeeded': {
    summary: 'A payment succeeded',
    when: 'The money is collected. Deliver what was bought. The event is sent once per payment, whether a confirmation, a provider event or a sync reported the success.',
    data: attempted,
  },
  'payment.failed': {
    summary: 'An attempt to pay failed',
    when: 'The provider or the bank declined; `failure_code` says why. The payer may try again with another method, so `payment.succeeded` or another `payment.failed` may follow.',
    data: attempted,
  },
  'payment.authorized': {
    summary: 'The amount of a payment is held',
    when: 'The payer has confirmed a payment with `capture_method: "manual"`. No money has moved. Capture it before `capture_before`.',
    data: held,
  },
  'payment.capture_due': {
    summary: 'A hold ends within a day',
    when: 'Sent once per payment, 24 hours before `capture_before`, or immediately if the hold is shorter. Capture or release the payment.',
    data: held,
  },
  'payment.released': {
    summary: 'A hold ended without a capture',
    when: 'The payment is canceled, and the payer keeps the money. The event is not sent if the service learned of the end before it learned of the hold.',
    data: {
      ...held,
      reason: z
        .enum(HOLD_ENDS)
        .describe('`released` by the merchant, `expired` at or after `capture_before`, or ended by the `provider`.'),
    },
  },
  'payment.captured_more': {
    summary: 'More of a hold was captured',
    when: 'A payment that has succeeded was captured again at the provider, as PayPal allows on its site. `payment.succeeded` is not sent again.',
    data: {
      ...attempted,
      amount: z.int().positive().describe('The additional amount, in minor units.'),
      captured_amount: z.int().positive().describe('The sum of all captures after this event, in minor units.'),
    },
  },
  'payment.capture_failed': {
    summary: 'A pending capture did not happen',
    when: 'The response to the capture left the outcome open (202), and nothing was taken. The amount is still held, and you can capture it again, also under the same `Idempotency-Key`.',
    data: { ...held, ...failedCall },
  },
  'payment.release_failed': {
    summary: 'A pending release did not happen',
    when: 'The response to the release left the outcome open (202), and the amount is still held. Release it again, also under the same `Idempotency-Key`.',
    data: { ...held, ...failedCall },
  },
  'payment.updated': {
    summary: 'The metadata of a payment changed',
    when: "`PATCH /payments/{id}` changed the metadata. `status` is the payment's status.",
    data: { ...attempted, reason: z.literal('metadata').describe('What changed.') },
  },
  'payment.refunded': {
    summary: 'A refund succeeded',
    when: 'A refund became `succeeded`, whether it was made here or at the provider; at most once per refund. Do not add up the amounts: `refunded_cents` is the sum.',
    data: {
      ...payment,
      refund: refund.describe('The refund that succeeded with this event.'),
      refunded_cents: REFUNDED_CENTS,
    },
  },
  'payment.refund_failed': {
    summary: 'A refund failed or was canceled',
    when: 'The money stays with you. If `payment.refunded` was sent for the same refund before, the bank has returned the money to you, and `refunded_cents` has gone down again.',
    data: { ...payment, refund: refund.describe('The failed or canceled refund.'), refunded_cents: REFUNDED_CENTS },
  },
  'payment.dispute_opened': {
    summary: 'A payer disputes a payment',
    when: 'A new dispute was opened, or the provider opened a dispute again after a decision. Submit evidence at the provider before `dispute.evidence_due_by`.',
    data: { ...payment, dispute: dispute.describe('The dispute that was opened.') },
  },
  'payment.dispute_updated': {
    summary: 'A dispute changed',
    when: 'The due date or the amount of a dispute changed, or the provider waits for evidence again. A change that sends `payment.dispute_opened` or `payment.dispute_closed` does not send this event.',
    data: { ...payment, dispute: dispute.describe('The dispute as it is now.') },
  },
  'payment.dispute_closed': {
    summary: 'A dispute was decided',
    when: 'The dispute became `won`, `lost` or `closed`. A later decision, such as after an appeal, sends the event again. If a dispute is already closed when the service first records it, only this event is sent.',
    data: { ...payment, dispute: dispute.describe('The dispute that was decided.') },
  },
  'subscription.created': {
    summary: 'A subscription started',
    when: 'The first charge succeeded, or the trial began, or the first charge is still pending (`past_due`).',
    data: subscription,
  },
  'subscription.updated': {
    summary: 'A subscription changed',
    when: 'A field that readers see has changed, for example after a renewal, a failed charge, a new method or a scheduled cancellation. `reason` names the change.',
    data: subscription,
  },
  'subscription.cancelled': {
    summary: 'A subscription ended',
    when: 'Its status became `canceled`: immediately, at the end of its period, or after the last retry of a failed charge.',
    data: subscription,
  },
  'membership.pending': {
    summary: 'A membership waits for its first payment',
    when: 'A subscription with a tier was created, and it is in its trial or its first charge is open. Do not give access yet.',
    data: { ...membership, reason: importedReason },
  },
  'membership.activated': {
    summary: 'A membership became active',
    when: 'The subscription is paid. Give access until `ends_at`.',
    data: { ...membership, reason: importedReason },
  },
  'membership.extended': {
    summary: 'A membership was renewed',
    when: 'A renewal was paid, and `ends_at` is later than before.',
    data: membership,
  },
  'membership.cancelled': {
    summary: 'A membership ended',
    when: 'Its subscription was canceled or paused, or is unpaid. Remove the access.',
    data: {
      ...membership,
      reason: z.literal('paused').optional().describe('Present if the subscription was paused and may be resumed.'),
    },
  },
  'customer.created': {
    summary: 'A customer was created',
    when: 'The provider has created the customer, for a request or because a payment needed a customer.',
    data: customer,
  },
  'customer.updated': {
    summary: 'A customer changed',
    when: 'A field of the customer changed, here or at the provider.',
    data: customer,
  },
} satisfies Readonly<Record<CanonicalEvent, EventText>>;

export const eventBody = (event: CanonicalEvent, { summary, when, data }: EventText) =>
  z
    .object({
      event: z.literal(event).describe('The name of the event, as in the header `webhook-event`.'),
      provider: z.enum(PROVIDER_SLOTS).describe("The provider slot of the event's record."),
      timestamp: time.describe(
        'When the change was stored. Of two events about one record, the event with the later time is newer.',
      ),
      data: z.object(data).describe('The record after the change.'),
    })
    .meta({ id: schemaName(event), description: `${summary}. ${when}` });

/** `payment.refund_failed` becomes `PaymentRefundFailedEvent`. */
const schemaName = (event: CanonicalEvent): string =>
  `${event.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
