/**
 * @module One intent to collect an amount, and its outcome. total = subtotal + tax − discount. At most one attempt is
 * under way. The version counts visible changes only. Until the intent exists, the status is `creating`, and readers do
 * not see the payment.
 */

import * as z from 'zod';
import { networkColumn, ownerColumns, ownerIdsOf, type RecordKind } from '../access/record-kind.ts';
import { actorSchema, makerAttributes, makerOf, type makerSchema } from '../core/actor.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { DAY_MS, type Instant, instant } from '../core/time.ts';
import { paymentLinkUseSchema } from '../payment-links/link-places.ts';
import { findAliasAnywhere } from '../platform/alias.ts';
import { paymentKey } from '../platform/keys.ts';
import { storedReader } from '../platform/stored-reader.ts';
import { paymentDiscountSchema } from './discount-of-payment.ts';
import {
  attemptGroup,
  captureGroup,
  causeGroup,
  factGroup,
  holdGroup,
  lookGroup,
  methodGroup,
  moneyBackGroup,
} from './payment-fields.ts';
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
  'metadata',
  'import',
] as const;
export type HistoryCause = (typeof CAUSES)[number];

const optional = z.string().optional();

/** The fields that PUT may change. */
const draftSchema = z.lazy(() =>
  z.object({
    subtotalCents: z.int(),
    taxCents: z.int(),
    discountCents: z.int(),
    totalCents: z.int(),
    currency: z.string(),
    projectId: optional,
    productId: optional,
    /** The quantity of the product; undefined for 1. */
    quantity: z.int().optional(),
    billingAddressId: optional,
    /** The discount code and its share of the discount. */
    discount: paymentDiscountSchema.optional(),
    ...methodGroup.unwrap().shape,
    setupFutureUsage: z.literal('off_session').optional(),
    /** Set if a confirmation only holds the amount, for a later capture by the merchant. */
    captureMethod: z.literal('manual').optional(),
    returnUrl: optional,
    description: optional,
    concept: optional,
    referenceCode: optional,
    category: optional,
    tags: optional,
    metadata: z.record(z.string(), z.json()).optional(),
  }),
);
export const BILLING_REASONS = [
  'subscription_create',
  'subscription_cycle',
  'subscription_change',
  'subscription_resume',
] as const;

export type Draft = z.infer<typeof draftSchema>;

/** The draft that equals the current fields of the payment. */
export const asDraft = (payment: Draft): Draft => draftSchema.parse(payment);

/**
 * The fields that only requests change. The method is not among them, because the provider may report another method.
 */
export const termsOf = (payment: Draft): Omit<Draft, 'methodRef' | 'methodKind'> =>
  draftSchema.unwrap().omit({ methodRef: true, methodKind: true }).parse(payment);

export const paymentSchema = z.lazy(() =>
  z.object({
    ...draftSchema.unwrap().shape,
    id: z.string(),
    version: z.int(),
    status: z.enum(['creating', ...PAYMENT_STATUSES]),
    createdAt: z.string(),
    updatedAt: z.string(),
    completedAt: optional,

    ...ownerColumns,
    ...networkColumn,
    /** The e-mail address of the session that created the payment. */
    userEmail: optional,
    guestName: optional,
    guestPhone: optional,
    subscriptionId: optional,
    /**
     * Set for the payment of a subscription that readers do not see yet. The payment is hidden and has no events until
     * it succeeds or the subscription becomes visible. A hidden failed or canceled payment is removed after 24 h.
     */
    withheld: z.literal(true).optional(),

    providerId: z.enum(PROVIDER_SLOTS),
    providerIntentId: optional,
    providerPaymentId: optional,
    clientSecret: optional,

    /** An update to which the provider has not responded yet. */
    draft: draftSchema.optional(),
    /** Only one function works on the draft until this time. */
    draftBusyUntil: optional,
    /** The payment's version at the claim of the draft; part of the draft's idempotency key. */
    draftVersion: z.int().optional(),

    ...attemptGroup.unwrap().shape,
    ...factGroup.unwrap().shape,
    ...lookGroup.unwrap().shape,
    ...holdGroup.unwrap().shape,
    ...captureGroup.unwrap().shape,
    ...moneyBackGroup.unwrap().shape,
    ...causeGroup.unwrap().shape,
    /** The payment link that started the payment. */
    paymentLink: paymentLinkUseSchema.optional(),
    /** Expiry of the latest link to the payment's hosted page. The payment waits for its payer until then. */
    linkUntil: optional,
    /** The URL to which the hosted page sends the payer after the payment. */
    linkReturnUrl: optional,
    /** Counts claims taken back. The count is part of the attempt's idempotency key. */
    released: z.int().optional(),
    /** Why the subscription was charged. */
    billingReason: z.enum(BILLING_REASONS).optional(),
    /** The payment's invoice at the provider. Only the provider collects the invoice. */
    providerInvoiceId: optional,
    /** Set if the method cannot be saved, although the payment requested it. */
    methodNotKept: z.literal(true).optional(),
    cause: z.enum(CAUSES).optional(),
    /** The actor of this version, and the id of the causing request, event or message. The store sets both. */
    actor: actorSchema.optional(),
    requestId: optional,
    /** The contradiction between the record and an earlier report of the provider. */
    anomaly: optional,

    /** When the personal fields were blanked. */
    erasedAt: optional,
    /** True if an organization's payment charged a member's own method and the member's data was blanked. */
    methodErased: z.literal(true).optional(),

    /** Hash of the request that created the payment, if the request had an Idempotency-Key. */
    requestHash: optional,
    /** A retry of the create waits until this time for the function that runs the create. */
    busyUntil: optional,
  }),
);
export type Payment = z.infer<typeof paymentSchema>;
type StoredFields = Readonly<Record<string, unknown>>;

