/**
 * @module A subscription is a price that is collected period by period. Its biller (the provider or the service) is
 * fixed when it is created, and its one open charge is stored before the provider is called. `version` counts visible
 * changes only. Readers never see a subscription that is `creating` (no charge has succeeded yet) or `declined`.
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

/** Who charges each period. */
export const BILLING_OWNERS = ['provider', 'service'] as const;

export const STORED_STATUSES = ['creating', 'declined', ...SUBSCRIPTION_STATUSES] as const;
export type StoredStatus = (typeof STORED_STATUSES)[number];

/** The reasons of a version; `data.reason` of its event. */
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

/** The open charge, which is one payment for one period, with one or more attempts. */
const chargeSchema = z.lazy(() =>
  z.object({
    /** `renew` is off-session. Otherwise the payer waits, and the calendar starts with this period. */
    cause: z.enum(['create', 'renew', 'reactivate', 'resume']),
    anchor: z.string(),
    period: z.int(),
    start: z.string(),
    end: z.string(),
    paymentId: z.string(),
    /** Counts the payments of one period. The next payment exists only after the previous reached a final state. */
    generation: z.int(),
    /** Failed attempts of the payment that are recorded on the charge. */
    attempts: z.int(),
    /** The first failure; retries are counted from it. */
    failedAt: optional,
    failureCode: z.enum(DECLINE_CODES).optional(),
    /** The next retry, if one is planned. */
    retryAt: optional,
    /** End of the retries. */
    finalAt: optional,
    /** When to look up the outcome of an attempt that may be under way. */
    lookAt: optional,
    /** The charge was canceled, so no further attempt is made. The outcome of an open attempt is still recorded. */
    abandoned: z.literal(true).optional(),
  }),
);
export type Charge = z.infer<typeof chargeSchema>;

/** The call that marks an imported subscription at its provider. */
const adoptionSchema = z.lazy(() =>
  z.object({
    /** Becomes the subscription's own method there. Absent if it has one. */
    methodRef: optional,
    claimedAt: z.string(),
    lookAt: z.string(),
  }),
);

/** How the period that ran at the import was paid for, at the provider. */
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
    /** The end of dunning, if the subscription is past due by then. */
    finalAt: z.string(),
    /** The provider collects again, because collection was resumed there. Due work pauses it again. */
    isCollecting: z.literal(true).optional(),
  }),
);

/** Times of the end of a pause and of the notices. Due work acts on them. */
const announcedFields = {
  /** When a paused subscription resumes by itself. */
  resumeAt: optional,
  /** Time of the next check for notices. */
  noticesAt: optional,
  /** The end of the period whose renewal was announced. */
  renewalNoticed: optional,
  /** The method and the month (`pmt_…:YYYY-MM`) whose end was announced. */
  expiryNoticed: optional,
};

const importFields = () => ({
  /** When it was imported; what the provider collected before is not recorded. */
  importedAt: optional,
  openedBy: openedBySchema.optional(),
  /** Until the provider is known to have our mark. */
  adoption: adoptionSchema.optional(),
  /** The provider's price of a period, if a discount that stays there makes the total lower. */
  listCents: z.int().optional(),
});

