import { describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import { amountsBy, currencyTable } from '../../shared/providers/currencies.ts';
import { centsOf, paypalMoney, wholeCentsOf } from '../../shared/providers/paypal/amounts.ts';
import { reportedMoney, squareMoney } from '../../shared/providers/square/currencies.ts';
import { squareLocation } from '../../shared/providers/square/location.ts';
import type { SquareCall } from '../../shared/providers/square/outcome.ts';
import { reportedAmount } from '../../shared/providers/stripe/currencies.ts';

const located = (currency: string): Outcome<unknown> => ({ kind: 'done', value: { location: { currency } } });
const LOST: Outcome<never> = { kind: 'unknown', reason: 'timeout' };

/** Square with these responses in turn; the last response repeats. */
const square = (...answers: readonly Outcome<unknown>[]) => {
  const asked: unknown[] = [];
  const call = (async ({ method, path }: { method: string; path: string }) => {
    asked.push([method, path]);
    return answers[Math.min(asked.length, answers.length) - 1];
  }) as unknown as SquareCall;
  return { asked, ...squareLocation(call, 'L/1') };
};
const usd = (amountCents: number) => ({ amountCents, currency: 'USD' });

describe('the currency of a Square location', () => {
  test('is read once, and is the location’s only accepted currency', async () => {
    const { asked, checkAmount } = square(located('EUR'));
    expect(await checkAmount({ amountCents: 1, currency: 'EUR' })).toBeUndefined();
    expect(await checkAmount(usd(1))).toEqual({ kind: 'currency', only: 'EUR' });
    expect(asked).toEqual([['GET', '/v2/locations/L%2F1']]);
  });

  test('is not read if Square never accepts the amount', async () => {
    const { asked, checkAmount } = square(located('EUR'));
    expect(await checkAmount({ amountCents: 1, currency: 'CHF' })).toEqual({ kind: 'currency' });
    expect(asked).toEqual([]);
  });

  test('is read again by the next payment after a failure', async () => {
    const { asked, checkAmount, onlyCurrency } = square(LOST, located('USD'));
    expect(await checkAmount(usd(1))).toEqual({ kind: 'not known', outcome: LOST });
    expect(await checkAmount(usd(1))).toBeUndefined();
    expect(await onlyCurrency()).toEqual({ kind: 'done', value: 'USD' });
    expect(asked).toHaveLength(2);
  });

  test('is read once for concurrent payments', async () => {
    const { asked, checkAmount } = square(located('USD'));
    await Promise.all([checkAmount(usd(1)), checkAmount(usd(2))]);
    expect(asked).toHaveLength(1);
  });

  test('is refused if the service does not know it', async () => {
    const refusal = { kind: 'refused', reason: 'unsupported currency CHF' };
    expect(await square(located('CHF')).onlyCurrency()).toEqual(refusal);
    expect(await square(LOST).onlyCurrency()).toEqual(LOST);
  });
});

describe('an amount in a provider’s format', () => {
  test('is in our minor units at Square, and absent in a currency that Square does not support', () => {
    expect(squareMoney(usd(2_500))).toEqual({ amount: 2_500, currency: 'USD' });
    expect(squareMoney({ amountCents: 2_500, currency: 'CHF' })).toBeUndefined();
    expect(reportedMoney({ amount: 500, currency: 'JPY' })).toEqual({ amountCents: 500, currency: 'JPY' });
  });

  test('is read from Stripe in upper case and in ISO minor units', () => {
    expect(reportedAmount({ amount: 500_000, currency: 'isk' })).toEqual({ amountCents: 5_000, currency: 'ISK' });
  });

  test('is decimal at PayPal, and absent if PayPal cannot express it', () => {
    expect(paypalMoney(usd(7))).toEqual({ currency_code: 'USD', value: '0.07' });
    expect(paypalMoney({ amountCents: 7, currency: 'HUF' })).toBeUndefined();
    expect(paypalMoney({ amountCents: 7, currency: 'ISK' })).toBeUndefined();
  });

  test.each([
    ['USD', '0.07', 7, 7],
    ['USD', '0.075', 7.5, undefined],
    ['USD', '0.00', 0, undefined],
    ['USD', '-1.00', -100, undefined],
    ['USD', 'x', Number.NaN, undefined],
    ['usd', '1.00', undefined, undefined],
    ['USDX', '1.00', undefined, undefined],
    ['EURO', '1.00', undefined, undefined],
  ])('in %s is read from PayPal’s %s as %s, and as a refund as %s', (...[currency_code, value, cents, whole]) => {
    expect(centsOf({ currency_code, value })).toEqual(cents);
    expect(wholeCentsOf({ currency_code, value })).toBe(whole);
  });
});

describe('the conversion to a provider’s units', () => {
  const amounts = amountsBy(currencyTable({ 2: 'USD ISK', 0: 'HUF' }, { USD: { step: 5, minimumCents: 50 } }), 1_000);

  test('accepts amounts up to the provider’s maximum, but not above', () => {
    expect(amounts.toProvider(usd(1_000))).toBe(1_000);
    expect(amounts.toProvider(usd(1_005))).toBeUndefined();
    expect(amounts.refusalOf(usd(1_000))).toBeUndefined();
    expect(amounts.refusalOf(usd(1_005))).toEqual({ kind: 'too large', maximumCents: 1_000 });
  });

  test('is exact in both directions', () => {
    expect(amounts.toProvider({ amountCents: 7, currency: 'ISK' })).toBe(700);
    expect(amounts.toCents(700, 'ISK')).toBe(7);
    expect(amounts.toProvider({ amountCents: 2_900, currency: 'HUF' })).toBe(29);
    expect(amounts.toCents(29, 'HUF')).toBe(2_900);
  });

  test('refuses an unsupported amount with its field', () => {
    const kind = 'refused';
    expect(amounts.refused(usd(1))).toEqual({ kind, reason: 'amount_not_expressible', parameter: 'amount' });
    const other = { amountCents: 1, currency: 'EUR' };
    expect(amounts.refused(other)).toEqual({ kind, reason: 'currency_not_taken', parameter: 'currency' });
  });
});
