/**
 * @module Writes history entries, counters and the list of all payments from the table's stream, for changed payments
 * and subscriptions. A repeated change counts once. The changes of one record come in order. Changes of different
 * records may come in any order, in several batches at the same time.
 */

import type { DynamoDBRecord } from 'aws-lambda';
import type { Log } from '../core/logger.ts';
import { keysOf } from '../core/rows.ts';
import { paymentOf } from '../payments/payment.ts';
import { repairAliases } from '../payments/payment-aliases.ts';
import { projectionOf } from '../payments/payment-history.ts';
import type { HistoricKind } from '../platform/keys.ts';
import { changeOf, type ItemChange, removedItem } from '../platform/stream-images.ts';
import type { Table } from '../platform/table.ts';
import { writePaymentEntries } from '../queries/payment-entry.ts';
import { subscriptionOf } from '../subscriptions/subscription.ts';
import { removeHistoryOf, subscriptionEntry } from '../subscriptions/subscription-history.ts';
import { writeProjections } from './write-projections.ts';

export interface ProjectDeps {
  readonly table: Table;
  readonly log: Log;
}

/** @returns the number of changes that readers see */
type Project = (deps: ProjectDeps, records: readonly DynamoDBRecord[]) => Promise<number>;

/** By sort key. The stream reports these kinds to the function. */
export const PROJECTIONS: Readonly<Record<HistoricKind, Project>> = {
  PAY: (deps, records) => projectPayments(deps, records),
  SUB: (deps, records) => projectSubscriptions(deps, records),
};

export const projectChanges = async (
  deps: ProjectDeps,
  records: readonly DynamoDBRecord[],
): Promise<string | undefined> => {
  let count = 0;
  for (const kind of keysOf(PROJECTIONS)) {
    const ofKind = records.filter(({ dynamodb }) => dynamodb?.Keys?.['sk']?.S === kind);
    count += await PROJECTIONS[kind](deps, ofKind);
  }
  deps.log.info('changes projected', { count });
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

/**
 * Writes aliases that the payments' functions have not written, then history and counters in as few transactions as
 * possible, then the entries in the list of all payments, once per batch and payment.
 */
const projectPayments: Project = async (deps, records) => {
  const { table } = deps;
  await repairPaymentAliases(deps, records);
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
  await writePaymentEntries(
    table,
    projected.map(({ payment }) => payment),
  );
  return projected.length;
};

/** Projects the subscriptions of a batch in parallel, the changes of each in order. */
const projectSubscriptions: Project = async (deps, records) => {
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
