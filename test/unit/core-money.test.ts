import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  currencyCode,
  currencyDigits,
  derivePrices,
  type GivenPrices,
  majorUnits,
  type Prices,
} from '../../shared/core/money.ts';
import { refusalOf } from '../builders/refusal.ts';

const MAX_CENTS = Number.MAX_SAFE_INTEGER;

type Four = readonly [subtotal: number, tax: number, discount: number, total: number];

const prices = ([subtotalCents, taxCents, discountCents, totalCents]: Four): Prices => ({
  subtotalCents,
  taxCents,
  discountCents,
  totalCents,
});

describe('prices', () => {
  test.each<[string, GivenPrices, Four]>([
    ['a total alone is the subtotal too', { total_cents: 2_500 }, [2_500, 0, 0, 2_500]],
    ['an amount alone means the total', { amount_cents: 2_500 }, [2_500, 0, 0, 2_500]],
    ['a subtotal alone is the total too', { subtotal_cents: 2_500 }, [2_500, 0, 0, 2_500]],
    [
      'a missing total is derived',
      { subtotal_cents: 1_000, tax_cents: 190, discount_cents: 90 },
      [1_000, 190, 90, 1_100],
    ],
    [
      'a missing subtotal is derived',
      { total_cents: 1_100, tax_cents: 190, discount_cents: 90 },
      [1_000, 190, 90, 1_100],
    ],
    ['a missing subtotal is derived from the amount', { amount_cents: 1_100, tax_cents: 100 }, [1_000, 100, 0, 1_100]],
    ['a missing tax is zero', { subtotal_cents: 1_000, discount_cents: 100, total_cents: 900 }, [1_000, 0, 100, 900]],
    [
      'a missing discount is zero',
      { subtotal_cents: 1_000, tax_cents: 100, total_cents: 1_100 },
      [1_000, 100, 0, 1_100],
    ],
    [
      'matching prices stay unchanged',
      { subtotal_cents: 1_000, tax_cents: 190, discount_cents: 90, total_cents: 1_100, amount_cents: 1_100 },
      [1_000, 190, 90, 1_100],
    ],
    [
      'the discount can leave a total of one minor unit',
      { subtotal_cents: 1_000, discount_cents: 999 },
      [1_000, 0, 999, 1],
    ],
    ['the total may consist only of tax', { subtotal_cents: 0, tax_cents: 100 }, [0, 100, 0, 100]],
    ['the maximum total is accepted', { total_cents: MAX_CENTS }, [MAX_CENTS, 0, 0, MAX_CENTS]],
  ])('%s', (_, given, expected) => {
    expect(derivePrices(given)).toEqual(prices(expected));
  });

  test.each<[string, GivenPrices, string]>([
    [
      'a total that differs from its parts',
      { subtotal_cents: 1_000, tax_cents: 190, total_cents: 1_000 },
      'PRICING_MISMATCH',
    ],
    ['an amount that differs from the total', { total_cents: 1_000, amount_cents: 999 }, 'PRICING_MISMATCH'],
    ['an amount that differs from the parts', { subtotal_cents: 1_000, amount_cents: 999 }, 'PRICING_MISMATCH'],
    ['a tax greater than the total', { total_cents: 100, tax_cents: 200 }, 'PRICING_MISMATCH'],
    ['a total of zero', { total_cents: 0 }, 'AMOUNT_TOO_SMALL'],
    ['a discount equal to the subtotal', { subtotal_cents: 1_000, discount_cents: 1_000 }, 'AMOUNT_TOO_SMALL'],
    ['a discount above the subtotal', { subtotal_cents: 1_000, discount_cents: 1_001 }, 'AMOUNT_TOO_SMALL'],
    ['a derived total beyond the limit', { subtotal_cents: MAX_CENTS, tax_cents: 1 }, 'VALIDATION_ERROR'],
    ['a derived subtotal beyond the limit', { total_cents: MAX_CENTS, discount_cents: 1 }, 'VALIDATION_ERROR'],
    ['no price at all', { tax_cents: 100 }, 'VALIDATION_ERROR'],
  ])('are refused for %s', (_, given, code) => {
    expect(refusalOf(() => derivePrices(given)).code).toBe(code);
  });

  test.each<[GivenPrices, unknown]>([
    [
      { subtotal_cents: 1_000, amount_cents: 999 },
      { path: 'total_cents', expected: 1_000, given: 999 },
    ],
    [
      { total_cents: 1_000, amount_cents: 999 },
      { path: 'amount_cents', expected: 1_000, given: 999 },
    ],
    [
      { total_cents: 100, tax_cents: 200, discount_cents: 10 },
      { path: 'discount_cents', expected: 300, given: 10 },
    ],
    [
      { tax_cents: 100 },
      [{ path: 'total_cents', rule: 'required', message: 'total_cents or subtotal_cents is required' }],
    ],
    [
      { subtotal_cents: MAX_CENTS, tax_cents: 1 },
      [{ path: 'total_cents', rule: 'max', message: `must not exceed ${MAX_CENTS}` }],
    ],
  ])('report the field and the expected value when they are refused: %j', (given, details) => {
    expect(refusalOf(() => derivePrices(given)).details).toEqual(details);
  });

  test('report the minimum total when they are below it', () => {
    expect(refusalOf(() => derivePrices({ total_cents: 4 }, 5)).message).toBe('The total must be at least 5, not 4');
  });

  test('report the expected total', () => {
    const refusal = refusalOf(() => derivePrices({ subtotal_cents: 1_000, tax_cents: 190, total_cents: 1_000 }));
    expect(refusal.details).toEqual({ path: 'total_cents', expected: 1_190, given: 1_000 });
    expect(refusal.message).toContain('1190');
  });
});

