/**
 * @module The records of a plan change. A plan is what a subscription charges each period. `change` is under way, and
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
  /** The product's name when the plan was chosen. */
  productName: optional,
  /** The membership tier of the product. */
  tierId: optional,
  quantity: z.int().default(1),
  ...pricesSchema.shape,
  billingInterval: z.enum(BILLING_INTERVALS),
  intervalMultiplier: z.int(),
  /** The discount code, with which the prices are reduced. */
  discount: planDiscountSchema.optional(),
};

const planSchema = z.lazy(() => z.object(planFields));
export type SubscriptionPlan = z.infer<typeof planSchema>;

type PlanInterval = Pick<SubscriptionPlan, 'billingInterval' | 'intervalMultiplier'>;

export const hasSameInterval = (one: PlanInterval, other: PlanInterval): boolean =>
  one.billingInterval === other.billingInterval && one.intervalMultiplier === other.intervalMultiplier;

/**
 * `unused` is negative. `remaining` is the new price for what is left of the period, `full` for a new period.
 * `rounding` makes what is due an amount that the provider can charge.
 */
export const CHANGE_LINE_KINDS = ['unused', 'remaining', 'full', 'rounding'] as const;

/** A line as it is stored. */
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
 * `claimed` while the request makes its payment, `processing` while the outcome of the payment is unknown,
 * `awaiting_payment` while the payer authenticates it, `paid` while the billing provider gets the new price, and
 * `dropped` while the payment of a change that has failed is canceled.
 */
const CHANGE_STEPS = ['claimed', 'processing', 'awaiting_payment', 'paid', 'dropped'] as const;

/** The mark of an Idempotency-Key, and when a request under it claimed a change. */
export const changeKeySchema = z.lazy(() => z.object({ key: z.string(), at: z.string() }));
export type ChangeKey = z.infer<typeof changeKeySchema>;

export const planChangeSchema = z.lazy(() =>
  z.object({
    id: z.string(),
    /** The Idempotency-Key of the request that claimed the change. */
    claimedUnder: changeKeySchema.optional(),
    plan: planSchema,
    step: z.enum(CHANGE_STEPS),
    /** The moment from which the new plan counts. */
    at: z.string(),
    /** The period in which the change was made. */
    periodStart: z.string(),
    periodEnd: z.string(),
    /** The end of the period that begins with the change; undefined if the present period goes on. */
    nextPeriodEnd: optional,
    /** The new end of a trial that the change shortens. If a period begins with the change, the trial ends with it. */
    trialEnd: optional,
    /** True if the change was claimed in a trial. Without a payment of its own it pays for no tier. */
    inTrial: z.literal(true).optional(),
    due: pricesSchema,
    /** What the current period is paid with once the change is applied. Undefined if the change pays for nothing. */
    paidPeriod: paidPeriodSchema.optional(),
    lines: z.array(changeLineFields),
    /** Derived from subscription and change. Undefined if nothing is due. */
    paymentId: optional,
    /** When an unpaid change ends. */
    expiresAt: optional,
    /** The reason that readers see once a change that is dropped is gone; undefined if they never saw the change. */
    dropReason: z.enum(['plan_change_failed', 'plan_change_withdrawn']).optional(),
    /** When due work looks at the change. */
    lookAt: z.string(),
  }),
);
export type PlanChange = z.infer<typeof planChangeSchema>;

export const scheduledChangeSchema = z.lazy(() => z.object({ id: z.string(), plan: planSchema }));

/** A price that the billing provider has to get. Kept until the provider is known to have it. */
export const priceUpdateSchema = z.lazy(() =>
  z.object({
    /** Part of the idempotency key, and stored in the provider's metadata, so that a lookup finds it. */
    id: z.string(),
    /** With another interval, the provider charges nothing before this time. */
    freeUntil: optional,
    /** When the update was first sent. */
    claimedAt: z.string(),
    lookAt: z.string(),
  }),
);
export type PriceUpdate = z.infer<typeof priceUpdateSchema>;

/** Checks in a write that the subscription still waits for the payment of this change. */
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
