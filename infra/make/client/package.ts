import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { transform } from 'esbuild';
import openapiTypescript, { astToString } from 'openapi-typescript';
import * as z from 'zod';
import { apiDocumentAt } from '../../../functions/api/document.ts';
import { clientTypes } from './client-types.ts';
import { typedDocument } from './typed-document.ts';

export const CLIENT_FOLDER = resolve(import.meta.dirname, '../../../dist/client');

/**
 * Writes the API's typed client as a package with the document's types and openapi-fetch bound to them. The types are
 * generated, so they always match the served API. Replaces the old content of the folder.
 */
export const writeClient = async (folder: string): Promise<void> => {
  const plain = JSON.stringify(apiDocumentAt(''));
  const { document, names, events, keyedPosts } = typedDocument(
    z.record(z.string(), z.unknown()).parse(JSON.parse(plain)),
  );
  const { info } = documentSchema.parse(document);
  const files = {
    'package.json': manifest(info.version),
    // A field with a default may be omitted from a request.
    'schema.d.ts': astToString(await openapiTypescript(JSON.stringify(document), { defaultNonNullable: false })),
    'index.js': indexOf(keyedPosts),
    'client.js': await codeOf('client'),
    'webhook-event.js': await codeOf('webhook-event'),
    'index.d.ts': clientTypes(names, events),
  };
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  cpSync(join(import.meta.dirname, 'README.md'), join(folder, 'README.md'));
  cpSync(resolve(import.meta.dirname, '../../../LICENSE'), join(folder, 'LICENSE'));
};

const documentSchema = z.object({ info: z.object({ version: z.string() }) });
const packageSchema = z.object({ version: z.string() });

/**
 * The package is installed from its folder or tarball. `private` blocks `npm publish` until the operator replaces the
 * name's scope. A stranger could own an unscoped name in a public registry.
 */
const NAME = '@your-company/payments-client';

const DEPENDENCIES = ['openapi-fetch', 'standardwebhooks'];

const versionOf = (name: string): string =>
  packageSchema.parse(createRequire(import.meta.url)(`${name}/package.json`)).version;

/** The API's date as a semantic version: 2026-11-01 becomes 2026.11.1. */
const manifest = (date: string): string => {
  const described = {
    name: NAME,
    version: date.split('-').map(Number).join('.'),
    description: 'The typed client of the payments API.',
    private: true,
    license: 'MIT',
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    files: ['*.js', '*.d.ts'],
    dependencies: Object.fromEntries(DEPENDENCIES.map((name) => [name, versionOf(name)])),
  };
  return `${JSON.stringify(described, null, 2)}\n`;
};

/** Compiles a code file of the package to JavaScript. */
const codeOf = async (name: string): Promise<string> => {
  const source = await readFile(join(import.meta.dirname, `${name}.ts`), 'utf8');
  return (await transform(source, { loader: 'ts', format: 'esm', target: 'es2022' })).code;
};

const indexOf = (keyedPosts: readonly string[]): string => `\
import { openPaymentsClient } from './client.js';

export { PaymentsError, unwrap } from './client.js';
export { constructEvent } from './webhook-event.js';

export const createPaymentsClient = (options) => openPaymentsClient(options, KEYED_POSTS);

const KEYED_POSTS = new Set(${JSON.stringify(keyedPosts, null, 2)});
`;
