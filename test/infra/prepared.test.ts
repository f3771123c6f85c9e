import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { build } from '../../infra/deploy/build.ts';
import { temporaryFolder } from './synthesized.ts';

const ID = 'payments.confirm';
const RECEIVER_ID = 'webhooks.provider-a';
const SECRET = 'arn:aws:secretsmanager:us-east-1:111122223333:secret:stripe';
const SIGNATURE_SECRET = 'arn:aws:secretsmanager:us-east-1:111122223333:secret:stripe-signature';
const OTHER_SECRET = 'arn:aws:secretsmanager:us-east-1:111122223333:secret:paypal';
const LAMBDA_STARTS_IT = { AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand' };

const folder = temporaryFolder();
beforeAll(async () => {
  await build(folder, [ID, RECEIVER_ID]);
});

interface Start {
  readonly env: Readonly<Record<string, string>>;
  /** The id of the function. */
  readonly id?: string;
  /** The status of Secrets Manager's response. */
  readonly status?: number;
}

/** Imports the function in a new process. @returns the secrets that it reads meanwhile */
const secretsReadAtStart = async ({ status = 200, id = ID, env }: Start): Promise<readonly string[]> => {
  const read: string[] = [];
  const manager = createServer(async (message, response) => {
    read.push(z.object({ SecretId: z.string() }).parse(JSON.parse(await text(message))).SecretId);
    const body = { SecretString: JSON.stringify({ PROVIDER_A_API_KEY: 'sk_test_1' }) };
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(manager, 'listening');
  const { port } = z.object({ port: z.number() }).parse(manager.address());
  const settings = {
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${port}`,
    PROVIDER_A: 'stripe',
    PROVIDER_A_SECRET_ARN: SECRET,
    PROVIDER_A_SIGNATURE_SECRET_ARN: SIGNATURE_SECRET,
  };
  const url = pathToFileURL(join(folder, id, 'index.mjs')).href;
  const script = `const { handler } = await import(${JSON.stringify(url)}); process.exit(typeof handler === 'function' ? 0 : 1);`;
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script], {
      env: { ...settings, ...env },
    });
  } finally {
    manager.close();
    manager.closeAllConnections();
  }
  return read;
};

describe('a deployed function', () => {
  test('opens its providers while Lambda starts it', async () => {
    expect(await secretsReadAtStart({ env: LAMBDA_STARTS_IT })).toEqual([SECRET]);
  });

  test.each([
    { id: ID, read: [SECRET, OTHER_SECRET] },
    { id: RECEIVER_ID, read: [SIGNATURE_SECRET] },
  ])('reads only the secrets that it has a right to ($id)', async ({ id, read }) => {
    const env = { ...LAMBDA_STARTS_IT, PROVIDER_B: 'paypal', PROVIDER_B_SECRET_ARN: OTHER_SECRET };
    expect((await secretsReadAtStart({ id, env })).toSorted()).toEqual(read.toSorted());
  });

  test('opens nothing if other code imports it', async () => {
    expect(await secretsReadAtStart({ env: {} })).toEqual([]);
  });

  test('starts even if it has no right to its secret', async () => {
    expect(await secretsReadAtStart({ status: 400, env: LAMBDA_STARTS_IT })).toEqual([SECRET]);
  });
});
