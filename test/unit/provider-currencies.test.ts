import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { amountsBy, CurrencyTable } from '../../shared/providers/currencies.ts';
import { centsOf, PAYPAL_CURRENCIES, paypalAmounts, paypalMoney } from '../../shared/providers/paypal/amounts.ts';
import { SQUARE_CURRENCIES, squareAmounts } from '../../shared/providers/square/currencies.ts';
import { STRIPE_CURRENCIES, stripeAmounts } from '../../shared/providers/stripe/currencies.ts';

/**
 * Independent copies of the currencies that each provider documents. The `_SPECIAL` tables contain the currencies that
 * do not have 100 minor units per unit, by ISO 4217 or at the provider.
 */
const STRIPE =
  'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BWP BYN BZD CAD CDF CHF CLP CNY COP CRC CVE CZK DJF DKK DOP DZD EGP ETB EUR FJD FKP GBP GEL GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR ISK JMD JOD JPY KES KGS KHR KMF KRW KWD KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SEK SGD SHP SLE SOS SRD SZL THB TJS TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW';
const PAYPAL = 'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF ILS JPY MXN MYR NOK NZD PHP PLN SEK SGD THB TWD USD';
const SQUARE = 'AUD CAD EUR GBP JPY USD';

/** Minor units in one unit. */
const ISO_SPECIAL = {
  ...{ BIF: 1, CLP: 1, DJF: 1, GNF: 1, ISK: 1, JPY: 1, KMF: 1, KRW: 1, PYG: 1, RWF: 1, UGX: 1, VND: 1, VUV: 1 },
  ...{ XAF: 1, XOF: 1, XPF: 1, BHD: 1_000, JOD: 1_000, KWD: 1_000, OMR: 1_000, TND: 1_000 },
};
const STRIPE_SPECIAL = { ...ISO_SPECIAL, ISK: 100, UGX: 100, MGA: 1 };
const PAYPAL_SPECIAL = { HUF: 1, JPY: 1, TWD: 1 };
const SQUARE_SPECIAL = { JPY: 1 };

interface Provider {
  readonly name: string;
  readonly table: CurrencyTable;
  readonly amounts: ReturnType<typeof amountsBy>;
  readonly codes: string;
  readonly special: Readonly<Record<string, number>>;
}

const PROVIDERS: readonly Provider[] = [
  { name: 'Stripe', table: STRIPE_CURRENCIES, amounts: stripeAmounts, codes: STRIPE, special: STRIPE_SPECIAL },
  { name: 'PayPal', table: PAYPAL_CURRENCIES, amounts: paypalAmounts, codes: PAYPAL, special: PAYPAL_SPECIAL },
  { name: 'Square', table: SQUARE_CURRENCIES, amounts: squareAmounts, codes: SQUARE, special: SQUARE_SPECIAL },
];

const perUnit = (special: Readonly<Record<string, number>>, currency: string): number => special[currency] ?? 100;

