/** @module `npm run test:mutation` installs Stryker if needed, and runs it with the command's arguments. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { argv, execPath, exit } from 'node:process';
import { installOwnPackages } from '../../infra/make/own-packages.ts';

const FOLDER = import.meta.dirname;

installOwnPackages(FOLDER);
const stryker = join(FOLDER, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const { status } = spawnSync(execPath, [stryker, 'run', join(FOLDER, 'stryker.json'), ...argv.slice(2)], {
  cwd: join(FOLDER, '../..'),
  stdio: 'inherit',
});
exit(status ?? 1);
