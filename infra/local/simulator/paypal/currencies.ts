import { refused } from './errors.ts';

/**
 * PayPal's own list of currencies, written from its documentation a second time: nothing here comes from the service, so
 * that a mistake in the service's table shows. An amount is counted in the last digit that PayPal takes.
 */
const CURRENCIES: ReadonlySet<string> = new Set(
  'AUD BRL CAD CNY CZK DKK EUR HKD HUF ILS JPY MYR MXN TWD NZD NOK PHP PLN GBP SGD SEK CHF THB USD'.split(' '),
);
/** "This currency does not support decimals." */
const WITHOUT_DECIMALS: ReadonlySet<string> = new Set(['HUF', 'JPY', 'TWD']);
/** Of these, what has decimals all the same by ISO 4217. */
const HUNDREDTHS_BY_ISO: ReadonlySet<string> = new Set(['HUF', 'TWD']);

const decimalsOf = (currency: string): number => (WITHOUT_DECIMALS.has(currency) ? 0 : 2);

/** @throws Refused 422 for what PayPal cannot charge. */
export const readMoney = ({
  currency_code: currency,
  value,
}: {
  readonly currency_code: string;
  readonly value: string;
}) => {
  if (!CURRENCIES.has(currency)) throw refused('INVALID_CURRENCY_CODE', '/purchase_units/0/amount/currency_code');
  const decimals = value.split('.')[1] ?? '';
  if (decimals.length > decimalsOf(currency)) throw refused('DECIMAL_PRECISION', '/purchase_units/0/amount/value');
  const amount = Math.round(Number(value) * 10 ** decimalsOf(currency));
  if (amount <= 0) throw refused('CANNOT_BE_ZERO_OR_NEGATIVE', '/purchase_units/0/amount/value');
  return { amount, currency };
};

export const moneyView = (
  amount: number,
  currency: string,
): { readonly currency_code: string; readonly value: string } => {
  const decimals = decimalsOf(currency);
  return { currency_code: currency, value: (amount / 10 ** decimals).toFixed(decimals) };
};

/** In ISO 4217 minor units. */
export const minorUnits = (amount: number, currency: string): number =>
  HUNDREDTHS_BY_ISO.has(currency) ? amount * 100 : amount;
