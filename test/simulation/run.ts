/**
 * @module `npm run simulate -- --seeds 1000` runs the whole service under a seeded scheduler, in `--jobs N` concurrent
 * processes. `--from N` begins at that seed, `--seed N --trace` prints the history of one seed,
 * `--off 'kill 41,operation 2.3'` leaves things out, `--bug <name>` plants a mistake that the run has to find, and
 * `--bugs` looks for every planted mistake in separate processes. `--brief` prints no history of a failed seed, and
 * `--keep-going` runs the seeds after it, too.
 * `--sites` finds the call sites after which no function was killed. For each site it repeats the seed that reached the
 * site, with that kill. It fails if a site is left.
 */
import { argv, exit, stderr, stdout } from 'node:process';
import { parseArgs } from 'node:util';
import * as z from 'zod';
import { BUGS } from './bugs/bugs.ts';
import { huntAll, tableOf } from './bugs/hunt.ts';
import { type AskedHistory, resultsOf, type SeedResult } from './jobs.ts';
import { sumOfTallies } from './kernel/statistics.ts';
import { loadSimulation } from './load.ts';
import type { RunOptions } from './simulation.ts';

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
  'keep-going': z.boolean(),
  sites: z.boolean(),
  'kill-after': z.array(z.string()),
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
      'keep-going': { type: 'boolean', default: false },
      sites: { type: 'boolean', default: false },
      'kill-after': { type: 'string', multiple: true, default: [] },
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
const { jobs, bug, 'kill-after': killAfter, 'keep-going': keepsGoing } = values;
const off = values.off.split(',').filter(Boolean);

/** @returns true if every planted mistake was found */
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

/** Prints the smallest history with the seed's failure. */
const explain = async ({ seed, killAfter: sites }: AskedHistory): Promise<void> => {
  const { simulate, shrink } = await loadSimulation(bug);
  const options: RunOptions = { seed, killAfter: sites, off: new Set(off) };
  const smaller = (await shrink(await simulate(options), options)).options;
  const { timeline, problems } = await simulate({ ...smaller, keepTrace: true });
  say('the smallest history that fails in this way:');
  for (const line of timeline) say(line);
  for (const problem of problems) say(`  ${problem}`);
  again({ seed, killAfter: sites }, [...(smaller.off ?? [])]);
};

const again = ({ seed, killAfter: sites }: AskedHistory, left: readonly string[]): void => {
  const options = [
    ...(left.length === 0 ? [] : [`--off '${left.join(',')}'`]),
    ...sites.map((site) => `--kill-after '${site}'`),
    ...(bug === undefined ? [] : [`--bug ${bug}`]),
  ];
  say(['again: npm run simulate -- --seed', seed, '--trace', ...options].join(' '));
};

/** @returns whether no seed failed */
const runSeeds = async (first: number, last: number): Promise<boolean> => {
  const seeds = Array.from({ length: last - first + 1 }, (_, index) => ({ seed: first + index, killAfter }));
  const ran = await runAll(seeds);
  if (!values.sites || (ran.hasFailed && !keepsGoing)) return !ran.hasFailed;
  return (await killAtSites(ran.all)) && !ran.hasFailed;
};

/** @returns whether no history failed, and a function was killed after each call site */
const killAtSites = async (first: readonly Ran[]): Promise<boolean> => {
  const all = [...first];
  let hasFailed = false;
  const tried = new Set<string>();
  for (;;) {
    const left = sitesLeft(all);
    if (left.size === 0) break;
    const again = [...left.keys()].filter((site) => tried.has(site));
    if (again.length > 0) {
      say(`no kill after: ${again.join(', ')}`);
      return false;
    }
    say(`a kill after each of ${left.size} further call sites:`);
    const ran = await runAll(
      [...left].map(([site, { seed, killAfter: before }]) => ({ seed, killAfter: [...before, site] })),
    );
    hasFailed ||= ran.hasFailed;
    if (hasFailed && !keepsGoing) return false;
    all.push(...ran.all);
    for (const site of left.keys()) tried.add(site);
  }
  const { reached, killedAfter } = sumOfTallies(all.map(({ result }) => result.counts));
  say(`call sites in all: ${reached.length} reached, ${killedAfter.length} killed after`);
  return !hasFailed;
};

