import { describe, expect, test } from 'vitest';
import { runSimulation } from './simulate.ts';

const SLOW_MS = 300_000;
/** The maximum number of operations after shrinking. A median run has 25 operations. */
const MOST_OPERATIONS_LEFT = 6;

describe('a planted bug', () => {
  test(
    'prints the smallest history that breaks the same invariant, and the command that repeats it',
    async () => {
      const name = 'late-event-moves-backward';
      const { code, out } = await runSimulation('--seeds', '40', '--bug', name);
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
