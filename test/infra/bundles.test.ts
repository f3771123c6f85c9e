import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { apiDocumentAt } from '../../functions/api/document.ts';
import { type Bundle, build, DEFAULT_ID, entryIds, FUNCTIONS_FOLDER } from '../../infra/build.ts';
import { CLIENT_FOLDER } from '../../infra/client/package.ts';
import { callsProviders, type Right } from '../../shared/core/rights.ts';
import { describedIn } from '../builders/described.ts';
import { synthesize, temporaryFolder } from './synthesized.ts';

const run = promisify(execFile);

const LARGEST_BYTES = 704 * 1_024;
const PROVIDER_CLIENTS = ['stripe', 'braintree'];

const folder = temporaryFolder();
let bundles: ReadonlyMap<string, Bundle>;
beforeAll(async () => {
  bundles = new Map((await build(folder)).map((bundle) => [bundle.id, bundle]));
});

const all: readonly { readonly id: string; readonly uses: readonly Right[]; readonly consumes: boolean }[] = [
  ...endpoints.map(({ id, uses }) => ({ id, uses, consumes: false })),
  ...triggers.map(({ id, uses, kind }) => ({ id, uses, consumes: kind === 'queue' })),
  { id: DEFAULT_ID, uses: [], consumes: false },
];

const partsOf = (id: string): readonly string[] => [...(bundles.get(id)?.parts.keys() ?? [])];

const imported = (id: string): string =>
  `await import(${JSON.stringify(pathToFileURL(join(folder, id, 'index.mjs')).href)})`;

/** The results of the expressions in a separate Node process with an empty environment. */
const inNode = async (expressions: readonly string[]): Promise<unknown> => {
  const script = `const all = [${expressions.join()}]; process.stdout.write('\\n' + JSON.stringify(all));`;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', script], { env: {} });
  return JSON.parse(stdout.split('\n').at(-1) ?? '');
};

