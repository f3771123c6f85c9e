import { beforeEach, describe, expect, test, vi } from 'vitest';
import { authenticator, type Credentials } from '../../shared/access/authenticate.ts';
import { type CacheEpoch, cacheEpoch } from '../../shared/access/cache-epoch.ts';
import { guestTokens } from '../../shared/access/guest-token.ts';
import { serviceKeys } from '../../shared/access/identify-key.ts';
import type { Identity, IdentitySession } from '../../shared/access/identity.ts';
import { standings } from '../../shared/access/standing.ts';
import { DomainError } from '../../shared/core/errors.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import { memberKey, organizationKey } from '../../shared/platform/keys.ts';
import type { Table } from '../../shared/platform/table.ts';
import { session } from '../builders/api-request.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { refusalIn } from '../builders/refusal.ts';

const NONE: Credentials = {
  sessionId: undefined,
  authorization: undefined,
  querySession: undefined,
  guestToken: undefined,
  address: '192.0.2.1',
};
const JWT = 'aaa.bbb.ccc';

const known = (fields: Partial<IdentitySession> = {}): IdentitySession => ({
  userId: 'user_1',
  email: 'ada@example.com',
  organizationId: undefined,
  isAdmin: false,
  staffRole: undefined,
  expiresAt: NOON + HOUR_MS,
  ...fields,
});

let clock = { at: NOON };
const now = () => clock.at;
let memory = memoryTable({ now });
let epoch: CacheEpoch = cacheEpoch({ table: memory.table, now });

beforeEach(() => {
  clock = { at: NOON };
  memory = memoryTable({ now });
  epoch = cacheEpoch({ table: memory.table, now });
});

/** An authenticator over these sessions by id. `asked` lists the ids that the identity service receives. */
const service = (sessions: Readonly<Record<string, IdentitySession>>, more = {}) => {
  const asked: string[] = [];
  let down = false;
  const ask = async (id: string): Promise<IdentitySession | undefined> => {
    asked.push(id);
    if (down) throw new DomainError('IDENTITY_UNAVAILABLE');
    return sessions[id];
  };
  const identity: Identity = {
    looksUp: true,
    session: ask,
    sessionOfToken: (token) => ask(`jwt ${token}`),
    userByEmail: async () => undefined,
    users: async () => [],
  };
  const tokens = guestTokens({ secrets: async () => ['secret'], ttlSeconds: 60, now });
  const keys = serviceKeys({ table: memory.table, now });
  const guestOf = async () => undefined;
  const options = {
    identity,
    keys,
    guestTokens: tokens,
    guestOf,
    adminUserIds: [],
    allowQuerySession: true,
    epoch,
    now,
  };
  const { authenticate } = authenticator({ ...options, ...more });
  return {
    asked,
    tokens,
    fail: () => {
      down = true;
    },
    who: (credentials: Partial<Credentials>) => authenticate({ ...NONE, ...credentials }),
    code: async (credentials: Partial<Credentials>) =>
      (await refusalIn(authenticate({ ...NONE, ...credentials }))).code,
  };
};

describe('the caller of a request', () => {
  test('is anonymous without a credential', async () => {
    expect(await service({}).who({})).toEqual({ kind: 'anonymous' });
  });

  test.each<[string, Partial<Credentials>]>([
    ['the session header', { sessionId: 's1' }],
    ['a bearer token', { authorization: 'Bearer s1' }],
    ['a bearer token with a lower-case scheme', { authorization: 'bearer  s1' }],
    ['the query', { querySession: 's1' }],
  ])('is the user whose session is in %s', async (_, credentials) => {
    expect(await service({ s1: known() }).who(credentials)).toEqual(session());
  });

  test('is the user whom the identity service finds for a signed token', async () => {
    const { who, asked } = service({ [`jwt ${JWT}`]: known() });
    expect(await who({ authorization: `Bearer ${JWT}` })).toEqual(session());
    expect(asked).toEqual([`jwt ${JWT}`]);
  });

  test('is the guest whom the guest token names', async () => {
    const { who, tokens } = service({});
    const issued = await tokens.issue({ email: 'ada@example.com', guestId: 'gst_1' });
    expect(await who({ guestToken: issued?.token })).toMatchObject({ kind: 'guest', guestId: 'gst_1', byToken: true });
  });

  test('is decided by the first credential in the request, even if only a later credential is valid', async () => {
    const sessions = { s1: known({ userId: 'one' }), s2: known({ userId: 'two' }), s3: known({ userId: 'three' }) };
    const { who, code, tokens } = service(sessions);
    const all = { sessionId: 's1', authorization: 'Bearer s2', querySession: 's3', guestToken: 'x' };
    expect(await who(all)).toMatchObject({ userId: 'one' });
    expect(await who({ ...all, sessionId: undefined })).toMatchObject({ userId: 'two' });
    expect(await who({ ...all, sessionId: undefined, authorization: undefined })).toMatchObject({ userId: 'three' });
    expect(await code({ ...all, sessionId: 'no' })).toBe('SESSION_INVALID');
    expect(await code({ ...all, sessionId: '' })).toBe('SESSION_INVALID');
    expect(await code({ ...all, sessionId: undefined, authorization: 'Bearer no' })).toBe('SESSION_INVALID');
    const guest = (await tokens.issue({ email: 'a@b.c', guestId: 'gst_1' }))?.token;
    expect(await code({ querySession: 'no', guestToken: guest })).toBe('SESSION_INVALID');
    expect(await code({ guestToken: 'forged' })).toBe('SESSION_INVALID');
  });

  test.each(['Basic dXNlcg==', 'Bearer', 'Bearer ', 's1', 'Bearer s1 s1', 'xBearer s1', ''])(
    'is rejected for the authorization %j',
    async (authorization) => {
      expect(await service({ s1: known() }).code({ authorization })).toBe('SESSION_INVALID');
    },
  );

  test('is not read from the query if a setting forbids query credentials', async () => {
    const { who, asked } = service({ s1: known() }, { allowQuerySession: false });
    expect(await who({ querySession: 's1' })).toEqual({ kind: 'anonymous' });
    expect(asked).toEqual([]);
  });

  test('is a platform admin only by the session’s claim or by the settings', async () => {
    const sessions = { s1: known({ isAdmin: true }), s2: known({ userId: 'user_7' }), s3: known() };
    const { who } = service(sessions, { adminUserIds: ['user_7'] });
    const admins = await Promise.all(['s1', 's2', 's3'].map((sessionId) => who({ sessionId })));
    expect(admins.map((caller) => caller.kind === 'session' && caller.isAdmin)).toEqual([true, true, false]);
  });
});

