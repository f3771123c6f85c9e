import type { DynamoDBRecord } from 'aws-lambda';
import type { Log } from '../observability/logger.ts';
import { repairAliases } from '../payments/record/aliases.ts';
import { type Payment, paymentOf } from '../payments/record/payment.ts';
import { paymentProjection } from '../payments/record/projection.ts';
import { writePaymentEntries } from '../queries/payment-entry.ts';
import { removeHistoryOf, subscriptionEntry } from '../subscriptions/record/projection.ts';
import { subscriptionOf } from '../subscriptions/record/subscription.ts';
import { changeOf, type ItemChange, removedItem } from '../table/images.ts';
import type { Table } from '../table/table.ts';

export interface ProjectDeps {
  readonly table: Table;
  readonly log: Log;
}

/**
 * Writes the history and the counters that lists need, in one transaction per change of a payment; a repeated change counts
 * once. Then writes the entries of the changed payments in the list of all payments, once per batch and payment. A change of
 * a subscription has only a history entry: one write. Aliases of a payment that its function has not written are written here.
 */
export const projectChanges = async (
  deps: ProjectDeps,
  records: readonly DynamoDBRecord[],
): Promise<string | undefined> => {
  const payments: Payment[] = [];
  const changes = records.map(changeOf);
  await repairPaymentAliases(deps, changes);
  let count = 0;
  for (const [index, record] of records.entries()) {
    const change = changes[index];
    const payment = change && (await projectPayment(deps, change));
    if (payment) payments.push(payment);
    if (payment || (change && (await projectSubscription(deps, change)))) count += 1;
    await forgetRemoved(deps, record);
  }
  await writePaymentEntries(deps.table, payments);
  deps.log.info('changes projected', { count });
  return undefined;
};

/** First of all: sync and some events find a payment by its alias only. */
const repairPaymentAliases = async (
  { table, log }: ProjectDeps,
  changes: readonly (ItemChange | undefined)[],
): Promise<void> => {
  const ofPayments = changes.flatMap((change) =>
    change?.after['sk'] === 'PAY'
      ? [{ before: change.before && paymentOf(change.before), after: paymentOf(change.after) }]
      : [],
  );
  const count = await repairAliases(table, ofPayments);
  if (count > 0) log.warn('missing aliases written', { count });
};

/** @returns the payment, if readers see the change. */
const projectPayment = async ({ table }: ProjectDeps, { before, after }: ItemChange): Promise<Payment | undefined> => {
  if (after['sk'] !== 'PAY') return undefined;
  const payment = paymentOf(after);
  const steps = paymentProjection(before && paymentOf(before), payment);
  if (steps.length === 0) return undefined;
  // A failed condition means that this version has been projected before.
  await table.transact(steps);
  return payment;
};

/** @returns true if readers see the change. */
const projectSubscription = async ({ table }: ProjectDeps, { before, after }: ItemChange): Promise<boolean> => {
  const subscription = after['sk'] === 'SUB' ? subscriptionOf(after) : undefined;
  const entry = subscription && subscriptionEntry(before && subscriptionOf(before), subscription);
  if (!entry) return false;
  await table.put(entry, [{ absent: true }]);
  return true;
};

/**
 * The history of a subscription ends with it. The stream has reported all versions before, so that none is written
 * afterwards.
 */
const forgetRemoved = async ({ table }: ProjectDeps, record: DynamoDBRecord): Promise<void> => {
  const removed = removedItem(record);
  const subscription = removed?.['sk'] === 'SUB' ? subscriptionOf(removed) : undefined;
  if (subscription) await removeHistoryOf(table, subscription);
};
