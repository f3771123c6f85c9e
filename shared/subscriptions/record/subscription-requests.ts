/** @module The request bodies of the subscription routes. */

import * as z from 'zod';
import { BILLING_INTERVALS } from '../../catalog/billing-intervals.ts';
import { soldQuantity } from '../../catalog/catalog-records.ts';
import { PROVIDER_SLOTS } from '../../core/settings.ts';
import {
  centsField,
  currencyField,
  discountCodeField,
  hasAnyField,
  idSchema,
  metadataField,
  metadataSchema,
  methodIdSchema,
  optionalId,
  organizationField,
  requiredRule,
  tagsSchema,
  textField,
  timeField,
} from '../../http/fields.ts';
import { guestDataField } from '../../http/guest-fields.ts';
import { metadataModeField } from '../../http/metadata.ts';

const MAX_TRIAL_DAYS = 730;
const MAX_MULTIPLIER = 100;

/** When a plan change takes effect. */
export const CHANGE_TIMES = ['now', 'period_end'] as const;
export type ChangeTime = (typeof CHANGE_TIMES)[number];

/** A subscription without a product must send its whole plan, because no product supplies the missing fields. */
const requiredOfCustom = (path: string) => requiredRule(path, 'is required without product_id');

export const createSubscriptionBody = z
  .object({
    customer_id: idSchema.describe('The customer that pays, at the same provider as the method.'),
    product_id: optionalId.describe(
      "The product to subscribe to. The product's price, currency, interval and trial days apply.",
    ),
    quantity: soldQuantity
      .optional()
      .describe(
        'Units of the product per period, such as seats, from 1 to 10,000; 1 if absent. Only with a product; each price is the price of the product × quantity.',
      ),
    payment_method_id: methodIdSchema.describe(
      "The saved payment method to charge each period: the caller's own method, or a method of the organization that pays.",
    ),
    provider_id: z
      .enum(PROVIDER_SLOTS)
      .optional()
      .describe('The provider slot that collects the money; `provider_a` if absent. It never changes afterwards.'),
    capture_method: z
      .literal('automatic')
      .nullish()
      .describe('Only `automatic`, because the payments of a subscription never wait for a capture.'),
    trial_days: z
      .int()
      .min(0)
      .max(MAX_TRIAL_DAYS)
      .optional()
      .describe(
        'Days without a charge before the first period, from 0 to 730. A product has its own number of days; 0 is the same as absent.',
      ),
    subtotal_cents: centsField.describe(
      'The price of a period before tax and discount, in minor units. Required without a product.',
    ),
    tax_cents: centsField.describe('The tax of a period in minor units; 0 if absent.'),
    discount_cents: centsField.describe('The discount of a period in minor units; 0 if absent.'),
    total_cents: centsField.describe(
      'The price of a period, in minor units: subtotal + tax − discount. Required without a product; with 0 nothing is ever charged.',
    ),
    amount_cents: centsField.describe('Another name of `total_cents`. If both are sent, they must be equal.'),
    discount_code: discountCodeField.describe(
      'A discount code (case-insensitive). Without a product, subtotal, tax and discount are then the values before the code, and the total is the price after the code.',
    ),
    currency: currencyField
      .optional()
      .meta({ description: 'An ISO 4217 code; stored in upper case. Required without a product.', examples: ['EUR'] }),
    billing_interval: z
      .enum(BILLING_INTERVALS)
      .optional()
      .describe('The unit of a period. Required without a product.'),
    interval_multiplier: z
      .int()
      .min(1)
      .max(MAX_MULTIPLIER)
      .optional()
      .describe('Units per period, from 1 to 100; 1 if absent. 3 with `monthly` charges every three months.'),
    concept: textField(200).describe('A short title, such as an invoice line, for your own use.'),
    description: textField(1000).describe('The purpose of the subscription, also for its payments.'),
    reference_code: textField(100).describe('Your own reference, such as a contract number.'),
    category: textField(100).describe('A category of your choice.'),
    tags: tagsSchema.describe('At most 20 tags of at most 50 characters, separated by commas.'),
    organization_id: organizationField.describe(
      "The organization that pays; the session's organization if absent. Null or an empty string makes the subscription personal.",
    ),
    project_id: optionalId.describe('The project that gets the membership. The caller needs edit permission on it.'),
    billing_address_id: optionalId.describe('The billing address. It must have the same owner as the subscription.'),
    metadata: metadataField,
    is_guest_subscription: z
      .boolean()
      .nullish()
      .describe("Accepted and ignored, because the caller's credential decides this."),
    guest_data: guestDataField,
  })
  .refine((body) => hasAnyField(body, 'subtotal_cents', 'product_id'), requiredOfCustom('subtotal_cents'))
  .refine((body) => hasAnyField(body, 'total_cents', 'product_id'), requiredOfCustom('total_cents'))
  .refine((body) => hasAnyField(body, 'currency', 'product_id'), requiredOfCustom('currency'))
  .refine((body) => hasAnyField(body, 'billing_interval', 'product_id'), requiredOfCustom('billing_interval'))
  .meta({
    id: 'CreateSubscription',
    description: `The price, interval and payer. Without a product, \`subtotal_cents\`, \`total_cents\`, \`currency\` and
      \`billing_interval\` are required.`,
  });
