import { argv, exit } from 'node:process';
import { benchEndpoints } from './endpoints.ts';
import { say } from './sheet.ts';

/** `npm run bench`: budgets of endpoints. `-- growth`: lists as they grow. `-- bundles`: sizes of functions. */
const BENCHES: Readonly<Record<string, () => Promise<boolean>>> = {
  endpoints: benchEndpoints,
};

const name = argv[2] ?? 'endpoints';
const bench = BENCHES[name];
if (!bench) say(`There is no bench ${name}: ${Object.keys(BENCHES).join(', ')}`);
exit((await bench?.()) === true ? 0 : 1);
