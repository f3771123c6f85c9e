import { describe, expect, test } from 'vitest';
import type { Discount } from '../../shared/catalog/discount.ts';
import { DAY_MS, iso } from '../../shared/core/time.ts';
import { fittingTerms, isDiscountRefusal } from '../../shared/discounts/discount-terms.ts';
import { NOON } from '../builders/payment.ts';

const CODE: Discount = {
  ...{ id: 'SPRING', name: 'Spring', version: 1, created_at: iso(NOON), updated_at: iso(NOON) },
  ...{ percent_bp: 1_000, duration: 'once', is_active: true, metadata: {} },
};
const [BEGIN, END] = [NOON + DAY_MS, NOON + 2 * DAY_MS];
const BOUGHT = { productId: 'prod_1', currency: 'USD', now: BEGIN };

type Asked = Partial<typeof BOUGHT & { readonly uses: { readonly taken: number; readonly used: number } }>;

/** `fits`, or the reason of the refusal. */
const resultFor = (fields: Partial<Discount>, { uses = { taken: 0, used: 0 }, ...bought }: Asked = {}): unknown => {
  try {
    fittingTerms({ ...CODE, ...fields }, { ...BOUGHT, ...bought }, uses);
    return 'fits';
  } catch (error) {
    if (isDiscountRefusal(error)) return error.details;
    throw error;
  }
};
const answerOf = (expected: string): unknown => (expected === 'fits' ? 'fits' : { reason: expected });

describe('a discount code', () => {
  test.each([
    ['a millisecond before its beginning', BEGIN - 1, 'not_started'],
    ['at its beginning', BEGIN, 'fits'],
    ['a millisecond before its end', END - 1, 'fits'],
    ['at its end', END, 'ended'],
  ])('%s: %s', (...[, now, expected]) => {
    expect(resultFor({ starts_at: iso(BEGIN), ends_at: iso(END) }, { now })).toEqual(answerOf(expected));
  });

  test.each([
    ['below both limits', { taken: 4, used: 1 }, 'fits'],
    ['at its limit of uses', { taken: 5, used: 1 }, 'exhausted'],
    ['at the limit of its payer', { taken: 4, used: 2 }, 'used'],
    ['at both limits', { taken: 5, used: 2 }, 'exhausted'],
  ])('%s: %s', (...[, uses, expected]) => {
    expect(resultFor({ max_redemptions: 5, max_per_payer: 2 }, { uses })).toEqual(answerOf(expected));
  });

  test.each([
    ['inactive', { is_active: false }, 'unknown'],
    ['for another product', { product_ids: ['prod_2'] }, 'wrong_product'],
    ['for several products, including this product', { product_ids: ['prod_2', 'prod_1'] }, 'fits'],
    ['with an amount only in another currency', { percent_bp: null, amounts: { EUR: 100 } }, 'wrong_currency'],
    ['with an amount in this currency, too', { percent_bp: null, amounts: { EUR: 100, USD: 100 } }, 'fits'],
  ])('%s: %s', (...[, fields, expected]) => {
    expect(resultFor(fields)).toEqual(answerOf(expected));
  });
});
