import { argv, exit } from 'node:process';
import { benchBundles } from './bundles.ts';
import { benchEndpoints } from './endpoints.ts';
import { benchGrowth } from './growth.ts';
import { benchLogGrowth } from './growth-logs.ts';
import { benchImports } from './imports.ts';
import { say } from './sheet.ts';
import { benchWebhooks } from './webhooks.ts';

/**
 * `npm run bench`: budgets of endpoints. `-- growth`: lists as they grow. `-- bundles`: sizes of functions. `-- imports`: what
 * an adapter adds to a cold start. `-- webhooks`: how
 * many a second, and what one slow target does to the others.
 */
const BENCHES: Readonly<Record<string, () => Promise<boolean>>> = {
  endpoints: benchEndpoints,
  growth: async () => {
    const lists = await benchGrowth();
    return (await benchLogGrowth()) && lists;
  },
  bundles: benchBundles,
  imports: benchImports,
  webhooks: benchWebhooks,
};

const name = argv[2] ?? 'endpoints';
const bench = BENCHES[name];
if (!bench) say(`There is no bench ${name}: ${Object.keys(BENCHES).join(', ')}`);
exit((await bench?.()) === true ? 0 : 1);
