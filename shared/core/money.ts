/** @module Currencies and prices. Amounts are integers in minor units; total = subtotal + tax − discount. */

import { DomainError } from './errors.ts';

/** In minor units; total = subtotal + tax − discount. */
export interface Prices {
  readonly subtotalCents: number;
  readonly taxCents: number;
  readonly discountCents: number;
  readonly totalCents: number;
}

export interface GivenPrices {
  readonly subtotal_cents?: number | undefined;
  readonly tax_cents?: number | undefined;
  readonly discount_cents?: number | undefined;
  readonly total_cents?: number | undefined;
  readonly amount_cents?: number | undefined;
}

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** @throws DomainError UNSUPPORTED_CURRENCY if the value is not an ISO 4217 code. */
export const currencyCode = (value: string): string => {
  const code = value.toUpperCase();
  if (!CURRENCIES.has(code)) {
    throw new DomainError('UNSUPPORTED_CURRENCY', {
      message: 'currency must be an ISO 4217 code such as USD',
      details: [{ path: 'currency', rule: 'iso_4217', message: 'must be an ISO 4217 code such as USD' }],
    });
  }
  return code;
};

/**
 * ISO 4217 currencies whose minor unit does not have 2 digits. `Intl` would give the digits of written prices, for
 * example 0 for HUF.
 */
const DIGITS: ReadonlyMap<string, number> = new Map([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3] as const),
  ...['CLF', 'UYW'].map((code) => [code, 4] as const),
]);
const USUAL_DIGITS = 2;

/** Decimal digits of the currency's minor unit (2 for USD, 0 for JPY). */
export const currencyDigits = (code: string): number => DIGITS.get(code) ?? USUAL_DIGITS;

/** `25.00` for 2500 minor units of USD. Rounds fractions of a minor unit, which only providers send. */
export const majorUnits = (cents: number, currency: string): `${number}` => {
  const digits = currencyDigits(currency);
  if (!Number.isSafeInteger(cents)) return (cents / 10 ** digits).toFixed(digits) as `${number}`;
  const text = String(Math.abs(cents)).padStart(digits + 1, '0');
  const [whole, fraction] = [text.slice(0, text.length - digits), text.slice(text.length - digits)];
  return `${cents < 0 ? '-' : ''}${whole}${fraction && `.${fraction}`}` as `${number}`;
};

/** `25.00 USD` for 2500 minor units of USD, `2500 JPY` for 2500 minor units of JPY. */
export const amountWithCurrency = (cents: number, currency: string): string =>
  `${majorUnits(cents, currency)} ${currency}`;

const mismatch = (path: string, expected: number, given: number): DomainError =>
  new DomainError('PRICING_MISMATCH', {
    message: `${path} must be ${expected}: total = subtotal + tax - discount`,
    details: { path, expected, given },
  });

/**
 * Derives a missing subtotal or total. `amount_cents` is the total. Every sum must be a safe integer.
 * @throws DomainError PRICING_MISMATCH with the expected total; AMOUNT_TOO_SMALL below `leastTotal`; VALIDATION_ERROR
 * if total and subtotal are both missing, or for an unsafe sum
 */
export const derivePrices = (given: GivenPrices, leastTotal = 1): Prices => {
  const taxCents = given.tax_cents ?? 0;
  const discountCents = given.discount_cents ?? 0;
  const statedTotal = given.total_cents ?? given.amount_cents;
  const subtotalCents =
    given.subtotal_cents ?? (statedTotal === undefined ? undefined : statedTotal - taxCents + discountCents);
  if (subtotalCents === undefined) {
    throw new DomainError('VALIDATION_ERROR', {
      details: [{ path: 'total_cents', rule: 'required', message: 'total_cents or subtotal_cents is required' }],
    });
  }
  if (![subtotalCents, subtotalCents + taxCents].every(Number.isSafeInteger)) {
    throw new DomainError('VALIDATION_ERROR', {
      details: [{ path: 'total_cents', rule: 'max', message: `must not exceed ${Number.MAX_SAFE_INTEGER}` }],
    });
  }
  const totalCents = subtotalCents + taxCents - discountCents;
  if (statedTotal !== undefined && statedTotal !== totalCents) throw mismatch('total_cents', totalCents, statedTotal);
  if (given.amount_cents !== undefined && given.amount_cents !== totalCents) {
    throw mismatch('amount_cents', totalCents, given.amount_cents);
  }
  if (subtotalCents < 0) throw mismatch('discount_cents', taxCents + (statedTotal ?? 0), discountCents);
  if (totalCents < leastTotal) {
    throw new DomainError('AMOUNT_TOO_SMALL', {
      message: `The total must be at least ${leastTotal}, not ${totalCents}`,
    });
  }
  return { subtotalCents, taxCents, discountCents, totalCents };
};

/** The amounts in a payment's view, in minor units. */
export interface ShownMoney {
  readonly captured_cents: number;
  readonly refunded_cents: number;
  readonly refundable_cents: number;
  readonly disputed_cents: number;
  readonly lost_cents: number;
}

/** The amount refundable despite an open dispute, in minor units. */
export const refundableDespiteDispute = (shown: ShownMoney): number =>
  Math.max(
    0,
    Math.min(
      shown.captured_cents - shown.refunded_cents - shown.lost_cents,
      shown.refundable_cents + shown.disputed_cents,
    ),
  );
