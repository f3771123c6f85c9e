import { describe, expect, test } from 'vitest';
import { iso, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import { dueShards } from '../../shared/platform/keys.ts';
import type { GroupedMessage } from '../../shared/platform/queues.ts';
import type { Item, Table } from '../../shared/platform/table.ts';
import { sweepDue } from '../../shared/workers/sweep-due.ts';
import { logLines } from '../builders/log-lines.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

const [SLOW_SHARD = '', OTHER_SHARD = ''] = dueShards;
const unreadable = new Error('throughput exceeds the limit');
const conflict = new Error('a transaction is under way');
const dueItem = (pk: string): Item => ({ pk, sk: 'PAY', due_at: '2026-01-01T00:00:00.000Z' });

/** Sweeps the records of each partition. @returns the queued ids and the sweep's error */
const sweep = async (
  partitions: Readonly<Record<string, () => readonly Item[]>>,
  isLocked: (pk: string) => boolean = () => false,
) => {
  const { table } = memoryTable({ now: () => NOON });
  for (const pk of ['pay_1', 'pay_2', 'pay_3']) await table.put(dueItem(pk));
  const queued: string[] = [];
  const update: Table['update'] = (key, ...rest) =>
    isLocked(key.pk) ? Promise.reject(conflict) : table.update(key, ...rest);
  const deps = {
    table: {
      ...table,
      update,
      queryIndex: async ({ partition }: { readonly partition: string }) => ({
        items: partitions[partition]?.() ?? [],
        next: undefined,
      }),
    },
    queues: {
      depth: async () => 0,
      retryAfter: async () => undefined,
      send: async (_: string, messages: readonly (string | GroupedMessage)[]) => {
        for (const message of messages) {
          queued.push(JSON.parse(typeof message === 'string' ? message : message.body).pk);
        }
      },
    },
    log: logLines().log,
    now: () => NOON,
    tableName: 'payments',
    callsPerSecond: () => 95,
  };
  const error = await sweepDue(deps).catch((thrown: unknown) => thrown);
  return { queued: queued.toSorted(), error };
};

test('an unreadable partition does not delay the due work of the others, but makes the sweep fail', async () => {
  const { queued, error } = await sweep({
    [SLOW_SHARD]: () => {
      throw unreadable;
    },
    [OTHER_SHARD]: () => [dueItem('pay_1'), dueItem('pay_2')],
  });
  expect(queued).toEqual(['pay_1', 'pay_2']);
  expect(error).toBe(unreadable);
});

test('a record that cannot be leased does not keep leased records from the queue, but makes the sweep fail', async () => {
  const all = () => [dueItem('pay_1'), dueItem('pay_2'), dueItem('pay_3')];
  const { queued, error } = await sweep({ [OTHER_SHARD]: all }, (pk) => pk === 'pay_2');
  expect(queued).toEqual(['pay_1', 'pay_3']);
  expect(error).toBe(conflict);
});

test('a sweep reads no further page after 40 seconds, and leaves the rest to the next sweep', async () => {
  const { table } = memoryTable({ now: () => NOON });
  let [at, pages] = [NOON, 0];
  await sweepDue({
    table: {
      ...table,
      queryIndex: async ({ partition }: { readonly partition: string }) => {
        if (partition !== SLOW_SHARD) return { items: [], next: undefined };
        pages += 1;
        at += 15 * SECOND_MS;
        return { items: [], next: dueItem('pay_1') };
      },
    },
    queues: { depth: async () => 0, retryAfter: async () => undefined, send: async () => undefined },
    log: logLines().log,
    now: () => at,
    tableName: 'payments',
    callsPerSecond: () => 95,
  });
  expect(pages).toBe(3);
});

describe('the lease of the sweep', () => {
  /** A record due at noon, in a table whose reads a test can replace. */
  const rig = async () => {
    const clock = { at: NOON };
    const now = () => clock.at;
    const { table } = memoryTable({ now });
    await table.put({ ...dueItem('PAY#pay_1'), due: OTHER_SHARD, due_at: iso(NOON), providerId: 'provider_a' });
    const sent: unknown[] = [];
    const send = async (_: string, messages: readonly (string | GroupedMessage)[]) => {
      for (const message of messages) sent.push(JSON.parse(typeof message === 'string' ? message : message.body));
    };
    const queryIndex: Table['queryIndex'] = async (query) => {
      const { items } = await table.queryIndex({ ...query, to: '~' });
      return { items: items.filter((item) => String(item['due_at']) <= String(query.to)), next: undefined };
    };
    const deps = (overrides: Partial<Table> = {}) => ({
      table: { ...table, queryIndex, ...overrides },
      queues: { depth: async () => 0, retryAfter: async () => undefined, send },
      log: logLines().log,
      now,
      tableName: 'payments',
      callsPerSecond: () => 95,
    });
    const stored = () => table.get({ pk: 'PAY#pay_1', sk: 'PAY' });
    return { clock, deps, sent, stored, queryIndex };
  };

  test('moves the due time by ten minutes, and the message carries the moved time', async () => {
    const { deps, sent, stored } = await rig();
    await sweepDue(deps());
    const dueAt = iso(NOON + 10 * MINUTE_MS);
    expect(await stored()).toMatchObject({ due_at: dueAt });
    expect(sent).toEqual([{ pk: 'PAY#pay_1', sk: 'PAY', due_at: dueAt, slot: 'provider_a' }]);
  });

  test('keeps later sweeps from queueing the record again until it ends', async () => {
    const { clock, deps, sent } = await rig();
    for (const [minutes, queued] of [
      [0, 1],
      [1, 1],
      [9, 1],
      [10, 2],
    ] as const) {
      clock.at = NOON + minutes * MINUTE_MS;
      await sweepDue(deps());
      expect([minutes, sent.length]).toEqual([minutes, queued]);
    }
  });

  test('is taken by only one of two sweeps that read the record at the same time', async () => {
    const { deps, sent, queryIndex } = await rig();
    const read = await queryIndex({ index: 'due', partition: OTHER_SHARD, to: iso(NOON) });
    const asRead: Table['queryIndex'] = async ({ partition }) =>
      partition === OTHER_SHARD ? read : { items: [], next: undefined };
    await sweepDue(deps({ queryIndex: asRead }));
    await sweepDue(deps({ queryIndex: asRead }));
    expect(sent).toHaveLength(1);
  });

  test('is not taken for a record whose due time was moved or removed after the read', async () => {
    const { deps, sent, stored, queryIndex } = await rig();
    const { items } = await queryIndex({ index: 'due', partition: OTHER_SHARD, to: iso(NOON) });
    const outdated = items.map((item) => ({ ...item, due_at: iso(NOON - MINUTE_MS) }));
    await sweepDue(deps({ queryIndex: async () => ({ items: outdated, next: undefined }) }));
    expect(sent).toEqual([]);
    expect(await stored()).toMatchObject({ due_at: iso(NOON) });
  });
});
