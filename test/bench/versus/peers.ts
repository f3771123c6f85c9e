/** @module What the service is compared with has packages of its own, which the benches install when they need them. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { installOwnPackages } from '../../../infra/own-packages.ts';

export const PEERS = join(import.meta.dirname, '../peers');
const TYPE_CHECKER = join(import.meta.dirname, '../../../node_modules/.bin/tsc');

/** @throws if a type does not fit: without the packages, the checks of the project leave this folder out. */
export const preparePeers = (): void => {
  installOwnPackages(PEERS);
  execFileSync(execPath, [TYPE_CHECKER, '--noEmit', '-p', PEERS], { stdio: 'inherit' });
};
