/**
 * @module The currencies that a provider accepts, and their units. The service counts in ISO 4217 minor units; a
 * provider may use other units (Stripe counts ISK in hundredths, PayPal counts HUF in whole forints). Each adapter has
 * one table and converts exactly. An amount that the provider cannot express is refused, never rounded.
 */

import { currencyDigits } from '../core/money.ts';
import type { Outcome } from '../core/outcome.ts';
import type { Amount, AmountRefusal } from './payment-port.ts';

export interface CurrencyRule {
  /** Decimal digits of the provider's unit. */
  readonly digits: number;
  /** The provider accepts only multiples of this number, in its own units. */
  readonly step?: number;
  /** The smallest charge that the provider accepts, in ISO 4217 minor units; absent if unknown. */
  readonly minimumCents?: number;
  /** The greatest charge in the provider's own units; absent if the table's maximum applies. */
  readonly maximum?: number;
}

/** The rules by upper-case ISO 4217 code. */
export type CurrencyTable = ReadonlyMap<string, CurrencyRule>;

type Refused = Extract<Outcome<never>, { kind: 'refused' }>;

/**
 * @param byDigits the codes, separated by spaces, per number of digits of the provider's unit
 * @param rules further rules, by code
 */
export const currencyTable = (
  byDigits: Readonly<Record<number, string>>,
  rules: Readonly<Record<string, Omit<CurrencyRule, 'digits'>>> = {},
): CurrencyTable =>
  new Map(
    Object.entries(byDigits).flatMap(([digits, codes]) =>
      codes.split(' ').map((code) => [code, { digits: Number(digits), ...rules[code] }] as const),
    ),
  );

/** @param maximum the greatest accepted amount in most currencies, in the provider's units */
export const amountsBy = (table: CurrencyTable, maximum = Number.MAX_SAFE_INTEGER) => {
  /** The difference in decimal places between the provider's unit and the ISO minor unit. */
  const shiftOf = (currency: string): number => {
    const rule = table.get(currency);
    return rule ? rule.digits - currencyDigits(currency) : 0;
  };

  /**
   * Converts to the provider's units; undefined if the provider does not accept the currency or cannot express the
   * amount.
   */
  const toProvider = ({ amountCents, currency }: Amount): number | undefined => {
    const rule = table.get(currency);
    if (!rule) return undefined;
    const units = shifted(amountCents, shiftOf(currency));
    const isExact = Number.isSafeInteger(units) && units % (rule.step ?? 1) === 0;
    return isExact && units <= (rule.maximum ?? maximum) ? units : undefined;
  };

  /**
   * Converts to ISO minor units. A fraction is kept, so such an amount matches no record. An unknown currency counts in
   * ISO minor units.
   */
  const toCents = (units: number, currency: string): number => shifted(units, -shiftOf(currency));

  /** The greatest amount, in ISO minor units, that the provider accepts and that converts exactly. */
  const maximumCentsOf = (rule: CurrencyRule, currency: string): number => {
    const exact = Math.floor(Number.MAX_SAFE_INTEGER / 10 ** Math.max(0, -shiftOf(currency)));
    return Math.floor(toCents(Math.min(rule.maximum ?? maximum, exact), currency));
  };

  const refusalOf = (amount: Amount): AmountRefusal | undefined => {
    const { amountCents, currency } = amount;
    const rule = table.get(currency);
    if (!rule) return { kind: 'currency' };
    const maximumCents = maximumCentsOf(rule, currency);
    if (amountCents > maximumCents) return { kind: 'too large', maximumCents };
    if (toProvider(amount) === undefined) {
      return { kind: 'not expressible', multipleOf: (rule.step ?? 1) * 10 ** Math.max(0, -shiftOf(currency)) };
    }
    const { minimumCents } = rule;
    return minimumCents !== undefined && amountCents < minimumCents ? { kind: 'too small', minimumCents } : undefined;
  };

  /** The adapter's refusal of an amount that the provider cannot express. No call is made. */
  const refused = ({ currency }: Amount): Refused =>
    table.has(currency)
      ? { kind: 'refused', reason: 'amount_not_expressible', parameter: 'amount' }
      : { kind: 'refused', reason: 'currency_not_taken', parameter: 'currency' };

  return { toProvider, toCents, refusalOf, refused };
};

/**
 * Moves the decimal point. A negative shift divides by a power of ten, which is exact if the quotient is whole.
 * Multiplying by a fraction would not be exact.
 */
const shifted = (amount: number, shift: number): number => (shift < 0 ? amount / 10 ** -shift : amount * 10 ** shift);