export type CreateSubscriptionBody = z.output<typeof createSubscriptionBody>;

/** In mode `merge`, a metadata key with the value null is deleted. */
export const updateSubscriptionBody = z
  .object({
    payment_method_id: methodIdSchema
      .optional()
      .describe(
        "A saved payment method of the caller, at the subscription's provider. Charged from the next charge on.",
      ),
    metadata: metadataSchema.optional().describe('Your own data, under the limits of the create request.'),
    metadata_mode: metadataModeField,
  })
  .meta({ id: 'UpdateSubscription', description: 'At least one of `payment_method_id` and `metadata`.' });
export type UpdateSubscriptionBody = z.output<typeof updateSubscriptionBody>;

export const cancelBody = z
  .object({
    cancel_at_period_end: z
      .boolean()
      .default(true)
      .describe('True cancels when the period ends, and nothing is charged after it; false cancels immediately.'),
  })
  .meta({ id: 'CancelSubscription', description: 'When the cancellation takes effect.' });
export type CancelBody = z.output<typeof cancelBody>;

export const pauseBody = z
  .object({
    resume_at: timeField()
      .nullish()
      .describe(
        'When the subscription resumes automatically: 1 hour to 400 days from now. If absent, a new pause has no end, and a repeat keeps the stored date.',
      ),
  })
  .meta({ id: 'PauseSubscription', description: 'The end of the pause; `{}` pauses without an end.' });
export type PauseBody = z.output<typeof pauseBody>;

const intervalUnit = z.enum(BILLING_INTERVALS).optional();

/** The fields of a new plan. Prices or an interval without a product are a free price, for the merchant only. */
export const changePlanBody = z
  .object({
    product_id: idSchema
      .optional()
      .describe('The product to change to; the current product if absent. Its current price applies.'),
    quantity: soldQuantity.optional().describe('Units of the product; the current quantity if absent.'),
    subtotal_cents: centsField.describe(
      'The price of a period before tax and discount, in minor units. Only for the merchant.',
    ),
    tax_cents: centsField.describe('The tax of a period in minor units; 0 if absent. Only for the merchant.'),
    discount_cents: centsField.describe('The discount of a period in minor units; 0 if absent. Only for the merchant.'),
    total_cents: centsField.describe(
      'The price of a period in minor units: subtotal + tax − discount. Only for the merchant; with a product, the expected price.',
    ),
    billing_interval: intervalUnit.describe('The unit of a period. Without a product, only for the merchant.'),
    interval_multiplier: z
      .int()
      .min(1)
      .max(MAX_MULTIPLIER)
      .optional()
      .describe('Units per period, from 1 to 100. Without a product, only for the merchant.'),
    when: z
      .enum(CHANGE_TIMES)
      .optional()
      .describe(
        '`now`, or `period_end` for the next period. If absent, an upgrade follows PLAN_CHANGE_UPGRADE and a downgrade PLAN_CHANGE_DOWNGRADE.',
      ),
    proration: z
      .enum(['charge', 'none'])
      .default('charge')
      .describe(
        '`charge` charges the difference for the rest of the period. `none` changes now without a charge; only for the merchant.',
      ),
    proration_at: timeField()
      .optional()
      .describe(
        '`proration_at` of a preview of the last 10 minutes. The change then costs exactly the previewed amount.',
      ),
    expected_cents: centsField.describe(
      'The amount that the caller expects to pay now, in minor units. If the change costs another amount, nothing happens (409 `PRICE_CHANGED`).',
    ),
  })
  .meta({
    id: 'ChangePlan',
    description: 'Another product, another quantity, or both; a custom price is for the merchant only.',
  });
export type ChangePlanBody = z.output<typeof changePlanBody>;
