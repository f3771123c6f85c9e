import * as z from 'zod';
import { common } from './document-fields.ts';

/** The records of a provider that bills subscriptions itself. */
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
});
export type LedgerPrice = z.infer<typeof priceSchema>;

export const ledgerSubscriptionSchema = z.object({
  ...common,
  customerId: z.string(),
  methodId: z.string().nullable(),
  priceId: z.string(),
  amount: z.int(),
  currency: z.string(),
  unit: z.enum(UNITS),
  count: z.int(),
  description: z.string().nullable(),
  /** `incomplete`: the first charge has not succeeded yet. `incomplete_expired`: it did not succeed in time. */
  status: z.enum(['incomplete', 'incomplete_expired', 'trialing', 'active', 'past_due', 'paused', 'canceled']),
  /** Where period 0 starts. */
  anchor: z.int(),
  /** The current period, counted from the anchor; -1 in a trial. */
  period: z.int(),
  periodStart: z.int(),
  periodEnd: z.int(),
  trialStart: z.int().nullable(),
  trialEnd: z.int().nullable(),
  withoutMethod: z.enum(['create_invoice', 'pause', 'cancel']),
  cancelAtPeriodEnd: z.boolean(),
  canceledAt: z.int().nullable(),
  endedAt: z.int().nullable(),
  endReason: z.enum(['cancellation_requested', 'payment_failed']).nullable(),
  /** The treatment of invoices while collection is paused. */
  pausedCollection: z.enum(['void', 'keep_as_draft', 'mark_uncollectible']).nullable(),
  latestInvoiceId: z.string().nullable(),
  /** Whether the method of each successful charge becomes the subscription's own. */
  keepsPayingMethod: z.boolean().default(false),
});
export type LedgerSubscription = z.infer<typeof ledgerSubscriptionSchema>;

export const invoiceSchema = z.object({
  ...common,
  subscriptionId: z.string(),
  customerId: z.string(),
  number: z.string(),
  amount: z.int(),
  currency: z.string(),
  status: z.enum(['draft', 'open', 'paid', 'void', 'uncollectible']),
  reason: z.enum(['subscription_create', 'subscription_cycle', 'subscription_update']),
  /** The period that the invoice pays for. */
  periodStart: z.int(),
  periodEnd: z.int(),
  /** The start of the previous period, whose use the invoice bills. */
  usedFrom: z.int(),
  paymentId: z.string().nullable(),
  /** Attempts by the provider itself; attempts that a caller requests do not count. */
  attempts: z.int(),
  firstFailedAt: z.int().nullable(),
  nextAttemptAt: z.int().nullable(),
  /** A method with a final decline: it is not tried again. */
  refusedMethodId: z.string().nullable(),
  /** Whether the provider collects it without a call. */
  collects: z.boolean(),
  paidAt: z.int().nullable(),
  voidedAt: z.int().nullable(),
});
export type LedgerInvoice = z.infer<typeof invoiceSchema>;
