import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import openapiTypescript, { astToString } from 'openapi-typescript';
import * as z from 'zod';
import { apiDocumentAt } from '../../../functions/api/document.ts';
import { typedDocument } from './typed-document.ts';

export const CLIENT_FOLDER = resolve(import.meta.dirname, '../../../dist/client');

/**
 * Writes the typed client of the API as a package, which holds the document's types and openapi-fetch bound to them.
 * The types are generated, so they always match the served API. The old content of the folder is removed.
 */
export const writeClient = async (folder: string): Promise<void> => {
  const plain = JSON.stringify(apiDocumentAt(''));
  const { document, names, events } = typedDocument(z.record(z.string(), z.unknown()).parse(JSON.parse(plain)));
  const { info } = documentSchema.parse(document);
  const files = {
    'package.json': manifest(info.version),
    // A field with a default may be omitted from a request.
    'schema.d.ts': astToString(await openapiTypescript(JSON.stringify(document), { defaultNonNullable: false })),
    'index.js': CODE,
    'index.d.ts': typesOf(names, events),
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
 * The package is installed from its folder or tarball. The operator replaces the name's scope before publishing, and
 * `private` refuses `npm publish` until then. A name without a scope could belong to a stranger in a public registry.
 */
const NAME = '@your-company/payments-client';

/** The API's date as a version, so that 2026-11-01 is 2026.11.1. */
const manifest = (date: string): string => {
  const require = createRequire(import.meta.url);
  const fetcher = packageSchema.parse(require('openapi-fetch/package.json'));
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
    files: ['index.js', 'index.d.ts', 'schema.d.ts'],
    dependencies: { 'openapi-fetch': fetcher.version },
  };
  return `${JSON.stringify(described, null, 2)}\n`;
};

const CODE = `import createClient, { mergeHeaders } from 'openapi-fetch';

export const createPaymentsClient = ({ key, actFor, headers, ...options }) =>
  createClient({
    ...options,
    headers: mergeHeaders(headers, {
      ...(key && { Authorization: \`Bearer \${key}\` }),
      ...(actFor && { 'X-Act-For': actFor }),
    }),
  });
`;

const typesOf = (names: readonly string[], events: readonly string[]): string => `\
import type { Client, ClientOptions, ClientPathsWithMethod, FetchOptions, FetchResponse, ParseAs } from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';

export type { components, operations, paths } from './schema.d.ts';

type Fetch = Client<paths, 'application/json'>;
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Path<M extends Method> = ClientPathsWithMethod<Fetch, M> & keyof paths;
type Operation<P extends keyof paths, M extends Method> = Extract<paths[P][M & keyof paths[P]], Record<string | number, any>>;
type Init<T, Parse> = FetchOptions<T> & { parseAs?: Parse };
type Call<M extends Method> = <P extends Path<M>, Parse extends ParseAs = 'json'>(
  url: P,
  ...init: {} extends FetchOptions<Operation<P, M>>
    ? [init?: Init<Operation<P, M>, Parse>]
    : [init: Init<Operation<P, M>, Parse>]
) => Promise<FetchResponse<Operation<P, M>, { parseAs: Parse }, 'application/json'>>;

/**
 * A function per method, as client.POST('/payments/confirm/{id}', { params, body }): its parameters and responses are typed.
 * A field or query parameter that the route does not know does not compile.
 */
export interface PaymentsClient extends Pick<Fetch, 'use' | 'eject'> {
  readonly GET: Call<'get'>;
  readonly POST: Call<'post'>;
  readonly PUT: Call<'put'>;
  readonly PATCH: Call<'patch'>;
  readonly DELETE: Call<'delete'>;
}

/** The payer for whom a service key acts. */
export type ActFor = \`user:\${string}\` | \`organization:\${string}\`;

export interface PaymentsClientOptions extends ClientOptions {
  baseUrl: string;
  /** A service key, psk_…, for a backend only. Sent as Authorization. */
  key?: string | undefined;
  /** The payer of every request, as X-Act-For. The header of a request wins over it. */
  actFor?: ActFor | undefined;
}

export declare const createPaymentsClient: (options: PaymentsClientOptions) => PaymentsClient;

/** The body of an outbound webhook: compare \`event\` to narrow \`data\`. */
export type WebhookEvent = ${events.join(' | ')};

${names.map((name) => `export type ${name} = components['schemas']['${name}'];`).join('\n')}
`;
