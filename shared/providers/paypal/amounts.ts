/**
 * @module PayPal's amounts, which are decimal strings in the major unit, and the currencies that it accepts.
 * Conversion is exact in both directions.
 */

import { currencyDigits } from '../../core/money.ts';
import { amountsBy, currencyTable } from '../currencies.ts';
import type { Amount } from '../payment-port.ts';

/** An amount in PayPal's format, as a decimal string in the major unit. */
export interface PayPalMoney {
  readonly currency_code: string;
  readonly value: string;
}

/**
 * The error MAX_VALUE_EXCEEDED of Orders v2 names the limit 999999999999999.99. It matters only for currencies without
 * decimals, because with decimals it exceeds the greatest safe integer.
 */
const MOST_UNITS = 999_999_999_999_999;

/**
 * Source: developer.paypal.com/api/rest/reference/currency-codes. PayPal accepts only whole units of HUF, JPY and TWD.
 */
export const PAYPAL_CURRENCIES = currencyTable(
  {
    0: 'HUF JPY TWD',
    2: 'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD ILS MXN MYR NOK NZD PHP PLN SEK SGD THB USD',
  },
  { HUF: { maximum: MOST_UNITS }, JPY: { maximum: MOST_UNITS }, TWD: { maximum: MOST_UNITS } },
);

export const paypalAmounts = amountsBy(PAYPAL_CURRENCIES);

/** @returns undefined if PayPal cannot express the amount, such as 12.34 HUF or an amount in an unsupported currency */
export const paypalMoney = (amount: Amount): PayPalMoney | undefined => {
  const units = paypalAmounts.toProvider(amount);
  const digits = PAYPAL_CURRENCIES.get(amount.currency)?.digits;
  if (units === undefined || digits === undefined) return undefined;
  const text = String(units).padStart(digits + 1, '0');
  const [whole, decimals] = [text.slice(0, text.length - digits), text.slice(text.length - digits)];
  return { currency_code: amount.currency, value: decimals === '' ? whole : `${whole}.${decimals}` };
};

/**
 * Converts PayPal's amount exactly to ISO 4217 minor units. A value between two units stays a fraction and matches no
 * record; undefined for an invalid currency.
 */
export const centsOf = ({ currency_code: currency, value }: PayPalMoney): number | undefined =>
  /^[A-Z]{3}$/.test(currency) ? Number(`${value}e${currencyDigits(currency)}`) : undefined;

/** ISO 4217 minor units of a refunded or disputed amount; undefined unless it is a whole number above zero. */
export const wholeCentsOf = (money: PayPalMoney): number | undefined => {
  const cents = centsOf(money);
  return cents !== undefined && Number.isSafeInteger(cents) && cents > 0 ? cents : undefined;
};
