/** @module The table behavior that this service needs, on each engine. */

import { describe, expect, test } from 'vitest';
import { openState } from '../../../infra/local/machine/sqlite.ts';
import type { Item, Page, PartitionPage, TransactionStep } from '../../../shared/platform/connection.ts';
import { NOON } from '../../builders/payment.ts';
import { ENGINES, NOW_SECONDS, withTable } from './engines.ts';
import { STREAMED } from './sort-keys.ts';

const KILOBYTE = 1_024;
const ITEM_LIMIT = 400 * KILOBYTE;
/** The size of an item without its values, in bytes. */
const NAMES_BYTES = ['pk', 'sk', 'text'].join('').length;

describe.each(ENGINES)('the table of the engine %s', (engine) => {
  const table = withTable(engine);
  let keys = 0;
  const newKey = (sk = 'X') => {
    keys += 1;
    return { pk: `K#${keys}`, sk };
  };
  const put = async (item: Item): Promise<void> => {
    expect(await table().connection.putItem(item, [])).toMatchObject({ ok: true });
  };
  const pagesOf = async (query: PartitionPage): Promise<readonly Page[]> => {
    const pages: Page[] = [];
    do pages.push(await table().connection.query({ ...query, after: pages.at(-1)?.next }));
    while (pages.at(-1)?.next);
    return pages;
  };
  const fill = async (count: number, more: Item = {}): Promise<string> => {
    const { pk } = newKey();
    for (let index = 0; index < count; index += 1) await put({ pk, sk: `S#${index}`, ...more });
    return pk;
  };

  test('returns the stored item and writes nothing if a condition fails', async () => {
    const [key, { connection }] = [newKey(), table()];
    await put({ ...key, version: 2, seat: '12' });
    const found = { ...key, version: 2, seat: '12' };
    const guard = [{ equals: ['version', 1] }] as const;
    expect(await connection.putItem({ ...key, version: 3 }, guard)).toEqual({ ok: false, found });
    const update = { key, changes: { set: { version: 3 } }, clauses: guard };
    expect(await connection.updateItem(update)).toEqual({ ok: false, found });
    expect(await connection.deleteItem(key, guard)).toEqual({ ok: false, found });
    expect(await connection.getItem(key, true)).toEqual(found);
  });

  test('treats an item as absent as soon as its ttl is reached', async () => {
    for (const [ttl, isAbsent] of [
      [NOW_SECONDS - 1, true],
      [NOW_SECONDS, true],
      [NOW_SECONDS + 1, false],
    ] as const) {
      const [key, { connection }] = [newKey(), table()];
      await put({ ...key, ttl });
      expect(await connection.putItem({ ...key, ttl }, [{ absent: true }])).toMatchObject({ ok: isAbsent });
      expect(await connection.putItem({ ...key, ttl }, [{ exists: true }])).toMatchObject({ ok: !isAbsent });
    }
  });

  test('stores every kind of value', async () => {
    const item = {
      ...newKey(),
      text: 'ü 💶 \u0000',
      whole: 9_007_199_254_740_991,
      part: -0.25,
      yes: true,
      nothing: null,
      bytes: new Uint8Array([0, 255]),
      list: [1, 'a', { b: [] }],
      map: { 'a.b': 1, '': '', '\u0000B': 'no bytes' },
      names: new Set(['a', 'b']),
    };
    await put(item);
    expect(await table().connection.getItem(item, true)).toEqual(item);
  });

  test('omits undefined attributes', async () => {
    const key = newKey();
    await put({ ...key, a: undefined, m: { b: undefined } });
    expect(await table().connection.getItem(key, true)).toEqual({ ...key, m: {} });
  });

  test('updates paths within a map, and creates a missing item', async () => {
    const [key, { connection }] = [newKey(), table()];
    const first = { set: { setup: { clientSecret: 's', url: 'u' } }, add: { count: 2 } };
    expect(await connection.updateItem({ key, changes: first, clauses: [] })).toMatchObject({ ok: true });
    const second = { set: { 'setup.url': 'v', gone: undefined }, remove: ['setup.clientSecret'], add: { count: -5 } };
    expect(await connection.updateItem({ key, changes: second, clauses: [] })).toEqual({
      ok: true,
      item: { ...key, setup: { url: 'v' }, count: -3 },
    });
  });

  test('writes all steps of a transaction or no step', async () => {
    const [one, other, third, { connection }] = [newKey(), newKey(), newKey(), table()];
    await put({ ...other, version: 7 });
    const steps: TransactionStep[] = [
      { put: { ...one, a: 1 }, if: [{ absent: true }] },
      { update: other, changes: { add: { version: 1 } }, if: [{ equals: ['version', 1] }] },
      { check: third, if: [{ exists: true }] },
    ];
    const found = [undefined, { ...other, version: 7 }, undefined];
    expect(await connection.transact(steps)).toEqual({ ok: false, failed: [1, 2], found });
    expect(await connection.getItem(one, true)).toBeUndefined();
    await put({ ...third });
    await put({ ...other, version: 1 });
    expect(await connection.transact(steps)).toEqual({ ok: true });
    expect((await connection.getBatch([one, other], true)).items).toHaveLength(2);
    expect(await connection.getItem(other, true)).toEqual({ ...other, version: 2 });
  });

  test('accepts 100 steps in a transaction, and refuses 101, none, or two on one item', async () => {
    const { connection } = table();
    const steps = (count: number): TransactionStep[] => Array.from({ length: count }, () => ({ put: { ...newKey() } }));
    expect(await connection.transact(steps(100))).toEqual({ ok: true });
    await expect(connection.transact(steps(101))).rejects.toThrow(
      expect.objectContaining({ name: 'ValidationException' }),
    );
    await expect(connection.transact([])).rejects.toThrow(expect.objectContaining({ name: 'ValidationException' }));
    const key = newKey();
    await expect(connection.transact([{ put: { ...key } }, { delete: key }])).rejects.toThrow(
      expect.objectContaining({ name: 'ValidationException' }),
    );
  });

  test('accepts an item of 400 KB, and refuses one more byte', async () => {
    const [key, { connection }] = [newKey(), table()];
    const room = ITEM_LIMIT - NAMES_BYTES - key.pk.length - key.sk.length;
    expect(await connection.putItem({ ...key, text: 'x'.repeat(room) }, [])).toMatchObject({ ok: true });
    await expect(connection.putItem({ ...key, text: 'x'.repeat(room + 1) }, [])).rejects.toThrow(
      expect.objectContaining({ name: 'ValidationException' }),
    );
  });

  test('ends a page at its limit, which counts items before the filter', async () => {
    const pk = await fill(5);
    const pages = await pagesOf({ partition: pk, limit: 2 });
    expect(pages.map(({ items }) => items.length)).toEqual([2, 2, 1]);
    expect(pages[0]?.next).toEqual({ pk, sk: 'S#1' });
    const filtered = await pagesOf({ partition: pk, limit: 2, filter: [{ has: 'nothing' }] });
    expect(filtered.map(({ items }) => items.length)).toEqual([0, 0, 0]);
    const last = await table().connection.query({ partition: pk, limit: 5 });
    expect([last.items.length, last.next]).toEqual([5, { pk, sk: 'S#4' }]);
  });

  test('ends a page at one megabyte', async () => {
    const pk = await fill(5, { text: 'x'.repeat(300 * KILOBYTE) });
    const pages = await pagesOf({ partition: pk });
    expect(pages.map(({ items }) => items.length)).toEqual([3, 2]);
  });

  test('reads a range of sort keys in both directions, with both bounds included', async () => {
    const pk = await fill(5);
    const sortKeys = async (query: Omit<PartitionPage, 'partition'>) =>
      (await pagesOf({ partition: pk, ...query })).flatMap(({ items }) => items.map(({ sk }) => sk));
    expect(await sortKeys({ from: 'S#1', to: 'S#3' })).toEqual(['S#1', 'S#2', 'S#3']);
    expect(await sortKeys({ from: 'S#3', descending: true, limit: 1 })).toEqual(['S#4', 'S#3']);
    expect(await sortKeys({ to: 'S#1' })).toEqual(['S#0', 'S#1']);
  });

  test('returns from an index only items with both index keys, with their keys and the included attributes', async () => {
    const [one, other, { connection }] = [newKey(), newKey(), table()];
    const owner = `USER#${one.pk}`;
    const f = { s: 'paid', a: 2 };
    await put({ ...one, owner, sort: '2', f, hidden: true, project: 'P', ttl: 1 });
    await put({ ...other, owner });
    expect(await connection.query({ index: 'owner', partition: owner })).toEqual({
      items: [{ ...one, owner, sort: '2', f }],
      next: undefined,
    });
    const first = await connection.query({ index: 'owner', partition: owner, limit: 1 });
    expect(first.next).toEqual({ ...one, owner, sort: '2' });
    const wrongKey = connection.putItem({ ...other, owner: 7, sort: '1' }, []);
    await expect(wrongKey).rejects.toThrow(expect.objectContaining({ name: 'ValidationException' }));
  });

  test('counts the matching rows of an index, and pages like a query', async () => {
    const { connection } = table();
    const owner = `USER#${newKey().pk}`;
    for (const sort of ['1', '2', '3', '4', '5']) {
      await put({ ...newKey(), owner, sort, f: { s: Number(sort) % 2 === 1 ? 'odd' : 'even' } });
    }
    const all = { index: 'owner', partition: owner } as const;
    expect(await connection.count(all)).toEqual({ matching: 5, evaluated: 5, next: undefined });
    const odd = { ...all, filter: [{ equals: ['f.s', 'odd'] }] } as const;
    expect(await connection.count(odd)).toEqual({ matching: 3, evaluated: 5, next: undefined });
    const first = await connection.count({ ...odd, limit: 3 });
    expect(first).toMatchObject({ matching: 2, evaluated: 3 });
    expect(await connection.count({ ...odd, after: first.next })).toEqual({
      matching: 1,
      evaluated: 2,
      next: undefined,
    });
    expect(await connection.count({ ...all, descending: true, from: '2', to: '4' })).toMatchObject({ matching: 3 });
    expect(await connection.count({ index: 'owner', partition: 'none' })).toEqual({
      matching: 0,
      evaluated: 0,
      next: undefined,
    });
  });

  test('updates its index if an item changes, loses an index key or is deleted', async () => {
    const [key, { connection }] = [newKey(), table()];
    const due = `DUE#${key.pk}`;
    const dueTimes = async () =>
      (await connection.query({ index: 'due', partition: due })).items.map((item) => item['due_at']);
    await put({ ...key, due, due_at: '2' });
    await connection.updateItem({ key, changes: { set: { due_at: '1' } }, clauses: [] });
    expect(await dueTimes()).toEqual(['1']);
    await connection.updateItem({ key, changes: { remove: ['due', 'due_at'] }, clauses: [] });
    expect(await dueTimes()).toEqual([]);
    await put({ ...key, due, due_at: '3' });
    await connection.deleteItem(key, []);
    expect(await dueTimes()).toEqual([]);
  });

  test('refuses keys that are empty or too long', async () => {
    const { connection } = table();
    for (const key of [
      { pk: '', sk: 'X' },
      { pk: 'X', sk: '' },
      { pk: 'x'.repeat(2_049), sk: 'X' },
      { pk: 'X', sk: 'x'.repeat(1_025) },
    ]) {
      const refusal = expect.objectContaining({ name: 'ValidationException' });
      await expect(connection.putItem({ ...key }, [])).rejects.toThrow(refusal);
      await expect(connection.getItem(key, true)).rejects.toThrow(refusal);
    }
  });

  test('streams each change in order, with the item before and after it', async () => {
    const [key, { connection, database }] = [newKey(STREAMED), table()];
    await put({ ...key, n: 1, bytes: new Uint8Array([255]) });
    await connection.updateItem({ key, changes: { add: { n: 1 }, remove: ['bytes'] }, clauses: [] });
    await connection.transact([{ put: { ...key, n: 3 } }]);
    await connection.deleteItem(key, []);
    const state = openState(':memory:');
    const reader = database.stream.openReader(state, 'test');
    const records = await allOf(reader);
    state.close();
    const image = (n: number, more = {}) => ({ pk: { S: key.pk }, sk: { S: STREAMED }, n: { N: String(n) }, ...more });
    const own = records.filter(({ dynamodb }) => dynamodb?.Keys?.['pk']?.S === key.pk);
    expect(own.map(({ eventName, dynamodb }) => [eventName, dynamodb?.OldImage, dynamodb?.NewImage])).toEqual([
      ['INSERT', undefined, image(1, { bytes: { B: '/w==' } })],
      ['MODIFY', image(1, { bytes: { B: '/w==' } }), image(2)],
      ['MODIFY', image(2), image(3)],
      ['REMOVE', image(3), undefined],
    ]);
  });

  test('returns the time of the earliest due work', async () => {
    const [key, { database }] = [newKey(), table()];
    expect(await database.earliestDue()).toBeUndefined();
    for (const [shard, dueAt] of [NOON + 1, NOON, NOON + 2].entries()) {
      await put({ ...key, sk: `D#${shard}`, due: `DUE#${shard}`, due_at: new Date(dueAt).toISOString() });
    }
    expect(await database.earliestDue()).toBe(NOON);
  });
});

type Reader = ReturnType<ReturnType<ReturnType<typeof withTable>>['database']['stream']['openReader']>;

const allOf = async (reader: Reader) => {
  const all: Awaited<ReturnType<Reader['read']>>[number][] = [];
  for (let records = await reader.read(); records.length > 0; records = await reader.read()) {
    all.push(...records);
    reader.advance(records.at(-1)?.dynamodb?.SequenceNumber ?? '');
  }
  return all;
};
