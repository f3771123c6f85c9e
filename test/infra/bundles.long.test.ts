import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { apiDocumentAt } from '../../functions/api/document.ts';
import { type Bundle, build, DEFAULT_ID, entryIds, FUNCTIONS_FOLDER } from '../../infra/deploy/build.ts';
import { CLIENT_FOLDER } from '../../infra/make/client/package.ts';
import { callsProviders, type Right } from '../../shared/core/rights.ts';
import { synthesize, temporaryFolder } from './synthesized.ts';

const run = promisify(execFile);

const LARGEST_BYTES = 896 * 1_024;
/** Building ninety bundles takes half a minute on two idle cores. */
const BUILD_MS = 600_000;
const PROVIDER_CLIENTS = ['stripe', 'braintree'];

const all: readonly { readonly id: string; readonly uses: readonly Right[]; readonly consumes: boolean }[] = [
  ...endpoints.map(({ id, uses }) => ({ id, uses, consumes: false })),
  ...triggers.map(({ id, uses, kind }) => ({ id, uses, consumes: kind === 'queue' })),
  { id: DEFAULT_ID, uses: [], consumes: false },
];
const ids = all.map(({ id }) => id);

const folder = temporaryFolder();
let bundles: ReadonlyMap<string, Bundle>;
beforeAll(async () => {
  bundles = new Map((await build(folder, ids)).map((bundle) => [bundle.id, bundle]));
}, BUILD_MS);

const partsOf = (id: string): readonly string[] => [...(bundles.get(id)?.parts.keys() ?? [])];

const imported = (id: string): string =>
  `await import(${JSON.stringify(pathToFileURL(join(folder, id, 'index.mjs')).href)})`;

/** Evaluates the expressions in a separate Node process with an empty environment. @returns their values */
const inNode = async (expressions: readonly string[]): Promise<unknown> => {
  const script = `const all = [${expressions.join()}]; process.stdout.write('\\n' + JSON.stringify(all));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], {
    env: {},
    maxBuffer: 16 * 1_024 * 1_024,
  });
  return JSON.parse(stdout.split('\n').at(-1) ?? '');
};

describe('the bundles of the functions', () => {
  test('include one bundle per function of the catalogue, and one for the default function', () => {
    expect([...bundles.keys()].sort()).toEqual(ids.toSorted());
    expect(all.length).toBeGreaterThan(30);
    expect(entryIds.toSorted()).toEqual(
      [...endpoints, ...triggers]
        .map(({ id }) => id)
        .concat(DEFAULT_ID)
        .sort(),
    );
  });

  test('exclude schemas and use cases from the default function', () => {
    const { bytes = 0 } = bundles.get(DEFAULT_ID) ?? {};
    expect(bytes).toBeLessThan(28 * 1_024);
    expect(partsOf(DEFAULT_ID)).toEqual(expect.not.arrayContaining(['zod', 'functions/payments']));
  });

  test('replace the previous bundles, but not the typed client', () => {
    expect(relative(FUNCTIONS_FOLDER, CLIENT_FOLDER)).toBe(join('..', 'client'));
  });

  test('are no larger than 896 KB', () => {
    // The size with the largest adapter that the function may load.
    const loaded = ({ bytes, adapters }: Bundle) => bytes + Math.max(0, ...adapters.values());
    const large = [...bundles.values()].filter((bundle) => loaded(bundle) > LARGEST_BYTES);
    expect(large.map(({ id, bytes }) => `${id}: ${bytes}`)).toEqual([]);
  });

  test.each(all)(
    'contain for $id only the clients of AWS services and providers required by its rights',
    async ({ id, uses, consumes }) => {
      const parts = partsOf(id);
      expect(parts).toContain('shared/core');
      for (const client of PROVIDER_CLIENTS) expect(parts).not.toContain(client);
      if (!callsProviders(uses)) expect(bundles.get(id)?.adapters.size).toBe(0);
      const files = (await readdir(join(folder, id))).filter((file) => file.endsWith('.mjs'));
      const code = (await Promise.all(files.map((file) => readFile(join(folder, id, file), 'utf8')))).join('\n');
      const publishes = uses.includes('events:put');
      const sends = consumes || uses.some((right) => right.startsWith('queue:send:'));
      const held = ['PutEvents', 'SendMessageBatch'].filter((operation) => code.includes(operation));
      expect(held).toEqual([...(publishes ? ['PutEvents'] : []), ...(sends ? ['SendMessageBatch'] : [])]);
    },
  );

  test('contain the AWS SDK with only the default and environment credential providers', () => {
    const parts = partsOf('payments.get');
    expect(parts).toContain('@aws-sdk/client-dynamodb');
    const providers = parts.filter((part) => part.startsWith('@aws-sdk/credential-provider-'));
    expect(providers).toEqual(['@aws-sdk/credential-provider-node', '@aws-sdk/credential-provider-env']);
  });

  test('load as Lambda loads them, and export a handler', async () => {
    expect(await inNode(ids.map((id) => `typeof (${imported(id)}).handler`))).toEqual(ids.map(() => 'function'));
  });

  test('respond to a request', async () => {
    const event = {
      version: '2.0',
      rawQueryString: '',
      headers: {},
      requestContext: { requestId: 'r1', http: { method: 'GET', path: '/payments', sourceIp: '192.0.2.1' } },
    };
    const answer = (id: string) => `(await (${imported(id)}).handler(${JSON.stringify(event)}, {})).statusCode`;
    event.requestContext.http.method = 'DELETE';
    expect(await inNode([answer('payments.list'), answer(DEFAULT_ID)])).toEqual([401, 405]);
  });

  test('contain the API document instead of its source schemas', async () => {
    const event = {
      version: '2.0',
      rawQueryString: '',
      headers: {},
      requestContext: { requestId: 'r1', http: { method: 'GET', path: '/openapi.json', sourceIp: '192.0.2.1' } },
    };
    const body = `(await (${imported('api.openapi')}).handler(${JSON.stringify(event)}, {})).body`;
    const [answered] = z.tuple([z.string()]).parse(await inNode([body]));
    const made = JSON.parse(JSON.stringify(apiDocumentAt('')));
    expect(JSON.parse(answered)).toEqual(made);
    expect(partsOf('api.openapi')).not.toContain('zod-openapi');
    expect(partsOf('api.openapi')).not.toContain('functions/payments');
  });

  test('can be synthesized into stacks offline and without credentials', () => {
    const { ofType } = synthesize({ codeDir: folder, endpoints, env: { HEALTH_CHECK: 'on' } });
    expect(ofType('AWS::Lambda::Function')).toHaveLength(ids.length);
  });
});
