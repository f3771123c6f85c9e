import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, iso, SECOND_MS } from '../../shared/core/time.ts';
import { createOnce } from '../../shared/http/create-once.ts';
import {
  canonicalJson,
  checkKey,
  claimKey,
  type IdempotentRequest,
  idempotencyScope,
  isUnderKey,
  keyMark,
  LEFT_OPEN,
  settleKey,
} from '../../shared/http/idempotency.ts';
import type { TransactionStep } from '../../shared/platform/table.ts';
import type { Found, StoredRecord } from '../../shared/platform/versioned-record.ts';
import { testIds } from '../builders/ids.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { refusalIn, refusalOf } from '../builders/refusal.ts';

/** The same value with its names in another order at every depth. */
const reordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toReversed()
      .map(([name, inner]) => [name, reordered(inner)]),
  );
};

describe('the canonical text of a JSON value', () => {
  const value = fc.json().map((text): unknown => JSON.parse(text));

  test('is the same for any order of its names', () => {
    fc.assert(fc.property(value, (given) => canonicalJson(given) === canonicalJson(reordered(given))));
  });

  test('contains the whole value, so two different values never have the same text', () => {
    fc.assert(
      fc.property(value, (given) => {
        expect(JSON.parse(canonicalJson(given))).toEqual(given);
      }),
    );
  });

  test('keeps the order of a list', () => {
    expect(canonicalJson([1, 2])).not.toBe(canonicalJson([2, 1]));
  });

  test('keeps JavaScript’s special names', () => {
    const given: unknown = JSON.parse('{"__proto__":{"b":1,"a":2},"c":3}');
    expect(canonicalJson(given)).toBe('{"__proto__":{"a":2,"b":1},"c":3}');
  });

  test('is empty for an undefined value', () => {
    expect(canonicalJson(undefined)).toBe('');
  });
});

describe('an Idempotency-Key', () => {
  test.each(['a', '1', 'x'.repeat(255), '5f0c-a1', 'a key', '!~'])('is accepted as %j', (key) => {
    expect(checkKey(key)).toBe(key);
  });

  test.each(['', ' ', ' a', 'a ', 'x'.repeat(256), 'a\tb', 'é', '\u00a0', 'a\n'])('is refused as %j', (key) => {
    expect(refusalOf(() => checkKey(key)).code).toBe('IDEMPOTENCY_KEY_INVALID');
  });

  test('requires at least 20 characters if the key alone gives access to the stored response', () => {
    const sole = (length: number) => () => checkKey('x'.repeat(length), true);
    expect(refusalOf(sole(19))).toMatchObject({
      code: 'IDEMPOTENCY_KEY_INVALID',
      message: 'Without a session or guest token, Idempotency-Key must have at least 20 characters',
    });
    expect(sole(20)()).toHaveLength(20);
  });

  test('has a separate scope for each caller, route, path and key', () => {
    const scopes = [
      idempotencyScope({ principal: 'user:1', route: 'POST /payments', params: {}, key: 'k' }),
      idempotencyScope({ principal: 'user:2', route: 'POST /payments', params: {}, key: 'k' }),
      idempotencyScope({ principal: 'user:1', route: 'POST /payments/intents', params: {}, key: 'k' }),
      idempotencyScope({ principal: 'user:1', route: 'POST /payments', params: { id: '1' }, key: 'k' }),
      idempotencyScope({ principal: 'user:1', route: 'POST /payments', params: { id: '2' }, key: 'k' }),
      idempotencyScope({ principal: 'user:1', route: 'POST /payments', params: {}, key: 'l' }),
    ];
    expect(new Set(scopes).size).toBe(scopes.length);
    expect(idempotencyScope({ principal: 'user:1', route: 'POST /a', params: { a: '1', b: '2' }, key: 'k' })).toBe(
      idempotencyScope({ principal: 'user:1', route: 'POST /a', params: { b: '2', a: '1' }, key: 'k' }),
    );
  });
});

