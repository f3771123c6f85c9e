/** @module The records of a billing provider. */

import * as z from 'zod';
import { common } from './document-fields.ts';

const UNITS = ['day', 'week', 'month', 'year'] as const;

export const ledgerProductSchema = z.object({ ...common, name: z.string(), description: z.string().nullable() });
export type LedgerProduct = z.infer<typeof ledgerProductSchema>;

export const priceSchema = z.object({
  ...common,
  productId: z.string(),
  amount: z.int(),
  currency: z.string(),
  unit: z.enum(UNITS),
  count: z.int(),
  /** Present if the amount depends on usage or on tiers. */
  usageType: z.literal('metered').optional(),
  scheme: z.literal('tiered').optional(),
});
export type LedgerPrice = z.infer<typeof priceSchema>;

/** A `once` coupon applies to one charge, a `repeating` coupon for `months`. */
export const couponSchema = z.object({
  ...common,
  name: z.string().nullable(),
  percentOff: z.number().nullable(),
  amountOff: z.int().nullable(),
  currency: z.string().nullable(),
  duration: z.enum(['once', 'repeating', 'forever']),
  months: z.int().nullable(),
});
export type LedgerCoupon = z.infer<typeof couponSchema>;

/** A coupon in use by a subscription. */
export const discountSchema = z.object({
  ...common,
  couponId: z.string(),
  customerId: z.string(),
  subscriptionId: z.string(),
  endAt: z.int().nullable(),
});
export type LedgerDiscount = z.infer<typeof discountSchema>;

export const taxRateSchema = z.object({
  ...common,
  displayName: z.string(),
  percentage: z.number(),
  inclusive: z.boolean(),
  country: z.string().nullable(),
});
export type LedgerTaxRate = z.infer<typeof taxRateSchema>;

export const ledgerSubscriptionSchema = z.object({
  ...common,
  customerId: z.string(),
  methodId: z.string().nullable(),
  priceId: z.string(),
  quantity: z.int().default(1),
  /** The price of all units, before discounts and taxes. */
  amount: z.int(),
  currency: z.string(),
  unit: z.enum(UNITS),
  count: z.int(),
  description: z.string().nullable(),
  /** `incomplete` until the first charge succeeds; `incomplete_expired` if it did not succeed in time. */
  status: z.enum([
    'incomplete',
    'incomplete_expired',
    'trialing',
    'active',
    'past_due',
    'unpaid',
    'paused',
    'canceled',
  ]),
  /** The start of period 0. */
  anchor: z.int(),
  /** Number of the current period, counted from the anchor; -1 in a trial. */
  period: z.int(),
  periodStart: z.int(),
  periodEnd: z.int(),
  trialStart: z.int().nullable(),
  trialEnd: z.int().nullable(),
  withoutMethod: z.enum(['create_invoice', 'pause', 'cancel']),
  cancelAtPeriodEnd: z.boolean(),
  /**
   * A scheduled end, as set in a customer portal. Null without such a date, also if the subscription ends with its
   * period.
   */
  cancelAt: z.int().nullable().default(null),
  canceledAt: z.int().nullable(),
  endedAt: z.int().nullable(),
  endReason: z.enum(['cancellation_requested', 'payment_failed']).nullable(),
  /** How invoices are treated while collection is paused. */
  pausedCollection: z.enum(['void', 'keep_as_draft', 'mark_uncollectible']).nullable(),
  latestInvoiceId: z.string().nullable(),
  /** True if each successfully charged method becomes the subscription's own. */
  keepsPayingMethod: z.boolean().default(false),
  discountIds: z.array(z.string()).default([]),
  taxRateIds: z.array(z.string()).default([]),
  billingMode: z.enum(['classic', 'flexible']).default('classic'),
  /** Items after the first. Their prices are part of `amount`. */
  otherItems: z.array(z.object({ priceId: z.string(), quantity: z.int() })).optional(),
  /** Present if the customer pays each invoice by hand, so nothing is collected. */
  collection: z.literal('send_invoice').optional(),
  scheduleId: z.string().optional(),
});
export type LedgerSubscription = z.infer<typeof ledgerSubscriptionSchema>;

const lineSchema = z.object({
  amount: z.int(),
  quantity: z.int(),
  /** Null if the line uses the subscription's price. */
  priceId: z.string().nullable(),
  periodStart: z.int(),
  periodEnd: z.int(),
});
export type LedgerLine = z.infer<typeof lineSchema>;

/** The amounts of an invoice, from its lines to the total. */
export const billSchema = z.object({
  lines: z.array(lineSchema),
  subtotal: z.int(),
  discounts: z.array(z.object({ discountId: z.string(), amount: z.int() })),
  taxes: z.array(z.object({ taxRateId: z.string(), inclusive: z.boolean(), taxable: z.int(), amount: z.int() })),
  total: z.int(),
});
export type LedgerBill = z.infer<typeof billSchema>;

const invoiceFields = z.object({
  ...common,
  subscriptionId: z.string(),
  customerId: z.string(),
  number: z.string(),
  bill: billSchema,
  /** The customer's balance before the invoice was finalized, negative for a credit. */
  startingBalance: z.int(),
  /** The balance after the invoice was finalized; null for a draft. */
  endingBalance: z.int().nullable(),
  /** The amount due: the total plus the customer's balance, which is negative for a credit. */
  amount: z.int(),
  currency: z.string(),
  status: z.enum(['draft', 'open', 'paid', 'void', 'uncollectible']),
  reason: z.enum(['subscription_create', 'subscription_cycle', 'subscription_update']),
  /** The billed period. */
  periodStart: z.int(),
  periodEnd: z.int(),
  /**
   * The start of the preceding period; on a subscription's first invoice here, the start of the invoice's own period.
   * Stripe shows this time as `period_start`, because metered usage would be billed for that period.
   */
  usedFrom: z.int(),
  paymentId: z.string().nullable(),
  /** Number of attempts by the provider itself. A caller's attempt counts only if it is the first attempt. */
  attempts: z.int(),
  firstFailedAt: z.int().nullable(),
  nextAttemptAt: z.int().nullable(),
  /** A method with a final decline. It is not retried. */
  refusedMethodId: z.string().nullable(),
  /** True if the provider collects the invoice automatically. */
  collects: z.boolean(),
  paidAt: z.int().nullable(),
  /** True if the owner marked the invoice as paid outside the provider. */
  paidElsewhere: z.boolean().default(false),
  voidedAt: z.int().nullable(),
  uncollectibleAt: z.int().nullable().default(null),
});
export type LedgerInvoice = z.infer<typeof invoiceFields>;

const withoutBill = z.looseObject({
  amount: z.int(),
  periodStart: z.int(),
  periodEnd: z.int(),
  bill: z.undefined().optional(),
});

/** If a stored invoice has no bill, adds a bill with a single line, the invoice's amount. */
const withBill = (stored: unknown): unknown => {
  const { success, data } = withoutBill.safeParse(stored);
  if (!success) return stored;
  const { amount, periodStart, periodEnd } = data;
  const lines = [{ amount, quantity: 1, priceId: null, periodStart, periodEnd }];
  const bill = { lines, subtotal: amount, discounts: [], taxes: [], total: amount };
  return { ...data, bill, startingBalance: 0, endingBalance: 0 };
};

export const invoiceSchema: z.ZodType<LedgerInvoice> = z.preprocess(withBill, invoiceFields);
