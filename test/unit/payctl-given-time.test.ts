import { describe, expect, test } from 'vitest';
import { parseTime } from '../../infra/payctl/compare/given-time.ts';

describe('parseTime', () => {
  test.each([
    ['2026-11-01', '2026-11-01T00:00:00.000Z'],
    ['2026-11-01T10:00Z', '2026-11-01T10:00:00.000Z'],
    ['2026-11-01T10:00:00.5Z', '2026-11-01T10:00:00.500Z'],
    ['2026-11-01T10:00:00-05:00', '2026-11-01T15:00:00.000Z'],
  ])('reads %s as %s', (given, time) => {
    expect(parseTime(given)).toBe(time);
  });

  test.each(['2026-11-01T10:00:00', '2026-11-01 10:00', '8', '2026', '2026-13-01', 'Nov 1 2026', 'yesterday', ''])(
    'refuses %j, which is not a time or has no time zone',
    (given) => {
      expect(() => parseTime(given)).toThrow('is not a time: use 2026-11-01 or 2026-11-01T10:00:00Z');
    },
  );
});
