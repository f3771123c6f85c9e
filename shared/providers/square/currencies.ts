/**
 * @module The currencies that Square accepts. Amounts are in ISO 4217 minor units, and may be as low as 1
 * (developer.squareup.com/docs/payment-minimums).
 */

import { amountsBy, currencyTable } from '../currencies.ts';
import type { Amount } from '../payment-port.ts';

export const SQUARE_CURRENCIES = currencyTable({ 0: 'JPY', 2: 'AUD CAD EUR GBP USD' });

export const squareAmounts = amountsBy(SQUARE_CURRENCIES);

export interface SquareMoney {
  readonly amount: number;
  readonly currency: string;
}

/** An amount in Square's format; undefined if Square cannot express it. */
export const squareMoney = (amount: Amount): SquareMoney | undefined => {
  const units = squareAmounts.toProvider(amount);
  return units === undefined ? undefined : { amount: units, currency: amount.currency };
};

/** Square's money as ISO 4217 minor units and currency. */
export const reportedMoney = ({ amount, currency }: SquareMoney) => ({
  amountCents: squareAmounts.toCents(amount, currency),
  currency,
});
