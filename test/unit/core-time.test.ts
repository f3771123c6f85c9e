import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, epochSeconds, instant, iso, utcDay } from '../../shared/core/time.ts';

const moment = fc.integer({ min: 0, max: Date.parse('2999-12-31T23:59:59.999Z') });

describe('a point in time', () => {
  test('is the same to the millisecond after a conversion to text and back', () => {
    fc.assert(fc.property(moment, (at) => instant(iso(at)) === at));
  });

  test('sorts correctly as text', () => {
    fc.assert(fc.property(moment, moment, (one, other) => iso(one) < iso(other) === one < other));
  });

  test('is converted to whole seconds, rounded down', () => {
    expect([0, 999, 1_000, 1_999].map(epochSeconds)).toEqual([0, 0, 1, 1]);
  });

  test('has its day in UTC', () => {
    expect(utcDay(iso(Date.parse('2026-03-10T23:59:59.999Z')))).toBe('2026-03-10');
    expect(utcDay(iso(Date.parse('2026-03-10T23:59:59.999-03:00')))).toBe('2026-03-11');
    expect(DAY_MS).toBe(86_400_000);
  });
});
