import { describe, expect, test } from 'vitest';
import { serviceKeys } from '../../shared/access/identify-key.ts';
import {
  hashOfSecret,
  matchingSecret,
  prefixOf,
  readSecret,
  rotated,
  type StoredKey,
  secretOf,
  serviceKeyOf,
  serviceKeyShape,
  statusOfKey,
} from '../../shared/access/service-key.ts';
import { DAY_MS, HOUR_MS, iso, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import { keyUseKey } from '../../shared/platform/keys.ts';
import type { Table } from '../../shared/platform/table.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

const ID = 'key_00000000000000000000000a';
const LAST = 'a'.repeat(43);
const last = (letter: string): string => letter.repeat(43);

const key = (fields: Partial<StoredKey> = {}): StoredKey => ({
  id: ID,
  version: 1,
  name: 'Shop backend',
  scopes: ['payments:read'],
  allowedIps: [],
  createdBy: 'user_1',
  createdAt: iso(NOON),
  updatedAt: iso(NOON),
  secrets: [{ hash: hashOfSecret(LAST) }],
  ...fields,
});

describe('a secret', () => {
  test('contains the id of its key, and is parsed into id and last part', () => {
    expect(secretOf(ID, LAST)).toBe(`psk_00000000000000000000000a_${LAST}`);
    expect(secretOf(ID, LAST).startsWith(prefixOf(ID))).toBe(true);
    expect(readSecret(secretOf(ID, LAST))).toEqual({ id: ID, last: LAST });
  });

  test.each([
    ...['', 'psk_', `psk_${LAST}`, `psk_0000000000000000000000_${LAST}`, `psk_00000000000000000000000A_${LAST}`],
    ...[
      `${secretOf(ID, LAST)}a`,
      secretOf(ID, LAST.slice(1)),
      `x${secretOf(ID, LAST)}`,
      secretOf(ID, `${LAST.slice(1)}+`),
    ],
    `${secretOf(ID, LAST)}\n`,
  ])('is not recognized in another form: %j', (text) => {
    expect(readSecret(text)).toBeUndefined();
  });

  test('matches only its own key, by its last part', () => {
    expect(matchingSecret(key(), LAST, NOON)).toBeDefined();
    expect(matchingSecret(key(), last('b'), NOON)).toBeUndefined();
    expect(matchingSecret(undefined, LAST, NOON)).toBeUndefined();
    expect(matchingSecret(key({ secrets: [] }), LAST, NOON)).toBeUndefined();
    // An absent secret is compared with the hash of an empty string.
    expect(matchingSecret(key({ secrets: [] }), '', NOON)).toBeUndefined();
  });
});

describe('a rotation', () => {
  const rotate = (known: StoredKey, letter: string, { now, graceMs }: Readonly<Record<'now' | 'graceMs', number>>) => ({
    ...known,
    secrets: [...rotated(known, { next: { hash: hashOfSecret(last(letter)) }, now, until: now + graceMs })],
  });

  test('keeps the former secret until its grace period ends', () => {
    const next = rotate(key(), 'b', { now: NOON, graceMs: HOUR_MS });
    expect(matchingSecret(next, last('b'), NOON + 400 * DAY_MS)).toBeDefined();
    expect(matchingSecret(next, LAST, NOON + HOUR_MS - 1)).toBeDefined();
    expect(matchingSecret(next, LAST, NOON + HOUR_MS)).toBeUndefined();
  });

  test('keeps no former secret without a grace period', () => {
    expect(rotate(key(), 'b', { now: NOON, graceMs: 0 }).secrets).toEqual([{ hash: hashOfSecret(last('b')) }]);
  });

  test('keeps at most two former secrets, and drops expired ones', () => {
    let known = key();
    for (const letter of 'bcd') known = rotate(known, letter, { now: NOON, graceMs: HOUR_MS });
    expect(['a', 'b', 'c', 'd'].map((letter) => matchingSecret(known, last(letter), NOON) !== undefined)).toEqual([
      ...[false, true, true, true],
    ]);
    expect(rotate(known, 'e', { now: NOON + HOUR_MS, graceMs: MINUTE_MS }).secrets).toHaveLength(2);
  });
});

describe('the status of a key', () => {
  test.each([
    ['active', {}],
    ['active', { expiresAt: iso(NOON + 1) }],
    ['expired', { expiresAt: iso(NOON) }],
    ['revoked', { revokedAt: iso(NOON) }],
    ['revoked', { revokedAt: iso(NOON), expiresAt: iso(NOON) }],
  ] as const)('is %s with %j', (status, fields) => {
    expect(statusOfKey(key(fields), NOON)).toBe(status);
  });
});

describe('a stored key', () => {
  test('is read back without the scopes that no longer exist', () => {
    const item = { ...recordItem(serviceKeyShape, key()), scopes: ['payments:read', 'payments:everything'] };
    expect(serviceKeyOf(item)).toEqual(key());
  });

  test('is deleted 400 days after its revocation', () => {
    expect(recordItem(serviceKeyShape, key())).not.toHaveProperty('ttl');
    expect(recordItem(serviceKeyShape, key({ revokedAt: iso(NOON) }))).toMatchObject({
      ttl: (NOON + 400 * DAY_MS) / 1_000,
    });
  });
});

describe('serviceKeys', () => {
  const open = async (...keys: readonly StoredKey[]) => {
    const clock = { at: NOON };
    const now = () => clock.at;
    const { table } = memoryTable({ now });
    for (const one of keys) await table.put(recordItem(serviceKeyShape, one));
    const calls = { reads: 0, notes: 0 };
    const counting: Table = {
      ...table,
      get: (...args) => {
        calls.reads += 1;
        return table.get(...args);
      },
      update: (...args) => {
        calls.notes += 1;
        return table.update(...args);
      },
    };
    const { identify } = serviceKeys({ table: counting, now });
    const ask = (secret = secretOf(ID, LAST), address = '203.0.113.7') => identify(secret, address);
    return { clock, table, calls, ask };
  };

  test('finds the key and its scopes', async () => {
    const { ask } = await open(key());
    expect(await ask()).toEqual({ id: ID, scopes: ['payments:read'], holders: ['user_1'] });
  });

  test('reads each known or unknown key at most once in five seconds', async () => {
    const { ask, calls, clock, table } = await open(key());
    const unknown = secretOf('key_00000000000000000000000b', LAST);
    for (const secret of [secretOf(ID, LAST), secretOf(ID, last('b')), unknown, unknown]) await ask(secret);
    expect(calls.reads).toBe(2);
    await table.put(recordItem(serviceKeyShape, key({ revokedAt: iso(NOON) })));
    clock.at = NOON + 5 * SECOND_MS - 1;
    expect(await ask()).toBeDefined();
    clock.at = NOON + 5 * SECOND_MS;
    expect(await ask()).toBeUndefined();
    expect(calls.reads).toBe(3);
  });

  test('finds a key that was created after a failed lookup, and later its changed scopes', async () => {
    const { ask, clock, table } = await open();
    expect(await ask()).toBeUndefined();
    await table.put(recordItem(serviceKeyShape, key()));
    clock.at += 5 * SECOND_MS;
    expect(await ask()).toBeDefined();
    await table.put(recordItem(serviceKeyShape, key({ scopes: [] })));
    clock.at += 5 * SECOND_MS;
    expect(await ask()).toEqual({ id: ID, scopes: [], holders: ['user_1'] });
  });

  test('records the use of an accepted key at most once an hour, and never the use of a refused key', async () => {
    const { ask, calls, clock, table } = await open(key());
    await ask(secretOf(ID, last('b')));
    expect(calls.notes).toBe(0);
    for (let times = 0; times < 3; times += 1) await ask();
    expect(calls.notes).toBe(1);
    clock.at += HOUR_MS;
    await ask();
    expect(calls.notes).toBe(2);
    expect(await table.get(keyUseKey(ID))).toMatchObject({ at: iso(NOON + HOUR_MS) });
  });

  test('accepts a key even if its use cannot be recorded', async () => {
    const { table } = memoryTable({ now: () => NOON });
    await table.put(recordItem(serviceKeyShape, key()));
    const failing: Table = { ...table, update: () => Promise.reject(new Error('throttled')) };
    expect(await serviceKeys({ table: failing, now: () => NOON }).identify(secretOf(ID, LAST), '::1')).toBeDefined();
  });

  test.each([
    ['203.0.113.7', ['203.0.113.0/24'], true],
    ['203.0.114.7', ['203.0.113.0/24'], false],
    ['203.0.114.7', ['203.0.113.0/24', '203.0.114.0/24'], true],
    ['::ffff:203.0.113.7', ['203.0.113.0/24'], true],
    ['2001:db8::1', ['2001:db8::/32'], true],
    ['2001:db9::1', ['2001:db8::/32', '203.0.113.0/24'], false],
    ['unknown', ['0.0.0.0/0'], false],
    ['203.0.113.7', ['not a range'], false],
    ['unknown', [], true],
  ] as const)('accepts a request from %s with the allowed ranges %j: %s', async (address, allowedIps, isAccepted) => {
    const { ask } = await open(key({ allowedIps: [...allowedIps] }));
    expect((await ask(undefined, address)) !== undefined).toBe(isAccepted);
  });
});
