import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';

/** The simulation replaces the clock of its process, so it runs in separate processes. */
const simulate = async (...options: readonly string[]): Promise<{ readonly code: number; readonly out: string }> => {
  try {
    const { stdout } = await promisify(execFile)(execPath, ['test/simulation/run.ts', ...options], {
      maxBuffer: 2 ** 28,
    });
    return { code: 0, out: stdout };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, out: `${stdout}${stderr}` };
  }
};

/** Half of them in each of two processes. */
const SEEDS = { short: 20, long: 20_000 } as const;
const LONGEST_MS = 6 * 3_600_000;
const SLOW_MS = 300_000;
/** A planted bug needs no more than this after shrinking; a run has 25 by the median. */
const MOST_OPERATIONS_LEFT = 6;

/** The numbers of operations, kills and faults, and the time that they took. */
const summaryOf = (out: string): string => out.replaceAll(/^seed .*\n/gm, '');

const digestsOf = (out: string): readonly string[] => out.match(/^seed \d+: [0-9a-f]{64}$/gm) ?? [];

describe('the simulation of the whole service', () => {
  test(
    'finds no broken sentence under faults, kills and any order of calls, and repeats the history of a seed',
    async () => {
      const seeds = SEEDS[inject('scale') === 1 ? 'short' : 'long'];
      const sites = seeds === SEEDS.long ? ['--sites'] : [];
      const { code, out } = await simulate('--seeds', String(seeds), '--digests', ...sites);
      expect(code, out.slice(-4_000)).toBe(0);
      process.stdout.write(summaryOf(out));
      expect(out).toMatch(new RegExp(`^${seeds} histories in`, 'm'));
      // Two seeds after others in two processes, and again together in one.
      const again = digestsOf((await simulate('--from', '7', '--seeds', '2', '--jobs', '1', '--digests')).out);
      expect(again).toHaveLength(2);
      expect(digestsOf(out).slice(6, 8)).toEqual(again);
    },
    LONGEST_MS,
  );

  test(
    'prints the smallest history that breaks the same sentence, and the command that repeats it',
    async () => {
      const name = 'late-event-moves-backward';
      const { code, out } = await simulate('--seeds', '40', '--bug', name);
      const [, found, timeline = '', again] =
        /^seed \d+ failed:\n {2}([^:\n]+):.*?(\nthe smallest.*)\n(again: [^\n]*)/ms.exec(out) ?? [];
      expect(code).toBe(1);
      expect(timeline).toContain(`\n  ${found}: `);
      expect(timeline.match(/ operation \d+\.\d+/g)?.length ?? 0).toBeLessThanOrEqual(MOST_OPERATIONS_LEFT);
      expect(again).toMatch(new RegExp(`^again: npm run simulate -- --seed \\d+ --trace.* --bug ${name}$`));
    },
    SLOW_MS,
  );
});
