/**
 * @module The ledger stores the providers' records, independent of any vendor's format. `wire` contains vendor-specific
 * fields. Times are epoch ms, currencies upper-case ISO codes, amounts in the vendor's units.
 */

import * as z from 'zod';
import type { ProviderSlot } from '../../../shared/core/settings.ts';
import type { Store } from '../state/store.ts';
import { behaviourSchema, DECLINE_REASONS, DISPUTE_REASONS } from './behaviours.ts';
import {
  couponSchema,
  discountSchema,
  invoiceSchema,
  type LedgerCoupon,
  type LedgerDiscount,
  type LedgerInvoice,
  type LedgerPrice,
  type LedgerProduct,
  type LedgerSubscription,
  type LedgerTaxRate,
  ledgerProductSchema,
  ledgerSubscriptionSchema,
  priceSchema,
  taxRateSchema,
} from './billing-documents.ts';
import { common } from './document-fields.ts';

const postal = z.record(z.string(), z.string().nullable()).nullable();

export const ledgerCustomerSchema = z.object({
  ...common,
  email: z.string().nullable(),
  name: z.string().nullable(),
  phone: z.string().nullable(),
  description: z.string().nullable(),
  address: postal,
  defaultMethodId: z.string().nullable(),
  /** Negative for a credit, which reduces the next invoices. */
  balance: z.int().default(0),
  deleted: z.boolean(),
});
export type LedgerCustomer = z.infer<typeof ledgerCustomerSchema>;

const card = z.object({
  brand: z.string(),
  last4: z.string(),
  expMonth: z.int(),
  expYear: z.int(),
  /** Null if the provider does not report the issuer's country. */
  country: z.string().nullable(),
  funding: z.string(),
  fingerprint: z.string(),
  wallet: z.enum(['apple_pay', 'google_pay']).nullable().default(null),
});

export const methodSchema = z.object({
  ...common,
  type: z.enum(['card', 'bank_account', 'wallet']).default('card'),
  card,
  /** The account's bank or the card's issuer; null if the provider does not report it. */
  bankName: z.string().nullable().default(null),
  /** The test value behind the method. */
  token: z.string(),
  behaviour: behaviourSchema,
  billing: z.object({
    name: z.string().nullable(),
    email: z.string().nullable(),
    phone: z.string().nullable(),
    address: postal,
  }),
  customerId: z.string().nullable(),
  /** True if the method was used or detached without a customer. It cannot be used again. */
  spent: z.boolean(),
  /** True if authenticated for later use. */
  setUp: z.boolean(),
});
export type LedgerMethod = z.infer<typeof methodSchema>;

const failure = z.object({
  reason: z.enum(DECLINE_REASONS),
  chargeId: z.string().nullable(),
  methodId: z.string().nullable(),
});
export type LedgerFailure = z.infer<typeof failure>;

const PAYMENT_STATUSES = [
  'requires_payment_method',
  'requires_confirmation',
  'requires_action',
  'processing',
  'requires_capture',
  'succeeded',
  'canceled',
] as const;

export const ledgerPaymentSchema = z.object({
  ...common,
  amount: z.int(),
  currency: z.string(),
  status: z.enum(PAYMENT_STATUSES),
  captures: z.enum(['at_once', 'later']),
  /** Hold time before a capture; seven days by default. Then the provider cancels with the reason `automatic`. */
  holdMs: z.int().optional(),
  description: z.string().nullable(),
  customerId: z.string().nullable(),
  methodId: z.string().nullable(),
  saveMethod: z.enum(['off_session', 'on_session']).nullable(),
  amountReceived: z.int(),
  latestChargeId: z.string().nullable(),
  failure: failure.nullable(),
  returnUrl: z.string().nullable(),
  canceledAt: z.int().nullable(),
  cancellationReason: z.string().nullable(),
});
export type LedgerPayment = z.infer<typeof ledgerPaymentSchema>;

export const chargeSchema = z.object({
  ...common,
  paymentId: z.string(),
  amount: z.int(),
  currency: z.string(),
  status: z.enum(['succeeded', 'failed', 'pending', 'canceled', 'refunded']),
  /** True if the charge only reserves money, so it waits for a capture and not for the bank. */
  reserved: z.boolean(),
  captured: z.boolean(),
  /** The amount approved by the bank, taken immediately or held first. */
  authorized: z.int().default(0),
  amountCaptured: z.int(),
  /** The amount of a pending capture. */
  capturing: z.int().optional(),
  /** The amount still held after a non-final capture. */
  stillHeld: z.int().optional(),
  /** Start of the pending capture, in epoch ms. */
  capturingSince: z.int().optional(),
  /** The released part of a hold. */
  released: z.int().default(0),
  /** End of the hold, in epoch ms; null for money taken immediately. */
  holdEndsAt: z.int().nullable().default(null),
  amountRefunded: z.int(),
  customerId: z.string().nullable(),
  methodId: z.string(),
  description: z.string().nullable(),
  failure: failure.nullable(),
  authenticated: z.boolean(),
  /** In the provider's units; null until the provider reports it. */
  fee: z.int().nullable().default(null),
});
export type LedgerCharge = z.infer<typeof chargeSchema>;

