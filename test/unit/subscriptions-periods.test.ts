import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, type Instant, iso } from '../../shared/core/time.ts';
import {
  MAX_MISSED_PERIODS,
  missedPeriods,
  openNextPeriod,
  startFirstPeriod,
} from '../../shared/subscriptions/billing/periods.ts';
import { recordPaid } from '../../shared/subscriptions/billing/subscription-charge.ts';
import type { Subscription } from '../../shared/subscriptions/record/subscription.ts';
import { NOON } from '../builders/payment.ts';
import { DUNNING, subscription } from '../builders/subscription.ts';

const daily = (): Subscription =>
  recordPaid(startFirstPeriod(subscription({ billingInterval: 'daily' }), 'create', NOON), NOON);

/** Bills and pays periods until none is due. @returns the starts of the billed periods */
const catchUp = (running: Subscription, now: Instant): string[] => {
  const starts: string[] = [];
  let current = running;
  while (current.currentPeriodEnd <= iso(now)) {
    current = recordPaid(openNextPeriod(current, { now, policy: DUNNING }), now);
    starts.push(current.currentPeriodStart);
  }
  return starts;
};

describe('the billing after an outage', () => {
  test('bills each missed period, one at a time', () => {
    expect(catchUp(daily(), NOON + 3 * DAY_MS + HOUR_MS)).toEqual([1, 2, 3].map((day) => iso(NOON + day * DAY_MS)));
  });

  test('bills at most the last twelve missed periods, even of a year of daily periods', () => {
    const late = NOON + 365 * DAY_MS + HOUR_MS;
    expect(missedPeriods(daily(), late)).toBe(365 - MAX_MISSED_PERIODS);
    const starts = catchUp(daily(), late);
    expect(starts).toHaveLength(MAX_MISSED_PERIODS);
    expect([starts[0], starts.at(-1)]).toEqual([
      iso(NOON + (365 - MAX_MISSED_PERIODS + 1) * DAY_MS),
      iso(NOON + 365 * DAY_MS),
    ]);
  });
});

describe('a period that begins now', () => {
  const LATE = NOON + 100 * DAY_MS + HOUR_MS;
  /** A subscription with its first month paid at noon, and then paused or canceled. */
  const ended = (fields: Partial<Subscription>): Subscription => ({
    ...recordPaid(startFirstPeriod(subscription(), 'create', NOON), NOON),
    ...{ canceledAt: iso(NOON + DAY_MS), ...fields },
  });
  const STARTS = [
    { start: 'a creation', cause: 'create', before: subscription({ createdAt: iso(LATE) }), reason: 'created' },
    { start: 'a reactivation', cause: 'reactivate', before: ended({ status: 'canceled' }), reason: 'reactivated' },
    {
      start: 'a resumption after the paid time',
      cause: 'resume',
      before: ended({ status: 'paused' }),
      reason: 'resumed',
    },
  ] as const;
  const calendar = { anchor: iso(LATE), period: 0 };
  const month = { start: iso(LATE), end: '2026-07-18T13:00:00.000Z' };

  test.each(STARTS)('starts a new calendar on $start without a charge', ({ cause, before, reason }) => {
    const next = startFirstPeriod({ ...before, totalCents: 0, subtotalCents: 0 }, cause, LATE);
    expect(next).toMatchObject({ status: 'active', reason, ...calendar, canceledAt: undefined, charge: undefined });
    expect(next).toMatchObject({ currentPeriodStart: month.start, currentPeriodEnd: month.end, paidUntil: month.end });
    expect(next.activeSince).toBe(before.activeSince ?? month.start);
  });

  test.each(STARTS)('starts the same new calendar on $start with a charge', ({ cause, before, reason }) => {
    const opened = startFirstPeriod(before, cause, LATE);
    expect(opened).toEqual({ ...before, charge: expect.anything(), latestPaymentId: opened.charge?.paymentId });
    expect(opened.charge).toMatchObject({ cause, ...calendar, ...month });
    const paid = recordPaid(opened, LATE + HOUR_MS);
    expect(paid).toMatchObject({ status: 'active', reason, ...calendar, paidUntil: month.end });
  });

  test('passes its calendar on to the next period if it costs nothing', () => {
    const free = startFirstPeriod(subscription({ totalCents: 0, subtotalCents: 0 }), 'create', NOON);
    const next = openNextPeriod(free, { now: Date.parse(free.currentPeriodEnd) + HOUR_MS, policy: DUNNING });
    expect(next).toMatchObject({ anchor: iso(NOON), period: 1, reason: 'renewed', charge: undefined });
    expect(next.currentPeriodStart).toBe(free.currentPeriodEnd);
    expect(next.paidUntil).toBe(next.currentPeriodEnd);
  });

  test('keeps a scheduled cancellation after a resume, and clears it after a reactivation', () => {
    const scheduled = { cancelAtPeriodEnd: true, totalCents: 0, subtotalCents: 0 };
    expect(startFirstPeriod(ended({ ...scheduled, status: 'paused' }), 'resume', LATE).cancelAtPeriodEnd).toBe(true);
    expect(startFirstPeriod(ended({ ...scheduled, status: 'canceled' }), 'reactivate', LATE).cancelAtPeriodEnd).toBe(
      false,
    );
  });
});
