import { argv, exit, stderr, stdout } from 'node:process';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { BUGS } from './bugs/bugs.ts';
import { huntAll, tableOf } from './bugs/hunt.ts';
import { type AskedHistory, resultsOf, type SeedResult } from './jobs.ts';
import { sumOfTallies } from './kernel/statistics.ts';
import { loadSimulation } from './load.ts';
import type { RunOptions } from './simulation.ts';

/**
 * `npm run simulate -- --seeds 1000`: runs the whole service under a seeded scheduler, in `--jobs N` processes at once.
 * `--from N` begins at that seed, `--seed N --trace` prints the history of one seed, `--off 'kill 41,operation 2.3'` leaves
 * things out, `--bug <name>` plants a mistake that the run has to find, and
 * `--bugs` looks for every planted mistake in processes of their own. `--brief` prints no history of a failed seed.
 * `--sites` adds a history for each call site after which no function was killed: the seed that reached it, with that kill.
 */
const count = z.coerce.number().int().positive();
const optionsSchema = z.object({
  seeds: count,
  from: count,
  seed: count.optional(),
  trace: z.boolean(),
  digests: z.boolean(),
  off: z.string(),
  bug: z.enum(BUGS.map(({ name }) => name)).optional(),
  bugs: z.boolean(),
  jobs: count,
  brief: z.boolean(),
  sites: z.boolean(),
  'kill-after': z.string().optional(),
});

/** @throws TypeError for an option that does not exist, ZodError for a wrong value */
const readOptions = () => {
  const { values } = parseArgs({
    args: argv.slice(2),
    options: {
      seeds: { type: 'string', default: '100' },
      from: { type: 'string', default: '1' },
      seed: { type: 'string' },
      trace: { type: 'boolean', default: false },
      digests: { type: 'boolean', default: false },
      off: { type: 'string', default: '' },
      bug: { type: 'string' },
      bugs: { type: 'boolean', default: false },
      jobs: { type: 'string', default: '2' },
      brief: { type: 'boolean', default: false },
      sites: { type: 'boolean', default: false },
      'kill-after': { type: 'string' },
    },
  });
  return optionsSchema.parse(values);
};

const optionsOrExit = () => {
  try {
    return readOptions();
  } catch (error) {
    const problem = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    stderr.write(`simulate: ${problem}\n`);
    return exit(2);
  }
};

const values = optionsOrExit();
const say = (line: string): void => {
  stdout.write(`${line}\n`);
};
const { jobs, bug, 'kill-after': killAfter } = values;
const off = values.off.split(',').filter(Boolean);

/** @returns whether every planted mistake was found */
const huntBugs = async (): Promise<boolean> => {
  const all = await huntAll(BUGS, {
    seeds: values.seeds,
    atOnce: jobs,
    report: ({ bug, seed, sentence }) =>
      say(`${bug.name}: ${seed === undefined ? 'not found' : `seed ${seed}, ${sentence}`}`),
  });
  say(tableOf(all));
  return all.every(({ seed }) => seed !== undefined);
};

/** Prints the smallest history that fails as the seed does. */
const explain = async ({ seed, killAfter: killing }: AskedHistory): Promise<void> => {
  const { simulate, shrink } = await loadSimulation(bug);
  const options: RunOptions = { seed, killAfter: killing, off: new Set(off) };
  const smaller = (await shrink(await simulate(options), options)).options;
  const { timeline, problems } = await simulate({ ...smaller, keepTrace: true });
  say('the smallest history that fails in this way:');
  for (const line of timeline) say(line);
  for (const problem of problems) say(`  ${problem}`);
  again({ seed, ...(killing !== undefined && { killAfter: killing }) }, [...(smaller.off ?? [])]);
};

const again = ({ seed, killAfter: killing }: AskedHistory, left: readonly string[]): void => {
  const options = [
    ...(left.length === 0 ? [] : [`--off '${left.join(',')}'`]),
    ...(killing === undefined ? [] : [`--kill-after '${killing}'`]),
    ...(bug === undefined ? [] : [`--bug ${bug}`]),
  ];
  say(['again: npm run simulate -- --seed', seed, '--trace', ...options].join(' '));
};

