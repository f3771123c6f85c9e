import { describe, expect, test } from 'vitest';
import { canonicalJson } from '../../shared/http/idempotency.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS, HOUR_SECONDS } from '../builders/seconds.ts';
import { itemsOf, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import {
  ALL_SCOPES,
  asMerchant,
  changeKey,
  createKey,
  NOT_VALID,
  newAdmin,
  revokeKey,
  rotateKey,
  shownKey,
  type TestKey,
  useKey,
} from './keys.ts';

/** Platform admins create, list, change, rotate and revoke service keys. */
const service = withHost({ frozen: true });

const CACHE_SECONDS = 5;
const later = (seconds: number): string => new Date(service.now() + seconds * 1_000).toISOString();

const rotated = async (key: TestKey, fields = {}): Promise<TestKey> => {
  const answer = await rotateKey(service, key, fields);
  expect(answer).toMatchObject({ status: 200, body: { data: { id: key.id, secret: expect.any(String) } } });
  await service.advance(CACHE_SECONDS);
  return shownKey(answer.body.data, key.admin);
};

const acceptedOf = async (keys: readonly TestKey[]): Promise<boolean[]> =>
  Promise.all(keys.map(async (key) => (await useKey(service, key)).status === 200));

describe('creating a service key', () => {
  test('shows the secret once, and everything but the secret later', async () => {
    const admin = await newAdmin(service);
    const body = {
      name: '  Shop backend ',
      scopes: ['payments:read', 'payments:read', 'refunds:write'],
      allowed_ips: ['203.0.113.0/24'],
      expires_at: later(DAY_SECONDS),
    };
    const { status, body: made } = await service.post('/admin/keys', body, admin.options);
    expect(status).toBe(201);
    const { secret, ...shown } = made.data;
    expect(shown).toEqual({
      id: expect.stringMatching(/^key_[0-9a-f]{24}$/),
      name: 'Shop backend',
      scopes: ['payments:read', 'refunds:write'],
      prefix: `psk_${shown.id.slice('key_'.length)}`,
      allowed_ips: body.allowed_ips,
      expires_at: body.expires_at,
      last_used_at: null,
      status: 'active',
      created_by: admin.userId,
      created_at: later(0),
      revoked_at: null,
    });
    expect(secret).toMatch(/^psk_[0-9a-f]{24}_[\w-]{43}$/);
    expect(secret.startsWith(`${shown.prefix}_`)).toBe(true);
    expect(await service.get(`/admin/keys/${shown.id}`, admin.options)).toMatchObject({
      status: 200,
      body: { data: shown },
    });
    const { body: read } = await service.get(`/admin/keys/${shown.id}`, admin.options);
    expect(Object.keys(read.data)).not.toContain('secret');
  });

  test.each([
    ['no name', { scopes: ['payments:read'] }, 'name'],
    ['a blank name', { name: ' ', scopes: ['payments:read'] }, 'name'],
    ['a long name', { name: 'x'.repeat(101), scopes: ['payments:read'] }, 'name'],
    ['no scope', { name: 'K', scopes: [] }, 'scopes'],
    ['an unknown scope', { name: 'K', scopes: ['payments:read', 'payments:everything'] }, 'scopes.1'],
    [
      'too many ranges',
      { name: 'K', scopes: ['payments:read'], allowed_ips: Array(21).fill('10.0.0.0/8') },
      'allowed_ips',
    ],
    ['an invalid expiry time', { name: 'K', scopes: ['payments:read'], expires_at: 'soon' }, 'expires_at'],
  ])('is refused with %s', async (_, body, path) => {
    const { options } = await newAdmin(service);
    const answer = await service.post('/admin/keys', body, options);
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_ERROR' } });
    expect(answer.body.details.map((problem) => problem.path)).toContain(path);
  });

  test('happens once under an Idempotency-Key, and a repeat shows no secret', async () => {
    const admin = await newAdmin(service);
    const once = { ...admin.options, idempotencyKey: 'one-key' };
    const body = { name: 'Once', scopes: ['payments:read'] };
    const first = await service.post('/admin/keys', body, once);
    const again = await service.post('/admin/keys', body, once);
    expect(again).toMatchObject({ status: 201, body: { data: { id: first.body.data.id, secret: null } } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await useKey(service, shownKey(first.body.data, admin.options))).status).toBe(200);
    expect(await service.post('/admin/keys', { ...body, name: 'Other' }, once)).toMatchObject({
      status: 422,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
  });

  test('shows when the key was last used if the request is repeated under its Idempotency-Key', async () => {
    const admin = await newAdmin(service);
    const create = () =>
      service.post(
        '/admin/keys',
        { name: 'Shop', scopes: ['payments:read'] },
        { ...admin.options, idempotencyKey: 'made-1' },
      );
    await useKey(service, shownKey((await create()).body.data, admin.options));
    expect((await create()).body.data).toMatchObject({ secret: null, last_used_at: expect.any(String) });
  });
});

describe('the list of service keys', () => {
  test('shows all keys, newest first, page by page', async () => {
    const admin = await newAdmin(service);
    const made: string[] = [];
    for (const name of ['A', 'B', 'C']) {
      await service.advance(1);
      made.unshift((await createKey(service, admin, { name })).id);
    }
    await service.settle();
    const first = await service.get('/admin/keys?limit=2', admin.options);
    expect(first).toMatchObject({ status: 200, body: { meta: { limit: 2, has_more: true } } });
    const next = new URLSearchParams({ limit: '2', cursor: first.body.meta.next_cursor });
    const second = await service.get(`/admin/keys?${next}`, admin.options);
    const listed = [...first.body.data, ...second.body.data].map(({ id }) => id);
    expect(listed.slice(0, made.length)).toEqual(made);
    expect(canonicalJson(first.body)).not.toContain('secret');
  });

  test('shows the hour in which a key was last used', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    await service.moveTo(`${later(DAY_SECONDS).slice(0, 'YYYY-MM-DDTHH'.length)}:40:00.000Z`);
    const hour = `${later(0).slice(0, 'YYYY-MM-DDTHH'.length)}:00:00.000Z`;
    const session = await newAdmin(service);
    expect((await useKey(service, key)).status).toBe(200);
    const { body } = await service.get(`/admin/keys/${key.id}`, session.options);
    expect(body.data.last_used_at).toBe(hour);
    const listed = await service.get('/admin/keys?limit=100', session.options);
    const found = listed.body.data.find(({ id }) => id === key.id);
    expect(present(found).last_used_at).toBe(hour);
  });
});

describe('rotating a service key', () => {
  test('keeps the former secret for a day, or for the requested grace period', async () => {
    const first = await createKey(service, await newAdmin(service));
    const second = await rotated(first);
    expect(second.last).not.toBe(first.last);
    expect(await acceptedOf([first, second])).toEqual([true, true]);
    await service.advance(DAY_SECONDS - CACHE_SECONDS - 1);
    expect(await acceptedOf([first, second])).toEqual([true, true]);
    await service.advance(1);
    expect(await useKey(service, first)).toMatchObject(NOT_VALID);
    expect(await acceptedOf([second])).toEqual([true]);
    const third = await rotated(second, { grace_seconds: 60 });
    await service.advance(60 - CACHE_SECONDS);
    expect(await acceptedOf([second, third])).toEqual([false, true]);
  });

  test('ends the former secret immediately without a grace period', async () => {
    const first = await createKey(service, await newAdmin(service));
    const second = await rotated(first, { grace_seconds: 0 });
    expect(await acceptedOf([first, second])).toEqual([false, true]);
  });

  test('also ends the secrets from earlier rotations if it has no grace period', async () => {
    const first = await createKey(service, await newAdmin(service));
    const second = await rotated(first, { grace_seconds: 7 * DAY_SECONDS });
    const third = await rotated(second, { grace_seconds: 0 });
    expect(await acceptedOf([first, second, third])).toEqual([false, false, true]);
  });

  test('keeps two former secrets, and ends the oldest at the third rotation', async () => {
    const keys = [await createKey(service, await newAdmin(service))];
    for (let times = 0; times < 2; times += 1) keys.unshift(await rotated(keys[0] as TestKey));
    expect(await acceptedOf(keys)).toEqual([true, true, true]);
    keys.unshift(await rotated(keys[0] as TestKey));
    expect(await acceptedOf(keys)).toEqual([true, true, true, false]);
  });

  test('never extends the grace period of an earlier rotation', async () => {
    const first = await createKey(service, await newAdmin(service));
    const second = await rotated(first, { grace_seconds: 60 });
    const third = await rotated(second, { grace_seconds: HOUR_SECONDS });
    await service.advance(60);
    expect(await acceptedOf([first, second, third])).toEqual([false, true, true]);
  });

  test('happens once under an Idempotency-Key, and a repeat shows no secret', async () => {
    const admin = await newAdmin(service);
    const first = await createKey(service, admin);
    const rotate = (idempotencyKey: string) =>
      service.post(`/admin/keys/${first.id}/rotate`, {}, { ...admin.options, idempotencyKey });
    const second = shownKey((await rotate('rotate-1')).body.data, admin.options);
    const again = await rotate('rotate-1');
    expect(again).toMatchObject({ status: 200, body: { data: { id: first.id, secret: null } } });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    await service.advance(CACHE_SECONDS);
    expect(await acceptedOf([first, second])).toEqual([true, true]);
    const third = shownKey((await rotate('rotate-2')).body.data, admin.options);
    expect(await rotate('rotate-1')).toMatchObject({ status: 200, body: { data: { secret: null } } });
    await service.advance(CACHE_SECONDS);
    expect(await acceptedOf([first, second, third])).toEqual([true, true, true]);
  });

  test('is refused under a used Idempotency-Key if the user is no longer a platform admin', async () => {
    const admin = await newAdmin(service);
    const { id } = await createKey(service, admin);
    const { options } = await signIn(service, { user_id: admin.userId });
    const rotateWith = (session: RequestOptions) =>
      service.post(`/admin/keys/${id}/rotate`, {}, { ...session, idempotencyKey: 'rotate-once' });
    expect(await rotateWith(admin.options)).toMatchObject({ status: 200 });
    expect(await rotateWith(options)).toMatchObject({ status: 403, body: { code: 'ADMIN_REQUIRED' } });
  });

  test('happens once under an Idempotency-Key, even after another rotation', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    const rotate = (idempotencyKey: string) =>
      service.post(`/admin/keys/${key.id}/rotate`, {}, { ...admin.options, idempotencyKey });
    await rotate('rotate-1');
    const newest = shownKey((await rotate('rotate-2')).body.data, admin.options);
    expect(await rotate('rotate-1')).toMatchObject({ status: 200, body: { data: { secret: null } } });
    await service.advance(CACHE_SECONDS);
    expect(await acceptedOf([key, newest])).toEqual([true, true]);
  });

  test('is refused for a day under an Idempotency-Key used with another body', async () => {
    const admin = await newAdmin(service);
    const first = await createKey(service, admin);
    const rotate = (body: object) =>
      service.post(`/admin/keys/${first.id}/rotate`, body, { ...admin.options, idempotencyKey: 'rotate-1' });
    const second = shownKey((await rotate({})).body.data, admin.options);
    expect(await rotate({ grace_seconds: 0 })).toMatchObject({
      status: 422,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    });
    await service.advance(CACHE_SECONDS);
    expect(await acceptedOf([first, second])).toEqual([true, true]);
    await service.advance(DAY_SECONDS);
    expect(await rotate({})).toMatchObject({ status: 200, body: { data: { secret: expect.any(String) } } });
  });

  test('gives parallel requests separate secrets, and the newest three are valid', async () => {
    const admin = await newAdmin(service);
    const first = await createKey(service, admin);
    const answers = await Promise.all(Array.from({ length: 3 }, () => rotateKey(service, first)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    await service.advance(CACHE_SECONDS);
    expect(await acceptedOf(answers.map(({ body }) => shownKey(body.data, admin.options)))).toEqual([true, true, true]);
    expect(await useKey(service, first)).toMatchObject(NOT_VALID);
  });

  test.each([-1, 604_801, 1.5, 'day'])('refuses the grace period %s', async (grace_seconds) => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    expect(await rotateKey(service, key, { grace_seconds })).toMatchObject({
      status: 400,
      body: { code: 'VALIDATION_ERROR', details: [{ path: 'grace_seconds' }] },
    });
  });
});

describe('a service key with an expiry time', () => {
  test('expires on time, and works again after its expiry time is moved', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin, { expires_at: later(HOUR_SECONDS) });
    await service.advance(HOUR_SECONDS - 1);
    expect(await acceptedOf([key])).toEqual([true]);
    await service.advance(1);
    expect(await useKey(service, key)).toMatchObject(NOT_VALID);
    const shown = await service.get(`/admin/keys/${key.id}`, admin.options);
    expect(shown.body.data.status).toBe('expired');
    const revived = await changeKey(service, key, { expires_at: later(HOUR_SECONDS) });
    expect(revived).toMatchObject({ status: 200, body: { data: { status: 'active' } } });
    await service.advance(CACHE_SECONDS);
    expect(await acceptedOf([key])).toEqual([true]);
    await service.advance(HOUR_SECONDS);
    expect(await acceptedOf([key])).toEqual([false]);
    const endless = await changeKey(service, key, { expires_at: null });
    expect(endless).toMatchObject({ status: 200, body: { data: { status: 'active', expires_at: null } } });
    await service.advance(30 * DAY_SECONDS);
    expect(await acceptedOf([key])).toEqual([true]);
  });

  test('can be created with a past expiry time, and is then expired', async () => {
    const admin = await newAdmin(service);
    const body = { name: 'Past', scopes: ['payments:read'], expires_at: later(-1) };
    const made = await service.post('/admin/keys', body, admin.options);
    expect(made).toMatchObject({ status: 201, body: { data: { status: 'expired' } } });
    expect(await useKey(service, shownKey(made.body.data, admin.options))).toMatchObject(NOT_VALID);
  });
});

