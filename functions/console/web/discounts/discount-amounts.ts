import { amountWithCurrency } from '../../../../shared/core/money.ts';
import { minorUnits } from '../view/format.ts';

/** `5.00 USD` for 500 minor units, as `amountsIn` reads it. */
export const majorText = (cents: number, currency: string): string => amountWithCurrency(cents, currency);

/** Amounts such as `5.00 USD, 4.50 EUR`, by currency in minor units; undefined if a part is no amount. */
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
