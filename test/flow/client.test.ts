import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { writeClient } from '../../infra/client.ts';
import { withHost } from './host.ts';

/** The generated client in a separate package, compiled and run as docs/client.md shows. */
const service = withHost();

const run = promisify(execFile);
const ROOT = resolve(import.meta.dirname, '../..');

/** Calls that the types must refuse; each accepted line is an error. */
const WRONG = `import { createPaymentsClient } from 'payments-client';
const client = createPaymentsClient({ baseUrl: 'http://127.0.0.1:1' });
// @ts-expect-error no such route
client.GET('/payment');
// @ts-expect-error an amount is a number
client.POST('/payments/intents', { body: { total_cents: '2500', currency: 'USD' } });
// @ts-expect-error no such status
client.GET('/payments/{id}', { params: { path: { id: 'x' } } }).then(({ data }) => data?.data.status === 'paid');
// @ts-expect-error the id is missing
client.POST('/payments/confirm/{id}', { body: {} });
`;

const somebodysPackage = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'payments-client-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await writeClient(join(folder, 'node_modules', 'payments-client'));
  for (const name of ['@types', 'openapi-fetch']) {
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  }
  const page = await readFile(join(ROOT, 'docs/client.md'), 'utf8');
  const [, program = ''] = /^```ts\n(.*?)^```$/ms.exec(page) ?? [];
  const options = { module: 'NodeNext', target: 'ES2024', lib: ['ES2024', 'DOM'], types: ['node'], strict: true };
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, noEmit: true } }));
  await writeFile(join(folder, 'program.ts'), program);
  await writeFile(join(folder, 'wrong.ts'), WRONG);
  return folder;
};

describe('the generated client', () => {
  test('is compiled with a program, creates, confirms and lists, and refuses what the API would', async () => {
    const folder = await somebodysPackage();
    const { stdout: errors } = await run(process.execPath, [join(ROOT, 'node_modules/.bin/tsc'), '-p', folder]).catch(
      (error: { stdout: string }) => error,
    );
    expect(errors).toBe('');
    const env = { PAYMENTS_URL: service.host().baseUrl };
    const { stdout } = await run(process.execPath, [join(folder, 'program.ts')], { env });
    expect(JSON.parse(stdout)).toEqual({ confirmed: 'succeeded', listed: 2_500 });
  });
});
