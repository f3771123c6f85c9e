import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  captureNews,
  capturesOfNext,
  captureToRefund,
  pricesInProportion,
} from '../../shared/payments/holds/several-captures.ts';
import { moneyAccount } from '../../shared/payments/money-account.ts';
import { payment } from '../builders/payment.ts';

const cents = (max: number) => fc.integer({ min: 0, max });

/** The prices of a hold, and the total of its captures. */
const taken = fc
  .record({ subtotal: cents(10_000_000), tax: cents(10_000_000), discount: cents(10_000_000), part: cents(1_000_000) })
  .map(({ subtotal, tax, discount, part }) => {
    const discountCents = Math.min(discount, subtotal + tax);
    const authorizedCents = subtotal + tax - discountCents;
    return {
      ...{ subtotalCents: subtotal, taxCents: tax, discountCents, authorizedCents },
      totalCents: Math.ceil((authorizedCents * part) / 1_000_000),
    };
  })
  .filter(({ totalCents }) => totalCents > 0);

describe('the prices of several captures', () => {
  test('add up to the captured amount, and are never negative', () => {
    fc.assert(
      fc.property(taken, ({ totalCents, ...hold }) => {
        const prices = pricesInProportion(payment({ ...hold, totalCents: hold.authorizedCents }), totalCents);
        expect(prices.subtotalCents + prices.taxCents - prices.discountCents).toBe(totalCents);
        for (const part of Object.values(prices)) expect(part).toBeGreaterThanOrEqual(0);
      }),
    );
  });

  test('equal the prices of the hold once everything is captured', () => {
    fc.assert(
      fc.property(taken, (hold) => {
        const { authorizedCents, subtotalCents, taxCents, discountCents } = hold;
        const all = pricesInProportion(payment({ ...hold, totalCents: authorizedCents }), authorizedCents);
        expect(all).toEqual({ totalCents: authorizedCents, subtotalCents, taxCents, discountCents });
      }),
    );
  });
});

describe('the captures of a payment', () => {
  const single = payment({
    ...{ status: 'succeeded', captureMethod: 'manual', authorizedCents: 1_000, totalCents: 600 },
    ...{ providerIntentId: 'ORDER', providerPaymentId: 'FIRST', refundedCents: 100, refundingCents: 50 },
  });
  const captures = capturesOfNext(single, [
    { captureId: 'FIRST', amountCents: 600 },
    { captureId: 'SECOND', amountCents: 300 },
  ]);
  const several = { ...single, totalCents: 900, captures };

  test('include the refunded amount of each capture', () => {
    expect(captures).toEqual([
      { id: 'FIRST', amountCents: 600, returnedCents: 150 },
      { id: 'SECOND', amountCents: 300, returnedCents: 0 },
    ]);
    expect(moneyAccount(several)).toMatchObject({ captured: 900, refundable: 750 });
    const third = [...captures.map(({ id, amountCents }) => ({ captureId: id, amountCents }))];
    expect(capturesOfNext(several, third)).toEqual(captures);
  });

  test('are refunded from the capture with the largest refundable amount', () => {
    expect(captureToRefund(several, 450)).toBe('FIRST');
    expect(() => captureToRefund(several, 451)).toThrow(
      expect.objectContaining({
        code: 'INVALID_STATE',
        details: {
          ...{ payment_id: several.id, refundable_cents: 750 },
          captures: [{ refundable_cents: 450 }, { refundable_cents: 300 }],
        },
      }),
    );
    expect(captureToRefund(single, 450)).toBeUndefined();
  });

  test.each([
    [{ id: 'FIRST', amountCents: 600 }, 'known'],
    [{ id: 'FIRST', amountCents: 500 }, 'other amount'],
    [{ id: 'THIRD', amountCents: 600 }, 'unknown'],
  ] as const)('classify the event of a capture %j as %s', (object, news) => {
    expect(captureNews(several, { intentId: 'ORDER', ...object })).toBe(news);
  });

  test('are not searched for the event of an intent or of the only capture', () => {
    expect(captureNews(several, { id: 'ORDER', intentId: undefined, amountCents: 900 })).toBeUndefined();
    expect(captureNews(single, { id: 'FIRST', intentId: 'ORDER', amountCents: 600 })).toBeUndefined();
    expect(captureNews(single, { id: 'SECOND', intentId: 'ORDER', amountCents: 300 })).toBe('unknown');
  });
});
