/** @module Installs the packages of the comparison's other sides, with their own package files, on first use. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { installOwnPackages } from '../../../infra/make/own-packages.ts';

export const PEERS = join(import.meta.dirname, '../peers');
const TYPE_CHECKER = join(import.meta.dirname, '../../../node_modules/typescript/bin/tsc');

/** @throws on a type error. The project's type checks skip the peers while their packages are missing. */
export const preparePeers = (): void => {
  installOwnPackages(PEERS);
  execFileSync(execPath, [TYPE_CHECKER, '--noEmit', '-p', PEERS], { stdio: 'inherit' });
};
