import { describe, expect, test } from 'vitest';
import { watchEmptiness, watchGroups } from '../../infra/local/messaging/fair-turns.ts';

describe('a fair queue', () => {
  test('lets a group take a place if the group leaves at least as many places free', () => {
    const groups = watchGroups();
    let free = 10;
    while (!groups.busy(free).includes('slow')) {
      groups.begin(['slow']);
      free -= 1;
    }
    expect(free).toBe(5);
    // Each further group gets half of the free places, so that a group without a place always finds one.
    groups.begin(['other', 'other', 'other']);
    expect(groups.busy(2)).toEqual(['slow', 'other']);
    groups.end(['other', 'other']);
    expect(groups.busy(4)).toEqual(['slow']);
  });

  test('ignores messages without a group', () => {
    const groups = watchGroups();
    groups.begin(['', '', '']);
    expect(groups.busy(0)).toEqual([]);
  });
});

describe('a remembered empty queue', () => {
  test('is valid until a message arrives or becomes due, or a busy group is free', () => {
    const emptiness = watchEmptiness();
    expect(emptiness.holds([], 0)).toBe(false);
    emptiness.found(['slow'], 100);
    expect(emptiness.holds(['slow'], 99)).toBe(true);
    expect(emptiness.holds(['slow', 'other'], 99)).toBe(true);
    expect(emptiness.holds([], 99)).toBe(false);
    expect(emptiness.holds(['slow'], 100)).toBe(false);
  });

  test('stays valid while a busy group grows, and expires after any other change', () => {
    const emptiness = watchEmptiness();
    const stillHolds = (group: string, visibleAt: number): boolean => {
      emptiness.found(['slow'], 100);
      emptiness.arrived(group, visibleAt, 10);
      return emptiness.holds(['slow'], 40);
    };
    expect(stillHolds('slow', 10)).toBe(true);
    expect(stillHolds('other', 10)).toBe(false);
    expect(stillHolds('', 10)).toBe(false);
    expect(stillHolds('other', 41)).toBe(true);
    expect(stillHolds('other', 40)).toBe(false);
    emptiness.found([], 100);
    emptiness.forget();
    expect(emptiness.holds([], 0)).toBe(false);
  });
});
