import { describe, expect, test } from 'vitest';
import { shrink } from '../simulation/shrink.ts';
import type { RunOptions, RunResult } from '../simulation/simulation.ts';

const PEOPLE = ['ada', 'ben'];
const OPERATIONS = Array.from({ length: 20 }, (_, index) => `operation ${Math.floor(index / 4)}.${index % 4}`);
const EVENTS = ['kill 1', 'delay 2', 'answer lost 3', 'kill 4', 'answer lost 5'];

/** Runs a history that fails if all of these people, operations and events take part. */
const historyThatNeeds = (needed: readonly string[]) => {
  const run = async ({ seed, off = new Set() }: RunOptions): Promise<RunResult> => {
    const happens = (name: string): boolean => !off.has(name) && !off.has(name.replace(/ \d+$/, ''));
    return {
      seed,
      problems: needed.every(happens) ? ['A payment is charged at most once: pay_1'] : [],
      digest: '',
      trace: [],
      timeline: [],
      operations: OPERATIONS.filter(happens).length,
      happened: {
        people: PEOPLE.filter(happens),
        operations: OPERATIONS.filter(happens),
        events: EVENTS.filter(happens),
      },
      history: undefined,
      counts: { steps: 0, kills: 0, delays: 0, faults: {}, reached: [], killedAfter: [] },
    };
  };
  return run;
};

describe('shrinking a failed history', () => {
  test('keeps only the operations, people and faults that the failure needs', async () => {
    const run = historyThatNeeds(['ada', 'operation 1.2', 'operation 4.0', 'answer lost 3']);
    const { result } = await shrink(await run({ seed: 7 }), { seed: 7 }, run);
    expect(result.happened).toEqual({
      people: ['ada'],
      operations: ['operation 1.2', 'operation 4.0'],
      events: ['answer lost 3'],
    });
  });

  test('returns the options that repeat the smaller history', async () => {
    const run = historyThatNeeds(['operation 0.0']);
    const { options, tries } = await shrink(await run({ seed: 7 }), { seed: 7, off: new Set(['ben']) }, run);
    expect((await run(options)).happened.operations).toEqual(['operation 0.0']);
    expect(options.off).toContain('ben');
    expect(tries).toBeLessThan(80);
  });

  test('does not accept another broken invariant as the same failure', async () => {
    const run = historyThatNeeds(['operation 0.0']);
    const other = async (options: RunOptions): Promise<RunResult> => {
      const result = await run(options);
      return result.problems.length > 0 ? result : { ...result, problems: ['The service comes to rest: stuck'] };
    };
    const { result } = await shrink(await other({ seed: 7 }), { seed: 7 }, other);
    expect(result.problems).toEqual(['A payment is charged at most once: pay_1']);
  });
});
