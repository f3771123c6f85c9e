/**
 * @module Stripe's rules for currencies and amounts, copied from its documentation independently of the service, so
 * that tests detect mistakes in the service's table. Amounts are in Stripe's units.
 */

import { invalidStripeRequest } from './errors.ts';

const TWO_DECIMALS = `
  usd aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob brl bsd bwp byn bzd cad cdf chf cny cop crc cve
  czk dkk dop dzd egp etb eur fjd fkp gbp gel gip gmd gtq gyd hkd hnl htg huf idr ils inr jmd kes kgs khr kyd kzt lak lbp
  lkr lrd lsl mad mdl mkd mmk mnt mop mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd
  rub sar sbd scr sek sgd shp sle sos srd szl thb tjs top try ttd twd tzs uah uyu uzs wst xcd xcg yer zar zmw`;
/** Currencies without decimals at Stripe. The amount 1 is one whole unit of the currency. */
const ZERO_DECIMALS = 'bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf';
/** Currencies without decimals today. Stripe still writes them with two decimals, which must be 00. */
const ALWAYS_00 = 'isk ugx';
/** Currencies with three decimals. The last must be 0. */
const THREE_DECIMALS = 'bhd jod kwd omr tnd';

interface Rule {
  /** Stripe's units per unit of the currency. */
  readonly perUnit: number;
  readonly multipleOf: number;
  /** ISO 4217 minor units per unit of the currency. */
  readonly minorPerUnit: number;
}

const each = (codes: string, rule: Rule): [string, Rule][] =>
  codes
    .trim()
    .split(/\s+/)
    .map((code) => [code.toUpperCase(), rule]);

const RULES: ReadonlyMap<string, Rule> = new Map([
  ...each(TWO_DECIMALS, { perUnit: 100, multipleOf: 1, minorPerUnit: 100 }),
  ...each(ZERO_DECIMALS, { perUnit: 1, multipleOf: 1, minorPerUnit: 1 }),
  // ISO 4217 gives the ariary two decimals, but Stripe accepts none.
  ...each('mga', { perUnit: 1, multipleOf: 1, minorPerUnit: 100 }),
  ...each(ALWAYS_00, { perUnit: 100, multipleOf: 100, minorPerUnit: 1 }),
  ...each(THREE_DECIMALS, { perUnit: 1_000, multipleOf: 10, minorPerUnit: 1_000 }),
]);

/** Minimum charges as Stripe documents them, in whole units and hundredths. */
const LEAST: Readonly<Record<string, string>> = {
  USD: '0.50',
  AED: '2.00',
  AUD: '0.50',
  BGN: '1.00',
  BRL: '0.50',
  CAD: '0.50',
  CHF: '0.50',
  CZK: '15.00',
  DKK: '2.50',
  EUR: '0.50',
  GBP: '0.30',
  HKD: '4.00',
  HUF: '175.00',
  INR: '0.50',
  JPY: '50',
  MXN: '10.00',
  MYR: '2.00',
  NOK: '3.00',
  NZD: '0.50',
  PLN: '2.00',
  RON: '2.00',
  SEK: '3.00',
  SGD: '0.50',
  THB: '10.00',
};

/**
 * Stripe documents the maximum amount as "12 digits for IDR, 10 digits for COP, 9 digits for INR, 8 digits for all
 * other currencies".
 */
const MOST_DIGITS: Readonly<Record<string, number>> = { IDR: 12, COP: 10, INR: 9 };
const USUAL_DIGITS = 8;

export const mostAmount = (currency: string): number => 10 ** (MOST_DIGITS[currency.toUpperCase()] ?? USUAL_DIGITS) - 1;

/** @throws Refused if Stripe does not accept the currency. */
export const checkCurrency = (currency: string): string => {
  const code = currency.toUpperCase();
  if (RULES.has(code)) return code;
  const taken = [...RULES.keys()].map((known) => known.toLowerCase()).join(', ');
  throw invalidStripeRequest({
    message: `Invalid currency: ${currency.toLowerCase()}. Stripe currently supports these currencies: ${taken}`,
    param: 'currency',
  });
};

/** Checks the amount of a refund or a capture. It has no minimum charge. */
export const checkAmount = (amount: number, currency: string, param = 'amount'): number => {
  if (amount < 1) {
    throw invalidStripeRequest({
      code: 'parameter_invalid_integer',
      message: 'This value must be greater than or equal to 1.',
      param,
    });
  }
  if (amount > mostAmount(currency)) {
    throw invalidStripeRequest({
      code: 'amount_too_large',
      message: `Amount must be no more than ${writtenAmount(mostAmount(currency), currency)}`,
      param,
    });
  }
  return amount;
};

/** @throws Refused if Stripe cannot charge the amount. */
export const checkCharge = (amount: number, currency: string, param = 'amount'): number => {
  checkAmount(amount, currency, param);
  const { multipleOf } = ruleOf(currency);
  if (amount % multipleOf !== 0) {
    throw invalidStripeRequest({
      code: 'parameter_invalid_integer',
      message: `Invalid amount: ${amount}. Amounts in ${currency.toLowerCase()} must be evenly divisible by ${multipleOf}.`,
      param,
    });
  }
  const leastAmount = leastStripeCharge(currency);
  if (amount >= leastAmount) return amount;
  throw invalidStripeRequest({
    code: 'amount_too_small',
    message: `Amount must be at least ${writtenAmount(leastAmount, currency)} ${currency.toLowerCase()}`,
    param,
  });
};

export const leastStripeCharge = (currency: string): number =>
  Math.round(Number(LEAST[currency] ?? 0) * ruleOf(currency).perUnit);

/** `$0.50`, `¥50` */
export const writtenAmount = (amount: number, currency: string): string => {
  const { perUnit } = ruleOf(currency);
  const minimumFractionDigits = Math.round(Math.log10(perUnit));
  return new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    currencyDisplay: 'narrowSymbol',
    minimumFractionDigits,
  }).format(amount / perUnit);
};

/** Converts an amount from Stripe's units to ISO 4217 minor units. */
export const stripeMinorUnits = (amount: number, currency: string): number => {
  const { perUnit, minorPerUnit } = ruleOf(currency);
  return (amount * minorPerUnit) / perUnit;
};

const ruleOf = (currency: string): Rule => {
  const rule = RULES.get(currency);
  if (!rule) throw new Error(`the ledger holds an amount in ${currency}, which Stripe does not take`);
  return rule;
};
