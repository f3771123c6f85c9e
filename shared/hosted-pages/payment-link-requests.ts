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
  .describe('How many of the product a payer may buy; without it, one. Only with `product_id`.');

const fields = {
  product_id: optionalId.describe(
    'The product that is sold; not a recurring one. Its price at the moment of the start holds. Without it the link has prices of its own.',
  ),
  subtotal_cents: centsField.describe(
    'The price before tax and discount, in minor units. Derived from the total if absent.',
  ),
  tax_cents: centsField.describe('The tax in minor units; 0 if absent.'),
  discount_cents: centsField.describe('The discount in minor units; 0 if absent.'),
  total_cents: centsField.meta({
    description: 'What the payer pays, in minor units: subtotal + tax − discount. Derived if absent.',
    examples: [2500],
  }),
  currency: currencyField.optional().meta({ description: 'An ISO 4217 code. Not with a product.', examples: ['USD'] }),
  quantity: quantityField,
  providers: boundedList(PAYMENT_SLOTS.length, boundedText(40).pipe(z.enum(PAYMENT_SLOTS)))
    .nullish()
    .describe('The provider slots that the payer may choose from; every slot that takes payments if absent or empty.'),
  description: textField(500).meta({ description: 'What is sold; the page shows it.', examples: ['Workshop ticket'] }),
  return_url: pageReturnUrl,
  max_payments: z
    .int()
    .min(1)
    .max(MOST_PAYMENTS)
    .nullish()
    .describe('How many payments may succeed or be under way; without it, any number.'),
  expires_at: timeField().nullish().describe('When the link ends, at most 400 days from now; never if absent.'),
  metadata: metadataField,
};

export const createPaymentLinkBody = z.object(fields).meta({
  id: 'CreatePaymentLink',
  description: 'What the link sells, and how often: a product, or prices with a currency.',
});

/** A client may send back what a read shows, which has null for the prices of a product. */
export const updatePaymentLinkBody = z
  .object({
    ...fields,
    subtotal_cents: fields.subtotal_cents
      .nullish()
      .describe('The price before tax and discount, in minor units; null with a product.'),
    tax_cents: fields.tax_cents.nullish().describe('The tax in minor units; null with a product.'),
    discount_cents: fields.discount_cents.nullish().describe('The discount in minor units; null with a product.'),
    total_cents: fields.total_cents.nullish().describe('What the payer pays, in minor units; null with a product.'),
    currency: fields.currency.nullish().describe('The ISO 4217 code; null with a product.'),
  })
  .meta({
    id: 'UpdatePaymentLink',
    description: 'The fields to change; null clears a field. What is sold changes only before the first payment.',
  });
export type PaymentLinkInput = z.output<typeof updatePaymentLinkBody>;

export const paymentLinkParams = z.object({ id: idSchema.describe('Names the payment link, `lnk_…`.') });

export const listPaymentLinksQuery = z.object({
  limit: wholeNumberParameter(1, 100)
    .default(25)
    .describe('How many links a page holds at most, 1 to 100; 25 if absent.'),
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
        .describe('`spent`: all places are taken; one may come free. `expired` and `archived` links open no longer.'),
      product_id: text.describe('The product that is sold; null for prices of its own.'),
      subtotal_cents: cents.describe('The price before tax and discount, in minor units; null with a product.'),
      tax_cents: cents.describe('The tax in minor units; null with a product.'),
      discount_cents: cents.describe('The discount in minor units; null with a product.'),
      total_cents: cents.describe('What the payer pays, in minor units; null with a product.'),
      currency: text.describe('The ISO 4217 code in upper case; null with a product.'),
      quantity: z
        .object({ min: z.int().describe('The smallest number.'), max: z.int().describe('The largest number.') })
        .nullable()
        .describe('How many a payer may buy; null for one.'),
      providers: z.array(z.string()).describe('The slots that the payer may choose from; every slot if empty.'),
      description: text.describe('What is sold.'),
      return_url: text.describe('Where the page sends the payer afterwards; null if it stays.'),
      max_payments: z.int().nullable().describe('How many payments may succeed or be under way; null for any number.'),
      expires_at: timestamp.nullable().describe('When the link ends; null if it does not.'),
      metadata: z.record(z.string(), jsonValue).describe('Your own data, which the payments of the link get.'),
      payments: z
        .object({
          open: z.int().describe('Payments that are not paid and not canceled.'),
          succeeded: z.int().describe('Payments that have succeeded.'),
        })
        .describe('The payments that were started, counted within seconds.'),
      created_by: z.string().describe('The user or service key that made the link.'),
      created_at: timestamp.describe('When the link was made.'),
      updated_at: timestamp.describe('When the link last changed.'),
    })
    .meta({ id: 'PaymentLink', description: 'A page that sells one thing, and what became of its payments.' });
});
