import { expect, test } from 'vitest';
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

/** Sweeps the records of each partition. @returns the ids that were queued, and the error of the sweep */
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

test('a record without a lease does not keep leased records from the queue, but makes the sweep fail', async () => {
  const all = () => [dueItem('pay_1'), dueItem('pay_2'), dueItem('pay_3')];
  const { queued, error } = await sweep({ [OTHER_SHARD]: all }, (pk) => pk === 'pay_2');
  expect(queued).toEqual(['pay_1', 'pay_3']);
  expect(error).toBe(conflict);
});
