/** @module Any number of concurrent sweeps charge each period once, and charge nothing in a trial or after the end. */

import { expect, test, vi } from 'vitest';
import { type BillingPlan, billByTheClock, type SubscriptionGroup } from './billing-run.ts';

vi.setConfig({ testTimeout: 1_800_000 });

/** In the future, because the clock only moves forward. */
const MONTHS_END = '2127-01-31T10:11:12.345Z';

const someMonths = (daily: number): BillingPlan => ({
  anchors: [MONTHS_END],
  days: 100,
  groups: [
    { interval: 'daily', multiplier: 1, count: daily },
    { interval: 'daily', multiplier: 5, count: 2 },
    { interval: 'daily', multiplier: 1, count: 1, trialDays: 20 },
    { interval: 'daily', multiplier: 2, count: 1, cancelAfter: { days: 20.3, atPeriodEnd: true } },
    { interval: 'daily', multiplier: 2, count: 1, cancelAfter: { days: 20.3, atPeriodEnd: false } },
    { interval: 'weekly', multiplier: 1, count: 1 },
    { interval: 'monthly', multiplier: 1, count: 1 },
    { interval: 'monthly', multiplier: 2, count: 1 },
    { interval: 'quarterly', multiplier: 1, count: 1 },
    { interval: 'yearly', multiplier: 1, count: 1 },
  ],
});

const MULTIPLIERS = [1, 2, 3, 4, 5, 6, 7, 10, 12];
const each = (interval: SubscriptionGroup['interval'], count: number): SubscriptionGroup[] =>
  MULTIPLIERS.map((multiplier) => ({ interval, multiplier, count }));

const A_YEAR: BillingPlan = {
  anchors: [MONTHS_END],
  days: 366,
  groups: [
    ...each('daily', 12),
    { interval: 'daily', multiplier: 1, count: 2, trialDays: 100 },
    { interval: 'daily', multiplier: 3, count: 2, cancelAfter: { days: 200.3, atPeriodEnd: true } },
    { interval: 'daily', multiplier: 3, count: 2, cancelAfter: { days: 200.3, atPeriodEnd: false } },
  ],
};

const TEN_YEARS: BillingPlan = {
  anchors: ['2127-01-31T23:59:59.999Z', '2127-05-30T00:00:00.000Z'],
  days: 3_640.5,
  groups: [...each('weekly', 3), ...each('monthly', 4), ...each('quarterly', 4), ...each('yearly', 4)],
};

test('a subscription is charged once per period over several months', async () => {
  const daily = 19;
  expect(await billByTheClock(someMonths(daily))).toBeGreaterThan(100 * daily);
});

test('a daily subscription is charged once per period for a year, at every multiplier', async () => {
  expect(await billByTheClock(A_YEAR)).toBeGreaterThan(10_000);
});

test('a weekly, monthly, quarterly or yearly subscription is charged once per period for ten years, at every multiplier', async () => {
  expect(await billByTheClock(TEN_YEARS)).toBeGreaterThan(10_000);
});
