/**
 * @module The records of a plan change. A plan is what a subscription charges each period. `change` is in progress;
 * `scheduledChange` takes effect when the next period opens.
 */

import * as z from 'zod';
import { BILLING_INTERVALS } from '../../catalog/billing-intervals.ts';
import { recordKey } from '../../platform/keys.ts';
import type { TransactionStep } from '../../platform/table.ts';
import { paidPeriodSchema } from './paid-period-record.ts';
import { planDiscountSchema } from './subscription-discount.ts';

const optional = z.string().optional();

/** Total = subtotal + tax − discount. */
const pricesSchema = z.object({
  subtotalCents: z.int(),
  taxCents: z.int(),
  discountCents: z.int(),
  totalCents: z.int(),
});

export const planFields = {
  productId: optional,
  /** The product's name at the time the plan was chosen. */
  productName: optional,
  /** The membership tier of the product. */
  tierId: optional,
  quantity: z.int().default(1),
  ...pricesSchema.shape,
  billingInterval: z.enum(BILLING_INTERVALS),
  intervalMultiplier: z.int(),
  /** The discount code that reduced the prices. */
  discount: planDiscountSchema.optional(),
};

const planSchema = z.lazy(() => z.object(planFields));
export type SubscriptionPlan = z.infer<typeof planSchema>;

type PlanInterval = Pick<SubscriptionPlan, 'billingInterval' | 'intervalMultiplier'>;

export const hasSameInterval = (one: PlanInterval, other: PlanInterval): boolean =>
  one.billingInterval === other.billingInterval && one.intervalMultiplier === other.intervalMultiplier;

/**
 * `unused` credits the unused part of the old plan, so it is negative. `remaining` is the new price for the rest of the
 * period, and `full` is the new price for a new period. `rounding` is the difference between the exact amount due and
 * the amount that the provider can charge.
 */
export const CHANGE_LINE_KINDS = ['unused', 'remaining', 'full', 'rounding'] as const;

/** A line of the change's price, as stored. */
export const changeLineFields = z.object({
  kind: z.enum(CHANGE_LINE_KINDS),
  description: z.string(),
  productId: optional,
  quantity: z.int(),
  amountCents: z.int(),
  taxCents: z.int(),
  discountCents: z.int(),
  periodStart: z.string(),
  periodEnd: z.string(),
});
export type ChangeLine = z.infer<typeof changeLineFields>;

/**
 * `claimed` while the request makes the payment; `processing` while the payment's outcome is unknown;
 * `awaiting_payment` while the payer authenticates; `paid` while the billing provider gets the new price; `dropped`
 * while the payment of a failed change is being canceled.
 */
const CHANGE_STEPS = ['claimed', 'processing', 'awaiting_payment', 'paid', 'dropped'] as const;

/** The mark of an Idempotency-Key, and the time when its request claimed a change. */
export const changeKeySchema = z.lazy(() => z.object({ key: z.string(), at: z.string() }));
export type ChangeKey = z.infer<typeof changeKeySchema>;

export const planChangeSchema = z.lazy(() =>
  z.object({
    id: z.string(),
    /** The Idempotency-Key of the request that claimed the change. */
    claimedUnder: changeKeySchema.optional(),
    plan: planSchema,
    step: z.enum(CHANGE_STEPS),
    /** Start of the new plan. */
    at: z.string(),
    /** The current period when the change was claimed. */
    periodStart: z.string(),
    periodEnd: z.string(),
    /** End of the period that begins with the change; undefined if the current period continues. */
    nextPeriodEnd: optional,
    /** New end of a trial shortened by the change. If the change starts a period, the trial ends immediately. */
    trialEnd: optional,
    /** True if the change was claimed in a trial. Such a change pays for a tier only if it has a payment. */
    inTrial: z.literal(true).optional(),
    due: pricesSchema,
    /** How the current period is paid once the change is applied. Undefined if the change pays for no time. */
    paidPeriod: paidPeriodSchema.optional(),
    lines: z.array(changeLineFields),
    /** Derived from subscription and change. Undefined if nothing is due. */
    paymentId: optional,
    /** Deadline for the payer; an unpaid change is then dropped. */
    expiresAt: optional,
    /** Reason that readers see after a dropped change is removed; undefined if they never saw the change. */
    dropReason: z.enum(['plan_change_failed', 'plan_change_withdrawn']).optional(),
    /** Time of the next lookup by due work. */
    lookAt: z.string(),
  }),
);
export type PlanChange = z.infer<typeof planChangeSchema>;

export const scheduledChangeSchema = z.lazy(() => z.object({ id: z.string(), plan: planSchema }));

/** A price to send to the billing provider. Kept until the provider is known to have it. */
export const priceUpdateSchema = z.lazy(() =>
  z.object({
    /** Part of the idempotency key. Also stored in the provider's metadata, where a lookup finds it. */
    id: z.string(),
    /** No charge before this time. Set if the provider would otherwise start a new period immediately. */
    freeUntil: optional,
    /** When the update was stored for sending. */
    claimedAt: z.string(),
    lookAt: z.string(),
  }),
);
export type PriceUpdate = z.infer<typeof priceUpdateSchema>;

/** The write condition that the subscription still waits for this change's payment. */
export const changeOpenCondition = (subscriptionId: string, changeId: string): TransactionStep => ({
  check: recordKey('SUB', subscriptionId),
  if: [
    { exists: true },
    { equals: ['change.id', changeId] },
    { differs: ['change.step', 'dropped'] },
    { differs: ['status', 'canceled'] },
    { differs: ['status', 'paused'] },
  ],
});
