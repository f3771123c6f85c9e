/**
 * @module Computes a price with a discount code. Pure. The base is the subtotal less the price's own discount, and the
 * code cuts the base. total = subtotal + tax − discount, and discount = own discount + cut.
 */

import { fractionOf, roundedHalfUp } from '../core/fraction.ts';
import type { Prices } from '../core/money.ts';

/** Exactly one field is set. */
export interface CutTerms {
  readonly percentBp?: number | undefined;
  readonly amountCents?: number | undefined;
}

export interface CutPrice {
  readonly prices: Prices;
  /** The code's part of the discount; 0 or less if the code has no effect. */
  readonly cutCents: number;
}

const WHOLE_BASIS_POINTS = 10_000;

/** The cut in minor units, from 0 to the base. */
const cutOf = (baseCents: number, { percentBp, amountCents = 0 }: CutTerms): number => {
  if (baseCents <= 0) return 0;
  if (percentBp === undefined) return Math.min(amountCents, baseCents);
  return roundedHalfUp(fractionOf(baseCents, percentBp, WHOLE_BASIS_POINTS));
};

/**
 * The price after the code's cut.
 * @param before the price without the code
 * @param options.keepsTax true for a free price; otherwise tax is reduced in proportion to the base
 */
export const cutPrice = (before: Prices, terms: CutTerms, { keepsTax }: { readonly keepsTax: boolean }): CutPrice => {
  const { subtotalCents, taxCents: fullTax, discountCents: own } = before;
  const base = subtotalCents - own;
  const cutCents = cutOf(base, terms);
  const taxCents = keepsTax || cutCents === 0 ? fullTax : roundedHalfUp(fractionOf(fullTax, base - cutCents, base));
  const discountCents = own + cutCents;
  return {
    prices: { subtotalCents, taxCents, discountCents, totalCents: subtotalCents + taxCents - discountCents },
    cutCents,
  };
};

/** Rounds the total to a multiple of `unit`, half rounded up. The code's part absorbs the difference. */
export const inUnitsOf = ({ prices, cutCents }: CutPrice, unit: number): CutPrice => {
  const totalCents = roundedHalfUp(fractionOf(prices.totalCents, 1, unit)) * unit;
  const added = totalCents - prices.totalCents;
  return {
    prices: { ...prices, totalCents, discountCents: prices.discountCents - added },
    cutCents: cutCents - added,
  };
};
