/**
 * @module One intent to collect an amount, and its outcome. total = subtotal + tax − discount. At most one attempt is
 * under way, and a version counts visible changes only. No reader sees `creating`, the status until the intent exists.
 */

import * as z from 'zod';
import { networkColumn, ownerColumns, ownerIdsOf, type RecordKind } from '../access/record-kind.ts';
import { actorSchema, makerAttributes, makerOf, makerSchema } from '../core/actor.ts';
import { METHOD_KINDS } from '../core/fact-words.ts';
import { DISPUTE_STATUSES, REFUND_REASONS, REFUND_STATUSES } from '../core/money-back.ts';
import { DECLINE_CODES } from '../core/outcome.ts';
import { methodDetailsSchema, providerDeclineSchema, settlementSchema } from '../core/payment-facts.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { DAY_MS, type Instant, instant } from '../core/time.ts';
import { findAliasAnywhere } from '../platform/alias.ts';
import { paymentKey } from '../platform/keys.ts';
import { severalCapturesFields } from './holds/capture-fields.ts';
import { holdCallSchema, holdFailureSchema } from './holds/hold-record.ts';
import { packedFacts, unpackedFacts } from './stored-facts.ts';

export const PAYMENT_STATUSES = [
  'requires_payment_method',
  'created',
  'pending',
  'processing',
  'requires_capture',
  'failed',
  'canceled',
  'succeeded',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** The cause of a version, kept in the history. */
export const CAUSES = [
  'create',
  'update',
  'claim',
  'answer',
  'event',
  'sync',
  'reconciliation',
  'cancel',
  'expiry',
  'release',
  'refund',
  'dispute',
  'erasure',
  'facts',
  'capture',
  'capture_due',
  'restore',
] as const;
export type HistoryCause = (typeof CAUSES)[number];

const optional = z.string().optional();

/** The fields that PUT may change. */
const changeable = {
  subtotalCents: z.int(),
  taxCents: z.int(),
  discountCents: z.int(),
  totalCents: z.int(),
  currency: z.string(),
  projectId: optional,
  productId: optional,
  /** How many of the product, if it is not 1. */
  quantity: z.int().optional(),
  customerId: optional,
  billingAddressId: optional,
  /** The id of a saved method here. */
  paymentMethodId: optional,
  /** The method's id or one-time token at the provider; never shown. */
  methodRef: optional,
  /** The kind of a saved method. */
  methodKind: z.enum(METHOD_KINDS).optional(),
  /** Always a customer of the payment's owner, because a method that the payment saves is kept for this customer. */
  providerCustomerId: optional,
  /** The customer of the member whose own saved method pays for an organization. */
  lenderCustomerId: optional,
  /** Our record of that customer. */
  lenderCustomerRecordId: optional,
  setupFutureUsage: z.literal('off_session').optional(),
  /** Set if a confirmation only holds the amount, and the merchant captures it later. */
  captureMethod: z.literal('manual').optional(),
  returnUrl: optional,
  description: optional,
  concept: optional,
  referenceCode: optional,
  category: optional,
  tags: optional,
  metadata: z.record(z.string(), z.json()).optional(),
};
export const BILLING_REASONS = [
  'subscription_create',
  'subscription_cycle',
  'subscription_change',
  'subscription_resume',
] as const;

/** `released` by the merchant here, `expired` at or after `captureBefore`, `provider` for any other end. */
export const HOLD_ENDS = ['released', 'expired', 'provider'] as const;
export type HoldEnd = (typeof HOLD_ENDS)[number];

const draftSchema = z.object(changeable);
export type Draft = z.infer<typeof draftSchema>;

/** The draft that changes nothing. */
export const asDraft = (payment: Draft): Draft => draftSchema.parse(payment);

/** The fields that only requests change. Not the method, because the provider may report another. */
export const termsOf = (payment: Draft): Omit<Draft, 'methodRef' | 'methodKind'> =>
  draftSchema.omit({ methodRef: true, methodKind: true }).parse(payment);

export const paymentSchema = z.object({
  ...changeable,
  id: z.string(),
  version: z.int(),
  status: z.enum(['creating', ...PAYMENT_STATUSES]),
  createdAt: z.string(),
  updatedAt: z.string(),
  completedAt: optional,

  ...ownerColumns,
  ...networkColumn,
  /** E-mail of the session that created the payment. */
  userEmail: optional,
  guestName: optional,
  guestPhone: optional,
  subscriptionId: optional,
  /**
   * Set for the payment of a subscription that readers do not see yet. The payment is hidden and has no events until
   * money has moved or the subscription is shown. An unpaid payment is kept 24 h, like the claim of the subscription.
   */
  withheld: z.literal(true).optional(),

  providerId: z.enum(PROVIDER_SLOTS),
  providerIntentId: optional,
  providerPaymentId: optional,
  clientSecret: optional,
  nextAction: z
    .object({ type: z.enum(['use_provider_sdk', 'redirect_to_url']), url: z.string().optional() })
    .optional(),

  /** An update to which the provider has not responded yet. */
  draft: draftSchema.optional(),
  /** Until then only one function works on the draft. */
  draftBusyUntil: optional,
  /** The version that the draft was made from; part of its idempotency key. */
  draftVersion: z.int().optional(),

  /** Counts claims to charge; 0 before the first. */
  attempt: z.int(),
  claimedAt: optional,
  /** The mark of the Idempotency-Key of the request that claimed the attempt, while the attempt is under way. */
  attemptKey: optional,
  /** The provider's ids of the last attempts before the current claim, the newest last. */
  priorAttemptRefs: z.array(z.string()).optional(),
  /** Counts claims that were taken back, so that each later claim has its own idempotency key. */
  released: z.int().optional(),
  attemptRef: optional,
  failureCode: z.enum(DECLINE_CODES).optional(),
  /** The method of the last attempt whose outcome is known, also of a declined one. */
  details: methodDetailsSchema.optional(),
  /** The provider's words for the last decline, set while the payment is failed. */
  decline: providerDeclineSchema.optional(),
  settlement: settlementSchema.optional(),
  /** The next read for facts that the record lacks. */
  factsAt: optional,
  /** Counts these reads while a further one is due. */
  factLooks: z.int().optional(),
  /** The payer does not attend the current attempt. */
  offSession: z.literal(true).optional(),
  /** Why the subscription was charged. */
  billingReason: z.enum(BILLING_REASONS).optional(),
  /** The provider's invoice that the payment pays. The provider collects it, and the service never does. */
  providerInvoiceId: optional,
  reconcileAt: optional,
  reconcileStep: z.int().optional(),
  /** Set if the provider will not keep the method that was to be saved. */
  methodNotKept: z.literal(true).optional(),
  /** The sum of the refunds that succeeded. */
  refundedCents: z.int().optional(),
  /** The number of the refunds that succeeded. */
  refundedCount: z.int().optional(),
  /** The sum of the refunds whose outcome is open; reserved, so that refunds together never exceed the total. */
  refundingCents: z.int().optional(),
  /** The open and the lost disputes, ordered by id. */
  disputes: z
    .array(
      z.object({
        id: z.string(),
        /** The payment's total for a dispute in another currency. */
        amountCents: z.int(),
        /** The disputed capture of a payment with several. */
        captureId: optional,
        /** When the dispute was lost; undefined while it is open. */
        lostAt: optional,
      }),
    )
    .optional(),
  /** The refund that changed, with its former status, if `refund` is the cause of this version. */
  refund: z
    .object({
      id: z.string(),
      amountCents: z.int(),
      status: z.enum(REFUND_STATUSES),
      was: z.enum(REFUND_STATUSES).optional(),
      reason: z.enum(REFUND_REASONS).optional(),
      /** When the refund first succeeded. */
      completedAt: optional,
    })
    .optional(),
  /** The dispute that changed, with its former status, if `dispute` is the cause of this version. */
  dispute: z
    .object({
      id: z.string(),
      amountCents: z.int(),
      status: z.enum(DISPUTE_STATUSES),
      was: z.enum(DISPUTE_STATUSES).optional(),
      reason: optional,
      evidenceDueBy: optional,
      /** Set if this version changed the amount or the due date. */
      termsChanged: z.literal(true).optional(),
    })
    .optional(),
  /** The amount that the provider held, set with the hold. A capture may take less; then the total is what was taken. */
  authorizedCents: z.int().optional(),
  ...severalCapturesFields,
  /** What can still be captured, if it was lowered at the provider; `authorizedCents` otherwise. */
  capturableCents: z.int().optional(),
  /** When the provider ends the hold. */
  captureBefore: optional,
  /** Until then the provider guarantees the capture; only PayPal names this time. */
  guaranteedUntil: optional,
  /** The capture or the release that is under way or has an unknown outcome. */
  holdCall: holdCallSchema.optional(),
  /** The capture or the release that turned out not to have happened, after a response that left its outcome open. */
  holdFailure: holdFailureSchema.optional(),
  /** Counts captures that are known not to have happened, so that each later capture has its own idempotency key. */
  failedCaptures: z.int().optional(),
  /** When due work looks at the hold next. */
  holdCheckAt: optional,
  /** Set once the event that the hold ends soon was published. */
  captureDueSent: z.literal(true).optional(),
  /** Why the hold ended without a capture. */
  holdEnd: z.enum(HOLD_ENDS).optional(),
  cause: z.enum(CAUSES).optional(),
  /** Who made this version, and the id of the request, event or message that made it; the store sets both. */
  actor: actorSchema.optional(),
  requestId: optional,
  /** The contradiction between the record and an earlier report of the provider. */
  anomaly: optional,

  /** When the person fields were blanked. */
  erasedAt: optional,
  /** The organization's payment charged a member's own method, and the member's data was blanked. */
  methodErased: z.literal(true).optional(),

  /** Hash of the request that created the payment, if the request had an Idempotency-Key. */
  requestHash: optional,
  /** Until then a retry of the create waits for the function that runs the create. */
  busyUntil: optional,
});
export type Payment = z.infer<typeof paymentSchema>;
type StoredFields = Readonly<Record<string, unknown>>;

/** Fields that follow from the keys or by arithmetic are not stored, and facts are short, to fit one write unit. */
export const storedFields = (payment: Payment, isListed: boolean): StoredFields => {
  const { id: _, subtotalCents: __, createdAt, taxCents, discountCents, providerPaymentId, ...others } = payment;
  const { actor, requestId, updatedAt, ...rest } = others;
  return {
    ...rest,
    ...packedFacts(payment),
    ...makerAttributes({ actor, requestId }, payment),
    ...(!isListed && { createdAt, updatedAt }),
    ...(taxCents !== 0 && { taxCents }),
    ...(discountCents !== 0 && { discountCents }),
    ...(providerPaymentId !== payment.providerIntentId && { providerPaymentId }),
  };
};

const keysSchema = z.object({
  pk: z.string(),
  sort: z.string().optional(),
  totalCents: z.int(),
  taxCents: z.int().default(0),
  discountCents: z.int().default(0),
  providerIntentId: z.string().optional(),
  providerId: z.string(),
  userId: z.string().optional(),
  guestId: z.string().optional(),
  ...makerSchema.shape,
  /** The fields that lists filter by; `u` is `updatedAt`. */
  f: z.object({ u: z.string().optional() }).optional(),
});
const ISO_LENGTH = '2000-01-01T00:00:00.000Z'.length;

export const paymentOf = (item: StoredFields): Payment => {
  const { pk, sort, totalCents, taxCents, discountCents, providerIntentId, by, bf, rq, f, ...known } =
    keysSchema.parse(item);
  return paymentSchema.parse({
    id: pk.slice(pk.indexOf('#') + 1),
    createdAt: sort?.slice(0, ISO_LENGTH),
    taxCents,
    discountCents,
    subtotalCents: totalCents - taxCents + discountCents,
    providerPaymentId: providerIntentId,
    updatedAt: f?.u,
    ...makerOf({ by, bf, rq }, known),
    ...item,
    ...unpackedFacts(item),
  });
};

/** A payment that the provider has created; its readers see it unless it is withheld. */
export type VisiblePayment = Payment & { readonly status: PaymentStatus };

export const WITHOUT_DRAFT = { draft: undefined, draftBusyUntil: undefined, draftVersion: undefined } as const;

/** The payment with the draft's fields in place of its own. */
export const withDraft = <P extends Payment>(payment: P, draft: Draft): P => ({
  ...payment,
  ...Object.fromEntries(Object.keys(changeable).map((field) => [field, undefined])),
  ...draft,
  ...WITHOUT_DRAFT,
});

export const isVisiblePayment = (payment: Payment): payment is VisiblePayment => payment.status !== 'creating';

export const isShown = (payment: Payment): payment is VisiblePayment => isVisiblePayment(payment) && !payment.withheld;

const WITHHELD_KEPT_MS = DAY_MS;

/** When a withheld payment that failed or was canceled is removed, in epoch ms. */
export const forgottenAt = ({ withheld, status, createdAt }: Payment): Instant | undefined =>
  withheld && (status === 'failed' || status === 'canceled') ? instant(createdAt) + WITHHELD_KEPT_MS : undefined;

const CLIENT_SECRET_LIFETIME_MS = DAY_MS;
export const CONFIRMATION_PERIOD_MS = DAY_MS;

const DUNNING_SECRET_LIFETIME_MS = 30 * DAY_MS;

/** A subscription's open payment keeps its secret for the whole dunning; other payments keep theirs for 24 h. */
export const secretEnds = (payment: Payment): Instant =>
  instant(payment.createdAt) +
  (isOfSubscription(payment) && payment.status !== 'succeeded' && payment.status !== 'canceled'
    ? DUNNING_SECRET_LIFETIME_MS
    : CLIENT_SECRET_LIFETIME_MS);

export const keptSecret = (payment: Payment, now: Instant): string | undefined =>
  now < secretEnds(payment) ? payment.clientSecret : undefined;

/** The client secret within its 24 h; afterwards undefined, also if the item still holds it. */
export const liveSecret = (payment: Payment, now: Instant): string | undefined =>
  now < instant(payment.createdAt) + CLIENT_SECRET_LIFETIME_MS ? payment.clientSecret : undefined;

/** True if the payment has succeeded and its method is still to be saved. */
export const wantsMethodSaved = (payment: Payment): boolean =>
  payment.status === 'succeeded' &&
  payment.setupFutureUsage === 'off_session' &&
  payment.paymentMethodId === undefined &&
  payment.methodNotKept === undefined &&
  payment.providerCustomerId !== undefined;

/** True if the payment belongs to a subscription. Payment requests may confirm it, but cannot change or cancel it. */
export const isOfSubscription = ({ subscriptionId }: Payment): boolean => subscriptionId !== undefined;

export const isGuestPayment = (payment: Payment): boolean => payment.guestId !== undefined;

export const paymentRecord: RecordKind<VisiblePayment> = {
  resource: 'payment',
  readScope: 'payments:read',
  key: paymentKey,
  parse: (item) => {
    const payment = paymentOf(item);
    return isShown(payment) ? payment : undefined;
  },
  ownedBy: ownerIdsOf,
  rule: 'owned',
  guestsRead: true,
};

/** The same, for a payment that is named by its id at the provider. */
export const paymentByProviderId: RecordKind<VisiblePayment> = {
  ...paymentRecord,
  resolve: async (table, externalId) => {
    const alias = await findAliasAnywhere(table, PROVIDER_SLOTS, externalId);
    return alias?.kind === 'PAY' ? alias.id : undefined;
  },
};
