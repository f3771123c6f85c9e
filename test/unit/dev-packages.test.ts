/** @module After `npm ci --omit=dev`, commands say that they need development packages. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import * as z from 'zod';

const ROOT = resolve(import.meta.dirname, '../..');
const { scripts } = z
  .object({ scripts: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));

/** Scripts that need only production dependencies, or that install their own packages. */
const WITHOUT: readonly string[] = ['postinstall', 'start', 'dev', 'client', 'openapi', 'docs', 'cdk', 'simulate'];

describe('the packages for development', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dev-packages-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, 'infra'));
  const guard = join(folder, 'infra/dev-packages.cjs');
  copyFileSync(join(ROOT, 'infra/dev-packages.cjs'), guard);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ devDependencies: { vitest: '1.0.0' } }));
  const run = (script: string, ...args: readonly string[]) => {
    const env = { npm_lifecycle_event: script };
    const { status, stdout, stderr } = spawnSync(process.execPath, [guard, ...args], { env, encoding: 'utf8' });
    return [status, stdout + stderr];
  };

  test('are checked by each script that needs them', () => {
    const guarded = Object.keys(scripts).filter((name) => scripts[name]?.includes('infra/dev-packages.cjs'));
    expect([...guarded, ...WITHOUT].toSorted()).toEqual(Object.keys(scripts).toSorted());
  });

  test('are requested in one line if one package is missing', () => {
    expect(run('deploy')).toEqual([
      1,
      'npm run deploy needs the packages for development (vitest is missing): run npm ci\n',
    ]);
  });

  test('are needed by payctl only for a deployed stage', () => {
    expect(run('payctl', 'doctor')).toEqual([0, '']);
    expect(run('payctl', '--stage', 'prod', 'doctor')[0]).toBe(1);
    expect(run('payctl', '--stage=prod')[0]).toBe(1);
  });

  test('cause no message if they are installed', () => {
    mkdirSync(join(folder, 'node_modules/vitest'), { recursive: true });
    writeFileSync(join(folder, 'node_modules/vitest/package.json'), '{}');
    expect(run('deploy')).toEqual([0, '']);
  });
});
