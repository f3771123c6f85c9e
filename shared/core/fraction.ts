/** @module Exact fractions of integers, for amounts in proportion to time. */

/** The bottom is positive. */
export interface Fraction {
  readonly top: bigint;
  readonly bottom: bigint;
}

/** amount × part / whole. */
export const fractionOf = (amount: number, part: number, whole: number): Fraction => ({
  top: BigInt(amount) * BigInt(part),
  bottom: BigInt(whole),
});

export const NO_FRACTION: Fraction = { top: 0n, bottom: 1n };

export const times = ({ top, bottom }: Fraction, { top: by, bottom: per }: Fraction): Fraction => ({
  top: top * by,
  bottom: bottom * per,
});

export const minus = (left: Fraction, right: Fraction): Fraction => ({
  top: left.top * right.bottom - right.top * left.bottom,
  bottom: left.bottom * right.bottom,
});

/** Rounds to a whole number, with half rounded up. */
export const roundedHalfUp = ({ top, bottom }: Fraction): number => {
  const [double, divisor] = [2n * top + bottom, 2n * bottom];
  const quotient = double / divisor;
  return Number(double < 0n && quotient * divisor !== double ? quotient - 1n : quotient);
};
