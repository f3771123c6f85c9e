import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { build } from '../../infra/build.ts';
import { inRounds, median, medianRatio, withSpread } from './median.ts';
import { say, sheet } from './sheet.ts';

/**
 * What a cold start costs: processor time of a process, from its birth, that imports a function as it is deployed,
 * with the adapter that it then loads, against one that imports an empty handler; and what the adapter adds to a
 * function that calls no provider. Interleaved in one run; only the ratios are meaningful.
 */
export const benchImports = async (): Promise<boolean> => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-imports-'));
  try {
    await build(folder);
    writeFileSync(join(folder, EMPTY), 'export const handler = async () => ({ statusCode: 200 });');
    const times = new Map<string, Cold[]>(Object.keys(SUBJECTS).map((name) => [name, []]));
    const measure = (): void => {
      for (const [name, files] of Object.entries(SUBJECTS)) times.get(name)?.push(coldStart(folder, files));
    };
    await inRounds(ROUNDS, measure, () => rowsOf(times).some(isSlow));
    const rows = rowsOf(times);
    const empty = median((times.get(NOTHING) ?? []).map(({ whole }) => whole));
    sheet(
      ['function', 'process, CPU ms (least to most)', 'to an empty one', 'its imports, CPU ms', 'to no provider'],
      rows.map(({ name, whole, imports, ratio }) => [
        name,
        withSpread(whole, 1),
        (median(whole) / empty).toFixed(2),
        withSpread(imports, 1),
        ratio.toFixed(2),
      ]),
    );
    const slow = rows.filter(isSlow);
    say(slow.length === 0 ? '\nAll keep within.' : `\nEXCEEDED: ${slow.map(({ name }) => name).join(', ')}`);
    return slow.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const ROUNDS = { least: 15, most: 60 } as const;
const MAX_RATIO = 1.3;
const NOTHING = 'an empty handler';
const WITHOUT = 'without a provider';
const EMPTY = 'empty.mjs';

const CONFIRM = 'payments.confirm';
const SUBJECTS: Readonly<Record<string, readonly string[]>> = {
  [NOTHING]: [EMPTY],
  [WITHOUT]: ['customers.get/index.mjs'],
  'with PayPal': [`${CONFIRM}/index.mjs`, `${CONFIRM}/adapters/paypal.mjs`],
  'with Square': [`${CONFIRM}/index.mjs`, `${CONFIRM}/adapters/square.mjs`],
  'with Stripe': [`${CONFIRM}/index.mjs`, `${CONFIRM}/adapters/stripe.mjs`],
};
/** The size of the other SDKs is not limited. */
const LIMITED = new Set(['with PayPal', 'with Square']);

interface Cold {
  /** Processor milliseconds of the whole process. */
  readonly whole: number;
  /** From before the first import to after the last. */
  readonly imports: number;
}

interface Row {
  readonly name: string;
  readonly whole: readonly number[];
  readonly imports: readonly number[];
  /** Of its imports to those of a function that calls no provider, each pair of the same round. */
  readonly ratio: number;
}

const rowsOf = (times: ReadonlyMap<string, readonly Cold[]>): readonly Row[] => {
  const base = (times.get(WITHOUT) ?? []).map(({ imports }) => imports);
  return [...times].map(([name, all]) => {
    const [whole, imports] = [all.map((one) => one.whole), all.map((one) => one.imports)];
    return { name, whole, imports, ratio: medianRatio(imports, base) };
  });
};

const isSlow = ({ name, ratio }: Row): boolean => LIMITED.has(name) && ratio > MAX_RATIO;

const coldSchema = z.object({ whole: z.number(), imports: z.number() });

const coldStart = (folder: string, files: readonly string[]): Cold => {
  const urls = files.map((file) => pathToFileURL(join(folder, file)).href);
  const script = `
    const ms = ({ user, system }) => (user + system) / 1_000;
    const before = process.cpuUsage();
    for (const url of ${JSON.stringify(urls)}) await import(url);
    const imports = ms(process.cpuUsage(before));
    process.stdout.write(JSON.stringify({ whole: ms(process.cpuUsage()), imports }));`;
  const { status, stdout, stderr } = spawnSync(execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return coldSchema.parse(JSON.parse(stdout));
};
