import { describe, expect, test } from 'vitest';
import { minorUnits, money, wholeMoney } from '../../functions/console/web/view/format.ts';
import { majorUnits } from '../../shared/core/money.ts';

/** The service uses ISO 4217's minor units. Intl has other digits for HUF, RSD and IQD. */
describe('amounts in the console', () => {
  test.each([
    ['HUF', 1_000_000, 'HUF 10,000.00', '10000.00'],
    ['PKR', 1_000_000, 'PKR 10,000.00', '10000.00'],
    ['RSD', 123_456, 'RSD 1,234.56', '1234.56'],
    ['IQD', 1_234_567, 'IQD 1,234.567', '1234.567'],
    ['JPY', 1_234, 'JPY 1,234', '1234'],
    ['BHD', 1_234_567, 'BHD 1,234.567', '1234.567'],
    ['USD', 1_230, 'USD 12.30', '12.30'],
    ['IDR', 999_999_999_999, 'IDR 9,999,999,999.99', '9999999999.99'],
    ['USD', Number.MAX_SAFE_INTEGER, 'USD 90,071,992,547,409.91', '90071992547409.91'],
    ['JPY', Number.MAX_SAFE_INTEGER, 'JPY 9,007,199,254,740,991', '9007199254740991'],
  ])('in %s are shown and read with the digits of the minor unit', (...row) => {
    const [currency, cents, shown, typed] = row;
    expect(money(cents, currency)).toBe(shown);
    expect(majorUnits(cents, currency)).toBe(typed);
    expect(minorUnits(typed, currency)).toBe(cents);
  });

  test.each([
    ['HUF', '5000', 500_000],
    ['RSD', '5000,5', 500_050],
    ['IQD', '5', 5_000],
    ['JPY', '5000', 5_000],
    ['BHD', '0.005', 5],
  ])('in %s are read from %s as %i minor units', (currency, typed, cents) => {
    expect(minorUnits(typed, currency)).toBe(cents);
  });

  test.each([
    ['HUF', '1.001'],
    ['IQD', '1.0001'],
    ['JPY', '1.5'],
    ['USD', '90071992547409.92'],
    ['JPY', '9007199254740992'],
  ])('in %s are refused if they have too many decimals or exceed the safe integers: %s', (currency, typed) => {
    expect(minorUnits(typed, currency)).toBeUndefined();
  });

  test.each([
    ['HUF', 1_250_000, '12.5K'],
    ['RSD', 25_000, '250'],
    ['IQD', 1_500_000, '1.5K'],
    ['JPY', 1_500, '1.5K'],
    ['BHD', 125, '0.125'],
  ])('in %s are shown on an axis in major units', (currency, cents, shown) => {
    expect(wholeMoney(cents, currency)).toBe(shown);
  });
});
