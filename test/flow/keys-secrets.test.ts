import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { endpoints, triggers } from '../../functions/api/catalogue.ts';
import { loadEntry } from '../../infra/local/machine/invoke.ts';
import { paidIntentBody } from '../builders/intent.ts';
import { HOUR_SECONDS } from '../builders/seconds.ts';
import { confirm, itemsOf, signIn, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import {
  asMerchant,
  changeKey,
  createKey,
  forUser,
  newAdmin,
  revokeKey,
  rotateKey,
  shownKey,
  type TestKey,
} from './keys.ts';

/**
 * The test sends valid and invalid secrets to every route, as the credential of a request. Then it searches all stored,
 * queued, logged, sent and returned data for the last parts of these secrets.
 */
const lines: string[] = [];
/** Everything that a function received from a queue, the bus or the stream of the table. */
const handed: string[] = [];
const answered: string[] = [];
const asked: string[] = [];
const lasts = new Set<string>();

const functions = new Set(triggers.map(({ id }) => id));

const service = withHost({
  frozen: true,
  env: { LOG_LEVEL: 'INFO', EXTERNAL_WEBHOOKS_ENABLED: 'true' },
  log: (line) => lines.push(line),
  catalogue: {
    endpoints,
    triggers,
    load: async (id) => {
      const handler = await loadEntry(id);
      return (event, context) => {
        if (functions.has(id)) handed.push(JSON.stringify(event));
        return handler(event, context);
      };
    },
  },
});

const listen = (): void => {
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((chunk) => {
      lines.push(String(chunk));
      return true;
    });
  }
};

const keep = <T extends Pick<TestKey, 'last'>>(key: T): T => {
  lasts.add(key.last);
  return key;
};

const ask = async (method: string, path: string, options: RequestOptions) => {
  const answer = await service.request(method, path, options);
  answered.push(JSON.stringify([answer.body, [...answer.headers]]));
  return answer;
};

const invalidSecret = (id: string): string => {
  const last = randomBytes(32).toString('base64url');
  lasts.add(last);
  return `psk_${id.slice('key_'.length)}_${last}`;
};

const WRONG_FORMS = (secret: string): readonly string[] => [
  ...[`${secret}x`, secret.slice(0, -1), secret.replace('psk_', 'psk_z'), `${secret}_${secret}`, secret.toUpperCase()],
];

/** Calls every route with the key, as the merchant and for a payer, and with invalid forms of a key. */
const askEveryRoute = async (key: TestKey, user: User): Promise<void> => {
  for (const { method, path, body } of endpoints) {
    const target = path.replaceAll(/\{\w+\}/g, 'unknown');
    const sent = body === null ? {} : { body: paidIntentBody() };
    await ask(method, target, { ...asMerchant(key), ...sent });
    await ask(method, target, { ...forUser(key, user), ...sent, idempotencyKey: `k-${method}-${path}` });
    await ask(method, target, { bearer: invalidSecret(key.id), ...sent });
  }
  for (const secret of WRONG_FORMS(key.secret)) await ask('GET', '/admin/payments', { bearer: secret });
};

/** Reads, writes and moves of money, also during faults of providers and the identity service. */
const askInTrouble = async (key: TestKey, user: User): Promise<void> => {
  const options = forUser(key, user);
  const made = await ask('POST', '/payments/intents', { ...options, body: paidIntentBody() });
  await confirm(service, made.body.id, options);
  await ask('GET', `/payments/${made.body.id}/timeline`, asMerchant(key));
  await ask('POST', `/payments/${made.body.id}/refunds`, { ...asMerchant(key), body: { amount_cents: 100 } });
  for (const action of ['reset', 'error_500', 'malformed']) {
    await service.fault({ path: '/v1/payment_intents', times: 2, action });
    await ask('POST', '/payments/intents', { ...options, body: paidIntentBody() });
    await service.clearFaults();
  }
  await ask('POST', '/payments/intents', { ...options, body: '{"broken' });
  await service.identity({ available: false });
  await ask('POST', '/payments/intents', { ...options, body: paidIntentBody() });
  await ask('GET', '/admin/payments', asMerchant(key));
  await service.identity({ available: true });
};

