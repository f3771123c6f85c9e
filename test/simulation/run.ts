import { argv, stderr, stdout } from 'node:process';
import { parseArgs } from 'node:util';
import { BUGS } from './bugs/bugs.ts';
import { huntAll, tableOf } from './bugs/hunt.ts';
import { resultsOf, type SeedResult } from './jobs.ts';
import { sumOfTallies } from './kernel/statistics.ts';
import { bugNamed, loadSimulation } from './load.ts';
import type { RunOptions } from './simulation.ts';

/**
 * `npm run simulate -- --seeds 1000`: runs the whole service under a seeded scheduler, in `--jobs N` processes at once.
 * `--from N` begins at that seed, `--seed N --trace` prints the history of one seed, `--off 'kill 41,operation 2.3'` leaves
 * things out, `--bug <name>` plants a mistake that the run has to find, and
 * `--bugs` looks for every planted mistake in processes of their own. `--brief` prints no history of a failed seed.
 */
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
  },
});
const say = (line: string): void => {
  stdout.write(`${line}\n`);
};
const jobs = Number(values.jobs);
const off = values.off.split(',').filter(Boolean);
if (values.bug !== undefined) bugNamed(values.bug);

/** @returns whether every planted mistake was found */
const huntBugs = async (): Promise<boolean> => {
  const all = await huntAll(BUGS, {
    seeds: Number(values.seeds),
    atOnce: jobs,
    report: ({ bug, seed, sentence }) =>
      say(`${bug.name}: ${seed === undefined ? 'not found' : `seed ${seed}, ${sentence}`}`),
  });
  say(tableOf(all));
  return all.every(({ seed }) => seed !== undefined);
};

/** Prints the smallest history that fails as the seed does. */
const explain = async (seed: number): Promise<void> => {
  const { simulate, shrink } = await loadSimulation(values.bug);
  const options: RunOptions = { seed, off: new Set(off) };
  const smaller = (await shrink(await simulate(options), options)).options;
  const { timeline, problems } = await simulate({ ...smaller, keepTrace: true });
  say('the smallest history that fails in this way:');
  for (const line of timeline) say(line);
  for (const problem of problems) say(`  ${problem}`);
  again(seed, [...(smaller.off ?? [])]);
};

const again = (seed: number, left: readonly string[]): void => {
  const options = `${left.length === 0 ? '' : ` --off '${left.join(',')}'`}${values.bug ? ` --bug ${values.bug}` : ''}`;
  say(`again: npm run simulate -- --seed ${seed} --trace${options}`);
};

/** @returns whether no seed failed */
const runSeeds = async (first: number, last: number): Promise<boolean> => {
  const startedAt = performance.now();
  const all: SeedResult[] = [];
  for await (const result of resultsOf({ first, last, jobs, bug: values.bug, off })) {
    all.push(result);
    const { seed, digest, problems } = result;
    if (values.digests || first === last) say(`seed ${seed}: ${digest}`);
    if (stderr.isTTY) stderr.write(`\rseed ${seed} of ${last}`);
    if (problems.length === 0) continue;
    say(`seed ${seed} failed:`);
    for (const problem of problems) say(`  ${problem}`);
    break;
  }
  summarize(all, performance.now() - startedAt);
  const failed = all.find(({ problems }) => problems.length > 0);
  if (failed?.isEndless) again(failed.seed, off);
  else if (failed && !values.brief) await explain(failed.seed);
  return failed === undefined;
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
  const { simulate } = await loadSimulation(values.bug);
  const { trace, digest, problems } = await simulate({ seed, off: new Set(off), keepTrace: true });
  for (const line of trace) say(line);
  say(`seed ${seed}: ${digest}`);
  if (problems.length > 0) say(`seed ${seed} failed:`);
  for (const problem of problems) say(`  ${problem}`);
  return problems.length === 0;
};

const run = (): Promise<boolean> => {
  if (values.bugs) return huntBugs();
  const first = Number(values.seed ?? values.from);
  if (values.trace) return traceSeed(first);
  return runSeeds(first, values.seed === undefined ? first + Number(values.seeds) - 1 : first);
};

// Not `exit`, which would cut off what a pipe has not taken yet.
process.exitCode = (await run()) ? 0 : 1;
