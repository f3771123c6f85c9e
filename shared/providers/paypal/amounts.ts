import { currencyDigits } from '../../core/money.ts';
import { amountsBy, currencyTable } from '../currencies.ts';
import type { Amount } from '../payment-port.ts';

/** PayPal writes amounts as decimals of the major unit. */
export interface PaypalMoney {
  readonly currency_code: string;
  readonly value: string;
}

/** MAX_VALUE_EXCEEDED of Orders v2 names 999999999999999.99; the decimals of that are more than a number holds exactly. */
const MOST_UNITS = 999_999_999_999_999;

/** developer.paypal.com/api/rest/reference/currency-codes; PayPal takes only whole units of HUF, JPY and TWD. */
export const PAYPAL_CURRENCIES = currencyTable(
  {
    0: 'HUF JPY TWD',
    2: 'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD ILS MXN MYR NOK NZD PHP PLN SEK SGD THB USD',
  },
  { HUF: { maximum: MOST_UNITS }, JPY: { maximum: MOST_UNITS }, TWD: { maximum: MOST_UNITS } },
);

export const paypalAmounts = amountsBy(PAYPAL_CURRENCIES);

/** @returns undefined if PayPal cannot express the amount: another currency, or 12.34 HUF. */
export const paypalMoney = (amount: Amount): PaypalMoney | undefined => {
  const units = paypalAmounts.toProvider(amount);
  const digits = PAYPAL_CURRENCIES.get(amount.currency)?.digits;
  if (units === undefined || digits === undefined) return undefined;
  const text = String(units).padStart(digits + 1, '0');
  const [whole, decimals] = [text.slice(0, text.length - digits), text.slice(text.length - digits)];
  return { currency_code: amount.currency, value: decimals === '' ? whole : `${whole}.${decimals}` };
};

/**
 * ISO 4217 minor units of PayPal's amount, exactly. A value between two units stays a fraction and matches no record;
 * undefined for an invalid currency.
 */
export const centsOf = ({ currency_code: currency, value }: PaypalMoney): number | undefined =>
  /^[A-Z]{3}$/.test(currency) ? Number(`${value}e${currencyDigits(currency)}`) : undefined;

/** ISO 4217 minor units of an amount that went back; undefined if it is no whole number of them above zero. */
export const wholeCentsOf = (money: PaypalMoney): number | undefined => {
  const cents = centsOf(money);
  return cents !== undefined && Number.isSafeInteger(cents) && cents > 0 ? cents : undefined;
};
