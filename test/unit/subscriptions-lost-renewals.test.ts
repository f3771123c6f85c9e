import { describe, expect, test } from 'vitest';
import { iso } from '../../shared/core/time.ts';
import { possiblePayments } from '../../shared/subscriptions/billing/lost-renewals.ts';
import { periodPaymentId } from '../../shared/subscriptions/billing/subscription-charge.ts';
import type { Subscription } from '../../shared/subscriptions/record/subscription.ts';
import { NOON } from '../builders/payment.ts';
import { subscription } from '../builders/subscription.ts';

const start = (month: number): number => Date.UTC(2026, month, 1);
const active = (fields: Partial<Subscription> = {}): Subscription =>
  subscription({ status: 'active', anchor: iso(start(0)), period: 2, ...fields });
const idOf = (month: number, generation: number): string => periodPaymentId(active().id, iso(start(month)), generation);

describe('the possible payments of a subscription since its restored record was written', () => {
  test.each([0, 1, 3])('cover the five generations that begin with the number of lapsed payments: %i', (lapsed) => {
    const found = possiblePayments(active({ lapsed }), start(4));
    for (const month of [2, 3, 4]) {
      const generations = [-1, 0, 1, 2, 3, 4, 5].filter((step) => found.has(idOf(month, lapsed + step)));
      expect([month, generations]).toEqual([month, [0, 1, 2, 3, 4]]);
    }
  });

  test('cover the periods from the record’s period until now', () => {
    const monthsAt = (now: number) =>
      [0, 1, 2, 3, 4, 5].filter((month) => possiblePayments(active(), now).has(idOf(month, 0)));
    expect(monthsAt(start(4) - 1)).toEqual([2, 3]);
    expect(monthsAt(start(4))).toEqual([2, 3, 4]);
  });

  test('include the open charge, even of another period', () => {
    const charge = { paymentId: 'pay_1', start: iso(NOON), cause: 'resume', attempts: 0 } as Subscription['charge'];
    expect(possiblePayments(active({ charge }), start(2)).has(periodPaymentId(active().id, iso(NOON), 0))).toBe(true);
  });

  test.each([
    ['the provider bills', { billingOwner: 'provider' }],
    ['the subscription costs nothing', { totalCents: 0 }],
  ] as const)('are absent if %s', (_, fields) => {
    expect(possiblePayments(active(fields), start(4)).size).toBe(0);
  });
});