/**
 * The reached call sites without a kill, each with the first history that reached the site. A history with a kill may
 * reach new sites.
 */
const sitesLeft = (all: readonly Ran[]): ReadonlyMap<string, AskedHistory> => {
  const killed = new Set(all.flatMap(({ result }) => result.counts.killedAfter));
  const reachedBy = new Map<string, AskedHistory>();
  for (const { asked, result } of all) {
    for (const site of result.counts.reached) if (!killed.has(site) && !reachedBy.has(site)) reachedBy.set(site, asked);
  }
  return reachedBy;
};

interface Ran {
  readonly asked: AskedHistory;
  readonly result: SeedResult;
}

/** Runs the histories until one fails, or all histories with `--keep-going`. */
const runAll = async (
  histories: readonly AskedHistory[],
): Promise<{ readonly all: readonly Ran[]; readonly hasFailed: boolean }> => {
  const startedAt = performance.now();
  const all: Ran[] = [];
  let failed: Ran | undefined;
  for await (const result of resultsOf({ histories, jobs, bug, off })) {
    const asked = histories[all.length];
    if (!asked) break;
    const ran = { asked, result };
    all.push(ran);
    const { seed, digest, problems } = result;
    if (values.digests || histories.length === 1) say(`seed ${seed}: ${digest}`);
    if (stderr.isTTY) stderr.write(`\rhistory ${all.length} of ${histories.length}`);
    if (problems.length === 0) continue;
    sayFailed(seed, problems);
    failed = ran;
    if (!keepsGoing) break;
  }
  summarize(all, performance.now() - startedAt);
  if (failed && !keepsGoing) await repeat(failed);
  return { all, hasFailed: failed !== undefined };
};

/** Explains a failed history, or prints only the command that repeats it if the history does not end. */
const repeat = async ({ asked, result }: Ran): Promise<void> => {
  if (result.isEndless) again(asked, off);
  else if (!values.brief) await explain(asked);
};

const sayFailed = (seed: number, problems: readonly string[]): void => {
  say(`seed ${seed} failed:`);
  for (const problem of problems) say(`  ${problem}`);
};

const summarize = (all: readonly Ran[], ms: number): void => {
  const { steps, kills, delays, faults, reached, killedAfter } = sumOfTallies(all.map(({ result }) => result.counts));
  const sum = (numberOf: (result: SeedResult) => number): number =>
    all.reduce((total, { result }) => total + numberOf(result), 0);
  const operations = sum((result) => result.operations);
  say(
    `${all.length} histories in ${(ms / 1_000).toFixed(1)} s: ${operations} operations, ${steps} steps, ${delays} delays, ${kills} kills`,
  );
  say(`processor time: ${(sum(({ processorMs }) => processorMs) / all.length).toFixed(0)} ms per seed`);
  const kinds = Object.entries(faults).map(([kind, count]) => `${kind} ${count}`);
  say(`faults: ${kinds.join(', ')}`);
  say(`call sites: ${reached.length} reached, ${killedAfter.length} killed after`);
};

/** Prints the whole history of one seed. @returns whether every invariant holds */
const traceSeed = async (seed: number): Promise<boolean> => {
  const { simulate } = await loadSimulation(bug);
  const { trace, digest, problems } = await simulate({ seed, killAfter, off: new Set(off), keepTrace: true });
  for (const line of trace) say(line);
  say(`seed ${seed}: ${digest}`);
  if (problems.length > 0) sayFailed(seed, problems);
  return problems.length === 0;
};

const run = (): Promise<boolean> => {
  if (values.bugs) return huntBugs();
  const first = values.seed ?? values.from;
  if (values.trace) return traceSeed(first);
  return runSeeds(first, values.seed === undefined ? first + values.seeds - 1 : first);
};

// `exit` would cut off output not yet read by a pipe.
process.exitCode = (await run()) ? 0 : 1;
