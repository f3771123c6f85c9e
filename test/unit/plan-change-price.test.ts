import { describe, expect, test } from 'vitest';
import { DAY_MS, instant } from '../../shared/core/time.ts';
import { creditOf } from '../../shared/subscriptions/billing/paid-period.ts';
import {
  type ChangeTerms,
  linesOfChange,
  priceOfChange,
} from '../../shared/subscriptions/plan-changes/plan-change-price.ts';
import type { SubscriptionPlan } from '../../shared/subscriptions/record/plan-change.ts';

interface Terms extends Omit<ChangeTerms, 'credit'> {
  readonly from: ChangeTerms['to'];
}

/** The price of a change in a fully paid period. */
const priceOf = ({ from, ...terms }: Terms) =>
  priceOfChange({ ...terms, credit: creditOf({ ...from, start: '', payments: [] }, terms, new Map()) });

const price = (totalCents: number, taxCents = 0, discountCents = 0) => ({ totalCents, taxCents, discountCents });
const span = (start: string, end: string) => ({ start: instant(start), end: instant(end) });
const NOVEMBER = span('2026-11-01T00:00:00Z', '2026-12-01T00:00:00Z');
const FEBRUARY = span('2026-01-31T10:00:00Z', '2026-02-28T10:00:00Z');

const WITH_TAX = {
  name: '2000 and 380 of tax to 4000 and 760 of tax',
  terms: { from: price(2_380, 380), to: price(4_760, 760), period: NOVEMBER, at: '2026-11-16T00:00:00Z' },
  price: { unused: 1_190, part: 2_380, due: 1_190, forfeited: 0 },
};

const EXAMPLES = [
  {
    name: '1000 to 3000 in the middle of a month',
    terms: { from: price(1_000), to: price(3_000), period: NOVEMBER, at: '2026-11-16T00:00:00Z' },
    price: { unused: 500, part: 1_500, due: 1_000, forfeited: 0 },
  },
  {
    name: '1900 to 4900 in the tenth day',
    terms: { from: price(1_900), to: price(4_900), period: NOVEMBER, at: '2026-11-10T12:00:00Z' },
    price: { unused: 1_298, part: 3_348, due: 2_050, forfeited: 0 },
  },
  WITH_TAX,
  {
    name: '3 to 5 seats of 700 in a February that began on 31 January',
    terms: { from: price(2_100), to: price(3_500), period: FEBRUARY, at: '2026-02-03T10:00:00Z' },
    price: { unused: 1_875, part: 3_125, due: 1_250, forfeited: 0 },
  },
  {
    name: '1000 a month to 10000 a year',
    terms: {
      ...{ from: price(1_000), to: price(10_000), period: NOVEMBER },
      ...{ at: '2026-11-16T00:00:00Z', startsPeriod: true },
    },
    price: { unused: 500, part: 10_000, due: 9_500, forfeited: 0 },
  },
  {
    name: '4900 to 1900, forced now',
    terms: { from: price(4_900), to: price(1_900), period: NOVEMBER, at: '2026-11-10T12:00:00Z' },
    price: { unused: 3_348, part: 1_298, due: 0, forfeited: 2_050 },
  },
];

const termsOf = (terms: (typeof EXAMPLES)[number]['terms']): Terms => ({
  startsPeriod: false,
  ...terms,
  at: instant(terms.at),
});

describe('the price of a change', () => {
  test.each([
    ['a dearer plan in the last hour of a year', { from: 100, to: 4_300, days: 365 }, true],
    ['a plan that was free', { from: 0, to: 300, days: 30 }, true],
    ['a dearer plan whose share is more than a minor unit', { from: 100, to: 9_900, days: 30 }, false],
    ['the same price', { from: 100, to: 100, days: 30 }, false],
    ['a cheaper plan', { from: 100, to: 50, days: 30 }, false],
  ] as const)('of %s is rounded away if it is less than half a minor unit: %j', (_, { from, to, days }, expected) => {
    const period = { start: 0, end: days * DAY_MS };
    const terms = { from: price(from), to: price(to), period, at: period.end - DAY_MS / 24, startsPeriod: false };
    expect(priceOf(terms).isRoundedAway).toBe(expected);
  });

  test.each(EXAMPLES)('equals the worked example: $name', ({ terms, price: expected }) => {
    const { unused, part, due, forfeitedCents } = priceOf(termsOf(terms));
    expect({
      ...{ unused: unused.totalCents, part: part.totalCents },
      ...{ due: due.totalCents, forfeited: forfeitedCents },
    }).toEqual(expected);
  });

  test('has its own tax and subtotal', () => {
    const { due } = priceOf(termsOf(WITH_TAX.terms));
    expect(due).toEqual({ subtotalCents: 1_000, taxCents: 190, discountCents: 0, totalCents: 1_190 });
  });

  test('counts a negative tax or discount as 0, and its tax is never more than the sum of the total and the discount', () => {
    const at = instant('2026-11-16T00:00:00Z');
    const of = (from: ReturnType<typeof price>, to: ReturnType<typeof price>) =>
      priceOf({ from, to, period: NOVEMBER, at, startsPeriod: false }).due;
    expect(of(price(1_000, 400, 200), price(2_000))).toMatchObject({ taxCents: 0, discountCents: 0, totalCents: 500 });
    expect(of(price(2_000), price(2_200, 2_200))).toMatchObject({ subtotalCents: 0, taxCents: 100, totalCents: 100 });
  });

  test('is the whole difference at the start of a period, and nothing at its end', () => {
    const terms = { from: price(1_001), to: price(3_000), period: NOVEMBER, startsPeriod: false };
    expect(priceOf({ ...terms, at: NOVEMBER.start }).due.totalCents).toBe(1_999);
    expect(priceOf({ ...terms, at: NOVEMBER.end }).due.totalCents).toBe(0);
  });
});

