/**
 * @module A subscription collects a price period by period. Its biller (the provider or the service) is fixed at
 * creation. Its one open charge is stored before the provider is called. `version` counts visible changes only. Readers
 * never see a `creating` (no charge has succeeded yet) or `declined` subscription.
 */

import * as z from 'zod';
import { networkColumn, ownerColumns, ownerIdsOf, ownerOfRecord, type RecordKind } from '../../access/record-kind.ts';
import { actorSchema, makerAttributes, makerOf, type makerSchema } from '../../core/actor.ts';
import { DECLINE_CODES } from '../../core/outcome.ts';
import { PROVIDER_SLOTS } from '../../core/settings.ts';
import { recordKey } from '../../platform/keys.ts';
import { ownedShape } from '../../platform/owned-record.ts';
import { storedReader } from '../../platform/stored-reader.ts';
import { storedRecordFields } from '../../platform/versioned-record.ts';
import { paidPeriodSchema } from './paid-period-record.ts';
import {
  changeKeySchema,
  planChangeSchema,
  planFields,
  priceUpdateSchema,
  scheduledChangeSchema,
} from './plan-change.ts';
import { subscriptionDiscountSchema } from './subscription-discount.ts';

export const SUBSCRIPTION_STATUSES = ['trialing', 'active', 'past_due', 'canceled', 'paused'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

/** The biller of each period. */
export const BILLING_OWNERS = ['provider', 'service'] as const;

export const STORED_STATUSES = ['creating', 'declined', ...SUBSCRIPTION_STATUSES] as const;
export type StoredStatus = (typeof STORED_STATUSES)[number];

/** The reason of a version; `data.reason` in its event. */
export const REASONS = [
  'created',
  'imported',
  'activated',
  'renewed',
  'recovered_unpaid',
  'payment_failed',
  'trial_will_end',
  'trial_ended',
  'cancel_scheduled',
  'canceled',
  'reactivated',
  'paused',
  'resumed',
  'method_changed',
  'payment_method_unavailable',
  'updated',
  'billing_address_changed',
  'plan_changed',
  'plan_change_scheduled',
  'plan_change_withdrawn',
  'plan_change_failed',
  'discount_ended',
  'cancel_failed',
  'reactivate_failed',
  'resume_failed',
  'renewal_due',
  'method_expiring',
] as const;
export type Reason = (typeof REASONS)[number];

const optional = z.string().optional();

/** The one payment of the open charge's period, with one or more attempts. */
const chargeSchema = z.lazy(() =>
  z.object({
    /** `renew` is off-session. Every other cause starts a new calendar with this period. */
    cause: z.enum(['create', 'renew', 'reactivate', 'resume']),
    anchor: z.string(),
    period: z.int(),
    start: z.string(),
    end: z.string(),
    paymentId: z.string(),
    /** The number of this payment among the period's payments. The next payment waits for the final state of this one. */
    generation: z.int(),
    /** Number of failed attempts recorded so far. */
    attempts: z.int(),
    /** The first failure; retries are counted from it. */
    failedAt: optional,
    failureCode: z.enum(DECLINE_CODES).optional(),
    /** The next retry, if one is planned. */
    retryAt: optional,
    /** Time of the last retry; dunning then ends. */
    finalAt: optional,
    /** When to look up the outcome of an attempt that may be under way. */
    lookAt: optional,
    /** The charge was canceled. No further attempt is made, but the outcome of an open attempt is still recorded. */
    abandoned: z.literal(true).optional(),
  }),
);
export type Charge = z.infer<typeof chargeSchema>;

/** The pending call that marks an imported subscription at its provider. */
const adoptionSchema = z.lazy(() =>
  z.object({
    /** The method to set on the provider's subscription. Absent if it already has its own method. */
    methodRef: optional,
    claimedAt: z.string(),
    lookAt: z.string(),
  }),
);

/** The invoice and amount that paid, at the provider, for the current period of an import. */
const openedBySchema = z.lazy(() => z.object({ invoice: z.string(), paidCents: z.int() }));

const transferSchema = z.lazy(() =>
  z.object({
    paymentMethodId: z.string(),
    methodRef: z.string(),
    providerCustomerId: z.string(),
    customerId: optional,
    /** End of the paid time. No charge is made before it. */
    freeUntil: optional,
    /** Absent in a transfer that was claimed before 0.3.0. */
    claimedAt: optional,
    lookAt: z.string(),
  }),
);

const heldSchema = z.lazy(() =>
  z.object({
    /** When dunning ends, if the subscription is past due. */
    finalAt: z.string(),
    /** Set if the provider has resumed collection. Due work pauses it again. */
    isCollecting: z.literal(true).optional(),
  }),
);

/** Times of the resumption and the notices, as due work. */
const announcedFields = {
  /** When a paused subscription resumes automatically. */
  resumeAt: optional,
  /** Time of the next check for notices. */
  noticesAt: optional,
  /** End of the period of the sent renewal notice. */
  renewalNoticed: optional,
  /** The method and month (`pmt_…:YYYY-MM`) of the sent expiry notice. */
  expiryNoticed: optional,
};

export const CANCEL_REASONS = ['too_expensive', 'missing_features', 'switched', 'unused', 'other'] as const;

/** Fields of the hosted page of the subscription. */
const pageFields = {
  /** The page's return URL for the payer. */
  linkReturnUrl: optional,
  /** Method saved on the page but not yet set on the subscription. */
  wantedMethodId: optional,
  /** The payer's reason, noted before the cancellation and cleared if the cancellation is withdrawn. */
  cancelReason: z.enum(CANCEL_REASONS).optional(),
  cancelComment: optional,
};

const besidePlanFields = { ...announcedFields, ...pageFields };

const importFields = () => ({
  /** Time of the import. Earlier payments at the provider are not recorded. */
  importedAt: optional,
  openedBy: openedBySchema.optional(),
  /** Kept until the provider is known to have our mark. */
  adoption: adoptionSchema.optional(),
  /** The provider's price per period, if a permanent discount there makes the total lower. */
  listCents: z.int().optional(),
});

/** Built at the first read of a subscription. */
export const subscriptionSchema = z.lazy(() =>
  z.object({
    ...storedRecordFields,
    status: z.enum(STORED_STATUSES),
    /** Number of commits, visible or not. Each commit requires the previous number. */
    lock: z.int(),
    reason: z.enum(REASONS).optional(),
    /** The actor of this version, and the id of the request, event or message that made it. The store sets both. */
    actor: actorSchema.optional(),
    requestId: optional,
    billingOwner: z.enum(BILLING_OWNERS),

    ...ownerColumns,
    ...networkColumn,
    /** E-mail address from the session that created the subscription. */
    userEmail: optional,
    guestName: optional,
    projectId: optional,
    customerId: z.string(),
    /** Undefined if the method was deleted or may no longer be charged. */
    paymentMethodId: optional,
    /** The provider's ids of the method and the customer. */
    methodRef: optional,
    providerCustomerId: optional,
    billingAddressId: optional,
    providerId: z.enum(PROVIDER_SLOTS),
    providerSubscriptionId: optional,
    /** Ids of former subscriptions at the provider. Each reactivation or transfer creates a new subscription there. */
    formerProviderIds: z.array(z.string()).optional(),
    /** A transfer to another customer of the provider. Commands, pauses and plan changes are refused until it ends. */
    transfer: transferSchema.optional(),
    /** Set if the provider bills and no method is set. Collection is paused there until a method is set. */
    held: heldSchema.optional(),
    /** Number of subscriptions created at the provider for this record. */
    providerGeneration: z.int().optional(),
    /** Epoch seconds of the newest report of the provider; older reports are stale. */
    knownAt: z.int().optional(),
    /** Epoch seconds of the newest applied event in the interface's format. Provider events up to then are stale. */
    followedAt: z.int().optional(),
    /** The last command without a response. The next read of the provider shows whether it succeeded. */
    openCommand: z.object({ kind: z.enum(['cancel', 'pause', 'reactivate', 'resume']), lookAt: z.string() }).optional(),
    /** The provider's next retry of a past-due subscription, if reported. */
    retryAt: optional,
    /** When the last recovery from past due was announced. Set only if the provider bills. */
    recoveredAt: optional,
    /** The subscription is past due, and the provider has given up collecting. */
    isUnpaid: z.literal(true).optional(),
    /** Every open invoice at the billing provider, with its payment, oldest first. */
    owed: z.array(z.object({ invoiceId: z.string(), paymentId: z.string() })).optional(),
    /** When due work reads the provider if no event arrives first. */
    syncAt: optional,
    /** When a provider-billed subscription became live. Due work then checks its customer and method once. */
    unconfirmedSince: optional,

    ...planFields,
    discount: subscriptionDiscountSchema.optional(),
    ...importFields(),
    currency: z.string(),
    /** The Idempotency-Keys of recently applied changes. */
    appliedChangeKeys: z.array(changeKeySchema).optional(),
    /** The open plan change. No other change or transfer starts; a service-billed renewal waits at most a day. */
    change: planChangeSchema.optional(),
    scheduledChange: scheduledChangeSchema.optional(),
    priceUpdate: priceUpdateSchema.optional(),
    /** Tiers of earlier plans. Their memberships have ended. */
    formerTierIds: z.array(z.string()).optional(),
    /** When a plan change brought the current tier. */
    tierSince: optional,
    /** When the current tier began, or the plan if it has no tier. Undefined once a payment has covered the tier. */
    tierUnpaidSince: optional,
    concept: optional,
    description: optional,
    referenceCode: optional,
    category: optional,
    tags: optional,
    metadata: z.record(z.string(), z.json()).optional(),

    /** Start of period 0. */
    anchor: z.string(),
    /** The current period, counted from the anchor; −1 in a trial. */
    period: z.int(),
    currentPeriodStart: z.string(),
    currentPeriodEnd: z.string(),
    /** End of the paid time. Undefined before the first charge. */
    paidUntil: optional,
    /** How the current period was paid. Undefined before the first payment. */
    paidPeriod: paidPeriodSchema.optional(),
    trialEnd: optional,
    trialNoticed: z.literal(true).optional(),
    ...besidePlanFields,
    cancelAtPeriodEnd: z.boolean(),
    /** End date set at the provider, possibly after the current period. */
    cancelAt: optional,
    /** Kept while the charge of a reactivation is pending. */
    canceledAt: optional,
    charge: chargeSchema.optional(),
    /**
     * The number of the next charge's first payment. Raised when a charge is dropped unpaid, so that the next payment
     * gets another id, even for the same period. A declined resumption at a billing provider also raises it, because
     * the next call needs another idempotency key.
     */
    lapsed: z.int().optional(),
    /** The payment of the latest attempt. */
    latestPaymentId: optional,

    /** When the subscription first became active. */
    activeSince: optional,

    /** When personal data was erased. */
    erasedAt: optional,

    /** A repeated create request waits until this time for the first request to finish. */
    busyUntil: optional,
    /** Set only for a `declined` subscription, which expires with its Idempotency-Key. */
    declineCode: z.enum(DECLINE_CODES).optional(),
    ttl: z.int().optional(),
  }),
);
export type Subscription = z.infer<typeof subscriptionSchema>;

/** The price per period at the billing provider, before its own discount. */
export const listCentsOf = ({ listCents, totalCents }: Pick<Subscription, 'listCents' | 'totalCents'>): number =>
  listCents ?? totalCents;

/** A subscription that readers see. */
export type VisibleSubscription = Subscription & { readonly status: SubscriptionStatus };

export const isVisibleSubscription = (subscription: Subscription): subscription is VisibleSubscription =>
  subscription.status !== 'creating' && subscription.status !== 'declined';

/** True if the subscription has not ended and still needs its method, customer and organization. */
export const isLive = ({ status }: Pick<Subscription, 'status'>): boolean =>
  status === 'trialing' || status === 'active' || status === 'past_due' || status === 'paused';

/** True if the subscription has ended, or will end with its period. */
export const isEnding = ({ status, cancelAtPeriodEnd }: Pick<Subscription, 'status' | 'cancelAtPeriodEnd'>): boolean =>
  status === 'canceled' || cancelAtPeriodEnd;

/** The payer's reason. It is noted before the cancellation, so it is shown only once the cancellation is made. */
export const cancelReasonView = (subscription: Subscription) => {
  const { cancelReason = null, cancelComment = null } = isEnding(subscription) ? subscription : {};
  return { cancel_reason: cancelReason, cancel_comment: cancelComment };
};

/** True if nothing is charged until the subscription is resumed or reactivated. */
export const isStopped = ({ status }: Pick<Subscription, 'status'>): boolean =>
  status === 'canceled' || status === 'paused';

/** True if no further charge is due. An end date after the current period still allows charges. */
export const endsWithPeriod = ({
  cancelAtPeriodEnd,
  cancelAt,
  currentPeriodEnd,
}: Pick<Subscription, 'cancelAtPeriodEnd' | 'cancelAt' | 'currentPeriodEnd'>): boolean =>
  cancelAtPeriodEnd && (cancelAt === undefined || cancelAt <= currentPeriodEnd);

/** True if a creation has an unknown outcome, so the provider may have and bill the subscription. */
export const mayExistAtProvider = ({ billingOwner, charge }: Subscription): boolean =>
  billingOwner === 'provider' && charge !== undefined;

export const isGuestSubscription = ({ guestId }: Pick<Subscription, 'guestId'>): boolean => guestId !== undefined;

export const BILLING_STATUSES = ['active', 'pending', 'trialing', 'retrying', 'unpaid', 'paused', 'ended'] as const;
export type BillingStatus = (typeof BILLING_STATUSES)[number];

export const billingStatusOf = (subscription: VisibleSubscription): BillingStatus => {
  const { status, charge } = subscription;
  switch (status) {
    case 'trialing':
    case 'active':
      return status;
    case 'canceled':
      return 'ended';
    case 'paused':
      return 'paused';
    case 'past_due':
      if (charge && charge.cause !== 'renew') return 'pending';
      if (charge && charge.failedAt === undefined) return 'retrying';
      return nextRetryOf(subscription) === undefined ? 'unpaid' : 'retrying';
  }
};

/** Time of the next retry. A billing provider does not retry without a method or after giving up. */
export const nextRetryOf = ({ charge, retryAt, held, isUnpaid }: Subscription): string | undefined => {
  if (charge) return charge.retryAt;
  return held || isUnpaid ? undefined : retryAt;
};

type StoredMaker = z.infer<typeof makerSchema> & Pick<Subscription, 'userId' | 'guestId' | 'providerId'>;

const knownFields = storedReader(subscriptionSchema);

export const storedSubscription = ({ actor, requestId, ...rest }: Subscription): Subscription => ({
  ...rest,
  ...makerAttributes({ actor, requestId }, rest),
});

export const subscriptionShape = /* @__PURE__ */ ownedShape<Subscription>({
  kind: 'SUB',
  read: (item) => {
    // The cast is safe because every stored subscription has these attributes.
    const maker = item as unknown as StoredMaker;
    return knownFields({ ...item, ...makerOf(maker, maker) });
  },
  ownerOf: (subscription) => (isVisibleSubscription(subscription) ? ownerOfRecord(subscription) : undefined),
  projectOf: (subscription) => (isVisibleSubscription(subscription) ? subscription.projectId : undefined),
  listFields: ({ status, organizationId, customerId }) => ({ s: status, o: organizationId, c: customerId }),
});

export const subscriptionOf = (item: Readonly<Record<string, unknown>>): Subscription | undefined =>
  subscriptionShape.parse(item);

/** Key, parsing and ownership of subscriptions, for access checks. */
export const subscriptionRecord: RecordKind<VisibleSubscription> = {
  resource: 'subscription',
  readScope: 'subscriptions:read',
  key: (id) => recordKey('SUB', id),
  parse: (item) => {
    const subscription = subscriptionOf(item);
    return subscription && isVisibleSubscription(subscription) ? subscription : undefined;
  },
  ownedBy: ownerIdsOf,
  rule: 'owned',
  opensPage: ({ status, erasedAt }) => status !== 'canceled' && erasedAt === undefined,
};

export const isProviderBilled = ({ billingOwner }: Pick<Subscription, 'billingOwner'>): boolean =>
  billingOwner === 'provider';
