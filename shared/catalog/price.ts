/** @module Prices a purchase, and checks that a product is still on sale. */

import { DomainError } from '../core/errors.ts';
import { currencyCode, derivePrices, type GivenPrices, type Prices } from '../core/money.ts';
import type { Table } from '../platform/table.ts';
import { type Product, productRecord } from './catalog-records.ts';

/** A named product sets the price, and the client cannot change it. Otherwise the request sets the price. */
export const priceOf = (
  body: GivenPrices & { readonly currency?: string | undefined },
  product: Product | undefined,
  leastTotal = 1,
): Prices & { readonly currency: string } => {
  if (!product) return { ...derivePrices(body, leastTotal), currency: currencyCode(body.currency ?? '') };
  if (!product.is_active) throw new DomainError('PRODUCT_INACTIVE', { details: { product_id: product.id } });
  const prices = {
    subtotalCents: product.subtotal_cents,
    taxCents: product.tax_cents,
    discountCents: product.discount_cents,
    totalCents: product.total_cents,
  };
  for (const [field, expected] of priceFields(prices)) {
    const sent = body[field];
    if (sent === undefined || sent === expected) continue;
    const message = `The product costs ${prices.totalCents}, so ${field} must be ${expected}, not ${sent}`;
    throw new DomainError('PRICING_MISMATCH', { message, details: { path: field, expected } });
  }
  if (body.currency && body.currency.toUpperCase() !== product.currency) {
    throw new DomainError('PRICING_MISMATCH', { message: `The product is priced in ${product.currency}` });
  }
  if (prices.totalCents < leastTotal) throw new DomainError('AMOUNT_TOO_SMALL');
  return { ...prices, currency: product.currency };
};

/** @throws DomainError PRODUCT_INACTIVE if the product is withdrawn or deleted */
export const requireOnSale = async (table: Table, productId: string | undefined): Promise<void> => {
  if (productId === undefined) return;
  const item = await table.get(productRecord.key(productId));
  const product = item && productRecord.parse(item);
  if (!product?.is_active) throw new DomainError('PRODUCT_INACTIVE', { details: { product_id: productId } });
};

const priceFields = (prices: Prices): readonly (readonly [keyof GivenPrices, number])[] => [
  ['subtotal_cents', prices.subtotalCents],
  ['tax_cents', prices.taxCents],
  ['discount_cents', prices.discountCents],
  ['total_cents', prices.totalCents],
  ['amount_cents', prices.totalCents],
];
