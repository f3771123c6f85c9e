import { mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';
import * as z from 'zod';
import { apiDocumentAt } from '../functions/api/document.ts';

export const CLIENT_FOLDER = resolve(import.meta.dirname, '..', 'dist', 'client');

/**
 * Writes the typed client of the API as a package: the document's types, and openapi-fetch bound to them. Nothing in it
 * is written by hand, so that it cannot differ from what is served.
 */
export const writeClient = async (folder: string): Promise<void> => {
  const document = JSON.stringify(apiDocumentAt(''));
  const schema = astToString(await openapiTypescript(document));
  const { info } = documentSchema.parse(JSON.parse(document));
  const files = {
    'package.json': manifest(info.version),
    'schema.d.ts': schema,
    'index.js': CODE,
    'index.d.ts': TYPES,
  };
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
};

const documentSchema = z.object({ info: z.object({ version: z.string() }) });
const packageSchema = z.object({ version: z.string() });

/** The API's date as a version: 2026-11-01 is 2026.11.1. */
const manifest = (date: string): string => {
  const require = createRequire(import.meta.url);
  const fetcher = packageSchema.parse(require('openapi-fetch/package.json'));
  const described = {
    name: 'payments-client',
    version: date.split('-').map(Number).join('.'),
    private: true,
    type: 'module',
    exports: { '.': { types: './index.d.ts', default: './index.js' } },
    dependencies: { 'openapi-fetch': fetcher.version },
  };
  return `${JSON.stringify(described, null, 2)}\n`;
};

const CODE = `import createClient from 'openapi-fetch';

export const createPaymentsClient = (options) => createClient(options);
`;

const TYPES = `import type { Client, ClientOptions } from 'openapi-fetch';
import type { paths } from './schema.d.ts';

export type { components, operations, paths } from './schema.d.ts';

/** A function a method, as client.POST('/payments/confirm/{id}', { params, body }): what it takes and answers is typed. */
export declare const createPaymentsClient: (
  options: ClientOptions & { baseUrl: string },
) => Client<paths, 'application/json'>;
`;
