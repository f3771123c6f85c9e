import { argv, stderr, stdout } from 'node:process';
import { parseArgs } from 'node:util';
import { plant } from './bugs/bug.ts';
import { BUGS } from './bugs/bugs.ts';
import { installPlatform, realNow } from './kernel/platform.ts';

/**
 * `npm run simulate -- --seeds 1000`: runs the whole service in this process under a seeded scheduler.
 * `--from N` begins at that seed, `--seed N --trace` prints the history of one seed, `--off 'kill 41,operation 2.3'` leaves
 * things out, `--shrink` makes a failed history smaller, `--bug <name>` plants a mistake that the run has to find.
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
    shrink: { type: 'boolean', default: false },
  },
});
const bug = BUGS.find(({ name }) => name === values.bug);
if (values.bug !== undefined && !bug) throw new Error(`no planted bug is named ${values.bug}`);
if (bug) plant(bug);
installPlatform();
const { simulate } = await import('./simulation.ts');
const { loadFunctions } = await import('./places/service.ts');
const { shrink } = await import('./shrink.ts');
const { sumOf } = await import('./kernel/statistics.ts');

const say = (line: string): void => {
  stdout.write(`${line}\n`);
};
const off = new Set(values.off.split(',').filter(Boolean));
const one = values.seed === undefined ? undefined : Number(values.seed);
const first = one ?? Number(values.from);
const last = one ?? first + Number(values.seeds) - 1;

await loadFunctions();
const startedAt = realNow();
const cpuBefore = process.cpuUsage();
const all = [];
let operations = 0;
let failed = 0;
for (let seed = first; seed <= last; seed += 1) {
  const result = await simulate({ seed, off, keepTrace: values.trace });
  all.push(result.counts);
  operations += result.operations;
  if (values.trace) for (const line of result.trace) say(line);
  if (values.digests || one !== undefined) say(`seed ${seed}: ${result.digest}`);
  if (stderr.isTTY) stderr.write(`\rseed ${seed} of ${last}`);
  if (result.problems.length === 0) continue;
  failed += 1;
  say(`seed ${seed} failed:`);
  for (const problem of result.problems) say(`  ${problem}`);
  const smaller = values.shrink ? await shrink(result, { seed, off }) : { seed, off };
  if (!values.trace) for (const line of (await simulate({ ...smaller, keepTrace: true })).trace) say(line);
  const left = [...(smaller.off ?? [])].join(',');
  say(`again: npm run simulate -- --seed ${seed} --trace${left === '' ? '' : ` --off '${left}'`}`);
  break;
}
const { steps, kills, delays, faults, reached, killedAfter } = sumOf(all);
const seconds = (realNow() - startedAt) / 1_000;
say(
  `${all.length} seeds in ${seconds.toFixed(1)} s: ${operations} operations, ${steps} steps, ${delays} delays, ${kills} kills`,
);
const { user, system } = process.cpuUsage(cpuBefore);
say(`processor time: ${((user + system) / 1_000 / all.length).toFixed(0)} ms per seed`);
say(
  `faults: ${Object.entries(faults)
    .map(([kind, count]) => `${kind} ${count}`)
    .join(', ')}`,
);
say(`call sites: ${reached.length} reached, ${killedAfter.length} killed after`);
// Not `exit`, which would cut off what a pipe has not taken yet.
process.exitCode = failed === 0 ? 0 : 1;
