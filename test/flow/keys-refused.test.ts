import { beforeAll, describe, expect, test } from 'vitest';
import { endpoints } from '../../functions/api/catalogue.ts';
import { HOUR_MS } from '../../shared/core/time.ts';
import type { Endpoint } from '../../shared/http/endpoint.ts';
import type { Connection } from '../../shared/platform/connection.ts';
import { intentBody } from '../builders/intent.ts';
import { HOUR_SECONDS, MINUTE_SECONDS } from '../builders/seconds.ts';
import { createIntent, signIn, type User } from './flow.ts';
import { from, type RequestOptions, type TestAnswer, withHost } from './host.ts';
import {
  asMerchant,
  changeKey,
  createKey,
  forUser,
  NOT_VALID,
  newAdmin,
  revokeKey,
  type TestKey,
  useKey,
} from './keys.ts';

/** Every call to the table, as its operation and the partitions that it names. */
const calls: string[] = [];
const partitionsIn = (about: unknown): string =>
  [...JSON.stringify(about).matchAll(/"pk":"(\w+)#/g)].map(([, kind]) => kind).join();
const counted = (connection: Connection): Connection => {
  const note =
    <A extends readonly unknown[], R>(name: string, call: (...args: A) => R) =>
    (...args: A): R => {
      calls.push(`${name} ${partitionsIn(args)}`);
      return call(...args);
    };
  return {
    ...connection,
    getItem: note('read', connection.getItem),
    getBatch: note('read', connection.getBatch),
    query: note('read', connection.query),
    count: note('read', connection.count),
    putItem: note('write', connection.putItem),
    updateItem: note('write', connection.updateItem),
    deleteItem: note('write', connection.deleteItem),
    transact: note('write', connection.transact),
  };
};

const UNKNOWN_ID = 'f'.repeat(24);
const OTHER_LAST = 'y'.repeat(43);
const idIn = ({ id }: TestKey): string => id.slice('key_'.length);

describe('a key that is not valid', () => {
  const service = withHost({ frozen: true, between: counted });
  let admin: User;
  let wrong: readonly (readonly [string, RequestOptions])[];

  beforeAll(async () => {
    admin = await newAdmin(service);
    const [key, revoked, expired, elsewhere] = [
      await createKey(service, admin),
      await createKey(service, admin),
      await createKey(service, admin, { expires_at: new Date(service.now() + HOUR_MS).toISOString() }),
      await createKey(service, admin, { allowed_ips: ['203.0.113.0/24'] }),
    ];
    await revokeKey(service, revoked);
    await service.advance(HOUR_SECONDS);
    wrong = [
      ['an unknown id', { bearer: `psk_${UNKNOWN_ID}_${OTHER_LAST}` }],
      ['a known id with another last part', { bearer: `psk_${idIn(key)}_${OTHER_LAST}` }],
      ['a revoked key', asMerchant(revoked)],
      ['an expired key', asMerchant(expired)],
      ['a key from another address', asMerchant(elsewhere)],
    ];
  });

  const callsOf = async (options: RequestOptions): Promise<{ answer: TestAnswer; made: readonly string[] }> => {
    await service.settle();
    calls.length = 0;
    const answer = await service.get('/admin/payments?limit=1', options);
    return { answer, made: [...calls] };
  };

  test('makes the same calls to the table for a known and for an unknown id', async () => {
    for (const [name, options] of wrong) {
      const first = await callsOf(options);
      expect({ name, made: first.made }).toEqual({ name, made: ['read KEY'] });
      const second = await callsOf(options);
      expect({ name, made: second.made }).toEqual({ name, made: [] });
    }
  });

  test('gets the same response, byte for byte except the id of the request', async () => {
    const malformed = [
      'psk_',
      'psk_x',
      `psk_${UNKNOWN_ID}`,
      `psk_${UNKNOWN_ID}_short`,
      `psk_${'F'.repeat(24)}_${OTHER_LAST}`,
    ];
    const all = [...wrong, ...malformed.map((bearer) => [bearer, { bearer }] as const)];
    for (const [name, options] of all) {
      const { status, body, headers } = await service.get('/admin/payments', options);
      const { request_id, ...rest } = body;
      expect({ name, status, rest, id: request_id }).toEqual({
        name,
        status: 401,
        rest: NOT_VALID.body,
        id: expect.any(String),
      });
      expect(headers.get('content-type')).toBe('application/json');
    }
  });

  test('is refused before the rest of the request is read', async () => {
    const options = { bearer: `psk_${UNKNOWN_ID}_${OTHER_LAST}` };
    expect(await service.post('/payments/intents', '{"broken', options)).toMatchObject(NOT_VALID);
    expect(
      await service.post('/payments/intents', intentBody(), { ...options, headers: { 'x-act-for': 'x' } }),
    ).toMatchObject(NOT_VALID);
  });

  test('never reaches the identity service, even if sent as a session', async () => {
    await service.identity({ available: false });
    try {
      for (const secret of ['psk_anything', 'PSK_anything', '"psk_anything"', 'Bearer psk_anything']) {
        expect(await service.get('/payments', { bearer: secret })).toMatchObject(NOT_VALID);
        expect(await service.get('/payments', { session: secret })).toMatchObject(NOT_VALID);
        expect(await service.get(`/payments?session_id=${encodeURIComponent(secret)}`)).toMatchObject(NOT_VALID);
      }
      expect(await service.get('/payments', { bearer: 'other' })).toMatchObject({ status: 503 });
    } finally {
      await service.identity({ available: true });
    }
  });
});

describe('a key with allowed addresses', () => {
  const service = withHost({ frozen: true });

  test('is accepted from these addresses only', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin, { allowed_ips: ['127.0.113.0/28', '2001:db8::/32'] });
    expect(await useKey(service, key, from('203.0.113.7'))).toMatchObject({ status: 200 });
    expect(await useKey(service, key, from('203.0.113.16'))).toMatchObject(NOT_VALID);
    expect(await useKey(service, key)).toMatchObject(NOT_VALID);
    expect(await changeKey(service, key, { allowed_ips: [] })).toMatchObject({
      status: 200,
      body: { data: { allowed_ips: [] } },
    });
    await service.advance(5);
    expect(await useKey(service, key, from('203.0.113.16'))).toMatchObject({ status: 200 });
  });

  test.each([
    ['203.0.113.7'],
    ['203.0.113.0/33'],
    ['x/8'],
    ['::1/129'],
    ['203.0.113.0/'],
    ['203.0.113.0/24/24'],
    ['::ffff:203.0.113.0/120'],
    ['fe80::1%eth0/64'],
  ])('accepts only valid address ranges, not %s', async (range) => {
    const { options } = await newAdmin(service);
    const body = { name: 'K', scopes: ['payments:read'], allowed_ips: [range] };
    expect(await service.post('/admin/keys', body, options)).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'allowed_ips.0' }] },
    });
  });
});