/** Built when the first subscription is read. */
export const subscriptionSchema = z.lazy(() =>
  z.object({
    ...storedRecordFields,
    status: z.enum(STORED_STATUSES),
    /** Counts commits, visible or not. Each commit requires the number before. */
    lock: z.int(),
    reason: z.enum(REASONS).optional(),
    /** The actor of this version, and the id of the request, event or message that made it. The store sets both. */
    actor: actorSchema.optional(),
    requestId: optional,
    billingOwner: z.enum(BILLING_OWNERS),

    ...ownerColumns,
    ...networkColumn,
    /** The e-mail address of the session that created it. */
    userEmail: optional,
    guestName: optional,
    projectId: optional,
    customerId: z.string(),
    /** Undefined if its payment method was deleted or may no longer be charged. */
    paymentMethodId: optional,
    /** The provider's own ids of method and customer. */
    methodRef: optional,
    providerCustomerId: optional,
    billingAddressId: optional,
    providerId: z.enum(PROVIDER_SLOTS),
    providerSubscriptionId: optional,
    /** The provider's ids of its earlier subscriptions. A reactivation or a transfer creates a new subscription there. */
    formerProviderIds: z.array(z.string()).optional(),
    /** A move to another customer of the provider is under way. Until it ends, the other fields stay unchanged. */
    transfer: transferSchema.optional(),
    /** The provider bills, but no method is set. Collection is paused there until another method is set. */
    held: heldSchema.optional(),
    /** Counts the subscriptions created at the provider for this record. */
    providerGeneration: z.int().optional(),
    /** Epoch seconds of the newest report of the provider; older reports are stale. */
    knownAt: z.int().optional(),
    /** Epoch seconds of the newest applied event in the interface's shape. Provider events up to then are stale. */
    followedAt: z.int().optional(),
    /** The last command whose response the provider did not give. The next read shows whether it was carried out. */
    openCommand: z.object({ kind: z.enum(['cancel', 'pause', 'reactivate', 'resume']), lookAt: z.string() }).optional(),
    /** The provider's next retry of a past-due subscription, if reported. */
    retryAt: optional,
    /** When the last recovery from past due was announced. Only for a subscription that the provider bills. */
    recoveredAt: optional,
    /** The subscription is past due, and the provider has given up collecting. */
    isUnpaid: z.literal(true).optional(),
    /** Every open invoice at the provider that bills it, with its payment, oldest first. */
    owed: z.array(z.object({ invoiceId: z.string(), paymentId: z.string() })).optional(),
    /** When the provider is read if no event arrives before. */
    syncAt: optional,
    /** When a provider-billed subscription became live. Due work then checks once that customer and method exist. */
    unconfirmedSince: optional,

    ...planFields,
    discount: subscriptionDiscountSchema.optional(),
    ...importFields(),
    currency: z.string(),
    /** The Idempotency-Keys of the last changes that were applied. */
    appliedChangeKeys: z.array(changeKeySchema).optional(),
    /** A change of the plan is under way. No other change, charge or transfer begins before it ends. */
    change: planChangeSchema.optional(),
    scheduledChange: scheduledChangeSchema.optional(),
    priceUpdate: priceUpdateSchema.optional(),
    /** The tiers of earlier plans, whose memberships were ended. */
    formerTierIds: z.array(z.string()).optional(),
    /** When a change of the plan brought the tier. */
    tierSince: optional,
    /** The plan's tier, or the plan without a tier, holds since then without a payment that covers it. */
    tierUnpaidSince: optional,
    concept: optional,
    description: optional,
    referenceCode: optional,
    category: optional,
    tags: optional,
    metadata: z.record(z.string(), z.json()).optional(),

    /** When period 0 starts. */
    anchor: z.string(),
    /** The current period, counted from the anchor; −1 in a trial. */
    period: z.int(),
    currentPeriodStart: z.string(),
    currentPeriodEnd: z.string(),
    /** End of the paid time. Undefined before the first charge. */
    paidUntil: optional,
    /** What the present period was paid with. Undefined before the first payment. */
    paidPeriod: paidPeriodSchema.optional(),
    trialEnd: optional,
    trialNoticed: z.literal(true).optional(),
    ...announcedFields,
    cancelAtPeriodEnd: z.boolean(),
    /** The date on which the provider ends it, which may be later than the period's end. */
    cancelAt: optional,
    /** Kept while the charge of a reactivation is pending. */
    canceledAt: optional,
    charge: chargeSchema.optional(),
    /** Counts charges dropped unpaid, so that the next charge gets another payment, even for the same period. */
    lapsed: z.int().optional(),
    /** The payment of the latest attempt. */
    latestPaymentId: optional,

    /** When it first became active. */
    activeSince: optional,

    /** When the person fields were blanked. */
    erasedAt: optional,

    /** Until this time, a repeated create request waits for the function that runs the first request. */
    busyUntil: optional,
    /** Only for a `declined` subscription, which is kept as long as its Idempotency-Key. */
    declineCode: z.enum(DECLINE_CODES).optional(),
    ttl: z.int().optional(),
  }),
);
export type Subscription = z.infer<typeof subscriptionSchema>;

/** The price of a period as the billing provider has it, before its own discount. */
export const listCentsOf = ({ listCents, totalCents }: Pick<Subscription, 'listCents' | 'totalCents'>): number =>
  listCents ?? totalCents;

/** A subscription that readers see. */
export type VisibleSubscription = Subscription & { readonly status: SubscriptionStatus };

export const isVisibleSubscription = (subscription: Subscription): subscription is VisibleSubscription =>
  subscription.status !== 'creating' && subscription.status !== 'declined';

/** True if the subscription has not ended, so that it needs its method, customer and organization. */
export const isLive = ({ status }: Pick<Subscription, 'status'>): boolean =>
  status === 'trialing' || status === 'active' || status === 'past_due' || status === 'paused';

/** True if nothing is charged until a person continues it. */
export const isStopped = ({ status }: Pick<Subscription, 'status'>): boolean =>
  status === 'canceled' || status === 'paused';

/** True if no further charge is due. An end date after the current period leaves further charges. */
export const endsWithPeriod = ({
  cancelAtPeriodEnd,
  cancelAt,
  currentPeriodEnd,
}: Pick<Subscription, 'cancelAtPeriodEnd' | 'cancelAt' | 'currentPeriodEnd'>): boolean =>
  cancelAtPeriodEnd && (cancelAt === undefined || cancelAt <= currentPeriodEnd);

/** True if a creation has an unknown outcome. The provider may have the subscription, and would bill it. */
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

/** A billing provider makes no retry without a method, or after it has given up. */
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
    // Sound, because every subscription is written with these attributes.
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
};

export const isProviderBilled = ({ billingOwner }: Pick<Subscription, 'billingOwner'>): boolean =>
  billingOwner === 'provider';
