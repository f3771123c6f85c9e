/**
 * @module The console's files, bundled from `web/` when this file is loaded, which the local host does at the first
 * request. The build replaces this file with the finished files, so that a deployed function bundles nothing.
 */

import { basename, extname, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { ConsoleEntry, ConsoleFiles } from '../../shared/console/console.ts';

const WEB = resolve(import.meta.dirname, 'web');

const { outputFiles } = await build({
  absWorkingDir: WEB,
  entryPoints: ['main.tsx'],
  entryNames: '[name]-[hash]',
  outdir: 'out',
  write: false,
  bundle: true,
  // The sign-in by OpenID Connect is a file of its own, which the page loads when a user signs in so.
  splitting: true,
  chunkNames: '[name]-[hash]',
  minify: true,
  platform: 'browser',
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  // The licenses of the packages are in the repository.
  legalComments: 'none',
  logLevel: 'warning',
});

const named = (extension: string): string => {
  const found = outputFiles.find(({ path }) => basename(path).startsWith('main-') && extname(path) === extension);
  if (!found) throw new Error(`the console has no ${extension} file`);
  return basename(found.path);
};

export const consoleEntry: ConsoleEntry = { script: named('.js'), style: named('.css') };

const LARGEST_COMPRESSION = 9;

export const consoleFiles: ConsoleFiles = Object.fromEntries(
  outputFiles.map(({ path, contents }) => [
    basename(path),
    gzipSync(contents, { level: LARGEST_COMPRESSION }).toString('base64'),
  ]),
);
