import { describe, expect, test } from 'vitest';
import { DAY, HOUR, type Instant, iso } from '../../shared/core/time.ts';
import {
  MAX_MISSED_PERIODS,
  missedPeriods,
  openNextPeriod,
  startFirstPeriod,
} from '../../shared/subscriptions/periods.ts';
import type { Subscription } from '../../shared/subscriptions/subscription.ts';
import { recordPaid } from '../../shared/subscriptions/subscription-charge.ts';
import { NOON } from '../builders/payment.ts';
import { DUNNING, subscription } from '../builders/subscription.ts';

const daily = (): Subscription =>
  recordPaid(startFirstPeriod(subscription({ billingInterval: 'daily' }), 'create', NOON), NOON);

/** Bills, and is paid at once, until nothing more is due. @returns when the billed periods start. */
const catchUp = (running: Subscription, now: Instant): string[] => {
  const starts: string[] = [];
  let current = running;
  while (current.currentPeriodEnd <= iso(now)) {
    current = recordPaid(openNextPeriod(current, { now, policy: DUNNING }), now);
    starts.push(current.currentPeriodStart);
  }
  return starts;
};

describe('after an outage', () => {
  test('each missed period is billed, one at a time', () => {
    expect(catchUp(daily(), NOON + 3 * DAY + HOUR)).toEqual([1, 2, 3].map((day) => iso(NOON + day * DAY)));
  });

  test('at most the last twelve missed periods are billed, so that a year is never charged at once', () => {
    const late = NOON + 365 * DAY + HOUR;
    expect(missedPeriods(daily(), late)).toBe(365 - MAX_MISSED_PERIODS);
    const starts = catchUp(daily(), late);
    expect(starts).toHaveLength(MAX_MISSED_PERIODS);
    expect([starts[0], starts.at(-1)]).toEqual([
      iso(NOON + (365 - MAX_MISSED_PERIODS + 1) * DAY),
      iso(NOON + 365 * DAY),
    ]);
  });
});
