/**
 * @module Bundles the sources of a web page. A deployed function contains the finished files instead of this module.
 */

import { basename, extname } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import type { PageEntry, PageFiles } from './page-files.ts';

const LARGEST_COMPRESSION = 9;

/** @param folder contains the sources; the entry point `main.tsx` imports a style sheet */
export const bundlePage = async (folder: string): Promise<{ readonly entry: PageEntry; readonly files: PageFiles }> => {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: ['main.tsx'],
    entryNames: '[name]-[hash]',
    outdir: 'out',
    write: false,
    bundle: true,
    // Each dynamically imported module becomes a separate file, which the page loads on demand.
    splitting: true,
    chunkNames: '[name]-[hash]',
    minify: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    // The repository contains the licenses of the packages.
    legalComments: 'none',
    logLevel: 'warning',
  });
  const named = (extension: string): string => {
    const found = outputFiles.find(({ path }) => basename(path).startsWith('main-') && extname(path) === extension);
    if (!found) throw new Error(`the page in ${folder} has no ${extension} file`);
    return basename(found.path);
  };
  const packed = outputFiles.map(({ path, contents }): [string, string] => [
    basename(path),
    gzipSync(contents, { level: LARGEST_COMPRESSION }).toString('base64'),
  ]);
  return { entry: { script: named('.js'), style: named('.css') }, files: Object.fromEntries(packed) };
};
