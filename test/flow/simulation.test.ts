import { execFile } from 'node:child_process';
import { execPath } from 'node:process';
import { promisify } from 'node:util';
import { describe, expect, inject, test } from 'vitest';

/** The simulation replaces the clock of its process, so it runs in processes of its own. */
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

const digestsOf = (out: string): readonly string[] => out.match(/^seed \d+: [0-9a-f]{64}$/gm) ?? [];

describe('the simulation of the whole service', () => {
  test('finds no broken sentence under faults, kills and any order of calls', async () => {
    const { code, out } = await simulate('--seeds', String(15 * inject('scale')));
    expect(out).toMatch(/^15\d* seeds/m);
    expect(code, out.slice(-2_000)).toBe(0);
  });

  test('gives the same history for the same seed, whatever ran before', async () => {
    const [alone, after] = await Promise.all([
      simulate('--from', '3', '--seeds', '1', '--digests'),
      simulate('--from', '1', '--seeds', '3', '--digests'),
    ]);
    expect(digestsOf(alone.out)).toHaveLength(1);
    expect(digestsOf(after.out)).toHaveLength(3);
    expect(digestsOf(after.out)[2]).toBe(digestsOf(alone.out)[0]);
  });

  test('finds a mistake that is planted in the service, and names the seed and what is wrong', async () => {
    const { code, out } = await simulate('--seeds', '40', '--bug', 'due-work-is-lost');
    expect(code).toBe(1);
    expect(out).toMatch(/^seed \d+ failed:$/m);
    expect(out).toMatch(/again: npm run simulate -- --seed \d+ --trace/);
  });
});
