import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_TRIES, processBatch } from '../../infra/local/dynamodb/stream-batches.ts';

/** Runs a batch with items that always fail, reported by a throw or by their position. */
const runWith = async (items: readonly number[], bad: ReadonlySet<number>, how: 'throws' | 'reports') => {
  const tries = new Map<number, number>();
  const done: number[] = [];
  const advanced: number[] = [];
  const givenUp: number[] = [];
  await processBatch(items, {
    run: async (batch) => {
      for (const item of batch) tries.set(item, (tries.get(item) ?? 0) + 1);
      const failed = batch.findIndex((item) => bad.has(item));
      if (failed >= 0 && how === 'throws') throw new Error('no');
      done.push(...(failed < 0 ? batch : batch.slice(0, failed)));
      return failed < 0 ? undefined : failed;
    },
    advance: (item) => advanced.push(item),
    giveUp: async (item) => void givenUp.push(item),
    stopped: () => false,
    pauseMs: () => 0,
  });
  return { tries, done, advanced, givenUp };
};

describe('a batch of the stream', () => {
  test('handles each good item in order, and gives up only on the bad items', async () => {
    const batches = fc.integer({ min: 1, max: 30 });
    await fc.assert(
      fc.asyncProperty(
        batches,
        fc.array(fc.nat(29), { maxLength: 3 }),
        fc.constantFrom('throws' as const, 'reports' as const),
        async (size, badItems, how) => {
          const items = Array.from({ length: size }, (_, index) => index);
          const bad = new Set(badItems.filter((item) => item < size));
          const { tries, done, advanced, givenUp } = await runWith(items, bad, how);
          expect(done).toEqual(items.filter((item) => !bad.has(item)));
          expect(givenUp).toEqual(items.filter((item) => bad.has(item)));
          expect(advanced).toEqual(advanced.toSorted((a, b) => a - b));
          expect(advanced.at(-1)).toBe(size - 1);
          for (const item of givenUp) expect(tries.get(item)).toBeGreaterThanOrEqual(MAX_TRIES);
        },
      ),
      { numRuns: 40 },
    );
  });

  test('tries a single bad item ten times', async () => {
    const { tries } = await runWith([1], new Set([1]), 'throws');
    expect(tries.get(1)).toBe(MAX_TRIES);
  });

  test('stops between attempts when the stream is stopped, and leaves the remaining items for later', async () => {
    let runs = 0;
    const advanced: number[] = [];
    await processBatch([1, 2, 3, 4], {
      run: async () => {
        runs += 1;
        throw new Error('no');
      },
      advance: (item) => advanced.push(item),
      giveUp: async () => expect.unreachable(),
      stopped: () => runs === 2,
      pauseMs: () => 0,
    });
    expect(runs).toBe(2);
    expect(advanced).toEqual([]);
  });
});
