import { describe, expect, test } from 'vitest';
import { DAY, iso, MINUTE } from '../../shared/core/time.ts';
import { isStuck, type LookupResult } from '../../shared/payments/record/due.ts';
import type { PaymentStatus } from '../../shared/payments/record/payment.ts';
import { NOON, payment } from '../builders/payment.ts';

describe('a payment', () => {
  test.each<[PaymentStatus, LookupResult, number, boolean]>([
    ['processing', 'outcome_unknown', 29 * MINUTE, false],
    ['processing', 'outcome_unknown', 30 * MINUTE, true],
    ['processing', 'still_under_way', 6 * DAY, false],
    ['processing', 'still_under_way', 7 * DAY, true],
    ['pending', 'outcome_unknown', DAY, false],
    ['created', 'outcome_unknown', DAY, false],
  ])('that is %s, where %s, %i ms after its claim: stuck is %s', (...[status, looked, after, stuck]) => {
    const claimed = payment({ status, createdAt: iso(NOON - DAY), claimedAt: iso(NOON) });
    expect(isStuck(claimed, looked, NOON + after)).toBe(stuck);
  });

  test('that is being created counts from its creation', () => {
    const creating = { ...payment(), status: 'creating' as const, createdAt: iso(NOON), claimedAt: undefined };
    expect(isStuck(creating, 'outcome_unknown', NOON + 29 * MINUTE)).toBe(false);
    expect(isStuck(creating, 'outcome_unknown', NOON + 30 * MINUTE)).toBe(true);
  });
});