describe('changing a service key', () => {
  test('changes only the named fields', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin, { allowed_ips: ['127.0.0.0/8'], expires_at: later(HOUR_SECONDS) });
    const before = (await service.get(`/admin/keys/${key.id}`, admin.options)).body.data;
    const changed = await changeKey(service, key, { name: 'Other' });
    expect(changed.body.data).toEqual({ ...before, name: 'Other' });
    const narrowed = await changeKey(service, key, { scopes: ['payments:read'] });
    expect(narrowed.body.data).toEqual({ ...before, name: 'Other', scopes: ['payments:read'] });
  });

  test('loses no change of parallel requests', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    await Promise.all([
      changeKey(service, key, { name: 'Other' }),
      changeKey(service, key, { scopes: ['payments:read'] }),
      changeKey(service, key, { allowed_ips: ['127.0.0.0/8'] }),
    ]);
    const { body } = await service.get(`/admin/keys/${key.id}`, admin.options);
    expect(body.data).toMatchObject({ name: 'Other', scopes: ['payments:read'], allowed_ips: ['127.0.0.0/8'] });
  });

  test.each(['GET', 'PATCH', 'DELETE'])('returns 404 for an unknown key (%s)', async (method) => {
    const { options } = await newAdmin(service);
    const body = method === 'PATCH' ? { body: { name: 'x' } } : {};
    const answer = await service.request(method, `/admin/keys/key_${'0'.repeat(24)}`, { ...options, ...body });
    expect(answer).toMatchObject({ status: 404, body: { code: 'RESOURCE_NOT_FOUND' } });
  });
});

