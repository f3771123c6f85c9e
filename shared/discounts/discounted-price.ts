/** @module Prices a purchase with a discount code, based on the price before the code. */

import type { Product } from '../catalog/catalog-records.ts';
import { priceOf } from '../catalog/price.ts';
import { DomainError, invalid } from '../core/errors.ts';
import type { GivenPrices, Prices } from '../core/money.ts';
import { type CutPrice, cutPrice, inUnitsOf } from './discount-price.ts';
import { type DiscountTerms, discountInvalid } from './discount-terms.ts';

export interface ListPrice extends Prices {
  readonly currency: string;
}

type PricedBody = GivenPrices & {
  readonly currency?: string | undefined;
  readonly quantity?: number | undefined;
};

/**
 * The price before the code. For a free price, the request sends subtotal, tax and discount before the code.
 * @throws DomainError VALIDATION_ERROR for a free price without a subtotal, or as `priceOf`
 */
export const listPrice = (body: PricedBody, product: Product | undefined): ListPrice => {
  const { subtotal_cents, tax_cents, discount_cents, quantity, currency } = body;
  if (product) return priceOf({ quantity, currency }, product, 0);
  if (subtotal_cents === undefined) throw subtotalRequired();
  return priceOf({ subtotal_cents, tax_cents, discount_cents, quantity, currency }, undefined, 0);
};

export const subtotalRequired = (): DomainError => {
  const message = 'is required with a discount code, because a total is the price after the code';
  return invalid([{ path: 'subtotal_cents', rule: 'required', message }]);
};

interface Cutting {
  /** True for a free price. */
  readonly keepsTax: boolean;
  /** Lowest allowed total: 0 for a subscription, 1 for a payment. */
  readonly leastTotal: 0 | 1;
  /** The provider can charge only multiples of this. */
  readonly unitOf: (total: { readonly totalCents: number; readonly currency: string }) => Promise<number>;
}

/**
 * The list price less the code's cut.
 * @throws DomainError DISCOUNT_INVALID no_effect; AMOUNT_TOO_SMALL
 */
export const cutListPrice = async (
  list: ListPrice,
  terms: DiscountTerms,
  { keepsTax, leastTotal, unitOf }: Cutting,
): Promise<CutPrice> => {
  const exact = cutPrice(list, terms, { keepsTax });
  const unit = await unitOf({ totalCents: exact.prices.totalCents, currency: list.currency });
  const cut = unit === 1 ? exact : inUnitsOf(exact, unit);
  if (cut.cutCents <= 0) throw discountInvalid('no_effect');
  const isRoundedAway = exact.prices.totalCents > 0 && cut.prices.totalCents === 0;
  if (cut.prices.totalCents < leastTotal || isRoundedAway) throw new DomainError('AMOUNT_TOO_SMALL');
  return cut;
};

/** @throws DomainError PRICING_MISMATCH if a sent price differs from the discounted price */
export const requireSentPrices = (
  body: GivenPrices,
  prices: Prices,
  { isFree }: { readonly isFree: boolean },
): void => {
  const expected = [
    ...(isFree
      ? []
      : ([
          ['subtotal_cents', prices.subtotalCents],
          ['tax_cents', prices.taxCents],
          ['discount_cents', prices.discountCents],
        ] as const)),
    ...([
      ['total_cents', prices.totalCents],
      ['amount_cents', prices.totalCents],
    ] as const),
  ];
  for (const [path, cents] of expected) {
    const given = body[path];
    if (given === undefined || given === cents) continue;
    const message = `With the discount code the price is ${prices.totalCents}, so ${path} must be ${cents}, not ${given}`;
    throw new DomainError('PRICING_MISMATCH', { message, details: { path, expected: cents, given } });
  }
};
