/** @module Plan changes as API callers see them, with their schemas. */

import * as z from 'zod';
import { BILLING_INTERVALS } from '../../catalog/billing-intervals.ts';
import { once } from '../../core/once.ts';
import { nextActionSchema, timestamp } from '../../http/fields.ts';
import { CHANGE_LINE_KINDS, type ChangeLine } from './plan-change.ts';
import type { Subscription } from './subscription.ts';

/** The fields for paying a pending change. Only callers who may pay see `next_action` and `client_secret`. */
interface PayersPart {
  readonly next_action: { readonly type: string; readonly url?: string | undefined } | null;
  readonly client_secret: string | null;
}

const NOTHING_TO_DO: PayersPart = { next_action: null, client_secret: null };

export const pendingChangeView = (
  { change }: Pick<Subscription, 'change'>,
  { next_action, client_secret }: PayersPart = NOTHING_TO_DO,
) => {
  // A dropped change is hidden while its payment is being canceled.
  if (!change || change.step === 'dropped') return null;
  return {
    id: change.id,
    status: change.step === 'awaiting_payment' ? ('awaiting_payment' as const) : ('processing' as const),
    due_now_cents: change.due.totalCents,
    payment: change.paymentId === undefined ? null : { id: change.paymentId, next_action, client_secret },
    expires_at: change.expiresAt ?? null,
  };
};

export const scheduledChangeView = ({
  scheduledChange,
  currentPeriodEnd,
}: Pick<Subscription, 'scheduledChange' | 'currentPeriodEnd'>) => {
  if (!scheduledChange) return null;
  const { id, plan } = scheduledChange;
  return {
    id,
    product_id: plan.productId ?? null,
    quantity: plan.quantity,
    subtotal_cents: plan.subtotalCents,
    tax_cents: plan.taxCents,
    discount_cents: plan.discountCents,
    total_cents: plan.totalCents,
    billing_interval: plan.billingInterval,
    interval_multiplier: plan.intervalMultiplier,
    effective_at: currentPeriodEnd,
  };
};

export const changeLinesView = (lines: readonly ChangeLine[]) => lines.map(lineView);

const lineView = (line: ChangeLine) => ({
  kind: line.kind,
  description: line.description,
  product_id: line.productId ?? null,
  quantity: line.quantity,
  amount_cents: line.amountCents,
  tax_cents: line.taxCents,
  discount_cents: line.discountCents,
  period_start: line.periodStart,
  period_end: line.periodEnd,
});

const changeId = z.string().meta({
  description: 'Id of the change, `chg_…`.',
  examples: ['chg_1f2e3d4c5b6a79880796a5b4'],
});
const cents = z.int().nonnegative();

export const pendingChangeSchema = /* @__PURE__ */ once(() =>
  z
    .object({
      id: changeId,
      status: z
        .enum(['awaiting_payment', 'processing'])
        .describe('`awaiting_payment`: the payer must authenticate. `processing`: the outcome is not known yet.'),
      due_now_cents: cents.describe('The amount due now for the change, in minor units.'),
      payment: z
        .object({
          id: z.string().describe('The payment of the change, `pay_…`.'),
          next_action: nextActionSchema.nullable().describe("The payer's next step; null if none."),
          client_secret: z
            .string()
            .nullable()
            .describe("For the provider's library in the browser; null in lists and for readers who may not pay."),
        })
        .nullable()
        .describe('The payment of the difference; null if nothing is due.'),
      expires_at: timestamp.nullable().describe('When an unpaid change expires; null while it cannot expire.'),
    })
    .meta({ id: 'PendingPlanChange', description: 'A plan change with an open payment or an unknown outcome.' }),
);