/** To fit one write unit, derivable fields are not stored and facts have short names. */
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

const ISO_LENGTH = '2000-01-01T00:00:00.000Z'.length;

/** The attributes of an item from which the omitted fields are derived. `f` has the filter fields of the lists. */
interface Followed extends z.infer<typeof makerSchema> {
  readonly pk: string;
  readonly sort?: string;
  readonly totalCents: number;
  readonly taxCents?: number;
  readonly discountCents?: number;
  readonly providerIntentId?: string;
  readonly providerId: string;
  readonly f?: { readonly u?: string };
}

const knownFields = storedReader(paymentSchema);

export const paymentOf = (item: StoredFields): Payment => {
  // Sound, because every payment is written with these attributes.
  const stored = item as unknown as Followed;
  const { pk, sort, totalCents, taxCents = 0, discountCents = 0, providerIntentId, f } = stored;
  return knownFields({
    id: pk.slice(pk.indexOf('#') + 1),
    createdAt: sort?.slice(0, ISO_LENGTH),
    taxCents,
    discountCents,
    subtotalCents: totalCents - taxCents + discountCents,
    providerPaymentId: providerIntentId,
    updatedAt: f?.u,
    ...makerOf(stored, stored),
    ...item,
    ...unpackedFacts(item),
  });
};

/** A payment with an intent. Its readers see it unless it is withheld. */
export type VisiblePayment = Payment & { readonly status: PaymentStatus };

export const WITHOUT_DRAFT = { draft: undefined, draftBusyUntil: undefined, draftVersion: undefined } as const;

/** The payment with the draft's fields in place of its own. */
export const withDraft = <P extends Payment>(payment: P, draft: Draft): P => ({
  ...payment,
  ...Object.fromEntries(Object.keys(draftSchema.unwrap().shape).map((field) => [field, undefined])),
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
const CONFIRMATION_PERIOD_MS = DAY_MS;

const DUNNING_SECRET_LIFETIME_MS = 30 * DAY_MS;

/** A subscription's open payment keeps its client secret for 30 days, to cover dunning; other payments for 24 h. */
export const secretEnds = (payment: Payment): Instant =>
  instant(payment.createdAt) +
  (isOfSubscription(payment) && payment.status !== 'succeeded' && payment.status !== 'canceled'
    ? DUNNING_SECRET_LIFETIME_MS
    : CLIENT_SECRET_LIFETIME_MS);

export const keptSecret = (payment: Payment, now: Instant): string | undefined =>
  now < secretEnds(payment) ? payment.clientSecret : undefined;

/** When an unconfirmed payment expires. @param from the payment's creation, or the claim of the pending attempt */
export const confirmationEnds = ({ linkUntil }: Payment, from: string): Instant =>
  Math.max(instant(from) + CONFIRMATION_PERIOD_MS, linkUntil === undefined ? 0 : instant(linkUntil));

/** The statuses in which the payer can start or continue to pay in the browser. */
export const PAYABLE: readonly PaymentStatus[] = ['created', 'requires_payment_method', 'pending', 'failed'];

/** The client secret; undefined 24 h after the payment's creation, even if the item still has the secret. */
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
  opensPage: ({ status, erasedAt }) => status !== 'canceled' && erasedAt === undefined,
  guestsRead: true,
};

/** Like `paymentRecord`, for a payment addressed by its id at the provider. */
export const paymentByProviderId: RecordKind<VisiblePayment> = {
  ...paymentRecord,
  resolve: async (table, externalId) => {
    const alias = await findAliasAnywhere(table, PROVIDER_SLOTS, externalId);
    return alias?.kind === 'PAY' ? alias.id : undefined;
  },
};
