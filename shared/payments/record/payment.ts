import * as z from 'zod';
import type { RecordKind } from '../../access/record-kind.ts';
import { DECLINE_CODES } from '../../core/outcome.ts';
import { PROVIDER_SLOTS } from '../../core/settings.ts';
import { DAY, type Instant, instant } from '../../core/time.ts';
import { findAliasAnywhere } from '../../table/alias.ts';
import { paymentKey } from '../../table/keys.ts';

/**
 * A payment: one intent to collect an amount, and what came of it. Always holds: the amount is a positive integer with
 * its currency; total = subtotal + tax − discount; one attempt at most is under way; a version counts visible changes
 * only; `creating` (the provider has not answered yet) is shown to nobody.
 */
export const PAYMENT_STATUSES = [
  'requires_payment_method',
  'created',
  'pending',
  'processing',
  'failed',
  'canceled',
  'succeeded',
] as const;
export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** What brings a version about; kept in its history. */
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
] as const;
export type HistoryCause = (typeof CAUSES)[number];

const optional = z.string().optional();

/** What PUT may change. */
const changeable = {
  subtotalCents: z.int(),
  taxCents: z.int(),
  discountCents: z.int(),
  totalCents: z.int(),
  currency: z.string(),
  projectId: optional,
  productId: optional,
  customerId: optional,
  billingAddressId: optional,
  /** A saved method of ours. */
  paymentMethodId: optional,
  /** The provider's own id or one-time token of the method; never shown. */
  methodRef: optional,
  /** A customer of the payment's owner, and of nobody else: what the payment saves is kept for it. */
  providerCustomerId: optional,
  /** The customer of the member whose own saved method pays for an organization. */
  lenderCustomerId: optional,
  setupFutureUsage: z.literal('off_session').optional(),
  returnUrl: optional,
  description: optional,
  concept: optional,
  referenceCode: optional,
  category: optional,
  tags: optional,
  metadata: z.record(z.string(), z.json()).optional(),
};
const draftSchema = z.object(changeable);
export type Draft = z.infer<typeof draftSchema>;

export const paymentSchema = z.object({
  ...changeable,
  id: z.string(),
  version: z.int(),
  status: z.enum(['creating', ...PAYMENT_STATUSES]),
  createdAt: z.string(),
  updatedAt: z.string(),
  completedAt: optional,

  userId: optional,
  /** E-mail of the session that made it. */
  userEmail: optional,
  guestId: optional,
  guestEmail: optional,
  guestName: optional,
  guestPhone: optional,
  organizationId: optional,
  subscriptionId: optional,
  /**
   * It pays for a subscription that does not exist for its readers yet: shown to nobody, and no event, until money has
   * moved or the subscription is shown. Unpaid, it is kept 24 h, like the claim of the subscription.
   */
  withheld: z.literal(true).optional(),
  orderId: optional,

  providerId: z.enum(PROVIDER_SLOTS),
  providerIntentId: optional,
  providerPaymentId: optional,
  clientSecret: optional,
  nextAction: z
    .object({ type: z.enum(['use_provider_sdk', 'redirect_to_url']), url: z.string().optional() })
    .optional(),

  /** An update under way: asked of the provider, not yet answered. */
  draft: draftSchema.optional(),
  /** Until then one function works on the draft, and no other. */
  draftBusyUntil: optional,
  /** The version that the draft was made of: a part of its key at the provider. */
  draftVersion: z.int().optional(),

  /** Counts claims to charge; 0 before the first. */
  attempt: z.int(),
  claimedAt: optional,
  /** The provider's name for the last attempt known before the current claim. */
  priorAttemptRef: optional,
  /** Counts claims that were taken back: each later claim has a key of its own at the provider. */
  released: z.int().optional(),
  attemptRef: optional,
  failureCode: z.enum(DECLINE_CODES).optional(),
  /** Its payer does not attend the current attempt. */
  offSession: z.literal(true).optional(),
  /** The provider's invoice that it pays: the provider collects it by itself, and nobody here ever does. */
  providerInvoiceId: optional,
  reconcileAt: optional,
  reconcileStep: z.int().optional(),
  /** Its method was to be saved and its provider will not keep it. */
  methodNotKept: z.literal(true).optional(),
  /** What brought this version about. */
  cause: z.enum(CAUSES).optional(),
  /** Why the provider's word and ours once contradicted each other. */
  anomaly: optional,

  /** Hash of the request that made it, where it came with an Idempotency-Key. */
  requestHash: optional,
  /** Until then a retry of the create waits for the function that is at it. */
  busyUntil: optional,
});
export type Payment = z.infer<typeof paymentSchema>;
type StoredFields = Readonly<Record<string, unknown>>;