export const scheduledChangeViewSchema = /* @__PURE__ */ once(() =>
  z
    .object({
      id: changeId,
      product_id: z.string().nullable().describe('The product of the next period; null for a custom price.'),
      quantity: z.int().positive().describe('The quantity of the next period.'),
      subtotal_cents: cents.describe('The price of a period before tax and discount from then on, in minor units.'),
      tax_cents: cents.describe('The tax of a period from then on, in minor units.'),
      discount_cents: cents.describe('The discount of a period from then on, in minor units.'),
      total_cents: cents.describe('The price of a period from then on, in minor units.'),
      billing_interval: z.enum(BILLING_INTERVALS).describe('The unit of a period from then on.'),
      interval_multiplier: z.int().positive().describe('Units per period from then on.'),
      effective_at: timestamp.describe('When the next period opens and the change takes effect.'),
    })
    .meta({ id: 'ScheduledPlanChange', description: 'The plan of the next period.' }),
);

export const changeLineSchema = /* @__PURE__ */ once(() =>
  z
    .object({
      kind: z
        .enum(CHANGE_LINE_KINDS)
        .describe(
          '`unused`: the credit for the paid price, a negative amount. `remaining`: the new price for the rest of the period. `full`: the new price for a new period. `rounding`: brings the sum to an amount the provider can charge.',
        ),
      description: z.string().describe('The name of the product, or `Subscription`.'),
      product_id: z.string().nullable().describe('The product of the line; null for a custom price.'),
      quantity: z.int().positive().describe('Units of the product in the amount.'),
      amount_cents: z
        .int()
        .describe(
          'The amount of this part, in minor units, with its tax and discount. All parts sum to the amount due.',
        ),
      tax_cents: z.int().describe('The part of the amount that is tax, in minor units.'),
      discount_cents: z.int().describe('The discount in the amount, in minor units.'),
      period_start: timestamp.describe("The start of the line's period."),
      period_end: timestamp.describe("The end of the line's period."),
    })
    .meta({ id: 'PlanChangeLine', description: 'A part of the amount due for a change.' }),
);

export const changePreviewSchema = /* @__PURE__ */ once(() =>
  z
    .object({
      subscription_id: z.string().describe('Id of the subscription that would change, `subs_…`.'),
      kind: z.enum(['upgrade', 'downgrade']).describe('`upgrade` if the change would cost 0 or more now.'),
      when: z.enum(['now', 'period_end']).describe('When the change takes effect.'),
      effective_at: timestamp.describe('The time at which it takes effect.'),
      proration_at: timestamp.describe(
        'The time for which the difference is computed. Send it with the change within 10 minutes to pay exactly this amount.',
      ),
      currency: z.string().describe('The ISO 4217 code in upper case.'),
      lines: z.array(changeLineSchema()).describe('The parts of the amount due now; empty if nothing is due now.'),
      unused_cents: cents.describe(
        'The unused part of the amount paid for this period, in minor units, without refunded, disputed, lost and unpaid amounts.',
      ),
      due_now_cents: cents.describe('The amount due now for the change, in minor units.'),
      forfeited_cents: cents.describe(
        'The unused amount that a downgrade now would forfeit, in minor units. Nothing is given back; the merchant may refund it.',
      ),
      next_total_cents: cents
        .nullable()
        .describe(
          'The cost of the next period, in minor units, less a permanent discount at the billing provider. Null if the provider applies a tax, several discounts or a temporary discount.',
        ),
      discount: z
        .object({
          code: z.string().describe('The discount code that the subscription keeps.'),
          cents: z.int().describe("The code's own part of the price of a period, in minor units."),
          periods_left: z
            .int()
            .nullable()
            .describe('Further periods at the reduced price; null for a code without end.'),
        })
        .nullable()
        .describe('The discount code after the change; null without a code, or if the change ends it.'),
      next_billing_date: timestamp.nullable().describe('When the next charge is due; null if none is planned.'),
      current_period_end: timestamp.describe('When the current period ends, after the change.'),
    })
    .meta({ id: 'PlanChangePreview', description: 'The cost and effect of a plan change. Nothing is stored.' }),
);
