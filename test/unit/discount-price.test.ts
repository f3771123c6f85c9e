import { describe, expect, test } from 'vitest';
import type { Prices } from '../../shared/core/money.ts';
import { type CutTerms, cutPrice, inUnitsOf } from '../../shared/discounts/discount-price.ts';

const pricesOf = (subtotalCents: number, taxCents = 0, discountCents = 0): Prices => ({
  ...{ subtotalCents, taxCents, discountCents },
  totalCents: subtotalCents + taxCents - discountCents,
});

const MULTIPLIER = 48_271;
const MODULUS = 2_147_483_647;
/** Pseudo-random numbers from 0 up to, but not including, `below`. They are the same in every run. */
const numbers = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state * MULTIPLIER) % MODULUS;
    return state % below;
  };
};

/** top / bottom, rounded half up by integer comparison. Both are non-negative. */
const half = (top: bigint, bottom: bigint): bigint => {
  const [whole, rest] = [top / bottom, top % bottom];
  return 2n * rest >= bottom ? whole + 1n : whole;
};

/** The discount and the tax of a product in integer arithmetic. */
const exactly = ({ subtotalCents, taxCents, discountCents }: Prices, { percentBp, amountCents = 0 }: CutTerms) => {
  const base = BigInt(subtotalCents - discountCents);
  const amount = BigInt(amountCents) < base ? BigInt(amountCents) : base;
  const cut = percentBp === undefined ? amount : half(base * BigInt(percentBp), 10_000n);
  const tax = cut === 0n ? BigInt(taxCents) : half(BigInt(taxCents) * (base - cut), base);
  return { cut: Number(cut), tax: Number(tax) };
};

const expectSum = (before: Prices, { prices, cutCents }: ReturnType<typeof cutPrice>): void => {
  const { subtotalCents, taxCents, discountCents, totalCents } = prices;
  expect(totalCents).toBe(subtotalCents + taxCents - discountCents);
  expect(discountCents).toBe(before.discountCents + cutCents);
  expect(totalCents).toBeGreaterThanOrEqual(0);
  expect(totalCents).toBeLessThanOrEqual(before.totalCents);
};

describe('cutPrice', () => {
  test.each<[Prices, CutTerms, readonly [discount: number, tax: number, total: number]]>([
    [pricesOf(2_000, 380), { percentBp: 2_500 }, [500, 285, 1_785]],
    [pricesOf(1_999), { percentBp: 3_333 }, [666, 0, 1_333]],
    [pricesOf(999, 80), { percentBp: 1_500 }, [150, 68, 917]],
    [pricesOf(2_100), { percentBp: 1_000 }, [210, 0, 1_890]],
    [pricesOf(500), { amountCents: 700 }, [500, 0, 0]],
  ])(
    'gives the expected discount, tax and total for the price %j and the terms %j',
    (before, terms, [discountCents, taxCents, totalCents]) => {
      expect(cutPrice(before, terms, { keepsTax: false }).prices).toEqual({
        ...{ subtotalCents: before.subtotalCents, discountCents, taxCents, totalCents },
      });
    },
  );

  test('agrees with exact arithmetic for 1,000 prices, and the parts add up', () => {
    const next = numbers(63);
    for (let count = 0; count < 1_000; count += 1) {
      const subtotal = 1 + next(10_000_000);
      const before = pricesOf(subtotal, next(3_000_000), next(subtotal));
      const terms = count % 2 === 0 ? { percentBp: 1 + next(10_000) } : { amountCents: 1 + next(5_000_000) };
      const { cut, tax } = exactly(before, terms);
      const product = cutPrice(before, terms, { keepsTax: false });
      expect(product).toMatchObject({ cutCents: cut, prices: { taxCents: tax } });
      const free = cutPrice(before, terms, { keepsTax: true });
      expect(free).toMatchObject({ cutCents: cut, prices: { taxCents: before.taxCents } });
      expectSum(before, product);
      expectSum(before, free);
    }
  });

  test('cuts nothing from a base of 0', () => {
    const before = pricesOf(500, 40, 500);
    expect(cutPrice(before, { percentBp: 5_000 }, { keepsTax: false })).toEqual({ prices: before, cutCents: 0 });
  });
});

describe('inUnitsOf', () => {
  test.each([
    [1_449, 1_400, 650],
    [1_450, 1_500, 550],
  ])('rounds a total of %i half up, and adds the difference to the discount', (totalCents, rounded, cutCents) => {
    const before = pricesOf(2_050);
    const cut = cutPrice(before, { amountCents: 2_050 - totalCents }, { keepsTax: false });
    const inUnits = inUnitsOf(cut, 100);
    expect(inUnits).toEqual({
      prices: { ...before, discountCents: cutCents, totalCents: rounded },
      cutCents,
    });
  });
});