/** What an item says already, in its keys or by arithmetic, is not written twice: a payment stays within one write unit. */
export const storedFields = (payment: Payment, isListed: boolean): StoredFields => {
  const { id: _, subtotalCents: __, createdAt, taxCents, discountCents, providerPaymentId, ...rest } = payment;
  return {
    ...rest,
    ...(!isListed && { createdAt }),
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
});
const ISO_LENGTH = '2000-01-01T00:00:00.000Z'.length;

/** A payment from its item. */
export const paymentOf = (item: StoredFields): Payment => {
  const { pk, sort, totalCents, taxCents, discountCents, providerIntentId } = keysSchema.parse(item);
  return paymentSchema.parse({
    id: pk.slice(pk.indexOf('#') + 1),
    createdAt: sort?.slice(0, ISO_LENGTH),
    taxCents,
    discountCents,
    subtotalCents: totalCents - taxCents + discountCents,
    providerPaymentId: providerIntentId,
    ...item,
  });
};

/** A payment that the provider knows; its readers, too, unless it is withheld. */
export type VisiblePayment = Payment & { readonly status: PaymentStatus };

export const WITHOUT_DRAFT = { draft: undefined, draftBusyUntil: undefined, draftVersion: undefined } as const;

/** The record with a draft in the place of what it may change. */
export const withDraft = <P extends Payment>(payment: P, draft: Draft): P => ({
  ...payment,
  ...Object.fromEntries(Object.keys(changeable).map((field) => [field, undefined])),
  ...draft,
  ...WITHOUT_DRAFT,
});

export const isVisiblePayment = (payment: Payment): payment is VisiblePayment => payment.status !== 'creating';

/** Does it exist for its readers? */
export const isShown = (payment: Payment): payment is VisiblePayment => isVisiblePayment(payment) && !payment.withheld;

const WITHHELD_KEPT_MS = DAY;

/** Epoch ms at which a withheld payment that came to nothing is forgotten. */
export const forgottenAt = ({ withheld, status, createdAt }: Payment): Instant | undefined =>
  withheld && (status === 'failed' || status === 'canceled') ? instant(createdAt) + WITHHELD_KEPT_MS : undefined;

export const CLIENT_SECRET_LIFETIME_MS = DAY;
export const CONFIRMATION_PERIOD_MS = DAY;

/** The client secret, for as long as it lives: 24 h to the millisecond, whether or not it has been removed yet. */
export const liveSecret = (payment: Payment, now: Instant): string | undefined =>
  now < instant(payment.createdAt) + CLIENT_SECRET_LIFETIME_MS ? payment.clientSecret : undefined;

/** A succeeded payment whose method is still to be kept as one of the payer's. */
export const wantsMethodSaved = (payment: Payment): boolean =>
  payment.status === 'succeeded' &&
  payment.setupFutureUsage === 'off_session' &&
  payment.paymentMethodId === undefined &&
  payment.methodNotKept === undefined &&
  payment.providerCustomerId !== undefined;

/** A subscription's payments are charged, changed and let go by it alone. */
export const isOfSubscription = ({ subscriptionId }: Payment): boolean => subscriptionId !== undefined;

export const isGuestPayment = (payment: Payment): boolean => payment.guestId !== undefined;

/** How a payment is found and whose it is. */
export const paymentRecord: RecordKind<VisiblePayment> = {
  resource: 'payment',
  key: paymentKey,
  parse: (item) => {
    const payment = paymentOf(item);
    return isShown(payment) ? payment : undefined;
  },
  ownedBy: ({ userId, organizationId, guestId, guestEmail }) => ({ userId, organizationId, guestId, guestEmail }),
  rule: 'owned',
  guestsRead: true,
};

/** The same, by an id at its provider. */
export const paymentByProviderId: RecordKind<VisiblePayment> = {
  ...paymentRecord,
  resolve: async (table, externalId) => {
    const alias = await findAliasAnywhere(table, PROVIDER_SLOTS, externalId);
    return alias?.kind === 'PAY' ? alias.id : undefined;
  },
};
