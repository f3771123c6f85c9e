import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { apiDocumentAt } from '../../functions/api/document.ts';
import { DEMO_KEY_SECRET } from '../../infra/local/host/seed.ts';
import { writeClient } from '../../infra/make/client/package.ts';
import { minimalCalls } from './client-minimal.ts';
import { RIGHT_PROGRAMS, WRONG_PROGRAMS } from './client-programs.ts';
import { withHost } from './host.ts';

/** The client's package as npm packs it, installed offline in another project, compiled and run. */
const service = withHost();

const run = promisify(execFile);
const CLIENT = '@your-company/payments-client';
const ROOT = resolve(import.meta.dirname, '../..');
/** The client's two dependencies, with their own dependencies. */
const DEPENDENCIES = [
  ...['openapi-fetch', 'openapi-typescript-helpers'],
  ...['standardwebhooks', '@stablelib/base64', 'fast-sha256'],
];
const STRICT = {
  ...{ module: 'NodeNext', target: 'ES2024', lib: ['ES2024', 'DOM'], types: ['node'], noEmit: true },
  ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  ...{ noPropertyAccessFromIndexSignature: true, verbatimModuleSyntax: true, allowImportingTsExtensions: true },
};

/** Calls that must not compile. Each call that compiles is an error. */
const WRONG = `import { createPaymentsClient } from '@your-company/payments-client';
import type { Address, ApiError, Customer, Dispute, Payment, PaymentMethod, Refund, Subscription } from '@your-company/payments-client';
const client = createPaymentsClient({ baseUrl: 'http://127.0.0.1:1' });
declare const payment: Payment;
declare const refund: Refund;
declare const dispute: Dispute;
declare const method: PaymentMethod;
declare const customer: Customer;
declare const subscription: Subscription;
declare const address: Address;
declare const error: ApiError;
// @ts-expect-error a payer is a user or an organization
createPaymentsClient({ baseUrl: 'http://127.0.0.1:1', actFor: 'user_1' });
// @ts-expect-error a key is a text
createPaymentsClient({ baseUrl: 'http://127.0.0.1:1', key: 1 });
// @ts-expect-error this route is for the merchant, who names no payer
client.POST('/payments/{id}/refunds', { params: { path: { id: 'pay_1' }, header: { 'X-Act-For': 'user:u' } }, body: {} });
// @ts-expect-error no such route
client.GET('/payment');
// @ts-expect-error an amount is a number
client.POST('/payments/intents', { body: { total_cents: '2500', currency: 'USD' } });
// @ts-expect-error the id is missing
client.POST('/payments/confirm/{id}', { body: {} });
// @ts-expect-error no such field; the amount would be refunded whole
client.POST('/payments/{id}/refunds', { params: { path: { id: 'pay_1' } }, body: { amount: 500 } });
// @ts-expect-error no such field; the hold would be captured whole
client.POST('/payments/{id}/capture', { params: { path: { id: 'pay_1' } }, body: { amount_to_capture: 1800 } });
// @ts-expect-error no such field; the payment would not be held
client.POST('/payments/intents', { body: { total_cents: 2500, currency: 'USD', captureMethod: 'manual' } });
// @ts-expect-error no such field of the guest
client.POST('/customers', { body: { provider_id: 'provider_a', guest_data: { email: 'a@b.example', name: 'A', mail: 'x' } } });
// @ts-expect-error no such field of an update
client.PUT('/customers/{id}', { params: { path: { id: 'cust_1' } }, body: { fullname: 'Ada' } });
// @ts-expect-error no such field of an update
client.PATCH('/subscriptions/{id}', { params: { path: { id: 'subs_1' } }, body: { metadata: {}, price: 1 } });
// @ts-expect-error no such parameter of the query
client.GET('/payments', { params: { query: { page_size: 5 } } });
// @ts-expect-error a flag of the query is a boolean
client.GET('/admin/payments', { params: { query: { disputed: 'true' } } });
// @ts-expect-error no such status of a payment
payment.status === 'paid';
// @ts-expect-error no such status of a refund
refund.status === 'paid';
// @ts-expect-error no such status of a subscription
subscription.status === 'paid';
// @ts-expect-error no such status of a dispute
dispute.status === 'paid';
// @ts-expect-error no such field
method.card_number;
// @ts-expect-error no such field
customer.nickname;
// @ts-expect-error no such field
address.nickname;
// @ts-expect-error no such code
error.code === 'CARD_DECLINED';
// @ts-expect-error the details of this code are no list
if (error.code === 'PAYMENT_DECLINED') error.details?.map(String);
const confirmed = await client.POST('/payments/confirm/{id}', { params: { path: { id: 'pay_1' } }, body: {} });
// @ts-expect-error this route never answers with this code
confirmed.error?.code === 'INVITE_EXPIRED';
`;