describe('the prices of random input', () => {
  const cents = fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: MAX_CENTS }));
  const given: fc.Arbitrary<GivenPrices> = fc.record(
    { subtotal_cents: cents, tax_cents: cents, discount_cents: cents, total_cents: cents, amount_cents: cents },
    { requiredKeys: [] },
  );
  const outcomeOf = (wanted: GivenPrices): Prices | string => {
    try {
      return derivePrices(wanted);
    } catch {
      return refusalOf(() => derivePrices(wanted)).code;
    }
  };

  test('add up in integers within the limits, or are refused', () => {
    fc.assert(
      fc.property(given, (wanted) => {
        const found = outcomeOf(wanted);
        if (typeof found === 'string') return;
        const { subtotalCents, taxCents, discountCents, totalCents } = found;
        expect(subtotalCents + taxCents - discountCents).toBe(totalCents);
        expect(totalCents).toBeGreaterThanOrEqual(1);
        for (const part of [subtotalCents, taxCents, discountCents, totalCents]) {
          expect(Number.isInteger(part) && part >= 0 && part <= MAX_CENTS).toBe(true);
        }
      }),
    );
  });

  test('keep every price that the caller gave', () => {
    fc.assert(
      fc.property(given, (wanted) => {
        const found = outcomeOf(wanted);
        if (typeof found === 'string') return;
        const said = {
          subtotal_cents: found.subtotalCents,
          tax_cents: found.taxCents,
          discount_cents: found.discountCents,
          total_cents: found.totalCents,
          amount_cents: found.totalCents,
        };
        expect(said).toMatchObject(wanted);
      }),
    );
  });

  test('are accepted without a total or without a subtotal if they add up', () => {
    fc.assert(
      fc.property(cents, cents, cents, fc.constantFrom('subtotal_cents', 'total_cents', ''), (...[a, b, c, left]) => {
        const total = a + b - c;
        fc.pre(total >= 1 && Number.isSafeInteger(a + b));
        const all = { subtotal_cents: a, tax_cents: b, discount_cents: c, total_cents: total };
        const wanted = Object.fromEntries(Object.entries(all).filter(([name]) => name !== left));
        expect(derivePrices(wanted)).toEqual(prices([a, b, c, total]));
      }),
    );
  });
});

describe('majorUnits', () => {
  test.each<[number, string, string]>([
    [2_500, 'USD', '25.00'],
    [5, 'USD', '0.05'],
    [-5, 'USD', '-0.05'],
    [0, 'USD', '0.00'],
    [2_500, 'JPY', '2500'],
    [1_234_567, 'KWD', '1234.567'],
    [MAX_CENTS, 'USD', '90071992547409.91'],
    [MAX_CENTS - 1, 'USD', '90071992547409.90'],
    [12.5, 'USD', '0.13'],
  ])('writes %d minor units of %s as %s', (cents, currency, written) => {
    expect(majorUnits(cents, currency)).toBe(written);
  });
});

describe('a currency code', () => {
  test.each([
    ['usd', 'USD'],
    ['Eur', 'EUR'],
    ['JPY', 'JPY'],
  ])('is read from %s as %s', (given, code) => {
    expect(currencyCode(given)).toBe(code);
  });

  test.each(['', 'US', 'USDX', 'ABC', 'BTC', '$', 'XTS', 'US D', '840'])('is refused as %j', (given) => {
    const refusal = refusalOf(() => currencyCode(given));
    expect(refusal.code).toBe('UNSUPPORTED_CURRENCY');
    expect(refusal.message).toBe('currency must be an ISO 4217 code such as USD');
    expect(refusal.details).toEqual([
      { path: 'currency', rule: 'iso_4217', message: 'must be an ISO 4217 code such as USD' },
    ]);
  });

  test.each([
    ['USD', 2],
    ['JPY', 0],
    ['KWD', 3],
    ['HUF', 2],
    ['IDR', 2],
    ['CLF', 4],
    ['UYW', 4],
  ])('gives %s %i decimal digits', (code, digits) => {
    expect(currencyDigits(code)).toBe(digits);
  });
});
