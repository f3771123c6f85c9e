/** @module `npm run cdk -- COMMAND` runs the CDK command line. The first run installs the CDK package. */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { argv, execPath, exit } from 'node:process';
import { installOwnPackages } from '../make/own-packages.ts';

const FOLDER = join(import.meta.dirname, 'cdk');

/** @returns the file of the installed program. @throws if it cannot be installed. */
export const cdkProgram = (): string => {
  installOwnPackages(FOLDER);
  return join(FOLDER, 'node_modules/aws-cdk/bin/cdk');
};

if (import.meta.main) {
  const cwd = resolve(import.meta.dirname, '../..');
  exit(spawnSync(execPath, [cdkProgram(), ...argv.slice(2)], { cwd, stdio: 'inherit' }).status ?? 1);
}
