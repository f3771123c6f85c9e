import { afterEach, describe, expect, test } from 'vitest';
import { type HostProcess, startHostProcess } from '../bench/host-process.ts';
import { onDynoxide } from '../engine/engine-database.ts';
import { withHost } from './host.ts';
import { createKey, NOT_VALID, newAdmin, revokeKey } from './keys.ts';

/** Two processes share the table of a separate engine, and one process uses a key of the other process. */
const service = withHost({ frozen: true, openDatabase: onDynoxide });

const PARALLEL = 200;
const CACHE_SECONDS = 5;

describe('a second process with the same table', () => {
  let second: HostProcess | undefined;
  afterEach(async () => {
    await second?.stop();
    second = undefined;
  });

  test('accepts the first process’s key, but refuses it five seconds after its revocation', async () => {
    const { dynamoEndpoint } = service.host();
    second = await startHostProcess({ TABLE_ENGINE: dynamoEndpoint, RATE_LIMITS: 'off', LOG_LEVEL: 'silent' });
    const { baseUrl } = second;
    const clock = (body: unknown) =>
      fetch(`${baseUrl}/_local/clock`, { method: 'POST', body: JSON.stringify(body) }).then(({ status }) => {
        expect(status).toBe(200);
      });
    await clock({ freeze: true });
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    const ask = () =>
      fetch(`${baseUrl}/admin/payments?limit=1`, {
        headers: { authorization: `Bearer ${key.secret}` },
      });
    expect((await ask()).status).toBe(200);
    await revokeKey(service, key);
    await clock({ advance: CACHE_SECONDS });
    const answers = await Promise.all(Array.from({ length: PARALLEL }, ask));
    expect([...new Set(answers.map(({ status }) => status))]).toEqual([401]);
    expect(await answers[0]?.json()).toMatchObject(NOT_VALID.body);
  });
});