beforeAll(async () => {
  listen();
  const admin = await newAdmin(service);
  const user = await signIn(service);
  const first = keep(await createKey(service, admin));
  await askEveryRoute(first, user);
  await askInTrouble(first, user);
  const once = { ...admin.options, idempotencyKey: 'create-once' };
  const body = { name: 'Once', scopes: ['payments:read'] };
  keep(shownKey((await service.post('/admin/keys', body, once)).body.data, admin.options));
  await ask('POST', '/admin/keys', { ...once, body });
  const rotateOnce = { ...admin.options, idempotencyKey: 'rotate-once' };
  keep(shownKey((await service.post(`/admin/keys/${first.id}/rotate`, {}, rotateOnce)).body.data, admin.options));
  await ask('POST', `/admin/keys/${first.id}/rotate`, { ...rotateOnce, body: {} });
  const rotated = await rotateKey(service, first);
  const second = keep(shownKey(rotated.body.data, admin.options));
  asked.push(second.secret);
  await ask('GET', '/admin/payments', asMerchant(second));
  await changeKey(service, second, { name: 'Renamed' });
  await ask('GET', `/admin/keys/${first.id}`, admin.options);
  await ask('GET', '/admin/keys', admin.options);
  await ask('GET', `/admin/search?q=${first.id}`, admin.options);
  await revokeKey(service, second);
  await service.advance(HOUR_SECONDS);
  for (const key of [first, second]) await ask('GET', '/admin/payments', asMerchant(key));
  await service.settle();
});

afterAll(() => {
  vi.restoreAllMocks();
});

const foundIn = (text: string): string[] => [...lasts].filter((last) => text.includes(last));

describe('the secret part of a key', () => {
  test('is 256 random bits, different in each secret', () => {
    expect(lasts.size).toBeGreaterThan(endpoints.length);
    for (const last of lasts) expect(last).toMatch(/^[\w-]{43}$/);
    expect(asked[0]).toMatch(/^psk_[0-9a-f]{24}_[\w-]{43}$/);
  });

  test('appears in no log line', () => {
    expect(lines.filter((line) => line.includes('"message":"request served"')).length).toBeGreaterThan(
      endpoints.length,
    );
    expect(foundIn(lines.join('\n'))).toEqual([]);
  });

  test('is replaced in the log by the key’s id, which identifies requests of the key', () => {
    const ofKey = lines.filter(
      (line) => line.includes('"message":"request served"') && line.includes('"key_id":"key_'),
    );
    expect(ofKey.filter((line) => line.includes('"caller":"key"')).length).toBeGreaterThan(0);
    expect(ofKey.filter((line) => line.includes('"caller":"session"')).length).toBeGreaterThan(0);
  });

  test('appears in no table item', async () => {
    const items = await itemsOf(service);
    expect(items.filter(({ pk }) => String(pk).startsWith('KEY#')).length).toBeGreaterThanOrEqual(2);
    expect(foundIn(JSON.stringify(items))).toEqual([]);
  });

  test('appears in no event, queue message or change of the table', async () => {
    expect(handed.length).toBeGreaterThan(0);
    expect(foundIn(handed.join('\n'))).toEqual([]);
    expect(foundIn(JSON.stringify(await service.busEvents()))).toEqual([]);
  });

  test('appears only in the response that creates it', () => {
    expect(answered.length).toBeGreaterThan(3 * endpoints.length);
    expect(foundIn(answered.join('\n'))).toEqual([]);
  });

  test('appears in no call to a provider', async () => {
    const calls = await service.providerRequests();
    expect(calls.length).toBeGreaterThan(0);
    expect(foundIn(JSON.stringify(calls))).toEqual([]);
  });
});