/** @returns whether no seed failed */
const runSeeds = async (first: number, last: number): Promise<boolean> => {
  const seeds = Array.from({ length: last - first + 1 }, (_, index) => ({
    seed: first + index,
    ...(killAfter !== undefined && { killAfter }),
  }));
  const results = await runAll(seeds);
  return results !== undefined && (!values.sites || (await runAll(withoutKill(results))) !== undefined);
};

/** Runs them until one fails. @returns undefined where one has failed */
const runAll = async (histories: readonly AskedHistory[]): Promise<readonly SeedResult[] | undefined> => {
  const startedAt = performance.now();
  const all: SeedResult[] = [];
  for await (const result of resultsOf({ histories, jobs, bug, off })) {
    const asked = histories[all.length];
    all.push(result);
    const { seed, digest, problems } = result;
    if (values.digests || histories.length === 1) say(`seed ${seed}: ${digest}`);
    if (stderr.isTTY) stderr.write(`\rhistory ${all.length} of ${histories.length}`);
    if (problems.length === 0 || !asked) continue;
    say(`seed ${seed} failed:`);
    for (const problem of problems) say(`  ${problem}`);
    summarize(all, performance.now() - startedAt);
    if (result.isEndless) again(asked, off);
    else if (!values.brief) await explain(asked);
    return undefined;
  }
  summarize(all, performance.now() - startedAt);
  return all;
};

/** The call sites that were reached, and after which no function was killed, each with the first seed that reached it. */
const withoutKill = (results: readonly SeedResult[]): readonly AskedHistory[] => {
  const killed = new Set(results.flatMap(({ counts }) => counts.killedAfter));
  const reachedBy = new Map<string, number>();
  for (const { seed, counts } of results) {
    for (const site of counts.reached) if (!killed.has(site) && !reachedBy.has(site)) reachedBy.set(site, seed);
  }
  say(`a kill after each of ${reachedBy.size} further call sites:`);
  return [...reachedBy].map(([site, seed]) => ({ seed, killAfter: site }));
};

const summarize = (all: readonly SeedResult[], ms: number): void => {
  const { steps, kills, delays, faults, reached, killedAfter } = sumOfTallies(all.map(({ counts }) => counts));
  const sum = (numberOf: (result: SeedResult) => number): number =>
    all.reduce((total, result) => total + numberOf(result), 0);
  const operations = sum((result) => result.operations);
  say(
    `${all.length} seeds in ${(ms / 1_000).toFixed(1)} s: ${operations} operations, ${steps} steps, ${delays} delays, ${kills} kills`,
  );
  say(`processor time: ${(sum(({ processorMs }) => processorMs) / all.length).toFixed(0)} ms per seed`);
  const kinds = Object.entries(faults).map(([kind, count]) => `${kind} ${count}`);
  say(`faults: ${kinds.join(', ')}`);
  say(`call sites: ${reached.length} reached, ${killedAfter.length} killed after`);
};

/** Prints the whole history of one seed. @returns whether every sentence holds */
const traceSeed = async (seed: number): Promise<boolean> => {
  const { simulate } = await loadSimulation(bug);
  const { trace, digest, problems } = await simulate({ seed, killAfter, off: new Set(off), keepTrace: true });
  for (const line of trace) say(line);
  say(`seed ${seed}: ${digest}`);
  if (problems.length > 0) say(`seed ${seed} failed:`);
  for (const problem of problems) say(`  ${problem}`);
  return problems.length === 0;
};

const run = (): Promise<boolean> => {
  if (values.bugs) return huntBugs();
  const first = values.seed ?? values.from;
  if (values.trace) return traceSeed(first);
  return runSeeds(first, values.seed === undefined ? first + values.seeds - 1 : first);
};

// Not `exit`, which would cut off what a pipe has not taken yet.
process.exitCode = (await run()) ? 0 : 1;