describe('a session', () => {
  test('causes SESSION_EXPIRED if it has expired, and SESSION_INVALID if it is unknown', async () => {
    const { code } = service({ s1: known({ expiresAt: NOON }) });
    expect(await code({ sessionId: 's1' })).toBe('SESSION_EXPIRED');
    expect(await code({ sessionId: 's2' })).toBe('SESSION_INVALID');
  });

  test('is cached as invalid for five seconds, without displacing valid sessions', async () => {
    const { who, code, asked } = service({ s1: known() });
    await who({ sessionId: 's1' });
    expect(await code({ sessionId: 's2' })).toBe('SESSION_INVALID');
    for (let index = 0; index < 3_000; index += 1) await code({ sessionId: `invented-${index}` });
    const before = asked.length;
    expect(await code({ sessionId: 'invented-2999' })).toBe('SESSION_INVALID');
    await who({ sessionId: 's1' });
    expect(asked).toHaveLength(before);
    clock.at += 5 * SECOND_MS;
    expect(await code({ sessionId: 'invented-2999' })).toBe('SESSION_INVALID');
    expect(asked).toHaveLength(before + 1);
  });

  test('is cached as expired for five seconds, and is valid again if it was renewed', async () => {
    const sessions = { s1: known({ expiresAt: NOON }) };
    const { who, code, asked } = service(sessions);
    for (let times = 0; times < 3; times += 1) expect(await code({ sessionId: 's1' })).toBe('SESSION_EXPIRED');
    expect(asked).toHaveLength(1);
    sessions.s1 = known();
    clock.at += 5 * SECOND_MS;
    expect(await who({ sessionId: 's1' })).toMatchObject({ kind: 'session' });
  });

  test('is read from the identity service at most once a minute', async () => {
    const { who, asked } = service({ s1: known() });
    await who({ sessionId: 's1' });
    clock.at = NOON + MINUTE_MS - 1;
    await who({ sessionId: 's1' });
    expect(asked).toHaveLength(1);
    clock.at = NOON + MINUTE_MS;
    await who({ sessionId: 's1' });
    expect(asked).toHaveLength(2);
  });

  test('expires on time, even if it was read from the identity service just before', async () => {
    const { who, code } = service({ s1: known({ expiresAt: NOON + 10 * SECOND_MS }) });
    await who({ sessionId: 's1' });
    clock.at = NOON + 10 * SECOND_MS;
    expect(await code({ sessionId: 's1' })).toBe('SESSION_EXPIRED');
  });

  test('is dropped from the cache within five seconds after each clearing of the cache', async () => {
    const { who, asked } = service({ s1: known() });
    await who({ sessionId: 's1' });
    for (const times of [1, 2]) {
      await cacheEpoch({ table: memory.table, now }).raise(['session']);
      clock.at += 5 * SECOND_MS;
      await who({ sessionId: 's1' });
      expect(asked).toHaveLength(1 + times);
    }
  });

  test('stays valid while the identity service is down, if the session is cached', async () => {
    const { who, code, fail } = service({ s1: known() });
    await who({ sessionId: 's1' });
    fail();
    expect(await who({ sessionId: 's1' })).toMatchObject({ kind: 'session' });
    expect(await code({ sessionId: 's2' })).toBe('IDENTITY_UNAVAILABLE');
  });

  const SECRET = `psk_${'0'.repeat(24)}_${'x'.repeat(43)}`;

  test.each([
    ...[
      'psk_1',
      SECRET,
      SECRET.toUpperCase(),
      'Psk_1',
      `"${SECRET}"`,
      `'${SECRET}'`,
      `\`${SECRET}\``,
      `\u201c${SECRET}\u201d`,
    ],
    ...[`" ${SECRET}"`, `Bearer ${SECRET}`, `bearer BEARER\t"${SECRET}"`, `"Bearer ${SECRET}"`, `Bearer${SECRET}`],
    // The UTF-8 bytes of a curly quote, as a header contains them: one character per byte.
    `\u00e2\u0080\u009c${SECRET}`,
  ])(
    'is refused without a lookup if it begins like a service key, also after a quote or the word Bearer: %s',
    async (secret) => {
      const { code, asked } = service({ [secret]: known(), [SECRET]: known() });
      expect(await code({ sessionId: secret })).toBe('API_KEY_INVALID');
      expect(await code({ querySession: secret })).toBe('API_KEY_INVALID');
      expect(await code({ authorization: secret })).toBe('API_KEY_INVALID');
      expect(await code({ authorization: `Bearer ${secret}` })).toBe('API_KEY_INVALID');
      expect(asked).toEqual([]);
    },
  );

  test('may contain the prefix of a service key, but not begin with that prefix', async () => {
    const { who } = service({ s_psk_1: known() });
    expect(await who({ sessionId: 's_psk_1' })).toMatchObject({ kind: 'session' });
  });

  test('is a different credential from a bearer token with the same text', async () => {
    const { who, code } = service({ [JWT]: known() });
    expect(await who({ sessionId: JWT })).toMatchObject({ kind: 'session' });
    expect(await code({ authorization: `Bearer ${JWT}` })).toBe('SESSION_INVALID');
  });
});

