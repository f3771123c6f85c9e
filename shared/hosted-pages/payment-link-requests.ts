/** @module The bodies of the payment link routes, and the view of a link. */

import * as z from 'zod';
import { soldQuantity } from '../catalog/catalog-records.ts';
import { once } from '../core/once.ts';
import { PAYMENT_SLOTS } from '../core/settings.ts';
import {
  boundedList,
  boundedText,
  centsField,
  currencyField,
  idSchema,
  jsonValue,
  metadataField,
  optionalId,
  textField,
  timeField,
  timestamp,
} from '../http/fields.ts';
import { wholeNumberParameter } from '../http/paging.ts';
import { LINK_STATUSES } from '../payment-links/payment-link.ts';
import { cursorParameter } from '../queries/parameters.ts';
import { pageReturnUrl } from './link-requests.ts';

const MOST_PAYMENTS = 1_000_000;

const quantityField = z
  .object({
    min: soldQuantity.describe('The smallest number.'),
    max: soldQuantity.describe('The largest number.'),
  })
  .refine(({ min, max }) => min <= max, {
    path: ['max'],
    message: 'must not be less than min',
    params: { rule: 'min' },
  })
  .nullish()
  .describe('The quantities that a payer may buy; 1 if absent. Only with `product_id`.');

const fields = {
  product_id: optionalId.describe(
    'The product for sale, not a recurring product. Its price when a payment starts applies. Without a product, send prices.',
  ),
  subtotal_cents: centsField.describe(
    'The price before tax and discount, in minor units. Derived from the total if absent.',
  ),
  tax_cents: centsField.describe('The tax in minor units; 0 if absent.'),
  discount_cents: centsField.describe('The discount in minor units; 0 if absent.'),
  total_cents: centsField.meta({
    description: 'The total price, in minor units: subtotal + tax − discount. Derived if absent.',
    examples: [2500],
  }),
  currency: currencyField.optional().meta({ description: 'An ISO 4217 code. Not with a product.', examples: ['USD'] }),
  quantity: quantityField,
  providers: boundedList(PAYMENT_SLOTS.length, boundedText(40).pipe(z.enum(PAYMENT_SLOTS)))
    .nullish()
    .describe('The provider slots that the payer may choose from; every slot that takes payments if absent or empty.'),
  description: textField(500).meta({
    description: 'The description of the sale, shown on the page.',
    examples: ['Workshop ticket'],
  }),
  return_url: pageReturnUrl,
  max_payments: z
    .int()
    .min(1)
    .max(MOST_PAYMENTS)
    .nullish()
    .describe('Maximum number of payments that are paid or under way; unlimited if absent.'),
  expires_at: timeField()
    .nullish()
    .describe('Expiry time of the link, at most 400 days from now; never expires if absent.'),
  metadata: metadataField,
};

export const createPaymentLinkBody = z.object(fields).meta({
  id: 'CreatePaymentLink',
  description: 'The product, or prices with a currency, and the limits of the link.',
});

/** Null is allowed, because a client may send back a link as read. A link that sells a product has null prices. */
export const updatePaymentLinkBody = z
  .object({
    ...fields,
    subtotal_cents: fields.subtotal_cents
      .nullish()
      .describe('The price before tax and discount, in minor units; null with a product.'),
    tax_cents: fields.tax_cents.nullish().describe('The tax in minor units; null with a product.'),
    discount_cents: fields.discount_cents.nullish().describe('The discount in minor units; null with a product.'),
    total_cents: fields.total_cents.nullish().describe('The total price, in minor units; null with a product.'),
    currency: fields.currency.nullish().describe('The ISO 4217 code; null with a product.'),
  })
  .meta({
    id: 'UpdatePaymentLink',
    description:
      'The fields to change; null clears a field. Product, prices and quantity change only before the first payment.',
  });
export type PaymentLinkInput = z.output<typeof updatePaymentLinkBody>;

export const paymentLinkParams = z.object({ id: idSchema.describe('Id of the payment link, `lnk_…`.') });

export const listPaymentLinksQuery = z.object({
  limit: wholeNumberParameter(1, 100).default(25).describe('Maximum number of links per page, 1 to 100; 25 if absent.'),
  cursor: cursorParameter,
});

export const paymentLinkSchemaView = /* @__PURE__ */ once(() => {
  const cents = z.int().nullable();
  const text = z.string().nullable();
  return z
    .object({
      id: z.string().meta({ description: 'Names the link.', examples: ['lnk_814fd0524add4278431c499b'] }),
      url: z.string().describe('The page of the link. Everyone who has it may start a payment.'),
      status: z
        .enum(LINK_STATUSES)
        .describe(
          '`spent`: all places are taken; a place may become free. `expired` and `archived` links no longer open.',
        ),
      product_id: text.describe('The product for sale; null for a custom price.'),
      subtotal_cents: cents.describe('The price before tax and discount, in minor units; null with a product.'),
      tax_cents: cents.describe('The tax in minor units; null with a product.'),
      discount_cents: cents.describe('The discount in minor units; null with a product.'),
      total_cents: cents.describe('The total price, in minor units; null with a product.'),
      currency: text.describe('The ISO 4217 code in upper case; null with a product.'),
      quantity: z
        .object({ min: z.int().describe('The smallest number.'), max: z.int().describe('The largest number.') })
        .nullable()
        .describe('The quantities that a payer may buy; null for 1.'),
      providers: z.array(z.string()).describe('The slots that the payer may choose from; every slot if empty.'),
      description: text.describe('The description that the page shows to the payer.'),
      return_url: text.describe('Where the page sends the payer afterwards; null if the payer stays.'),
      max_payments: z
        .int()
        .nullable()
        .describe('Maximum number of payments that are paid or under way; null without a limit.'),
      expires_at: timestamp.nullable().describe('Expiry time of the link; null if it never expires.'),
      metadata: z.record(z.string(), jsonValue).describe('Your own data, which the payments of the link get.'),
      payments: z
        .object({
          open: z.int().describe('Payments that are not paid and not canceled.'),
          succeeded: z.int().describe('Payments that have succeeded.'),
        })
        .describe('The numbers of started payments, updated within seconds.'),
      created_by: z.string().describe('The user or service key that made the link.'),
      created_at: timestamp.describe('When the link was made.'),
      updated_at: timestamp.describe('When the link last changed.'),
    })
    .meta({
      id: 'PaymentLink',
      description: 'A page that sells a product or a price, and the counts of its payments.',
    });
});
