/** @module The other sides of the comparison have their own packages, which the benches install when they need them. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { installOwnPackages } from '../../../infra/make/own-packages.ts';

export const PEERS = join(import.meta.dirname, '../peers');
const TYPE_CHECKER = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc');

/** @throws if a type does not fit, because the project's checks leave this folder out without the packages. */
export const preparePeers = (): void => {
  installOwnPackages(PEERS);
  execFileSync(execPath, [TYPE_CHECKER, '--noEmit', '-p', PEERS], { stdio: 'inherit' });
};
