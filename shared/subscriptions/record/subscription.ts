import * as z from 'zod';
import { ownerOfRecord } from '../../access/owner.ts';
import type { RecordKind } from '../../access/record-kind.ts';
import { BILLING_INTERVALS } from '../../catalog/records.ts';
import { DECLINE_CODES } from '../../core/outcome.ts';
import { PROVIDER_SLOTS } from '../../core/settings.ts';
import { recordKey } from '../../table/keys.ts';
import { parseRecord, type RecordShape, storedRecordFields } from '../../table/record-store.ts';

/**
 * A subscription: a price that is collected period by period. Always holds: who bills it, the provider or the service, is
 * fixed when it is made; one charge at most is open, and it is claimed here before anybody is asked for money; a version
 * counts visible changes only; `creating` (nobody has been charged yet) and `declined` are shown to nobody.
 */
export const SUBSCRIPTION_STATUSES = ['trialing', 'active', 'past_due', 'canceled', 'paused'] as const;
export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

export const STORED_STATUSES = ['creating', 'declined', ...SUBSCRIPTION_STATUSES] as const;
export type StoredStatus = (typeof STORED_STATUSES)[number];

/** What brought a version about; `data.reason` of its event. */
export const REASONS = [
  'created',
  'activated',
  'renewed',
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
] as const;
export type Reason = (typeof REASONS)[number];

const optional = z.string().optional();

/** The open charge: one period that is to be paid, by one payment, attempt after attempt. */
const chargeSchema = z.object({
  /** `renew`: nobody attends. Else somebody waits for the answer, and the period begins the calendar anew. */
  cause: z.enum(['create', 'renew', 'reactivate', 'resume']),
  anchor: z.string(),
  period: z.int(),
  start: z.string(),
  end: z.string(),
  paymentId: z.string(),
  /** Tells payments of one period apart; another one only after the one before is over for good. */
  generation: z.int(),
  /** Attempts of the payment whose failure is known here. */
  attempts: z.int(),
  /** The first failure; retries are counted from it. */
  failedAt: optional,
  failureCode: z.enum(DECLINE_CODES).optional(),
  /** The next retry, where one is planned. */
  retryAt: optional,
  /** When the retries are over. */
  finalAt: optional,
  /** An attempt may be under way: when somebody looks what became of it. */
  lookAt: optional,
  /** Nobody wants it any more; only what is under way is still followed. */
  abandoned: z.literal(true).optional(),
});
export type Charge = z.infer<typeof chargeSchema>;

