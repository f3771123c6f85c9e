/**
 * @module A delivery that waits long for its next attempt. The wait is due work of the stored delivery, because SQS
 * delivers nothing more from a queue with 120,000 hidden messages. The next attempt is a new message, which stores the
 * number of earlier attempts, even after a redrive.
 */

import * as z from 'zod';
import { type Instant, iso, MINUTE_MS, SECOND_MS } from '../core/time.ts';
import { type Delivery, deliveryItem, deliveryOf } from '../event-log/delivery.ts';
import { DELIVERY_SHARD, deliveryKey, recordKey } from '../platform/keys.ts';
import type { Queues } from '../platform/queues.ts';
import type { StoreDeps, Table } from '../platform/table.ts';
import { dueAttributes } from '../platform/versioned-record.ts';
import { type Postponed, postpone, postponedOf } from './postpone.ts';

/** The longest wait in the queue. A longer wait is due work. */
export const LONGEST_IN_QUEUE_SECONDS = (15 * MINUTE_MS) / SECOND_MS;

export interface Wait {
  /** The attempts before the wait. */
  readonly postponed: Postponed;
  readonly until: Instant;
}

/**
 * Stores the wait of a delivery, in place of an earlier wait.
 * @throws if the delivery of a canonical event is not stored
 */
export const waitLong = async (
  { table, now }: StoreDeps,
  delivery: Delivery,
  { postponed, until }: Wait,
): Promise<void> => {
  const { id, target, content } = delivery;
  const set = { postponed, ...dueAttributes(DELIVERY_SHARD, iso(until)) };
  if (!('body' in content)) {
    await table.put({ ...deliveryItem(delivery, now()), ...set });
    return;
  }
  const written = await table.update(deliveryKey(id, target), { set }, [{ exists: true }]);
  if (!written.ok) throw new Error('a delivery that is not stored cannot wait');
};

const WAIT_FIELDS = ['due', 'due_at', 'postponed'];

/** Ends the wait, if any, of a delivery that a replay has completed meanwhile. */
export const endWait = async (table: Table, { id, target }: Delivery): Promise<void> => {
  await table.update(deliveryKey(id, target), { remove: WAIT_FIELDS }, [{ has: 'due' }]);
};

const waiting = z.object({ due_at: z.string() });

/** Queues the next attempt of a delivery. A crash before the wait is removed causes another attempt, not a lost one. */
export const runDueDelivery = async (
  { table, queues }: { readonly table: Table; readonly queues: Pick<Queues, 'send'> },
  id: string,
): Promise<string> => {
  const key = recordKey('DLV', id);
  const item = await table.get(key);
  const wait = waiting.safeParse(item).data;
  if (!wait) return 'not_waiting';
  await postpone(queues, deliveryOf(item), { ...postponedOf(item), delaySeconds: 0 });
  // If another attempt has failed meanwhile, its later due time stays.
  await table.update(key, { remove: WAIT_FIELDS }, [{ equals: ['due_at', wait.due_at] }]);
  return 'queued';
};