describe('a revoked key', () => {
  test('stays stored for 400 days', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin);
    await revokeKey(service, key);
    const [item] = await itemsOf(service, `KEY#${key.id}`);
    expect(item.ttl).toBe(Math.floor(service.now() / 1_000) + 400 * DAY_SECONDS);
    expect(item.secrets).toEqual([]);
  });
});

describe('the keys of the merchant', () => {
  test('are managed only in sessions of platform admins, never by a key or by staff', async () => {
    const admin = await newAdmin(service);
    const key = await createKey(service, admin, { scopes: ALL_SCOPES });
    const support = await signIn(service, { staff_role: 'operations' });
    const before = (await itemsOf(service, 'KEY#')).map(canonicalJson);
    for (const [options, code] of [
      [asMerchant(key), 'INSUFFICIENT_PERMISSIONS'],
      [support.options, 'ADMIN_REQUIRED'],
    ] as const) {
      const refused = { status: 403, body: { code } };
      expect(await service.post('/admin/keys', { name: 'K', scopes: ['payments:read'] }, options)).toMatchObject(
        refused,
      );
      expect(await service.get('/admin/keys', options)).toMatchObject(refused);
      expect(await service.get(`/admin/keys/${key.id}`, options)).toMatchObject(refused);
      expect(await service.post(`/admin/keys/${key.id}/rotate`, {}, options)).toMatchObject(refused);
      expect(await service.request('DELETE', `/admin/keys/${key.id}`, options)).toMatchObject(refused);
    }
    expect((await itemsOf(service, 'KEY#')).map(canonicalJson)).toEqual(before);
  });

  test('include the demo key of a local host', async () => {
    const { bearer } = asMerchant({
      secret: 'psk_de30de30de30de30de30de30_local-demo-key-local-demo-key-local-demo-ke',
    });
    expect(await service.get('/admin/payments', { bearer: String(bearer) })).toMatchObject({ status: 200 });
    const { options } = await newAdmin(service);
    const { body } = await service.get('/admin/keys/key_de30de30de30de30de30de30', options);
    expect(body.data).toMatchObject({
      name: 'demo backend',
      scopes: [
        ...['payments:read', 'payments:write', 'methods:write', 'subscriptions:write'],
        ...['payments:capture', 'refunds:write'],
      ],
    });
  });
});

describe('a staff role', () => {
  test.each(['support', 'finance', 'operations'])('is read from a session and from a token: %s', async (staff_role) => {
    const { session, token } = await signIn(service, { staff_role });
    for (const options of [{ session }, { bearer: token }]) {
      expect(await service.get('/admin/payments', options)).toMatchObject({ status: 200 });
    }
  });

  test.each(['manager', 'Support', ''])('counts as absent if it is unknown: %j', async (staff_role) => {
    const { session, token } = await signIn(service, { staff_role });
    for (const options of [{ session }, { bearer: token }]) {
      expect(await service.get('/admin/payments', options)).toMatchObject({
        status: 403,
        body: { code: 'ADMIN_REQUIRED' },
      });
    }
  });
});
