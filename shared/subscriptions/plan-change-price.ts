/**
 * @module What a change of the plan costs now. Pure, in integers, and the same for preview and change. Times are
 * milliseconds. Half a minor unit is rounded up.
 */

import type { Prices } from '../core/money.ts';
import { type Instant, iso } from '../core/time.ts';
import type { ChangeLine, SubscriptionPlan } from './plan-change.ts';

type Parts = Pick<Prices, 'totalCents' | 'taxCents' | 'discountCents'>;

interface Span {
  readonly start: Instant;
  readonly end: Instant;
}

export interface ChangeTerms {
  readonly from: Parts;
  readonly to: Parts;
  /** The period that is paid for. */
  readonly period: Span;
  /** The moment of the change, within the period. */
  readonly at: Instant;
  /** True if the interval changes, so that a new period begins with the change. */
  readonly startsPeriod: boolean;
}

export interface ChangePrice {
  /** What is left of the price that was paid. */
  readonly unused: Parts;
  /** The new price for the rest of the period, or for a new period. */
  readonly part: Parts;
  readonly due: Prices;
  /** What is left without use; nothing is given back. */
  readonly forfeitedCents: number;
  /** True if something is due, but less than half a minor unit. */
  readonly isRoundedAway: boolean;
}

/** amount × left / whole, half rounded up. */
const shareOf = (amount: number, left: number, whole: number): number => {
  const [product, divisor] = [BigInt(amount) * BigInt(left), BigInt(whole)];
  return Number((2n * product + divisor) / (2n * divisor));
};

const NOTHING: Prices = { subtotalCents: 0, taxCents: 0, discountCents: 0, totalCents: 0 };

export const FREE_CHANGE: ChangePrice = {
  ...{ unused: NOTHING, part: NOTHING, due: NOTHING, forfeitedCents: 0, isRoundedAway: false },
};

export const priceOfChange = ({ from, to, period, at, startsPeriod }: ChangeTerms): ChangePrice => {
  const [left, whole] = [period.end - at, period.end - period.start];
  const restOf = ({ totalCents, taxCents, discountCents }: Parts): Parts => ({
    totalCents: shareOf(totalCents, left, whole),
    taxCents: shareOf(taxCents, left, whole),
    discountCents: shareOf(discountCents, left, whole),
  });
  const unused = restOf(from);
  const part = startsPeriod ? to : restOf(to);
  const difference = part.totalCents - unused.totalCents;
  const [isLess, forfeitedCents] = [difference <= 0, Math.max(0, -difference)];
  const credit = BigInt(from.totalCents) * BigInt(left);
  const isDearer = BigInt(to.totalCents) * BigInt(startsPeriod ? whole : left) > credit;
  return { unused, part, due: dueOf(unused, part), forfeitedCents, isRoundedAway: isLess && isDearer };
};

/** A negative tax or discount counts 0, and the subtotal takes up the rest. It is never negative. */
const dueOf = (unused: Parts, part: Parts): Prices => {
  const totalCents = part.totalCents - unused.totalCents;
  if (totalCents <= 0) return NOTHING;
  const discountCents = Math.max(0, part.discountCents - unused.discountCents);
  const taxCents = Math.min(Math.max(0, part.taxCents - unused.taxCents), totalCents + discountCents);
  return { subtotalCents: totalCents - taxCents + discountCents, taxCents, discountCents, totalCents };
};

export interface LineTerms extends Omit<ChangeTerms, 'from' | 'to'> {
  readonly from: SubscriptionPlan;
  readonly to: SubscriptionPlan;
  /** The period that is paid for after the change. */
  readonly next: Span;
}

/** The parts of what is due, which they sum to. What is forfeited is left out of the unused part. */
export const linesOfChange = (
  { due, part }: ChangePrice,
  { from, to, period, at, startsPeriod, next }: LineTerms,
): readonly ChangeLine[] => {
  const less: Parts = {
    totalCents: due.totalCents - part.totalCents,
    taxCents: due.taxCents - part.taxCents,
    discountCents: due.discountCents - part.discountCents,
  };
  const lines = [
    { ...lineOf(from, less), kind: 'unused' as const, periodStart: iso(at), periodEnd: iso(period.end) },
    {
      ...lineOf(to, part),
      kind: startsPeriod ? ('full' as const) : ('remaining' as const),
      periodStart: iso(at),
      periodEnd: iso(next.end),
    },
  ];
  return lines.filter(({ amountCents, taxCents, discountCents }) => amountCents || taxCents || discountCents);
};

const lineOf = (
  { productId, productName, quantity }: SubscriptionPlan,
  { totalCents, taxCents, discountCents }: Parts,
): Omit<ChangeLine, 'kind' | 'periodStart' | 'periodEnd'> => ({
  description: productName ?? 'Subscription',
  productId,
  quantity,
  amountCents: totalCents,
  taxCents,
  discountCents,
});
