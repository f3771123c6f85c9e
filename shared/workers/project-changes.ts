/**
 * @module Writes history entries, counters, the lists of all payments and subscriptions, and the items that find
 * customers by e-mail, from the table's stream. A repeated change counts once. The changes of one record come in order.
 * Changes of different records may come in any order, in several batches at the same time.
 */

import type { DynamoDBRecord } from 'aws-lambda';
import type { Log } from '../core/logger.ts';
import { keysOf } from '../core/rows.ts';
import { customerRecord } from '../customers/customer.ts';
import { claimPayers } from '../payments/first-payments.ts';
import { paymentOf } from '../payments/payment.ts';
import { repairAliases } from '../payments/payment-aliases.ts';
import { changesPaid, projectionOf } from '../payments/payment-history.ts';
import { refundOf } from '../payments/refunds/refund.ts';
import { sumRefunds } from '../payments/refunds/refund-net.ts';
import type { HistoricKind } from '../platform/keys.ts';
import { changeOf, removedItem } from '../platform/stream-images.ts';
import type { Table } from '../platform/table.ts';
import { projectCustomerEmail } from '../queries/customer-emails.ts';
import { projectCustomerEntry } from '../queries/customer-entry.ts';
import { type ProjectedChange, writePaymentEntries } from '../queries/payment-entry.ts';
import { removeSubscriptionEntry, writeSubscriptionEntry } from '../queries/subscription-entry.ts';
import { subscriptionOf } from '../subscriptions/record/subscription.ts';
import { removeHistoryOf, subscriptionEntry } from '../subscriptions/record/subscription-history.ts';
import { type SummedChange, subscriptionProjections } from '../subscriptions/record/subscription-sums.ts';
import { settleLinkPlaces } from './settle-link-places.ts';
import { settleRedemptions } from './settle-redemptions.ts';
import { writeProjections } from './write-projections.ts';

export interface ProjectDeps {
  readonly table: Table;
  readonly log: Log;
}

/** @returns the number of changes that readers see */
type Project = (deps: ProjectDeps, records: readonly DynamoDBRecord[]) => Promise<number>;

/** The projection of each kind, by sort key. The stream reports these kinds to the function. */
export const PROJECTIONS: Readonly<Record<HistoricKind | 'RFD' | 'CUS', Project>> = {
  PAY: (deps, records) => projectPayments(deps, records),
  SUB: (deps, records) => projectSubscriptions(deps, records),
  RFD: (deps, records) => projectRefunds(deps, records),
  CUS: (deps, records) => projectCustomers(deps, records),
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

/** Writes missing aliases of payments. Runs first, because sync and some events find a payment only by its alias. */
const repairPaymentAliases = async (
  { table, log }: ProjectDeps,
  changes: readonly ProjectedChange[],
): Promise<void> => {
  const count = await repairAliases(table, changes);
  if (count > 0) log.warn('missing aliases written', { count });
};

/**
 * Writes missing aliases, then history and counters in as few transactions as possible. Then writes the list entries
 * and search words, once per batch and payment.
 */
const projectPayments: Project = async (deps, records) => {
  const { table } = deps;
  const changes = records
    .map(changeOf)
    .filter((change) => change !== undefined)
    .map(({ before, after }): ProjectedChange => ({ before: before && paymentOf(before), after: paymentOf(after) }));
  await repairPaymentAliases(deps, changes);
  const spread = changes[0]?.after.id;
  const paid = changes.filter(({ before, after }) => changesPaid(before, after)).map(({ after }) => after);
  const first = await claimPayers(table, paid);
  const projections = changes
    .map(({ before, after }) => projectionOf(before, after, spread, first.has(after.id)))
    .filter((projection) => projection !== undefined);
  await writeProjections(table, projections);
  await writePaymentEntries(table, changes);
  await settleRedemptions(deps, 'PAY', records);
  await settleLinkPlaces(deps, records);
  return projections.length;
};

/**
 * Projects the items in parallel, but the changes of each item in order. @returns how often `projectOne` returned true
 */
const eachInOrder = async (
  records: readonly DynamoDBRecord[],
  projectOne: (record: DynamoDBRecord) => Promise<boolean>,
): Promise<number> => {
  const byItem = Map.groupBy(records, ({ dynamodb }) => dynamodb?.Keys?.['pk']?.S);
  const counts = await Promise.all(
    [...byItem.values()].map(async (ofItem) => {
      let count = 0;
      for (const record of ofItem) if (await projectOne(record)) count += 1;
      return count;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
};

/**
 * Projects changes of subscriptions. Versions that change the sums are written together, so that concurrent batches
 * rarely conflict on an item.
 */
const projectSubscriptions: Project = async (deps, records) => {
  const { table } = deps;
  await projectVersions(
    table,
    records.map(subscriptionChangeOf).filter((change) => change !== undefined),
  );
  const count = await eachInOrder(records, async (record) => {
    const change = subscriptionChangeOf(record);
    const isShown = change !== undefined && subscriptionEntry(change.before, change.after) !== undefined;
    if (isShown) await writeSubscriptionEntry(table, change.after);
    await forgetRemoved(deps, record);
    return isShown;
  });
  await settleRedemptions(deps, 'SUB', records);
  return count;
};

const subscriptionChangeOf = (record: DynamoDBRecord): SummedChange | undefined => {
  const change = changeOf(record);
  const after = change && subscriptionOf(change.after);
  return after && { before: change.before && subscriptionOf(change.before), after };
};

const projectVersions = async (table: Table, changes: readonly SummedChange[]): Promise<void> => {
  const versions = await subscriptionProjections(table, changes);
  await writeProjections(
    table,
    versions.filter(({ shares }) => shares.length > 0),
  );
  await Promise.all(
    versions.filter(({ shares }) => shares.length === 0).map(({ history }) => table.put(history, [{ absent: true }])),
  );
};

const projectRefunds: Project = async ({ table }, records) => {
  const refunds = records.map(changeOf).flatMap((change) => (change ? [refundOf(change.after)] : []));
  await sumRefunds(table, refunds);
  return refunds.length;
};

/** Projects changes of customers. A removed customer may leave a tombstone, which has no e-mail address. */
const projectCustomers: Project = ({ table }, records) =>
  eachInOrder(records, async (record) => {
    const change = changeOf(record);
    const [was, is] = change ? [change.before, change.after] : [removedItem(record), undefined];
    const [before, after] = [was && customerRecord.parse(was), is && customerRecord.parse(is)];
    await Promise.all([projectCustomerEmail(table, { before, after }), projectCustomerEntry(table, { before, after })]);
    return before?.email !== after?.email;
  });

/**
 * Removes the history and the list entry of a removed subscription. Earlier versions come first in the stream, so
 * nothing is written later.
 */
const forgetRemoved = async ({ table }: ProjectDeps, record: DynamoDBRecord): Promise<void> => {
  const removed = removedItem(record);
  const subscription = removed && subscriptionOf(removed);
  if (!subscription) return;
  await Promise.all([removeHistoryOf(table, subscription), removeSubscriptionEntry(table, subscription)]);
};
