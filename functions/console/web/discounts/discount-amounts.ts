import { amountWithCurrency } from '../../../../shared/core/money.ts';
import { minorUnits } from '../view/format.ts';

/** Formats 500 minor units as `5.00 USD`, which `amountsIn` can parse. */
export const majorText = (cents: number, currency: string): string => amountWithCurrency(cents, currency);

/** Parses `5.00 USD, 4.50 EUR` to minor units by currency; undefined if a part is not an amount. */
export const amountsIn = (text: string): Readonly<Record<string, number>> | undefined => {
  const amounts: Record<string, number> = {};
  for (const part of text.split(',')) {
    const [amount = '', currency = ''] = part.trim().split(/\s+/);
    const code = currency.toUpperCase();
    const cents = /^[A-Z]{3}$/.test(code) ? minorUnits(amount, code) : undefined;
    if (cents === undefined) return undefined;
    amounts[code] = cents;
  }
  return amounts;
};
