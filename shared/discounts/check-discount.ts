/** @module Checks a discount code for a purchase. Stores and reserves nothing; only the create is binding. */

import * as z from 'zod';
import { type Product, productRecord, soldQuantity } from '../catalog/catalog-records.ts';
import { DISCOUNT_DURATIONS } from '../catalog/discount.ts';
import type { Prices } from '../core/money.ts';
import { once } from '../core/once.ts';
import type { Now } from '../core/time.ts';
import { boundedText, centsField, currencyField, hasAnyField, optionalId, requiredRule } from '../http/fields.ts';
import { guestDataField } from '../http/guest-fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { cutPrice } from './discount-price.ts';
import { discountInvalid, fittingTerms, isDiscountRefusal, UNFIT_REASONS } from './discount-terms.ts';
import { type ListPrice, listPrice } from './discounted-price.ts';
import { codeOf } from './redemption.ts';

export const checkDiscountBody = z
  .object({
    code: boundedText(64)
      .trim()
      .min(1)
      .meta({ description: 'The code (case-insensitive).', examples: ['SPRING-25'] }),
    product_id: optionalId.describe('The product to buy. Without a product, send `subtotal_cents` and `currency`.'),
    subtotal_cents: centsField.describe('A custom price before tax and before the code, in minor units.'),
    tax_cents: centsField.describe('The tax of a custom price, in minor units; 0 if absent.'),
    currency: currencyField.optional().describe('An ISO 4217 code; not needed with a product.'),
    quantity: soldQuantity.optional().describe('Units of the product; 1 if absent.'),
    guest_data: guestDataField,
  })
  .refine((body) => hasAnyField(body, 'subtotal_cents', 'product_id'), requiredRule('subtotal_cents'))
  .refine((body) => hasAnyField(body, 'currency', 'product_id'), requiredRule('currency'))
  .meta({ id: 'CheckDiscount', description: 'A code, and the purchase.' });
type CheckDiscountBody = z.output<typeof checkDiscountBody>;

export const discountCheckSchema = /* @__PURE__ */ once(() => {
  const cents = z.int().nonnegative();
  return z
    .object({
      valid: z.boolean().describe('True if the code can be used now. The create request checks it again.'),
      reason: z.enum(UNFIT_REASONS).optional().describe('Why the code cannot be used; absent if it can.'),
      discount_cents: cents.describe("The whole discount, with the product's discount, in minor units."),
      tax_cents: cents.describe('The tax, in minor units.'),
      total_cents: cents.describe('The total price, in minor units; without the code if it cannot be used.'),
      duration: z
        .enum(DISCOUNT_DURATIONS)
        .nullable()
        .describe('How long the code lasts; null if the code cannot be used.'),
      duration_periods: z.int().nullable().describe('The number of periods if `duration` is `repeating`; else null.'),
    })
    .meta({ id: 'DiscountCheck', description: 'Whether a code can be used, and the resulting price.' });
});

export const checkDiscount = async (
  { now }: { readonly now: Now },
  request: ApiRequest<unknown, unknown, CheckDiscountBody>,
): Promise<Reply> => {
  const product = request.named(productRecord);
  const list = listPrice(request.body, product);
  try {
    return { data: fitView(now, request, { list, product }) };
  } catch (error) {
    if (!isDiscountRefusal(error)) throw error;
    return { data: { valid: false, ...error.details, ...priceView(list), duration: null, duration_periods: null } };
  }
};

/**
 * The price with the code, if the code fits.
 * @throws DomainError DISCOUNT_INVALID
 */
const fitView = (
  now: Now,
  { alongside }: ApiRequest,
  { list, product }: { readonly list: ListPrice; readonly product: Product | undefined },
) => {
  const { discount: found, uses } = codeOf(alongside);
  const bought = { productId: product?.id, currency: list.currency, now: now() };
  const { discount, terms } = fittingTerms(found, bought, uses);
  const { prices, cutCents } = cutPrice(list, terms, { keepsTax: product === undefined });
  if (cutCents === 0) throw discountInvalid('no_effect');
  const { duration, duration_periods: periods } = discount;
  return { valid: true, ...priceView(prices), duration, duration_periods: periods ?? null };
};

const priceView = ({ discountCents, taxCents, totalCents }: Prices) => ({
  discount_cents: discountCents,
  tax_cents: taxCents,
  total_cents: totalCents,
});
