import { argv, exit } from 'node:process';
import { benchBundles } from './bundles.ts';
import { benchEndpoints } from './endpoints.ts';
import { benchGrowth } from './growth.ts';
import { say } from './sheet.ts';

/** `npm run bench`: budgets of endpoints. `-- growth`: lists as they grow. `-- bundles`: sizes of functions. */
const BENCHES: Readonly<Record<string, () => Promise<boolean>>> = {
  endpoints: benchEndpoints,
  growth: benchGrowth,
  bundles: benchBundles,
};

const name = argv[2] ?? 'endpoints';
const bench = BENCHES[name];
if (!bench) say(`There is no bench ${name}: ${Object.keys(BENCHES).join(', ')}`);
exit((await bench?.()) === true ? 0 : 1);
