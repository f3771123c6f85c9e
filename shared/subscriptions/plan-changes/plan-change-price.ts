/**
 * @module Computes the cost of a plan change now. Pure, in integers; preview and change share it. Times are in
 * milliseconds. Half a minor unit is rounded up.
 */

import { type Fraction, fractionOf, minus, NO_FRACTION, roundedHalfUp } from '../../core/fraction.ts';
import type { Prices } from '../../core/money.ts';
import { type Instant, iso } from '../../core/time.ts';
import { type ExactParts, eachPart, type Parts } from '../billing/paid-period.ts';
import type { ChangeLine, SubscriptionPlan } from '../record/plan-change.ts';

interface Span {
  readonly start: Instant;
  readonly end: Instant;
}

export interface ChangeTerms {
  /** The unused part of the money paid for the period. */
  readonly credit: ExactParts;
  readonly to: Parts;
  /** The paid period. */
  readonly period: Span;
  /** The moment of the change, within the period. */
  readonly at: Instant;
  /** True if the interval changes, which starts a new period at the moment of the change. */
  readonly startsPeriod: boolean;
}

export interface ChangePrice {
  /** The unused part of the paid price. */
  readonly unused: Parts;
  /** The new price for the rest of the period, or for a new period. */
  readonly part: Parts;
  readonly due: Prices;
  /** Credit that exceeds the new price. It is not refunded. */
  readonly forfeitedCents: number;
  /** True if an amount is due but rounds down to 0. */
  readonly isRoundedAway: boolean;
}

const NOTHING: Prices = { subtotalCents: 0, taxCents: 0, discountCents: 0, totalCents: 0 };

export const FREE_CHANGE: ChangePrice = {
  ...{ unused: NOTHING, part: NOTHING, due: NOTHING, forfeitedCents: 0, isRoundedAway: false },
};

export const NO_CREDIT: ExactParts = eachPart(() => NO_FRACTION);

export const priceOfChange = ({ credit, to, period, at, startsPeriod }: ChangeTerms): ChangePrice => {
  const whole = period.end - period.start;
  const left = Math.min(period.end - at, whole);
  const shareOf = (amount: number): Fraction => fractionOf(amount, startsPeriod ? whole : left, whole);
  const unused = eachPart((name) => roundedHalfUp(credit[name]));
  const part = eachPart((name) => roundedHalfUp(shareOf(to[name])));
  const difference = part.totalCents - unused.totalCents;
  const isDearer = minus(shareOf(to.totalCents), credit.totalCents).top > 0n;
  const due = dueOf(unused, part);
  return { unused, part, due, forfeitedCents: Math.max(0, -difference), isRoundedAway: difference <= 0 && isDearer };
};

/** Rounds the amount due to a multiple of the provider's smallest unit, half rounded up. */
export const inUnits = (price: ChangePrice, unit: number): ChangePrice => {
  const { totalCents: exact, taxCents: tax, discountCents } = price.due;
  const totalCents = Math.floor((2 * exact + unit) / (2 * unit)) * unit;
  if (totalCents === 0) return { ...price, due: NOTHING, isRoundedAway: exact > 0 };
  const taxCents = Math.min(tax, totalCents + discountCents);
  const subtotalCents = totalCents - taxCents + discountCents;
  return { ...price, due: { subtotalCents, taxCents, discountCents, totalCents } };
};

/**
 * The amounts due. A negative tax or discount counts as 0, and the subtotal absorbs the difference. The total is never
 * negative.
 */
const dueOf = (unused: Parts, part: Parts): Prices => {
  const totalCents = part.totalCents - unused.totalCents;
  if (totalCents <= 0) return NOTHING;
  const discountCents = Math.max(0, part.discountCents - unused.discountCents);
  const taxCents = Math.min(Math.max(0, part.taxCents - unused.taxCents), totalCents + discountCents);
  return { subtotalCents: totalCents - taxCents + discountCents, taxCents, discountCents, totalCents };
};

export interface LineTerms extends Omit<ChangeTerms, 'credit' | 'to'> {
  readonly from: SubscriptionPlan;
  readonly to: SubscriptionPlan;
  /** The paid period after the change. */
  readonly next: Span;
}

/** The lines with the amount due as their sum. The `unused` line omits forfeited credit. */
export const linesOfChange = (
  price: ChangePrice,
  { from, to, period, at, startsPeriod, next }: LineTerms,
): readonly ChangeLine[] => {
  const { part, unused, due } = price;
  const exact = dueOf(unused, part);
  const less = eachPart((name) => exact[name] - part[name]);
  const rounding = eachPart((name) => due[name] - exact[name]);
  const [start, end] = [iso(at), iso(next.end)];
  const lines: readonly ChangeLine[] = [
    { ...lineOf(from, less), kind: 'unused', periodStart: start, periodEnd: iso(period.end) },
    { ...lineOf(to, part), kind: startsPeriod ? 'full' : 'remaining', periodStart: start, periodEnd: end },
    { ...lineOf(ROUNDING, rounding), kind: 'rounding', periodStart: start, periodEnd: end },
  ];
  return lines.filter(({ amountCents, taxCents, discountCents }) => amountCents || taxCents || discountCents);
};

const ROUNDING = { productName: 'Rounding', quantity: 1 };

const lineOf = (
  { productId, productName, quantity }: Pick<SubscriptionPlan, 'productId' | 'productName' | 'quantity'>,
  { totalCents, taxCents, discountCents }: Parts,
): Omit<ChangeLine, 'kind' | 'periodStart' | 'periodEnd'> => ({
  description: productName ?? 'Subscription',
  productId,
  quantity,
  amountCents: totalCents,
  taxCents,
  discountCents,
});