const REFUND_FAILURES = [
  'declined',
  'expired_or_canceled_card',
  'insufficient_funds',
  'lost_or_stolen_card',
  'merchant_request',
  'unknown',
] as const;

export const ledgerRefundSchema = z.object({
  ...common,
  chargeId: z.string(),
  paymentId: z.string(),
  amount: z.int(),
  currency: z.string(),
  /** A refund counts in its charge's amountRefunded while it is pending or succeeded. */
  status: z.enum(['pending', 'succeeded', 'failed', 'canceled']),
  /** The vendor's reason code, as the caller sent it. */
  reason: z.string().nullable(),
  /** A text for the payer. */
  note: z.string().nullable(),
  failureReason: z.enum(REFUND_FAILURES).nullable(),
  updatedAt: z.int(),
});
export type LedgerRefund = z.infer<typeof ledgerRefundSchema>;

export const ledgerDisputeSchema = z.object({
  ...common,
  chargeId: z.string(),
  paymentId: z.string(),
  amount: z.int(),
  currency: z.string(),
  status: z.enum(['needs_response', 'under_review', 'won', 'lost', 'closed']),
  reason: z.enum(DISPUTE_REASONS),
  /** True for an inquiry by the bank, before money is taken back. */
  inquiry: z.boolean(),
  /** The deadline for the seller's evidence. */
  evidenceDueAt: z.int(),
  updatedAt: z.int(),
  /** Number of the dispute's revision, starting at 1. */
  revision: z.int().default(1),
});
export type LedgerDispute = z.infer<typeof ledgerDisputeSchema>;

export const setupSchema = z.object({
  ...common,
  status: z.enum(['requires_payment_method', 'requires_confirmation', 'requires_action', 'succeeded', 'canceled']),
  usage: z.enum(['off_session', 'on_session']),
  description: z.string().nullable(),
  customerId: z.string().nullable(),
  methodId: z.string().nullable(),
  failure: failure.nullable(),
  returnUrl: z.string().nullable(),
  cancellationReason: z.string().nullable(),
});
export type LedgerSetup = z.infer<typeof setupSchema>;

/** A vendor's event as it was sent, with its envelope. */
export const eventSchema = z.object({ ...common, body: z.string(), type: z.string() });
export type LedgerEvent = z.infer<typeof eventSchema>;

export interface Listing {
  readonly limit: number;
  readonly holder?: string | undefined;
  readonly reference?: string | undefined;
  /** Document ids. The page follows `after` or precedes `before`, newest first. */
  readonly after?: string | undefined;
  readonly before?: string | undefined;
}

export interface Collection<T> {
  get(slot: ProviderSlot, id: string): T | undefined;
  put(document: T): T;
  /** Newest first. */
  list(slot: ProviderSlot, listing: Listing): T[];
  /** Across all slots, oldest first. `reference` limits the list to documents of our payment with this id. */
  all(reference?: string): T[];
}

export interface Documents {
  readonly customers: Collection<LedgerCustomer>;
  readonly methods: Collection<LedgerMethod>;
  readonly payments: Collection<LedgerPayment>;
  readonly charges: Collection<LedgerCharge>;
  readonly refunds: Collection<LedgerRefund>;
  readonly disputes: Collection<LedgerDispute>;
  readonly setups: Collection<LedgerSetup>;
  readonly events: Collection<LedgerEvent>;
  readonly products: Collection<LedgerProduct>;
  readonly prices: Collection<LedgerPrice>;
  readonly subscriptions: Collection<LedgerSubscription>;
  readonly invoices: Collection<LedgerInvoice>;
  readonly coupons: Collection<LedgerCoupon>;
  readonly discounts: Collection<LedgerDiscount>;
  readonly taxRates: Collection<LedgerTaxRate>;
}

/** Our payment's id, which the adapters add to every object. */
export const referenceOf = (document: { readonly metadata: Readonly<Record<string, string>> }): string | null =>
  document.metadata['payment_id'] ?? null;

