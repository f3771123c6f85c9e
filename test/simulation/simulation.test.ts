import { describe, expect, inject, test } from 'vitest';
import { runSimulation } from './simulate.ts';

/** The number of seeds. Two processes run one half each. */
const SEEDS = { short: 30, long: 20_000 } as const;
const LONGEST_MS = 6 * 3_600_000;

/** The numbers of operations, kills and faults, and the run's duration. */
const summaryOf = (out: string): string => out.replaceAll(/^seed .*\n/gm, '');

const digestsOf = (out: string): readonly string[] => out.match(/^seed \d+: [0-9a-f]{64}$/gm) ?? [];

describe('the simulation of the whole service', () => {
  test(
    'finds no broken invariant under faults, kills and any order of calls, and repeats the history of a seed',
    async () => {
      const seeds = SEEDS[inject('scale') === 1 ? 'short' : 'long'];
      const sites = seeds === SEEDS.long ? ['--sites'] : [];
      const { code, out } = await runSimulation('--seeds', String(seeds), '--digests', ...sites);
      expect(code, out.slice(-4_000)).toBe(0);
      process.stdout.write(summaryOf(out));
      expect(out).toMatch(new RegExp(`^${seeds} histories in`, 'm'));
      // Repeats two seeds of separate processes together in one process.
      const again = digestsOf((await runSimulation('--from', '7', '--seeds', '2', '--jobs', '1', '--digests')).out);
      expect(again).toHaveLength(2);
      expect(digestsOf(out).slice(6, 8)).toEqual(again);
    },
    LONGEST_MS,
  );
});