describe('the bundles of the functions', () => {
  it('include one per function of the catalogue, and the default', () => {
    expect([...bundles.keys()].sort()).toEqual([...entryIds].sort());
  });

  it('contain, for the default, the table of routes without the catalogue', () => {
    const { bytes = 0 } = bundles.get(DEFAULT_ID) ?? {};
    expect(bytes).toBeLessThan(24 * 1_024);
    expect(partsOf(DEFAULT_ID)).toEqual(expect.not.arrayContaining(['zod', 'functions/payments']));
  });

  it('replace the previous bundles, but not the typed client', () => {
    expect(relative(FUNCTIONS_FOLDER, CLIENT_FOLDER)).toBe(join('..', 'client'));
  });

  it('are no larger than 704 KB', () => {
    // With the largest adapter that it may load.
    const loaded = ({ bytes, adapters }: Bundle) => bytes + Math.max(0, ...adapters.values());
    const large = [...bundles.values()].filter((bundle) => loaded(bundle) > LARGEST_BYTES);
    expect(large.map(({ id, bytes }) => `${id}: ${bytes}`)).toEqual([]);
  });

  it.each(all)('contain for $id no client of a service without a declared right', async ({ id, uses, consumes }) => {
    const parts = partsOf(id);
    expect(parts).toContain('shared/core');
    for (const client of PROVIDER_CLIENTS) expect(parts).not.toContain(client);
    if (!callsProviders(uses)) expect(bundles.get(id)?.adapters.size).toBe(0);
    const code = await readFile(join(folder, id, 'index.mjs'), 'utf8');
    const publishes = uses.includes('events:put');
    const sends = consumes || uses.some((right) => right.startsWith('queue:send:'));
    const held = ['PutEvents', 'SendMessageBatch'].filter((operation) => code.includes(operation));
    expect(held).toEqual([...(publishes ? ['PutEvents'] : []), ...(sends ? ['SendMessageBatch'] : [])]);
  });

  it('contain the AWS SDK, with only Lambda’s credential provider', () => {
    const parts = partsOf('payments.get');
    expect(parts).toContain('@aws-sdk/client-dynamodb');
    const providers = parts.filter((part) => part.startsWith('@aws-sdk/credential-provider-'));
    expect(providers).toEqual(['@aws-sdk/credential-provider-env']);
  });

  it('load as Lambda loads them, and export a handler', async () => {
    expect(await inNode(entryIds.map((id) => `typeof (${imported(id)}).handler`))).toEqual(
      entryIds.map(() => 'function'),
    );
  });

  it('respond to a request', async () => {
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

  it('contain the API document instead of its source schemas', async () => {
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

  it('contain no description of a schema or an endpoint', async () => {
    const texts = describedIn(apiDocumentAt('')).flatMap(({ text }) => (text && text.length > 40 ? [text] : []));
    const code = await Promise.all(
      ['payments.create-intent', 'refunds.create', 'payments.list'].map((id) =>
        readFile(join(folder, id, 'index.mjs'), 'utf8'),
      ),
    );
    const left = texts.filter((text) => code.some((source) => source.includes(text)));
    expect({ left, isChecked: texts.length > 500 }).toEqual({ left: [], isChecked: true });
  });

  it("call every route of Stripe's that the adapter knows, although most of the SDK is left out", async () => {
    const adapter = pathToFileURL(join(folder, 'payments.create', 'adapters', 'stripe.mjs')).href;
    const called = `await (async () => {
      const { openStripe } = await import(${JSON.stringify(adapter)});
      const paths = [];
      const fetch = async (url, { method }) => {
        paths.push(method + ' ' + new URL(url).pathname);
        return new Response(JSON.stringify({ id: 'x', object: 'x', amount: 1, currency: 'usd', status: 'created' }));
      };
      const settings = { API_KEY: 'sk_test_x', BASE_URL: '', WEBHOOK_SECRET: '', SUBSCRIPTIONS: '', STATEMENT_DESCRIPTOR: '' };
      const provider = openStripe({ slot: 'provider_a', settings, timeoutMs: 1000, fetch, log: { info() {} } });
      const key = { idempotencyKey: 'k' };
      const intent = { ...key, intentId: 'pi', paymentId: 'p', amountCents: 1, currency: 'USD', method: 'pm', customerId: 'c' };
      await provider.createIntent(intent);
      await provider.updateIntent(intent);
      await provider.confirmIntent(intent);
      await provider.cancelIntent(intent);
      await provider.findPayment({ intentId: 'pi' });
      await provider.createCustomer(key);
      await provider.updateCustomer({ ...key, customerId: 'c', name: 'N', cleared: [] });
      await provider.deleteCustomer('c');
      await provider.tokenizeCard({ ...key, number: '4', expiryMonth: '1', expiryYear: '2030' });
      await provider.attachMethod({ ...key, token: 'pm', customerId: 'c', paymentMethodId: 'p' });
      await provider.setups.find('si');
      await provider.setups.cancel('si');
      await provider.findMethod('pm');
      await provider.detachMethod('pm');
      await provider.updateBilling({ ...key, methodId: 'pm', billing: { country: 'US' } });
      return paths;
    })()`;
    expect(await inNode([called])).toEqual([
      [
        'POST /v1/payment_intents',
        'POST /v1/payment_intents/pi',
        'POST /v1/payment_intents/pi/confirm',
        'POST /v1/payment_intents/pi/cancel',
        'GET /v1/payment_intents/pi',
        'POST /v1/customers',
        'POST /v1/customers/c',
        'DELETE /v1/customers/c',
        'POST /v1/payment_methods',
        'POST /v1/setup_intents',
        'GET /v1/setup_intents/si',
        'POST /v1/setup_intents/si/cancel',
        'GET /v1/payment_methods/pm',
        'POST /v1/payment_methods/pm/detach',
        'POST /v1/payment_methods/pm',
      ],
    ]);
  });

  it('become stacks offline and without credentials', () => {
    const { ofType } = synthesize({ codeDir: folder });
    expect(ofType('AWS::Lambda::Function')).toHaveLength(entryIds.length);
  });
});
