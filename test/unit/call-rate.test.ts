import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import type { Table } from '../../shared/platform/table.ts';
import { type CallLimit, openCallRate } from '../../shared/providers/call-rate.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

const SLOT = 'provider_a';
const RATE: CallLimit = { callsPerSecond: 100, burst: 50 };

/** A clock that moves only by `pass` and to the ends of sleeps. It wakes sleepers in order. */
const simulatedTime = () => {
  let at = NOON;
  const sleepers: { readonly until: number; readonly wake: () => void }[] = [];
  const letWork = async () => {
    for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  };
  return {
    now: () => at,
    pass: (ms: number): void => {
      at += ms;
    },
    sleep: (ms: number): Promise<void> =>
      new Promise((wake) => {
        sleepers.push({ until: at + ms, wake });
      }),
    runUntil: async (end: number): Promise<void> => {
      for (;;) {
        await letWork();
        sleepers.sort((one, other) => one.until - other.until);
        const next = sleepers.shift();
        if (!next || next.until > end) return;
        at = Math.max(at, next.until);
        next.wake();
      }
    },
  };
};

/** A table that counts its writes. */
const countedTable = (now: () => number) => {
  const { table } = memoryTable({ now });
  let writes = 0;
  const update: Table['update'] = (...args) => {
    writes += 1;
    return table.update(...args);
  };
  return { table: { ...table, update }, writes: () => writes };
};

/** Runs instances that repeatedly do work with two calls each. @returns the times of the calls */
const work = async (
  limit: CallLimit,
  { instances, workMs, forMs }: { readonly instances: number; readonly workMs: number; readonly forMs: number },
) => {
  const time = simulatedTime();
  const { table, writes } = countedTable(time.now);
  const calls: number[] = [];
  const end = NOON + forMs;
  const instance = async () => {
    const rate = openCallRate({ table, now: time.now, sleep: time.sleep, limitOf: () => limit });
    while (time.now() <= end) {
      const waitMs = await rate.admit(SLOT);
      if (waitMs === undefined) {
        for (const _ of ['create', 'confirm']) {
          rate.count(SLOT);
          calls.push(time.now());
        }
      }
      await time.sleep(waitMs ?? workMs);
    }
  };
  const running = Array.from({ length: instances }, instance);
  await time.runUntil(end);
  expect(running).toHaveLength(instances);
  return { calls, writes: writes() };
};

describe('the rate limit of provider calls in due work', () => {
  test('is exceeded by at most one block and one call per instance, for any number and speed of instances', async () => {
    const limits = fc.record({
      callsPerSecond: fc.integer({ min: 1, max: 200 }),
      burst: fc.integer({ min: 1, max: 200 }),
    });
    const load = fc.record({
      instances: fc.integer({ min: 1, max: 40 }),
      workMs: fc.integer({ min: 10, max: 2_000 }),
      forMs: fc.constant(20 * SECOND_MS),
    });
    await fc.assert(
      fc.asyncProperty(limits, load, async (limit, asked) => {
        const { calls } = await work(limit, asked);
        const block = Math.max(1, Math.round(limit.callsPerSecond / 5)) + 1;
        for (const [index, at] of calls.entries()) {
          const seconds = (at - NOON) / SECOND_MS;
          // The second call may exceed the block by one. The instance then counts that call in its next block.
          expect(index + 1).toBeLessThanOrEqual(limit.burst + limit.callsPerSecond * seconds + block + asked.instances);
        }
      }),
      { numRuns: 40 },
    );
  });

  test('is reached by sixty instances, with more than fifteen calls per write', async () => {
    const { calls, writes } = await work(RATE, { instances: 60, workMs: SECOND_MS, forMs: 10 * MINUTE_MS });
    const perSecond = calls.filter((at) => at >= NOON + MINUTE_MS).length / (9 * 60);
    expect(perSecond).toBeGreaterThan(97);
    expect(perSecond).toBeLessThanOrEqual(102);
    expect(calls.length / writes).toBeGreaterThan(15);
  });

  const single = (limit: CallLimit, table?: Table) => {
    const time = simulatedTime();
    const counted = countedTable(time.now);
    const slept: number[] = [];
    const sleep = async (ms: number) => {
      slept.push(ms);
      time.pass(ms);
    };
    const open = () => openCallRate({ table: table ?? counted.table, now: time.now, sleep, limitOf: () => limit });
    return { ...time, open, slept, writes: counted.writes };
  };
  const reserveAll = async (rates: readonly ReturnType<typeof openCallRate>[]) => {
    const waits: (number | undefined)[] = [];
    for (const rate of rates) waits.push(await rate.admit(SLOT));
    return waits;
  };

  test('holds an instance until its block begins, and lets the burst through immediately', async () => {
    const { open, slept } = single(RATE);
    await reserveAll([open(), open(), open(), open()]);
    // Blocks have 20 calls. The burst of 50 covers the starts of three blocks, and the fourth starts 100 ms later.
    expect(slept).toEqual([100]);
  });

  test('reserves nothing if the wait would exceed 10 s, and returns the time until a retry', async () => {
    const { open, pass, slept } = single({ callsPerSecond: 1, burst: 1 });
    const one = open();
    await one.admit(SLOT);
    for (let call = 0; call < 61; call += 1) one.count(SLOT);
    pass(2 * SECOND_MS);
    // The next block pays for the debt of 60 calls, so the other instances wait for a minute.
    expect(await one.admit(SLOT)).toBeUndefined();
    const [other, third] = await reserveAll([open(), open()]);
    expect(other).toBeGreaterThan(50 * SECOND_MS);
    expect(third).toBe(other);
    pass(other ?? 0);
    expect(await reserveAll([open()])).toEqual([undefined]);
    expect(slept.every((ms) => ms <= 10 * SECOND_MS)).toBe(true);
  });

  test('reserves another block only when the instance’s block is used up or a minute old', async () => {
    const { open, pass, writes } = single(RATE);
    const rate = open();
    await rate.admit(SLOT);
    const first = writes();
    for (let call = 0; call < 19; call += 1) {
      rate.count(SLOT);
      await rate.admit(SLOT);
    }
    expect(writes()).toBe(first);
    pass(MINUTE_MS + SECOND_MS);
    await rate.admit(SLOT);
    expect(writes()).toBeGreaterThan(first);
  });

  test('lets only the burst through after a long pause', async () => {
    const { open, pass, slept } = single(RATE);
    await reserveAll([open()]);
    pass(HOUR_MS);
    await reserveAll(Array.from({ length: 4 }, open));
    expect(slept).toEqual([100]);
  });

  test('needs no table when it is off, and fails with the table when it is on', async () => {
    const fails = { ...memoryTable({ now: () => NOON }).table, update: () => Promise.reject(new Error('throttled')) };
    expect(await single({ callsPerSecond: 0, burst: 1 }, fails).open().admit(SLOT)).toBeUndefined();
    await expect(single(RATE, fails).open().admit(SLOT)).rejects.toThrow('throttled');
  });
});