export const subscriptionSchema = z.object({
  ...storedRecordFields,
  status: z.enum(STORED_STATUSES),
  /** Counts commits, visible or not: each is guarded by the one before. */
  lock: z.int(),
  reason: z.enum(REASONS).optional(),
  billingOwner: z.enum(['provider', 'service']),

  userId: optional,
  /** E-mail of the session that made it. */
  userEmail: optional,
  guestId: optional,
  guestEmail: optional,
  guestName: optional,
  organizationId: optional,
  projectId: optional,
  productId: optional,
  customerId: z.string(),
  /** undefined: its method is gone. */
  paymentMethodId: optional,
  /** The provider's own ids of method and customer. */
  methodRef: optional,
  providerCustomerId: optional,
  billingAddressId: optional,
  providerId: z.enum(PROVIDER_SLOTS),
  providerSubscriptionId: optional,
  /** What it was called at the provider before it was made there once more. */
  formerProviderIds: z.array(z.string()).optional(),
  /** It is being made once more at the provider, for another customer there; until that is done, all is as it was. */
  transfer: z
    .object({
      paymentMethodId: z.string(),
      methodRef: z.string(),
      providerCustomerId: z.string(),
      customerId: optional,
      /** Paid for until then. */
      freeUntil: optional,
      lookAt: z.string(),
    })
    .optional(),
  /** The provider bills and has no method to charge: collection is held back there until another method is named. */
  held: z
    .object({
      /** When a subscription that is past due by then is given up. */
      finalAt: z.string(),
    })
    .optional(),
  /** Counts subscriptions made at the provider for this one. */
  providerGeneration: z.int().optional(),
  /** Epoch second as of which the provider's word is known; what it said before is stale. */
  knownAt: z.int().optional(),
  /** Past due there: when the provider tries again, as far as it has said so. */
  retryAt: optional,
  /** When the provider is read, should nothing have been heard. */
  syncAt: optional,

  subtotalCents: z.int(),
  taxCents: z.int(),
  discountCents: z.int(),
  totalCents: z.int(),
  currency: z.string(),
  billingInterval: z.enum(BILLING_INTERVALS),
  intervalMultiplier: z.int(),
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
  /** Until then everything is paid for; undefined before the first charge. */
  paidUntil: optional,
  trialEnd: optional,
  trialNoticed: z.literal(true).optional(),
  cancelAtPeriodEnd: z.boolean(),
  /** Kept while a charge to come back from it is pending. */
  canceledAt: optional,
  charge: chargeSchema.optional(),
  /** Counts payments of charges that were let go unpaid: the next charge is another payment's, even of the same period. */
  lapsed: z.int().optional(),
  /** The payment that was made or tried last. */
  latestPaymentId: optional,

  /** The membership tier that its product carries. */
  tierId: optional,
  /** First became active. */
  activeSince: optional,

  /** Until then a retry of the create waits for the function that is at it. */
  busyUntil: optional,
  /** Of `declined`, which is kept as long as the key that made it. */
  declineCode: z.enum(DECLINE_CODES).optional(),
  ttl: z.int().optional(),
});
export type Subscription = z.infer<typeof subscriptionSchema>;

/** A subscription that exists for its readers. */
export type VisibleSubscription = Subscription & { readonly status: SubscriptionStatus };

export const isVisibleSubscription = (subscription: Subscription): subscription is VisibleSubscription =>
  subscription.status !== 'creating' && subscription.status !== 'declined';

/** Not over: its method, customer and organization are needed. */
export const isLive = ({ status }: Pick<Subscription, 'status'>): boolean =>
  status === 'trialing' || status === 'active' || status === 'past_due' || status === 'paused';

/** Nobody knows yet whether its provider has made it, and would bill it on and on. */
export const mayExistAtProvider = ({ billingOwner, charge }: Subscription): boolean =>
  billingOwner === 'provider' && charge !== undefined;

export const isGuestSubscription = ({ guestId }: Pick<Subscription, 'guestId'>): boolean => guestId !== undefined;

export type BillingStatus = 'active' | 'pending' | 'trialing' | 'retrying' | 'unpaid' | 'paused' | 'ended';

/** How its billing stands; wholly what the subscription says. */
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

/** When what is past due is asked for again. */
export const nextRetryOf = ({ charge, retryAt }: Subscription): string | undefined =>
  charge ? charge.retryAt : retryAt;

export const subscriptionShape: RecordShape<Subscription> = {
  kind: 'SUB',
  schema: subscriptionSchema,
  ownerOf: (subscription) => (isVisibleSubscription(subscription) ? ownerOfRecord(subscription) : undefined),
  projectOf: (subscription) => (isVisibleSubscription(subscription) ? subscription.projectId : undefined),
  listFields: ({ status, organizationId, customerId }) => ({ s: status, o: organizationId, c: customerId }),
};

export const subscriptionOf = (item: Readonly<Record<string, unknown>>): Subscription | undefined =>
  parseRecord(subscriptionShape, item);

/** How a subscription is found and whose it is. */
export const subscriptionRecord: RecordKind<VisibleSubscription> = {
  resource: 'subscription',
  key: (id) => recordKey('SUB', id),
  parse: (item) => {
    const subscription = subscriptionOf(item);
    return subscription && isVisibleSubscription(subscription) ? subscription : undefined;
  },
  ownedBy: ({ userId, organizationId, guestId, guestEmail }) => ({ userId, organizationId, guestId, guestEmail }),
  rule: 'owned',
};

export const isProviderBilled = ({ billingOwner }: Pick<Subscription, 'billingOwner'>): boolean =>
  billingOwner === 'provider';