/** Passes errors of the service to the README's fourth program. The errors' details must match the types. */
const ADVICE = `import { createPaymentsClient, type Refund } from '@your-company/payments-client';
import { adviceOn } from './program-3.ts';
const clientOf = (session: string) =>
  createPaymentsClient({ baseUrl: process.env['PAYMENTS_URL'] ?? '', headers: { 'X-Session-ID': session } });
const owner = clientOf('demo-owner');
const pay = async (payment_method_id: string) => {
  const created = await owner.POST('/payments/intents', { body: { total_cents: 2500, currency: 'USD', payment_method_id } });
  const path = { id: created.data?.id ?? '' };
  return { path, confirmed: await owner.POST('/payments/confirm/{id}', { params: { path }, body: {} }) };
};
const refund = (path: { id: string }, amount_cents: number) =>
  clientOf('demo-admin').POST('/payments/{id}/refunds', { params: { path }, body: { amount_cents } });

const { path } = await pay('pm_card_visa');
const made: Refund | undefined = (await refund(path, 500)).data;
const declined = await pay('pm_card_visa_chargeDeclinedInsufficientFunds');
const failures = [
  declined.confirmed,
  await owner.POST('/payments/intents', { body: { total_cents: -1, currency: 'USD' } }),
  await refund(path, 2500),
  await owner.GET('/payments/{id}', { params: { path: { id: 'pay_none' } } }),
];
const advice = failures.map(({ error }) => (error ? adviceOn(error) : 'no error'));
console.log(JSON.stringify({ refunded: made?.amount_cents, advice }));
`;

/** A client with a key for one payer, and one request with the same key for another payer. */
const BACKEND = `import { createPaymentsClient } from '@your-company/payments-client';
const client = createPaymentsClient({
  baseUrl: process.env['PAYMENTS_URL'] ?? '',
  key: process.env['PAYMENTS_API_KEY'],
  actFor: 'user:user_demo_owner',
});
const body = { total_cents: 2500, currency: 'USD' };
const own = await client.POST('/payments/intents', { body });
const header = { 'X-Act-For': 'user:user_demo_member' };
const other = await client.POST('/payments/intents', { params: { header }, body });
const missing = await client.POST('/organizations', { body: { name: 'Mine' } });
console.log(JSON.stringify({
  users: [own.data?.user_id, other.data?.user_id],
  scope: missing.error?.code === 'INSUFFICIENT_PERMISSIONS' && missing.error.details?.required_scope,
}));
`;

/** Each call sends only the required fields of the API document. */
const minimalProgram = (): string => {
  const calls = minimalCalls(JSON.parse(JSON.stringify(apiDocumentAt(''))), 'client');
  return `import { createPaymentsClient } from '${CLIENT}';
const client = createPaymentsClient({ baseUrl: 'http://127.0.0.1:1' });
${calls.join('\n')}
`;
};

const programsInReadme = async (): Promise<string[]> => {
  const text = await readFile(join(ROOT, 'infra/make/client/README.md'), 'utf8');
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, program = '']) => program);
};

/** The first program of the README, against the host of this test. */
const programOfNewcomers = async (): Promise<string> => {
  const [, program = ''] = /^```ts\n(.*?)^```$/ms.exec(await readFile(join(ROOT, 'README.md'), 'utf8')) ?? [];
  return program.replace('http://127.0.0.1:3000', service.host().baseUrl);
};

/** Runs npm as users do, but without a registry and without the cache of this machine. */
const npm = (folder: string, ...args: readonly string[]) =>
  run('npm', [...args, '--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--cache', join(folder, 'cache')], {
    cwd: folder,
  });

const pack = async (folder: string, source: string): Promise<string> => {
  const { stdout } = await npm(folder, 'pack', source, '--json');
  const [packed] = JSON.parse(stdout);
  return packed.filename;
};

const consumerProject = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'payments-client-'));
  await writeClient(join(folder, 'client'));
  const tarballs: Record<string, string> = { [CLIENT]: await pack(folder, './client') };
  for (const name of DEPENDENCIES) tarballs[name] = await pack(folder, join(ROOT, 'node_modules', name));
  const dependencies = Object.fromEntries(Object.entries(tarballs).map(([name, file]) => [name, `file:${file}`]));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ type: 'module', dependencies }));
  await npm(folder, 'install');
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types']) {
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: STRICT, include: ['*.ts'] }));
  return folder;
};

