import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, instant, iso } from '../../shared/core/time.ts';
import { periodAt, periodStart, type Schedule } from '../../shared/subscriptions/billing/periods.ts';
import { oracleStart } from '../builders/calendar-oracle.ts';

const schedule = (anchor: string, billingInterval: Schedule['billingInterval'], intervalMultiplier = 1): Schedule => ({
  anchor,
  billingInterval,
  intervalMultiplier,
});

const starts = (of: Schedule, ...periods: number[]) =>
  periods.map((period) => iso(periodStart(of, period)).slice(0, 10));

describe('the billing calendar of a subscription', () => {
  test('uses the last day of shorter months, then returns to the anchor’s day', () => {
    expect(starts(schedule('2026-01-31T10:00:00.000Z', 'monthly'), 0, 1, 2, 3, 12, 13)).toEqual([
      '2026-01-31',
      '2026-02-28',
      '2026-03-31',
      '2026-04-30',
      '2027-01-31',
      '2027-02-28',
    ]);
    expect(starts(schedule('2028-01-31T10:00:00.000Z', 'monthly'), 1, 2)).toEqual(['2028-02-29', '2028-03-31']);
  });

  test('moves a 29 February to the 28th, and back in leap years', () => {
    expect(starts(schedule('2028-02-29T00:00:00.000Z', 'yearly'), 1, 2, 3, 4)).toEqual([
      '2029-02-28',
      '2030-02-28',
      '2031-02-28',
      '2032-02-29',
    ]);
  });

  test('counts a quarter as three months, also across the end of a year', () => {
    expect(starts(schedule('2026-11-30T00:00:00.000Z', 'quarterly'), 1, 2, 3)).toEqual([
      '2027-02-28',
      '2027-05-30',
      '2027-08-30',
    ]);
  });

  test.each([
    ['daily', 2, ['2026-02-01', '2026-02-03']],
    ['daily', 5, ['2026-02-04', '2026-02-09']],
    ['weekly', 2, ['2026-02-13', '2026-02-27']],
    ['monthly', 2, ['2026-03-30', '2026-05-30']],
    ['monthly', 5, ['2026-06-30', '2026-11-30']],
    ['quarterly', 2, ['2026-07-30', '2027-01-30']],
    ['yearly', 2, ['2028-01-30', '2030-01-30']],
    ['yearly', 5, ['2031-01-30', '2036-01-30']],
  ] as const)('counts periods of %s × %i', (interval, multiplier, expected) => {
    expect(starts(schedule('2026-01-30T00:00:00.000Z', interval, multiplier), 1, 2)).toEqual(expected);
  });

  test('keeps the time of day, to the millisecond', () => {
    const of = schedule('2026-01-31T23:59:59.999Z', 'monthly');
    expect(iso(periodStart(of, 1))).toBe('2026-02-28T23:59:59.999Z');
  });

  const anySchedule = fc.record({
    anchor: fc.integer({ min: instant('2020-01-01T00:00:00.000Z'), max: instant('2040-12-31T23:59:59.999Z') }).map(iso),
    billingInterval: fc.constantFrom<Schedule['billingInterval']>('daily', 'weekly', 'monthly', 'quarterly', 'yearly'),
    intervalMultiplier: fc.integer({ min: 1, max: 100 }),
  });

  test('equals an independent calculation', () => {
    fc.assert(
      fc.property(anySchedule, fc.integer({ min: 0, max: 70 }), (of, period) => {
        const { anchor, billingInterval: interval, intervalMultiplier: multiplier } = of;
        expect(iso(periodStart(of, period))).toBe(oracleStart(anchor, { interval, multiplier }, period));
      }),
      { numRuns: 2_000 },
    );
  });

  test('assigns every moment to exactly one period', () => {
    fc.assert(
      fc.property(anySchedule, fc.integer({ min: -1_000 * DAY_MS, max: 8_000 * DAY_MS }), (of, after) => {
        const at = instant(of.anchor) + after;
        const period = periodAt(of, at);
        expect(periodStart(of, period)).toBeLessThanOrEqual(at);
        expect(periodStart(of, period + 1)).toBeGreaterThan(at);
      }),
      { numRuns: 1_000 },
    );
  });

  test.each([
    ['2026-08-31T23:59:59.999Z', 1],
    ['2026-09-01T00:00:00.000Z', 2],
    ['2026-06-30T23:59:59.999Z', -1],
    ['2026-07-01T00:00:00.000Z', 0],
    ['2027-02-28T23:59:59.999Z', 7],
    ['2027-03-01T00:00:00.000Z', 8],
  ])('counts long and short months as whole periods, so that %s lies in period %i', (at, period) => {
    expect(periodAt(schedule('2026-07-01T00:00:00.000Z', 'monthly'), instant(at))).toBe(period);
  });
});
