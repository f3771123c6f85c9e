/** @module The bodies of payment requests, with the service's limits. `null` means absent; on PUT it clears a field. */

import * as z from 'zod';
import { soldQuantity } from '../catalog/catalog-records.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import {
  centsField,
  currencyField,
  discountCodeField,
  hasAnyField,
  idSchema,
  metadataField,
  optionalId,
  organizationField,
  requiredRule,
  tagsSchema,
  textField,
} from '../http/fields.ts';
import { guestDataField } from '../http/guest-fields.ts';
import { chargedMethod, webUrl } from './confirm-request.ts';

const fields = {
  subtotal_cents: centsField.meta({
    description: 'The price before tax and discount, in minor units. Derived from the total if absent.',
    examples: [2500],
  }),
  tax_cents: centsField.meta({ description: 'The tax in minor units; 0 if absent.', examples: [475] }),
  discount_cents: centsField.meta({
    description: 'The discount in minor units; 0 if absent.',
    examples: [0],
  }),
  total_cents: centsField.meta({
    description:
      "The total price in minor units: subtotal + tax − discount, from 1 to the provider's maximum (Stripe: 99,999,999; in IDR 999,999,999,999). Derived if absent.",
    examples: [2975],
  }),
  amount_cents: centsField.describe('Another name for `total_cents`. If both are sent, they must be equal.'),
  currency: currencyField.meta({
    description: 'An ISO 4217 code; stored in upper case. Not needed with a product.',
    examples: ['EUR'],
  }),
  provider_id: z
    .enum(PROVIDER_SLOTS)
    .optional()
    .meta({
      description: 'The provider slot that collects the money; `provider_a` if absent. It never changes afterwards.',
      examples: ['provider_a'],
    }),
  description: textField(1000).meta({
    description: 'The purpose of the payment, also sent to the provider.',
    examples: ['Two notebooks'],
  }),
  concept: textField(200).describe('A short title, such as an invoice line, for your own use.'),
  reference_code: textField(100).meta({
    description: 'Your own reference, such as an order or invoice number. The merchant searches by it.',
    examples: ['INV-2026-0042'],
  }),
  category: textField(100).describe('A category of your choice.'),
  tags: tagsSchema.meta({
    description: 'At most 20 tags of at most 50 characters, separated by commas.',
    examples: ['paper,gift'],
  }),
  setup_future_usage: z
    .enum(['off_session'])
    .nullish()
    .describe('`off_session` saves the method as a payment method of the payer once the payment succeeds.'),
  capture_method: z
    .enum(['automatic', 'manual'])
    .nullish()
    .describe(
      '`automatic` (the default) takes the money with the confirmation. `manual` only holds it, and you take it later with `POST /payments/{id}/capture`.',
    ),
  payment_method_id: chargedMethod,
  customer_id: optionalId.describe("The customer that pays; the owner's customer at this provider if absent."),
  organization_id: organizationField.describe(
    "The organization that owns the payment; the session's organization if absent. Null or an empty string makes the payment personal.",
  ),
  project_id: optionalId.describe('The project to file the payment under. The caller needs edit permission on it.'),
  product_id: optionalId.describe(
    "The product to buy. The product's price and currency apply; other values are refused.",
  ),
  quantity: soldQuantity
    .optional()
    .describe(
      'Units of the product, from 1 to 10,000; 1 if absent. Only with `product_id`; each price is the price of the product × quantity.',
    ),
  billing_address_id: optionalId.describe(
    'The billing address, kept for tax and audit. It must have the same owner as the payment.',
  ),
  return_url: webUrl,
  metadata: metadataField,
  discount_code: discountCodeField.describe(
    'A discount code (case-insensitive). Without a product, subtotal, tax and discount are then the values before the code, and a total is the price after the code.',
  ),
};

const updatable = {
  ...fields,
  currency: fields.currency.optional(),
  guest_data: guestDataField,
};

const ownDiscount = {
  own_discount_cents: centsField.describe(
    'The discount without the part of the code, in minor units. With a code, `discount_cents` may only repeat its value.',
  ),
};

/** With `product_id`, the product sets price and currency. */
export const createIntentBody = z
  .object(updatable)
  .refine(
    (body) => hasAnyField(body, 'total_cents', 'subtotal_cents', 'amount_cents', 'product_id'),
    requiredRule('total_cents', 'total_cents, subtotal_cents, amount_cents or product_id is required'),
  )
  .refine((body) => hasAnyField(body, 'currency', 'product_id'), requiredRule('currency'))
  .meta({
    id: 'CreatePayment',
    description: `The payment to create. At least one of \`total_cents\`, \`subtotal_cents\`, \`amount_cents\` and \`product_id\` is required, and
      a currency unless a product has one.`,
  });
export type CreateIntentBody = z.output<typeof createIntentBody>;

/** provider_id, organization_id and guest_data may only repeat the payment's values. */
export const updateIntentBody = z.object({ ...updatable, ...ownDiscount }).meta({
  id: 'UpdatePayment',
  description: `The fields to change; null clears a field. If any price is sent, prices that are not sent are derived again.
    \`provider_id\`, \`organization_id\` and \`guest_data\` may only repeat their values.`,
});
export type UpdateIntentBody = z.output<typeof updateIntentBody>;

/**
 * Path segments other than payment ids. POST /payments/confirm/{id} and POST /payments/sync/{provider_payment_id}
 * look like paths below a payment's id.
 */
const OTHER_ROUTES: readonly string[] = ['confirm', 'sync'];
export const byPaymentId = z.object({
  id: idSchema
    .refine((id) => !OTHER_ROUTES.includes(id), 'must be the id of a payment')
    .describe('Id of the payment, `pay_…`.'),
});
