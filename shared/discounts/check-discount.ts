/** @module Checks a discount code for a purchase. Nothing is stored or reserved, and the create decides. */

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
      .meta({ description: 'The code, in any case.', examples: ['SPRING-25'] }),
    product_id: optionalId.describe('The product to buy. Without a product, send `subtotal_cents` and `currency`.'),
    subtotal_cents: centsField.describe('A free price before tax and before the code, in minor units.'),
    tax_cents: centsField.describe('The tax of a free price, in minor units; 0 if absent.'),
    currency: currencyField.optional().describe('An ISO 4217 code; not needed with a product.'),
    quantity: soldQuantity.optional().describe('How many of the product; 1 if absent.'),
    guest_data: guestDataField,
  })
  .refine((body) => hasAnyField(body, 'subtotal_cents', 'product_id'), requiredRule('subtotal_cents'))
  .refine((body) => hasAnyField(body, 'currency', 'product_id'), requiredRule('currency'))
  .meta({ id: 'CheckDiscount', description: 'A code, and what is to be bought with it.' });
type CheckDiscountBody = z.output<typeof checkDiscountBody>;

export const discountCheckSchema = /* @__PURE__ */ once(() => {
  const cents = z.int().nonnegative();
  return z
    .object({
      valid: z.boolean().describe('True if the code fits now. The create decides again.'),
      reason: z.enum(UNFIT_REASONS).optional().describe('Why the code does not fit; absent if it fits.'),
      discount_cents: cents.describe('The whole discount, with that of the product, in minor units.'),
      tax_cents: cents.describe('The tax, in minor units.'),
      total_cents: cents.describe('What the payer pays, in minor units; without the code if it does not fit.'),
      duration: z.enum(DISCOUNT_DURATIONS).nullable().describe('How long the code lasts; null if it does not fit.'),
      duration_periods: z.int().nullable().describe('The periods of `repeating`; null for others.'),
    })
    .meta({ id: 'DiscountCheck', description: 'Whether a code fits, and the price with it.' });
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

/** @throws DomainError DISCOUNT_INVALID */
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
