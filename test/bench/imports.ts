import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { pathToFileURL } from 'node:url';
import { build } from '../../infra/build.ts';
import { say, sheet } from './sheet.ts';

/**
 * What an adapter adds to a cold start: processor time of a process that imports a function as it is deployed, with the
 * adapter that it then loads, against one that calls no provider. Interleaved in one run; only the ratios say something.
 */
export const benchImports = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-imports-'));
  try {
    await build(folder);
    const times = new Map<string, number[]>(Object.keys(SUBJECTS).map((name) => [name, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, files] of Object.entries(SUBJECTS)) times.get(name)?.push(importMs(folder, files));
    }
    const base = median(times.get(WITHOUT) ?? []);
    const rows = [...times].map(([name, all]) => ({ name, ms: median(all), ratio: median(all) / base, all }));
    sheet(
      ['function', 'CPU ms, median (least to most)', 'ratio'],
      rows.map(({ name, ms, ratio, all }) => [
        name,
        `${ms.toFixed(1)} (${Math.min(...all).toFixed(1)} to ${Math.max(...all).toFixed(1)})`,
        ratio.toFixed(2),
      ]),
    );
    const slow = rows.filter(({ name, ratio }) => LIMITED.has(name) && ratio > MAX_RATIO);
    say(slow.length === 0 ? '\nAll keep within.' : `\nEXCEEDED: ${slow.map(({ name }) => name).join(', ')}`);
    return slow.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const ROUNDS = 15;
const MAX_RATIO = 1.3;
const WITHOUT = 'without a provider';

const CONFIRM = 'payments.confirm';
const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  [WITHOUT]: ['customers.get/index.mjs'],
  'with PayPal': [`${CONFIRM}/index.mjs`, `${CONFIRM}/adapters/paypal.mjs`],
  'with Square': [`${CONFIRM}/index.mjs`, `${CONFIRM}/adapters/square.mjs`],
  'with Stripe': [`${CONFIRM}/index.mjs`, `${CONFIRM}/adapters/stripe.mjs`],
};
/** The others' SDKs cost what they cost. */
const LIMITED = new Set(['with PayPal', 'with Square']);

/** Of a process of its own, from before the first import to after the last. */
const importMs = (folder: string, files: readonly string[]): number => {
  const urls = files.map((file) => pathToFileURL(join(folder, file)).href);
  const script = `
    const before = process.cpuUsage();
    for (const url of ${JSON.stringify(urls)}) await import(url);
    const { user, system } = process.cpuUsage(before);
    process.stdout.write(String((user + system) / 1_000));`;
  const { status, stdout, stderr } = spawnSync(execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return Number(stdout);
};

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;
