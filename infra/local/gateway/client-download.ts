/** @module Serves the typed client at /client.tgz. The first request builds it in separate processes. */

import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { GatewayAnswer } from './gateway-answer.ts';

const run = promisify(execFile);

const MAKE = resolve(import.meta.dirname, '../../make/client/make.ts');

export type ClientDownload = (path: string) => Promise<GatewayAnswer | undefined>;

/** @param basePath prefix of the service's routes; the tarball is also served without the prefix */
export const createClientDownload = (basePath: string): ClientDownload => {
  let packed: Promise<Buffer> | undefined;
  return async (path) => {
    if (path !== '/client.tgz' && path !== `${basePath}/client.tgz`) return undefined;
    packed ??= packClient();
    try {
      const headers = { 'content-type': 'application/gzip', 'x-content-type-options': 'nosniff' };
      return { status: 200, headers, body: await packed };
    } catch (error) {
      packed = undefined;
      throw error;
    }
  };
};

const packClient = async (): Promise<Buffer> => {
  const folder = await mkdtemp(join(tmpdir(), 'payments-client-'));
  try {
    await run(process.execPath, [MAKE, join(folder, 'client')]);
    const options = ['--ignore-scripts', '--offline', '--cache', join(folder, 'cache')];
    await run('npm', ['pack', './client', '--pack-destination', folder, ...options], { cwd: folder });
    return await readFile(join(folder, await tarballIn(folder)));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

const tarballIn = async (folder: string): Promise<string> =>
  (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? 'client.tgz';
