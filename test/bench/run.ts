import { spawnSync } from 'node:child_process';
import { argv, execPath, exit } from 'node:process';
import { benchBundles } from './bundles.ts';
import { benchEndpoints } from './endpoints.ts';
import { benchGrowth } from './growth.ts';
import { benchAllOwnersGrowth } from './growth-all-owners.ts';
import { benchLogGrowth } from './growth-logs.ts';
import { benchSummaryGrowth } from './growth-summaries.ts';
import { benchHostile } from './hostile.ts';
import { benchImports } from './imports.ts';
import { benchMonth } from './month.ts';
import { benchReaders } from './readers.ts';
import { say } from './sheet.ts';
import { benchReference } from './versus/reference.ts';
import { benchVersus } from './versus/versus.ts';
import { benchWebhooks } from './webhooks.ts';

/**
 * `npm run bench` runs all benches and exits with code 1 if a budget is exceeded. `-- NAME` runs one bench; `-- long`
 * measures lists with a million records.
 */
const BENCHES: Readonly<Record<string, () => Promise<boolean>>> = {
  endpoints: benchEndpoints,
  bundles: benchBundles,
  imports: benchImports,
  reference: benchReference,
  hostile: async () => {
    const readers = await benchReaders();
    return (await benchHostile()) && readers;
  },
  growth: async () => {
    const lists = await benchGrowth();
    const logs = await benchLogGrowth();
    const all = await benchAllOwnersGrowth();
    return (await benchSummaryGrowth()) && all && logs && lists;
  },
  versus: benchVersus,
  webhooks: benchWebhooks,
  month: benchMonth,
};
const A_MILLION = 1_000_000;
const LONG: typeof BENCHES = { long: () => benchGrowth(A_MILLION) };

const name = argv[2];
const known = { ...BENCHES, ...LONG };

const only = async (bench: string): Promise<boolean> => {
  const run = known[bench];
  if (run) return run();
  say(`There is no bench ${bench}: ${Object.keys(known).join(', ')}`);
  return false;
};

/** Each bench runs in its own process, so benches share no state. */
const all = (): boolean => {
  const failed = Object.keys(BENCHES).filter((bench) => {
    say(`\n== ${bench}\n`);
    return spawnSync(execPath, [import.meta.filename, bench], { stdio: 'inherit' }).status !== 0;
  });
  say(failed.length === 0 ? '\nWithin every budget.' : `\nNOT within: ${failed.join(', ')}`);
  return failed.length === 0;
};

exit((name === undefined ? all() : await only(name)) ? 0 : 1);