/** Compiles the programs in the folder. @returns the compiler's messages; empty if there are none */
const compile = async (folder: string): Promise<string> => {
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [compiler, '-p', '.'], { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
};

describe('the client package', () => {
  let folder = '';
  beforeAll(async () => {
    folder = await consumerProject();
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test('installs from its tarball, compiles under strict rules, makes a payment, and reads errors', async () => {
    const programs = await programsInReadme();
    expect(programs).toHaveLength(4);
    for (const [index, program] of programs.entries()) await writeFile(join(folder, `program-${index}.ts`), program);
    await writeFile(join(folder, 'readme.ts'), await programOfNewcomers());
    await writeFile(join(folder, 'wrong.ts'), WRONG);
    await writeFile(join(folder, 'advice.ts'), ADVICE);
    await writeFile(join(folder, 'backend.ts'), BACKEND);
    await writeFile(join(folder, 'minimal.ts'), minimalProgram());
    expect(await compile(folder)).toBe('');
    const env = { PAYMENTS_URL: service.host().baseUrl, PAYMENTS_API_KEY: DEMO_KEY_SECRET };
    const printed = async (file: string) =>
      JSON.parse((await run(process.execPath, [join(folder, file)], { env })).stdout);
    expect(await printed('program-0.ts')).toEqual({ confirmed: 'succeeded', total_cents: 2_500 });
    expect((await run(process.execPath, [join(folder, 'readme.ts')])).stdout).toContain("status: 'succeeded'");
    expect(await printed('program-1.ts')).toEqual({ ordered: 'created', refunded: 'succeeded' });
    expect(await printed('backend.ts')).toEqual({
      users: ['user_demo_owner', 'user_demo_member'],
      scope: 'organizations:write',
    });
    expect(await printed('advice.ts')).toEqual({
      refunded: 500,
      advice: [
        'Use another card',
        expect.stringMatching(/^total_cents must be /),
        'Only 2000 is left',
        expect.stringMatching(/^No such payment \(request .+\)$/),
      ],
    });
  });

  test('rejects every wrong program and compiles every right program', async () => {
    const all = { wrong: WRONG_PROGRAMS, right: RIGHT_PROGRAMS };
    for (const [kind, programs] of Object.entries(all))
      for (const [index, program] of programs.entries()) await writeFile(join(folder, `${kind}-${index}.ts`), program);
    const errors = await compile(folder);
    const refused = new Set([...errors.matchAll(/^(\w+-\d+)\.ts\(/gm)].map(([, name = '']) => name));
    expect(errors.split('\n').filter((line) => line.startsWith('right'))).toEqual([]);
    expect(WRONG_PROGRAMS.filter((_, index) => !refused.has(`wrong-${index}`))).toEqual([]);
    expect(Math.min(WRONG_PROGRAMS.length, RIGHT_PROGRAMS.length)).toBeGreaterThanOrEqual(20);
  });

  test('is served by the local host as the tarball that npm packs', async () => {
    const response = await fetch(`${service.host().baseUrl}/client.tgz`);
    const file = join(folder, 'served.tgz');
    await writeFile(file, Buffer.from(await response.arrayBuffer()));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/gzip']);
    const { stdout } = await npm(folder, 'pack', './served.tgz', '--json', '--dry-run');
    const [{ name, files }] = JSON.parse(stdout);
    expect([name, files.length]).toEqual([CLIENT, 8]);
  });

  test('contains only its code, its types, a README and a license', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'payments-client-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeClient(join(folder, 'client'));
    const { stdout } = await npm(folder, 'pack', './client', '--json', '--dry-run');
    const [{ files, name, version }] = JSON.parse(stdout);
    expect(files.map(({ path }: { path: string }) => path).toSorted()).toEqual([
      'LICENSE',
      'README.md',
      'client.js',
      'index.d.ts',
      'index.js',
      'package.json',
      'schema.d.ts',
      'webhook-event.js',
    ]);
    // Without a scope, the name could belong to a stranger's package in a registry. `private` prevents publishing.
    expect(JSON.parse(await readFile(join(folder, 'client/package.json'), 'utf8'))).toMatchObject({ private: true });
    expect(`${name} ${version}`).toMatch(/^@your-company\/payments-client \d{4}\.\d{1,2}\.\d{1,2}$/);
  });
});