describe('a POST with an Idempotency-Key', () => {
  const TIMEOUT_SECONDS = 20;
  const asked = { scope: 'scope', requestHash: 'hash' };
  const other = { scope: 'scope', requestHash: 'other' };
  const answer = { status: 200, body: { id: 'pay_1', list: [1, null] } };

  const service = () => {
    const clock = { at: NOON };
    const { table } = memoryTable({ now: () => clock.at });
    const deps = { table, now: () => clock.at };
    return {
      clock,
      claim: (request = asked) => claimKey(deps, request, TIMEOUT_SECONDS),
      settle: (kept: typeof answer | typeof LEFT_OPEN | undefined, request: IdempotentRequest = asked) =>
        settleKey(deps, request, kept),
    };
  };

  test('runs once, and returns the same response again', async () => {
    const { claim, settle } = service();
    expect(await claim()).toBeUndefined();
    await settle(answer);
    expect([await claim(), await claim()]).toEqual([answer, answer]);
  });

  test('is refused while it is still running, with the time until a retry can take over', async () => {
    const { clock, claim } = service();
    await claim();
    clock.at = NOON + 5 * SECOND_MS;
    expect(await refusalIn(claim())).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS', retryAfterSeconds: 20 });
  });

  test('is taken over by one retry after its function’s timeout', async () => {
    const { clock, claim } = service();
    await claim();
    clock.at = NOON + 24 * SECOND_MS;
    expect((await refusalIn(claim())).retryAfterSeconds).toBe(1);
    clock.at = NOON + 25 * SECOND_MS;
    expect(await claim()).toBeUndefined();
    expect((await refusalIn(claim())).code).toBe('IDEMPOTENCY_IN_PROGRESS');
  });

  test.each([0, 30 * SECOND_MS, DAY_MS - SECOND_MS])('is refused with another body %i ms later', async (after) => {
    for (const settled of [false, true]) {
      const { clock, claim, settle } = service();
      await claim();
      if (settled) await settle(answer);
      clock.at = NOON + after;
      expect((await refusalIn(claim(other))).code).toBe('IDEMPOTENCY_KEY_REUSED');
    }
  });

  test('leaves no record if its response is not stored', async () => {
    const { claim, settle } = service();
    await claim();
    await settle(undefined);
    expect(await claim(other)).toBeUndefined();
  });

  test('runs again after a response that left the outcome open, one repeat at a time, and only with the same body', async () => {
    const { claim, settle } = service();
    await claim();
    await settle(LEFT_OPEN);
    expect((await refusalIn(claim(other))).code).toBe('IDEMPOTENCY_KEY_REUSED');
    const repeats = await Promise.allSettled([claim(), claim(), claim()]);
    expect(repeats.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.code)).sort()).toEqual([
      ...['IDEMPOTENCY_IN_PROGRESS', 'IDEMPOTENCY_IN_PROGRESS', LEFT_OPEN],
    ]);
    await settle(answer);
    expect(await claim()).toEqual(answer);
  });

  test('still counts as a repeat after an earlier repeat failed or was stopped', async () => {
    const { clock, claim, settle } = service();
    await claim();
    await settle(LEFT_OPEN);
    expect(await claim()).toBe(LEFT_OPEN);
    await settle(undefined, { ...asked, isRepeat: true });
    expect(await claim()).toBe(LEFT_OPEN);
    expect(await refusalIn(claim())).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS', retryAfterSeconds: 25 });
    clock.at = NOON + 25 * SECOND_MS;
    expect(await claim()).toBe(LEFT_OPEN);
    await settle(answer, { ...asked, isRepeat: true });
    expect(await claim()).toEqual(answer);
  });

  test('recognizes a command claimed under its key and body for 24 h, or without a time limit if it is a repeat', () => {
    const claimed = { key: keyMark(asked), at: iso(NOON) };
    const [before, end] = [NOON + DAY_MS - 1, NOON + DAY_MS];
    expect([before, end].map((at) => isUnderKey(claimed, asked, at))).toEqual([true, false]);
    expect(isUnderKey(claimed, { ...asked, isRepeat: true }, end)).toBe(true);
    expect(isUnderKey(claimed, other, NOON)).toBe(false);
    expect([isUnderKey({}, asked, NOON), isUnderKey({}, undefined, NOON)]).toEqual([false, false]);
  });

  test('keeps a stored response after a late failure', async () => {
    const { claim, settle } = service();
    await claim();
    await settle(answer);
    await settle(undefined);
    expect(await claim()).toEqual(answer);
  });

  test('stores a response only under the hash of its own body', async () => {
    const { claim, settle } = service();
    await claim();
    await settle(answer, other);
    expect((await refusalIn(claim())).code).toBe('IDEMPOTENCY_IN_PROGRESS');
  });

  test('keeps its response for 24 hours', async () => {
    const { clock, claim, settle } = service();
    await claim();
    await settle(answer);
    clock.at = NOON + DAY_MS - 1;
    expect(await claim()).toEqual(answer);
    clock.at = NOON + DAY_MS;
    expect(await claim(other)).toBeUndefined();
  });

  test('runs once for any number of concurrent requests', async () => {
    const { claim } = service();
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => claim()));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });
});