/** Pseudo-random numbers, with the same sequence in every run. */
const numbers = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Number((BigInt(state) * BigInt(below)) >> 32n);
  };
};

/** Rounds the exact fraction by its remainder. The tested code uses another method. */
const exactShare = (amount: number, left: number, whole: number): number => {
  const [product, divisor] = [BigInt(amount) * BigInt(left), BigInt(whole)];
  const [quotient, remainder] = [product / divisor, product % divisor];
  return Number(remainder * 2n >= divisor ? quotient + 1n : quotient);
};

const plan = (parts: ReturnType<typeof price>): SubscriptionPlan => ({
  ...parts,
  ...{ subtotalCents: parts.totalCents - parts.taxCents + parts.discountCents, quantity: 1 },
  ...{ billingInterval: 'monthly', intervalMultiplier: 1 },
});

describe('500 random changes', () => {
  const random = numbers(43);
  const randomPrice = () => {
    const totalCents = random(3) === 0 ? random(500) : random(99_999_999);
    return price(totalCents, random(totalCents + 1), random(1_000));
  };
  const cases = Array.from({ length: 500 }, () => {
    const start = instant('2026-01-01T00:00:00Z') + random(400) * DAY_MS + random(DAY_MS);
    const end = start + (1 + random(1_100)) * DAY_MS;
    const at = start + Number((BigInt(end - start) * BigInt(random(1_000_001))) / 1_000_000n);
    return { from: randomPrice(), to: randomPrice(), period: { start, end }, at, startsPeriod: random(4) === 0 };
  });

  test('cost the amount that exact fractions give', () => {
    for (const terms of cases) {
      const { from, to, period, at, startsPeriod } = terms;
      const rest = (amount: number) => exactShare(amount, period.end - at, period.end - period.start);
      const part = (amount: number) => (startsPeriod ? amount : rest(amount));
      const difference = part(to.totalCents) - rest(from.totalCents);
      const { due, forfeitedCents } = priceOf(terms);
      expect([due.totalCents, forfeitedCents]).toEqual([Math.max(0, difference), Math.max(0, -difference)]);
      if (difference <= 0) continue;
      const discountCents = Math.max(0, part(to.discountCents) - rest(from.discountCents));
      const tax = Math.max(0, part(to.taxCents) - rest(from.taxCents));
      expect(due).toMatchObject({ discountCents, taxCents: Math.min(tax, difference + discountCents) });
    }
  });

  test('are safe integers whose subtotal is never negative, and whose lines sum to what is due', () => {
    for (const terms of cases) {
      const changed = priceOf(terms);
      const { due } = changed;
      expect(Object.values(due).every((cents) => Number.isSafeInteger(cents) && cents >= 0)).toBe(true);
      expect(due.subtotalCents + due.taxCents - due.discountCents).toBe(due.totalCents);
      const lines = linesOfChange(changed, {
        ...terms,
        ...{ from: plan(terms.from), to: plan(terms.to), next: terms.period },
      });
      const sum = (field: 'amountCents' | 'taxCents' | 'discountCents') =>
        lines.reduce((all, line) => all + line[field], 0);
      expect([sum('amountCents'), sum('taxCents'), sum('discountCents')]).toEqual([
        ...[due.totalCents, due.taxCents, due.discountCents],
      ]);
      for (const { kind, amountCents } of lines)
        expect(kind === 'unused' ? amountCents <= 0 : amountCents >= 0).toBe(true);
    }
  });
});
