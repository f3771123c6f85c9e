/**
 * @module Computes modules at build time: the table of routes, the API document, and the files of the console and the
 * hosted page. The code that computes them is in no function.
 */
import { dirname, join, resolve } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { Plugin } from 'esbuild';
import { endpoints } from '../../../functions/api/catalogue.ts';
import { apiDocumentAt } from '../../../functions/api/document.ts';
import { consoleEntry, consoleFiles } from '../../../functions/console/bundle.ts';
import { payPageEntry, payPageFiles } from '../../../functions/pay-page/bundle.ts';

/**
 * Replaces each import of a file in SOURCES with the computed module for this file. The module has only the exports
 * that functions import.
 */
export const madeModules: Plugin = {
  name: 'made-modules',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /[/\\](?:catalogue|document|bundle)\.ts$/ }, ({ path, resolveDir }) => {
      const file = join(resolveDir, path);
      return SOURCES.has(file) ? { path: file, namespace: MADE } : undefined;
    });
    onLoad({ filter: /./, namespace: MADE }, ({ path }) => ({
      contents: SOURCES.get(path)?.() ?? '',
      resolveDir: dirname(path),
    }));
  },
};

const MADE = 'made';

const routeTable = (): string =>
  `export const endpoints = ${JSON.stringify(endpoints.map(({ method, path, serves }) => ({ method, path, serves })))};`;

/** The document is stored compressed (a tenth of its size) and unpacked at the first request. */
const document = (): string => `
  import { brotliDecompressSync } from 'node:zlib';
  const packed = '${brotliCompressSync(JSON.stringify(apiDocumentAt(''))).toString('base64')}';
  let unpacked;
  export const apiDocumentAt = (baseUrl) => {
    unpacked ??= JSON.parse(brotliDecompressSync(Buffer.from(packed, 'base64')).toString('utf8'));
    return { ...unpacked, servers: [{ url: baseUrl }] };
  };`;

const consoleModule = (): string => `
  export const consoleEntry = ${JSON.stringify(consoleEntry)};
  export const consoleFiles = ${JSON.stringify(consoleFiles)};`;

const payPageModule = (): string => `
  export const payPageEntry = ${JSON.stringify(payPageEntry)};
  export const payPageFiles = ${JSON.stringify(payPageFiles)};`;

const FUNCTIONS = resolve(import.meta.dirname, '../../../functions');

const SOURCES: ReadonlyMap<string, () => string> = new Map([
  [join(FUNCTIONS, 'api', 'catalogue.ts'), routeTable],
  [join(FUNCTIONS, 'api', 'document.ts'), document],
  [join(FUNCTIONS, 'console', 'bundle.ts'), consoleModule],
  [join(FUNCTIONS, 'pay-page', 'bundle.ts'), payPageModule],
]);