test('the epoch of the caches is read at most every five seconds', async () => {
  const reads = vi.spyOn(memory.table, 'get');
  for (const after of [0, 1, SECOND_MS, 5 * SECOND_MS - 1, 5 * SECOND_MS, 9 * SECOND_MS]) {
    clock.at = NOON + after;
    await epoch.current('session');
    await epoch.current('organization_membership');
  }
  expect(reads).toHaveBeenCalledTimes(2);
});

describe('a membership', () => {
  const me = session();
  const join = async (role: string) => {
    await memory.table.put({ ...organizationKey('org_1') });
    await memory.table.put({ ...memberKey('org_1', 'user_1'), role });
  };

  test('is cached for five minutes for reads, and never for writes', async () => {
    const cache = standings({ table: memory.table, now, epoch });
    await join('admin');
    expect((await cache.cached(me, 'org_1')).role).toBe('admin');
    await memory.table.remove(memberKey('org_1', 'user_1'));
    clock.at = NOON + 5 * MINUTE_MS - 1;
    expect((await cache.cached(me, 'org_1')).role).toBe('admin');
    expect((await cache.consistent(me, 'org_1')).role).toBeUndefined();
    clock.at = NOON + 5 * MINUTE_MS;
    expect((await cache.cached(me, 'org_1')).role).toBeUndefined();
  });

  test('is dropped within five seconds after the membership cache is cleared, but stays if only another cache is cleared', async () => {
    const cache = standings({ table: memory.table, now, epoch });
    await join('admin');
    await cache.cached(me, 'org_1');
    await memory.table.remove(memberKey('org_1', 'user_1'));
    const elsewhere = cacheEpoch({ table: memory.table, now });
    await elsewhere.raise(['session']);
    clock.at = NOON + 5 * SECOND_MS;
    expect((await cache.cached(me, 'org_1')).role).toBe('admin');
    await elsewhere.raise(['organization_membership']);
    clock.at = NOON + 10 * SECOND_MS;
    expect((await cache.cached(me, 'org_1')).role).toBeUndefined();
  });

  test('is cached per user and organization', async () => {
    const cache = standings({ table: memory.table, now, epoch });
    await join('owner');
    expect((await cache.cached(session({ userId: 'user_2' }), 'org_1')).role).toBeUndefined();
    expect((await cache.cached(me, 'org_2')).exists).toBe(false);
    expect((await cache.cached(me, 'org_1')).role).toBe('owner');
  });
});

test('only a write reads the standing with strong consistency', async () => {
  const options: unknown[] = [];
  const table: Table = {
    ...memory.table,
    get: (key, how) => {
      options.push(how);
      return memory.table.get(key);
    },
    getMany: (keys, how) => {
      options.push(how);
      return memory.table.getMany(keys);
    },
  };
  const read = standings({ table, now, epoch: cacheEpoch({ table, now }) });
  await read.cached(session(), 'org_1');
  await read.consistent(session(), 'org_1');
  expect(options).toEqual([{ consistent: false }, { consistent: false }, { consistent: true }]);
});