describe('an outage of the identity service', () => {
  const service = withHost({ frozen: true });

  test('does not affect keys, but uncached sessions and uncached users of a key get 503', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    expect(await service.get(`/payments/${payment.id}`, forUser(key, user))).toMatchObject({ status: 200 });
    const fresh = await signIn(service);
    await service.identity({ available: false });
    try {
      expect(await useKey(service, key)).toMatchObject({ status: 200 });
      expect(await service.get(`/payments/${payment.id}`, asMerchant(key))).toMatchObject({ status: 200 });
      const ofOrganization = { bearer: key.secret, headers: { 'x-act-for': 'organization:org_demo' } };
      expect(await service.post('/payments/intents', intentBody(), ofOrganization)).toMatchObject({ status: 201 });
      // The user's e-mail address was read less than a minute ago.
      expect(await service.post('/payments/intents', intentBody(), forUser(key, user))).toMatchObject({ status: 201 });
      const down = { status: 503, body: { code: 'IDENTITY_UNAVAILABLE' } };
      expect(await service.get('/payments', fresh.options)).toMatchObject(down);
      expect(await service.post('/payments/intents', intentBody(), forUser(key, fresh))).toMatchObject(down);
    } finally {
      await service.identity({ available: true });
    }
  });
});

describe('rate limits', () => {
  const service = withHost({ frozen: true, env: { RATE_LIMITS: 'on' } });

  /** Moves the clock until every window is empty. */
  const newWindow = () =>
    service.moveTo(new Date(Math.ceil((service.now() + HOUR_MS) / HOUR_MS) * HOUR_MS).toISOString());

  test('refuse an address after 60 invalid keys a minute, even if it sends a valid key’s id', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    await newWindow();
    const address = from('203.0.113.40');
    const ask = (index: number) => {
      const id = index % 2 === 0 ? idIn(key) : UNKNOWN_ID;
      return service.get('/admin/payments?limit=1', { ...address, bearer: `psk_${id}_${OTHER_LAST}` });
    };
    const statuses: number[] = [];
    for (let index = 0; index < 62; index += 1) statuses.push((await ask(index)).status);
    expect(statuses).toEqual([...Array(60).fill(401), 429, 429]);
    expect(await useKey(service, key, address)).toMatchObject({ status: 200 });
    expect(await service.get('/admin/payments', { ...from('203.0.113.41'), bearer: 'psk_x' })).toMatchObject(NOT_VALID);
    await service.advance(MINUTE_SECONDS + 1);
    expect(await ask(0)).toMatchObject(NOT_VALID);
  });

  const TAKE_NO_KEY: readonly Endpoint['auth'][] = ['public', 'provider-signature', 'link-token'];

  test('count invalid keys on every route that takes a key', async () => {
    const key = await createKey(service, await newAdmin(service));
    await newWindow();
    const routes = endpoints.filter(({ auth }) => !TAKE_NO_KEY.includes(auth));
    for (const [index, { method, path }] of routes.entries()) {
      const url = path.replaceAll(/\{\w+\}/g, 'x');
      const address = from(`203.0.113.${100 + Math.floor(index / 50)}`);
      const wrong = await service.request(method, url, { ...address, bearer: `psk_${UNKNOWN_ID}_${OTHER_LAST}` });
      expect({ method, path, status: wrong.status }).toEqual({ method, path, status: 401 });
      const right = await service.request(method, url, { ...address, bearer: key.secret });
      expect({ method, path, isBroken: right.status >= 500 }).toEqual({ method, path, isBroken: false });
    }
  });

  test('allow a key 600 requests per minute without a payer, and count requests for a user separately', async () => {
    const admin = await newAdmin(service);
    const [key, other] = [await createKey(service, admin), await createKey(service, admin)];
    const user = await signIn(service);
    await newWindow();
    const answers = await Promise.all(Array.from({ length: 600 }, () => useKey(service, key)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await useKey(service, key)).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(await useKey(service, other)).toMatchObject({ status: 200 });
    expect(await service.get('/payments', forUser(key, user))).toMatchObject({ status: 200 });
  });

  test('count the requests of a key for records that do not exist', async () => {
    const key = await createKey(service, await newAdmin(service));
    await newWindow();
    const ask = () => service.get('/payments/pay_000000000000000000000000', asMerchant(key));
    const answers = await Promise.all(Array.from({ length: 600 }, ask));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([404]));
    expect(await ask()).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
  });
});
