/**
 * @module Writes the projections of changed payments and subscriptions from the table's stream: history entries,
 * counters and the list of all payments. A repeated change counts once. The changes of one record come in order.
 * Changes of different records may come in any order, in several batches at the same time.
 */

import type { DynamoDBRecord } from 'aws-lambda';
import type { Log } from '../core/logger.ts';
import { type Payment, paymentOf } from '../payments/payment.ts';
import { repairAliases } from '../payments/payment-aliases.ts';
import { projectionOf } from '../payments/payment-history.ts';
import { changeOf, type ItemChange, removedItem } from '../platform/images.ts';
import type { Table } from '../platform/table.ts';
import { writePaymentEntries } from '../queries/payment-entry.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import { removeHistoryOf, subscriptionEntry } from '../subscriptions/subscription-history.ts';
import { writeProjections } from './write-projections.ts';

export interface ProjectDeps {
  readonly table: Table;
  readonly log: Log;
}

/**
 * Writes history and counters for the changed payments of a batch, in as few transactions as possible. Then writes
 * their entries in the list of all payments, once per batch and payment. A changed subscription needs only a history
 * entry, in one write. Also writes aliases of a payment that its function has not written.
 */
export const projectChanges = async (
  deps: ProjectDeps,
  records: readonly DynamoDBRecord[],
): Promise<string | undefined> => {
  const ofPayments = records.filter(isAbout('PAY'));
  await repairPaymentAliases(deps, ofPayments);
  const payments = await projectPayments(deps, ofPayments);
  const subscriptions = await projectSubscriptions(deps, records.filter(isAbout('SUB')));
  await writePaymentEntries(deps.table, payments);
  deps.log.info('changes projected', { count: payments.length + subscriptions });
  return undefined;
};

/** Runs first, because sync and some events find a payment only by its alias. */
const repairPaymentAliases = async ({ table, log }: ProjectDeps, records: readonly DynamoDBRecord[]): Promise<void> => {
  const changes = records.map(changeOf).filter((change) => change !== undefined);
  const count = await repairAliases(
    table,
    changes.map(({ before, after }) => ({ before: before && paymentOf(before), after: paymentOf(after) })),
  );
  if (count > 0) log.warn('missing aliases written', { count });
};

const isAbout =
  (sortKey: 'PAY' | 'SUB') =>
  ({ dynamodb }: DynamoDBRecord): boolean =>
    dynamodb?.Keys?.['sk']?.S === sortKey;

/** @returns the changed payments, once per change that readers see */
const projectPayments = async (
  { table }: ProjectDeps,
  records: readonly DynamoDBRecord[],
): Promise<readonly Payment[]> => {
  const changes = records.map(changeOf).filter((change) => change !== undefined);
  const spread = String(changes[0]?.after['pk']);
  const projected = changes.flatMap(({ before, after }) => {
    const payment = paymentOf(after);
    const projection = projectionOf(before && paymentOf(before), payment, spread);
    return projection ? [{ payment, projection }] : [];
  });
  await writeProjections(
    table,
    projected.map(({ projection }) => projection),
  );
  return projected.map(({ payment }) => payment);
};

/** In parallel; the changes of each subscription in order. @returns the number of changes that readers see */
const projectSubscriptions = async (deps: ProjectDeps, records: readonly DynamoDBRecord[]): Promise<number> => {
  const byItem = Map.groupBy(records, ({ dynamodb }) => dynamodb?.Keys?.['pk']?.S);
  const counts = await Promise.all(
    [...byItem.values()].map(async (ofItem) => {
      let count = 0;
      for (const record of ofItem) {
        const change = changeOf(record);
        if (change && (await projectSubscription(deps, change))) count += 1;
        await forgetRemoved(deps, record);
      }
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
};

/** @returns true if readers see the change */
const projectSubscription = async ({ table }: ProjectDeps, { before, after }: ItemChange): Promise<boolean> => {
  const subscription = subscriptionOf(after);
  const entry = subscription && subscriptionEntry(before && subscriptionOf(before), subscription);
  if (!entry) return false;
  await table.put(entry, [{ absent: true }]);
  return true;
};

/** Removes the history. The stream has reported all earlier versions, so no entry is written afterwards. */
const forgetRemoved = async ({ table }: ProjectDeps, record: DynamoDBRecord): Promise<void> => {
  const removed = removedItem(record);
  const subscription = removed && subscriptionOf(removed);
  if (subscription) await removeHistoryOf(table, subscription);
};