describe('a create with an Idempotency-Key', () => {
  const service = () => {
    const clock = { at: NOON };
    const records = new Map<string, Found<StoredRecord>>();
    let random = 0;
    const store = {
      find: async (id: string) => records.get(id),
      insertOrFind: async (record: StoredRecord) => {
        const found = records.get(record.id);
        if (!found) records.set(record.id, { kind: 'record', record });
        return found;
      },
    };
    const create = (requestHash: string | undefined) => {
      const idempotency = requestHash === undefined ? undefined : { scope: 'scope', requestHash };
      const build = async (id: string): Promise<StoredRecord> => {
        const at = iso(clock.at);
        return { id, version: 1, createdAt: at, updatedAt: at, ...(requestHash && { requestHash }) };
      };
      const newId = () => {
        random += 1;
        return `addr_${random}`;
      };
      return createOnce({ now: () => clock.at, newId, ids: testIds }, { store, kind: 'address', idempotency, build });
    };
    return { clock, records, create };
  };

  test('makes one record, and returns the same record for a repeat', async () => {
    const { create, records } = service();
    const first = await create('hash');
    expect(await create('hash')).toEqual({ record: first.record, replayed: true });
    expect([first.replayed, records.size]).toEqual([false, 1]);
  });

  test('makes one record for any number of concurrent requests', async () => {
    const { create, records } = service();
    const all = await Promise.all(Array.from({ length: 50 }, () => create('hash')));
    expect(new Set(all.map(({ record }) => record.id)).size).toBe(1);
    expect([all.filter(({ replayed }) => !replayed).length, records.size]).toEqual([1, 1]);
  });

  test('is refused with another body', async () => {
    const { create } = service();
    await create('hash');
    expect((await refusalIn(create('other'))).code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  test('makes another record after 24 hours, and a third record the day after', async () => {
    const { clock, create, records } = service();
    const ids = new Set<string>();
    for (const days of [0, 1, 2]) {
      clock.at = NOON + days * DAY_MS;
      ids.add((await create(`hash of day ${days}`)).record.id);
      clock.at += DAY_MS - 1;
      ids.add((await create(`hash of day ${days}`)).record.id);
      clock.at += 1;
    }
    expect([ids.size, records.size]).toEqual([3, 3]);
  });

  test('does not return a record that was deleted later', async () => {
    const { create, records } = service();
    const { record } = await create('hash');
    records.set(record.id, { kind: 'tombstone', requestHash: 'hash', createdAt: record.createdAt });
    expect(await refusalIn(create('hash'))).toMatchObject({
      code: 'INVALID_STATE',
      message: 'The record of this Idempotency-Key was deleted; use a new key',
    });
    expect((await refusalIn(create('other'))).code).toBe('IDEMPOTENCY_KEY_REUSED');
  });

  test('makes a record each time without a key', async () => {
    const { create, records } = service();
    expect(await create(undefined)).toMatchObject({ record: { id: 'addr_1' }, replayed: false });
    expect(await create(undefined)).toMatchObject({ record: { id: 'addr_2' }, replayed: false });
    expect(records.size).toBe(2);
  });

  test('fails without a key if another record has its random id', async () => {
    const { create, records } = service();
    const at = iso(NOON);
    records.set('addr_1', { kind: 'record', record: { id: 'addr_1', version: 1, createdAt: at, updatedAt: at } });
    await expect(create(undefined)).rejects.toThrow('a random id is taken');
  });

  test('is refused as in progress after one new record on each of fifty days', async () => {
    const { clock, create, records } = service();
    for (let day = 0; day < 50; day += 1) {
      clock.at = NOON + day * DAY_MS;
      await create('hash');
    }
    clock.at = NOON + 50 * DAY_MS;
    expect(await refusalIn(create('hash'))).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS', retryAfterSeconds: 1 });
    expect(records.size).toBe(50);
  });
});

describe('a create that calls a provider', () => {
  const service = () => {
    const clock = { at: NOON };
    const now = () => clock.at;
    const { table, items } = memoryTable({ now });
    const records = new Map<string, StoredRecord>();
    const beside: (readonly TransactionStep[])[] = [];
    const store = {
      find: async () => undefined,
      insertOrFind: async (record: StoredRecord, steps: readonly TransactionStep[] = []) => {
        beside.push(steps);
        records.set(record.id, record);
        return undefined;
      },
    };
    const create = (build: (id: string) => Promise<StoredRecord>) =>
      createOnce(
        { now, newId: () => 'addr_1', ids: testIds },
        {
          ...{ store, kind: 'address', build, idempotency: { scope: 'scope', requestHash: 'hash' } },
          ...{ beside: () => [{ delete: { pk: 'A', sk: 'A' } }], hold: { table, timeoutSeconds: 20 } },
        },
      );
    return { clock, create, items, records, beside };
  };
  const record = async (id: string): Promise<StoredRecord> => ({
    ...{ id, version: 1, createdAt: iso(NOON), updatedAt: iso(NOON) },
  });

  test('holds its key while one function creates the record, and stores the record’s related items with it', async () => {
    const { create, records, beside } = service();
    let second: unknown;
    const first = await create(async (id) => {
      second = await refusalIn(create(record));
      return record(id);
    });
    expect(second).toMatchObject({ code: 'IDEMPOTENCY_IN_PROGRESS', retryAfterSeconds: 25 });
    expect([first.replayed, records.size, beside]).toEqual([false, 1, [[{ delete: { pk: 'A', sk: 'A' } }]]]);
  });

  test('frees its key immediately after a failure', async () => {
    const { create, records } = service();
    await expect(create(() => Promise.reject(new Error('declined')))).rejects.toThrow('declined');
    expect((await create(record)).replayed).toBe(false);
    expect(records.size).toBe(1);
  });
});
