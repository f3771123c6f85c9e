/** @module Packages that only one command needs. The command installs them from a separate folder. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';

/** Installs the packages of the folder's lockfile unless they are already installed. @throws if npm fails. */
export const installOwnPackages = (folder: string): void => {
  if (installedVersions(folder) === versionsOf(join(folder, 'package-lock.json'))) return;
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' });
  if (status !== 0) throw new Error(`npm ci failed in ${folder}`);
};

const lockfileSchema = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional(), optional: z.boolean().optional() })),
});

/** npm's own record of installed packages, without packages of other platforms. */
const installedVersions = (folder: string): string | undefined => {
  const file = join(folder, 'node_modules/.package-lock.json');
  return existsSync(file) ? versionsOf(file) : undefined;
};

const versionsOf = (file: string): string => {
  const { packages } = lockfileSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  const named = Object.entries(packages).filter(([name, { optional }]) => name !== '' && optional !== true);
  return JSON.stringify(named.map(([name, { version }]) => `${name}@${version}`).sort());
};
