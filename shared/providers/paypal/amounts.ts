import { currencyDigits } from '../../core/money.ts';

/** PayPal writes amounts as decimals of the major unit. */
export interface Money {
  readonly currency_code: string;
  readonly value: string;
}

/** PayPal takes no decimals of these, whatever ISO 4217 says. */
const WHOLE_UNITS: ReadonlySet<string> = new Set(['HUF', 'JPY', 'TWD']);

/** @returns undefined where PayPal has no way to say it: 12.34 of a currency that it takes whole units of. */
export const moneyOf = (cents: number, currency: string): Money | undefined => {
  const digits = currencyDigits(currency);
  const [units, decimals] = split(cents, digits);
  if (!WHOLE_UNITS.has(currency)) {
    return { currency_code: currency, value: decimals === '' ? units : `${units}.${decimals}` };
  }
  return Number(decimals) === 0 ? { currency_code: currency, value: units } : undefined;
};

const split = (cents: number, digits: number): readonly [units: string, decimals: string] => {
  const text = String(cents).padStart(digits + 1, '0');
  return [text.slice(0, text.length - digits), text.slice(text.length - digits)];
};

/** Minor units; undefined where it is no amount of that currency. */
export const centsOf = ({ currency_code: currency, value }: Money): number | undefined => {
  const [, units = '', decimals = ''] = /^(\d+)(?:\.(\d+))?$/.exec(value) ?? [];
  if (units === '' || !/^[A-Z]{3}$/.test(currency)) return undefined;
  const digits = currencyDigits(currency);
  if (/[1-9]/.test(decimals.slice(digits))) return undefined;
  return Number(units + decimals.slice(0, digits).padEnd(digits, '0'));
};
