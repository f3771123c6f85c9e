/** @module Prices a purchase, and checks that a product is still on sale. */

import { DomainError, invalid } from '../core/errors.ts';
import { currencyCode, derivePrices, type GivenPrices, type Prices } from '../core/money.ts';
import type { Table } from '../platform/table.ts';
import { MAX_QUANTITY, type Product, productRecord } from './catalog-records.ts';

type PricedBody = GivenPrices & {
  readonly currency?: string | undefined;
  readonly quantity?: number | undefined;
};

/**
 * The prices of a purchase. A product sets the price, and the client cannot change it. Without a product, the request
 * sets the price.
 */
export const priceOf = (
  body: PricedBody,
  product: Product | undefined,
  leastTotal = 1,
): Prices & { readonly currency: string } => {
  const quantity = quantityOf(body.quantity, product);
  if (!product) return { ...derivePrices(body, leastTotal), currency: currencyCode(body.currency ?? '') };
  if (!product.is_active) throw new DomainError('PRODUCT_INACTIVE', { details: { product_id: product.id } });
  const prices = productPrices(product, quantity);
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

/**
 * The quantity of a request; 1 if omitted.
 * @throws DomainError QUANTITY_INVALID outside the product's bounds, or if not 1 without a product
 */
export const quantityOf = (sent: number | undefined, product: Product | undefined): number => {
  const quantity = sent ?? 1;
  const minimum = product?.min_quantity ?? 1;
  const maximum = product ? (product.max_quantity ?? MAX_QUANTITY) : 1;
  if (quantity >= minimum && quantity <= maximum) return quantity;
  const message = product
    ? `The quantity must be from ${minimum} to ${maximum}, not ${quantity}`
    : 'A quantity other than 1 needs a product';
  throw new DomainError('QUANTITY_INVALID', { message, details: { minimum, maximum } });
};

/** The largest amount that providers accept in one charge. */
const MAX_TOTAL_CENTS = 99_999_999;

/** Multiplies the product's prices by the quantity. @throws DomainError VALIDATION_ERROR if the total is too large */
const productPrices = (product: Product, quantity: number): Prices => {
  const prices = {
    subtotalCents: product.subtotal_cents * quantity,
    taxCents: product.tax_cents * quantity,
    discountCents: product.discount_cents * quantity,
    totalCents: product.total_cents * quantity,
  };
  if (quantity === 1 || (prices.totalCents <= MAX_TOTAL_CENTS && isSafe(prices))) return prices;
  const message = `costs ${product.total_cents} each, and the total must not exceed ${MAX_TOTAL_CENTS}`;
  throw invalid([{ path: 'quantity', rule: 'max', message }]);
};

const isSafe = (prices: Prices): boolean => Object.values(prices).every(Number.isSafeInteger);

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