describe.each(PROVIDERS)("$name's table", ({ table, amounts, codes, special }) => {
  const currencies = codes.split(' ');
  const anyCurrency = fc.constantFrom(...currencies);
  const anyCents = fc.integer({ min: 1, max: 99_999_999 });

  test('lists the provider’s documented currencies, and no other', () => {
    expect([...table.keys()].toSorted()).toEqual(currencies.toSorted());
  });

  test.each(currencies)('charges 5,000 %s as exactly 5,000', (currency) => {
    const amountCents = 5_000 * perUnit(ISO_SPECIAL, currency);
    const sent = amounts.toProvider({ amountCents, currency });
    expect(sent).toBe(5_000 * perUnit(special, currency));
    expect(amounts.toCents(sent ?? 0, currency)).toBe(amountCents);
    expect(amounts.refusalOf({ amountCents, currency })).toBeUndefined();
  });

  test('converts in both directions exactly or refuses, and never rounds an amount', () => {
    fc.assert(
      fc.property(anyCurrency, anyCents, (currency, amountCents) => {
        const sent = amounts.toProvider({ amountCents, currency });
        const refusal = amounts.refusalOf({ amountCents, currency });
        if (sent === undefined) expect(['not expressible', 'too large']).toContain(refusal?.kind);
        else {
          expect(amounts.toCents(sent, currency)).toBe(amountCents);
          expect(sent * perUnit(ISO_SPECIAL, currency)).toBe(amountCents * perUnit(special, currency));
          expect([undefined, 'too small']).toContain(refusal?.kind);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('reads every provider amount exactly, as a fraction if we cannot express it', () => {
    fc.assert(
      fc.property(anyCurrency, anyCents, (currency, units) => {
        const cents = amounts.toCents(units, currency);
        expect(Number.isInteger(cents)).toBe(
          (units * perUnit(ISO_SPECIAL, currency)) % perUnit(special, currency) === 0,
        );
        if (Number.isInteger(cents)) {
          expect(cents * perUnit(special, currency)).toBe(units * perUnit(ISO_SPECIAL, currency));
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('refuses every other currency', () => {
    for (const currency of ['XXX', 'CLF', 'usd', '']) {
      expect(amounts.toProvider({ amountCents: 5_000, currency })).toBeUndefined();
      expect(amounts.refusalOf({ amountCents: 5_000, currency })).toEqual({ kind: 'currency' });
    }
  });
});

describe('the currency rules of Stripe', () => {
  test.each([
    ['ISK', 5_000, 500_000],
    ['UGX', 5_000, 500_000],
    ['MGA', 500_000, 5_000],
    ['KWD', 5_120, 5_120],
    ['JPY', 500, 500],
    ['HUF', 250_050, 250_050],
    ['TWD', 80_045, 80_045],
  ])('send %s %d as %d', (currency, amountCents, sent) => {
    expect(stripeAmounts.toProvider({ amountCents, currency })).toBe(sent);
  });

  test.each([
    ['KWD', 5_124, 10],
    ['BHD', 1_001, 10],
    ['JOD', 1_001, 10],
    ['OMR', 1_001, 10],
    ['TND', 1_001, 10],
    ['MGA', 5_050, 100],
  ])('cannot express %s %d, only multiples of %d', (currency, amountCents, multipleOf) => {
    expect(stripeAmounts.refusalOf({ amountCents, currency })).toEqual({ kind: 'not expressible', multipleOf });
  });

  test.each(['ISK', 'UGX'])('accept at most eight digits, which are 999,999 %s', (currency) => {
    expect(stripeAmounts.refusalOf({ amountCents: 999_999, currency })).toBeUndefined();
    expect(stripeAmounts.refusalOf({ amountCents: 1_000_000, currency })).toEqual({
      kind: 'too large',
      maximumCents: 999_999,
    });
  });

  test.each(
    Object.entries({
      ...{ USD: 50, AED: 200, AUD: 50, BGN: 100, BRL: 50, CAD: 50, CHF: 50, CZK: 1_500, DKK: 250, EUR: 50, GBP: 30 },
      ...{ HKD: 400, HUF: 17_500, INR: 50, JPY: 50, MXN: 1_000, MYR: 200, NOK: 300, NZD: 50, PLN: 200, RON: 200 },
      ...{ SEK: 300, SGD: 50, THB: 1_000 },
    }),
  )('set the minimum for %s to %d', (currency, minimumCents) => {
    expect(stripeAmounts.refusalOf({ amountCents: minimumCents, currency })).toBeUndefined();
    const refusal = stripeAmounts.refusalOf({ amountCents: minimumCents - 1, currency });
    expect(refusal).toEqual({ kind: 'too small', minimumCents });
  });

  test('document no minimum for any other currency', () => {
    const known = [...STRIPE_CURRENCIES].filter(([, { minimumCents }]) => minimumCents !== undefined);
    expect(known).toHaveLength(24);
  });
});

describe('the currency rules of PayPal', () => {
  test.each([
    ['USD', 2_505, '25.05'],
    ['USD', 5, '0.05'],
    ['HUF', 250_000, '2500'],
    ['TWD', 100, '1'],
    ['JPY', 900, '900'],
  ])('send %s %d as %s', (currency, amountCents, value) => {
    expect(paypalMoney({ amountCents, currency })).toEqual({ currency_code: currency, value });
    expect(centsOf({ currency_code: currency, value })).toBe(amountCents);
  });

  test('read any number of decimals', () => {
    expect(centsOf({ currency_code: 'HUF', value: '2500.00' })).toBe(250_000);
    expect(centsOf({ currency_code: 'JPY', value: '900.00' })).toBe(900);
    expect(centsOf({ currency_code: 'JPY', value: '900.50' })).toBe(900.5);
  });

  test.each(['HUF', 'TWD'])('cannot express fractions of %s', (currency) => {
    expect(paypalAmounts.refusalOf({ amountCents: 250_050, currency })).toEqual({
      kind: 'not expressible',
      multipleOf: 100,
    });
  });
});
