import { describe, expect, test } from 'vitest';
import { allows, hasArrow, type Transitions } from '../../shared/core/states.ts';
import { type Committed, changeRecord, inOrder } from '../../shared/platform/change.ts';

interface Counter {
  readonly version: number;
}

/** A store whose first commits each lose to a concurrent version. */
const overtaken = (times: number) => {
  let stored: Counter = { version: 0 };
  let left = times;
  const commit = async (was: Counter, next: Counter): Promise<Committed<Counter>> => {
    if (left > 0) {
      left -= 1;
      stored = { version: stored.version + 1 };
    }
    if (was.version !== stored.version) return { ok: false, found: stored };
    stored = next;
    return { ok: true, record: next };
  };
  return { commit, start: stored };
};
const countOn = ({ version }: Counter): Counter => ({ version: version + 1 });

describe('a change of a record', () => {
  test('is decided again on the version of each concurrent commit', async () => {
    const { commit, start } = overtaken(9);
    const changed = await changeRecord(commit, start, countOn);
    expect(changed).toEqual({ record: { version: 10 }, was: { version: 9 }, isOurs: true });
  });

  test('fails after ten concurrent commits', async () => {
    const { commit, start } = overtaken(10);
    await expect(changeRecord(commit, start, countOn)).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  });

  test.each([
    ['undefined', () => undefined],
    ['the same record', (current: Counter) => current],
  ])('commits nothing if the decision is %s', async (_, decide) => {
    const never = () => Promise.reject(new Error('nothing is to be written'));
    const start = { version: 3 };
    expect(await changeRecord(never, start, decide)).toEqual({ record: start, was: start, isOurs: false });
  });

  test('stops if another condition of the transaction fails', async () => {
    const start = { version: 3 };
    const unmet = async (): Promise<Committed<Counter>> => ({ ok: false, found: start, unmet: true });
    expect(await changeRecord(unmet, start, countOn)).toMatchObject({ record: start, isOurs: false, unmet: true });
  });

  test('fails if the record has been removed', async () => {
    const gone = async (): Promise<Committed<Counter>> => ({ ok: false, found: undefined });
    await expect(changeRecord(gone, { version: 3 }, countOn)).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
  });
});

describe('the next version of a record', () => {
  const EARLIER = '2026-01-05T10:00:00.000Z';
  const AT = '2026-01-05T10:00:00.001Z';
  const NEXT = '2026-01-05T10:00:00.002Z';

  test.each([NEXT, AT])('has the clock’s time if it is not before the previous time: %s', (updatedAt) => {
    expect(inOrder({ updatedAt: AT }, { updatedAt })).toEqual({ updatedAt });
  });

  test('is later than the previous version if the clock is behind', () => {
    expect(inOrder({ updatedAt: AT }, { updatedAt: EARLIER })).toEqual({ updatedAt: NEXT });
  });
});

describe('a transition table', () => {
  const table: Transitions<'open' | 'shut', 'close'> = { open: { close: ['shut'] }, shut: {} };

  test('allows its transitions, and a change that keeps the state', () => {
    expect(allows(table, { from: 'open', to: 'shut', cause: 'close' })).toBe(true);
    expect(allows(table, { from: 'shut', to: 'shut', cause: 'close' })).toBe(true);
    expect(allows(table, { from: 'shut', to: 'open', cause: 'close' })).toBe(false);
  });

  test('allows a transition from a state to itself only if it is declared', () => {
    expect(hasArrow(table, { from: 'shut', to: 'shut', cause: 'close' })).toBe(false);
  });
});
