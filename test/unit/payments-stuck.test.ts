import { describe, expect, test } from 'vitest';
import { type LookResult, nextLook } from '../../shared/calls/call-times.ts';
import { DAY_MS, iso, MINUTE_MS } from '../../shared/core/time.ts';
import type { PaymentStatus } from '../../shared/payments/payment.ts';
import { isStuck, nextPaymentDue, warnIfStuck } from '../../shared/payments/payment-due.ts';
import { logLines } from '../builders/log-lines.ts';
import { NOON, payment } from '../builders/payment.ts';

describe('the check for stuck payments', () => {
  test.each<[PaymentStatus, LookResult, number, boolean]>([
    ['processing', 'outcome_unknown', 29 * MINUTE_MS, false],
    ['processing', 'outcome_unknown', 30 * MINUTE_MS, true],
    ['processing', 'still_under_way', 6 * DAY_MS, false],
    ['processing', 'still_under_way', 7 * DAY_MS, true],
    ['pending', 'outcome_unknown', DAY_MS, false],
    ['created', 'outcome_unknown', DAY_MS, false],
  ])(
    'decides for the status %s and the lookup result %s, %i ms after the claim; stuck: %s',
    (...[status, looked, after, stuck]) => {
      const claimed = payment({ status, createdAt: iso(NOON - DAY_MS), claimedAt: iso(NOON) });
      expect(isStuck(claimed, looked, NOON + after)).toBe(stuck);
    },
  );

  test('counts from the creation if the payment is still being created', () => {
    const creating = { ...payment(), status: 'creating' as const, createdAt: iso(NOON), claimedAt: undefined };
    expect(isStuck(creating, 'outcome_unknown', NOON + 29 * MINUTE_MS)).toBe(false);
    expect(isStuck(creating, 'outcome_unknown', NOON + 30 * MINUTE_MS)).toBe(true);
  });

  test('logs a warning about a stuck payment, with the lookup’s result', () => {
    const { log, lines } = logLines();
    const claimed = payment({ status: 'processing', claimedAt: iso(NOON) });
    warnIfStuck({ log, now: () => NOON + 29 * MINUTE_MS }, claimed, 'outcome_unknown');
    expect(lines).toEqual([]);
    warnIfStuck({ log, now: () => NOON + 30 * MINUTE_MS }, claimed, 'outcome_unknown');
    expect(lines).toMatchObject([
      { fields: { payment_id: claimed.id, provider: 'provider_a', reason: 'outcome_unknown' } },
    ]);
  });
});

describe('the next lookup of a payment', () => {
  test.each([
    [0, NOON, 1, 5 * MINUTE_MS],
    [1, NOON + 5 * MINUTE_MS, 2, 30 * MINUTE_MS],
    [0, NOON + 5 * MINUTE_MS, 2, 30 * MINUTE_MS],
    [0, NOON + DAY_MS, 6, 2 * DAY_MS],
  ])('is the first planned lookup after lookup %i that is not in the past', (...[step, now, next, after]) => {
    expect(nextLook(NOON, step, now)).toEqual({ step: next, at: NOON + after });
  });

  test('is a minute after the payment, or at its planned time, if a method must still be saved', () => {
    const wanted = { status: 'succeeded', setupFutureUsage: 'off_session', providerCustomerId: 'cus_1' } as const;
    expect(nextPaymentDue(payment(wanted))).toBe(iso(NOON + MINUTE_MS));
    expect(nextPaymentDue(payment({ ...wanted, reconcileAt: iso(NOON + 5) }))).toBe(iso(NOON + 5));
    expect(nextPaymentDue(payment({ ...wanted, methodNotKept: true }))).toBeUndefined();
  });

  test('is the earliest of the payment’s due times', () => {
    const unclear = payment({ status: 'processing', reconcileAt: iso(NOON + 2 * DAY_MS), clientSecret: 'pi_1_secret' });
    expect(nextPaymentDue(unclear)).toBe(iso(NOON + DAY_MS));
    expect(nextPaymentDue({ ...unclear, reconcileAt: iso(NOON + 5) })).toBe(iso(NOON + 5));
  });
});