export const openDocuments = (store: Store): Documents => ({
  customers: collection(store, { kind: 'customer', schema: ledgerCustomerSchema, holderOf: () => null }),
  methods: collection(store, { kind: 'method', schema: methodSchema, holderOf: (method) => method.customerId }),
  payments: collection(store, {
    kind: 'payment',
    schema: ledgerPaymentSchema,
    holderOf: (payment) => payment.customerId,
  }),
  charges: collection(store, { kind: 'charge', schema: chargeSchema, holderOf: (charge) => charge.paymentId }),
  refunds: collection(store, { kind: 'refund', schema: ledgerRefundSchema, holderOf: (refund) => refund.paymentId }),
  disputes: collection(store, {
    kind: 'dispute',
    schema: ledgerDisputeSchema,
    holderOf: (dispute) => dispute.paymentId,
  }),
  setups: collection(store, { kind: 'setup', schema: setupSchema, holderOf: (setup) => setup.customerId }),
  events: collection(store, { kind: 'event', schema: eventSchema, holderOf: (event) => event.type }),
  products: collection(store, { kind: 'product', schema: ledgerProductSchema, holderOf: () => null }),
  prices: collection(store, { kind: 'price', schema: priceSchema, holderOf: (price) => price.productId }),
  subscriptions: collection(store, {
    kind: 'subscription',
    schema: ledgerSubscriptionSchema,
    holderOf: (subscription) => subscription.customerId,
  }),
  invoices: collection(store, {
    kind: 'invoice',
    schema: invoiceSchema,
    holderOf: (invoice) => invoice.subscriptionId,
  }),
  coupons: collection(store, { kind: 'coupon', schema: couponSchema, holderOf: () => null }),
  discounts: collection(store, {
    kind: 'discount',
    schema: discountSchema,
    holderOf: (discount) => discount.subscriptionId,
  }),
  taxRates: collection(store, { kind: 'tax_rate', schema: taxRateSchema, holderOf: () => null }),
});

const bodyRow = z.object({ body: z.string() });

interface CollectionOptions<T> {
  readonly kind: string;
  readonly schema: z.ZodType<T>;
  /** The id of the parent document. */
  readonly holderOf: (document: T) => string | null;
}

const collection = <T extends { id: string; provider: ProviderSlot; metadata: Record<string, string> }>(
  store: Store,
  { kind, schema, holderOf }: CollectionOptions<T>,
): Collection<T> => {
  const parse = (row: unknown): T => schema.parse(JSON.parse(bodyRow.parse(row).body));
  return {
    get: (slot, id) => {
      const row = store.row('SELECT body FROM document WHERE kind = ? AND id = ? AND slot = ?', kind, id, slot);
      return row === undefined ? undefined : parse(row);
    },
    put: (document) => {
      store.run(
        `INSERT INTO document (kind, id, slot, holder, reference, body) VALUES (?, ?, ?, ?, ?, ?)
         ON CONFLICT (kind, slot, id) DO UPDATE
         SET holder = excluded.holder, reference = excluded.reference, body = excluded.body`,
        kind,
        document.id,
        document.provider,
        holderOf(document),
        referenceOf(document),
        JSON.stringify(document),
      );
      return document;
    },
    list: (slot, listing) => {
      const { where, values } = listingClause(kind, listing);
      const order = listing.before === undefined ? 'DESC' : 'ASC';
      const rows = store.rows(
        `SELECT body FROM document WHERE kind = ? AND slot = ?${where} ORDER BY seq ${order} LIMIT ?`,
        kind,
        slot,
        ...values,
        listing.limit,
      );
      const found = rows.map(parse);
      return listing.before === undefined ? found : found.reverse();
    },
    all: (reference) =>
      (reference === undefined
        ? store.rows('SELECT body FROM document WHERE kind = ? ORDER BY seq', kind)
        : store.rows('SELECT body FROM document WHERE kind = ? AND reference = ? ORDER BY seq', kind, reference)
      ).map(parse),
  };
};

const listingClause = (kind: string, listing: Listing): { where: string; values: string[] } => {
  const clauses: readonly [sql: string, values: readonly (string | undefined)[]][] = [
    [' AND holder = ?', [listing.holder]],
    [' AND reference = ?', [listing.reference]],
    [' AND seq < (SELECT seq FROM document WHERE kind = ? AND id = ?)', [listing.after && kind, listing.after]],
    [' AND seq > (SELECT seq FROM document WHERE kind = ? AND id = ?)', [listing.before && kind, listing.before]],
  ];
  const used = clauses.filter(([, values]) => values.every((value) => value !== undefined));
  return {
    where: used.map(([sql]) => sql).join(''),
    values: used.flatMap(([, values]) => values.filter((value) => value !== undefined)),
  };
};
