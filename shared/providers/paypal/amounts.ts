/** @module PayPal's amounts (decimal strings in the major unit) and currencies. Conversion is exact both ways. */

import { currencyDigits } from '../../core/money.ts';
import { amountsBy, currencyTable } from '../currencies.ts';
import type { Amount } from '../payment-port.ts';

export interface PayPalMoney {
  readonly currency_code: string;
  readonly value: string;
}

/** The limit of Orders v2 (MAX_VALUE_EXCEEDED). It matters only for currencies without decimals. */
const MOST_UNITS = 999_999_999_999_999;

/** As in developer.paypal.com/api/rest/reference/currency-codes. HUF, JPY and TWD have only whole units. */
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
 * The amount in ISO 4217 minor units. A fraction is kept, so the amount matches no record. Undefined for an invalid
 * currency.
 */
export const centsOf = ({ currency_code: currency, value }: PayPalMoney): number | undefined =>
  /^[A-Z]{3}$/.test(currency) ? Number(`${value}e${currencyDigits(currency)}`) : undefined;

/** ISO 4217 minor units of a refunded or disputed amount; undefined unless it is a whole number above zero. */
export const wholeCentsOf = (money: PayPalMoney): number | undefined => {
  const cents = centsOf(money);
  return cents !== undefined && Number.isSafeInteger(cents) && cents > 0 ? cents : undefined;
};
