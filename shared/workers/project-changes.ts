import type { DynamoDBRecord } from 'aws-lambda';
import type { Log } from '../observability/logger.ts';
import { type Payment, paymentOf } from '../payments/record/payment.ts';
import { paymentProjection } from '../payments/record/projection.ts';
import { writePaymentEntries } from '../queries/payment-entry.ts';
import { changeOf } from '../table/images.ts';
import type { Table } from '../table/table.ts';

export interface ProjectDeps {
  readonly table: Table;
  readonly log: Log;
}

/**
 * Writes the history and the counters that lists need, in one transaction per change; a repeated change counts once. Then
 * writes the entries of the changed payments in the list of all payments, once per batch and payment.
 */
export const projectChanges = async (
  deps: ProjectDeps,
  records: readonly DynamoDBRecord[],
): Promise<string | undefined> => {
  const projected: Payment[] = [];
  for (const change of records.map(changeOf)) {
    if (change?.after['sk'] !== 'PAY') continue;
    const after = paymentOf(change.after);
    const steps = paymentProjection(change.before && paymentOf(change.before), after);
    if (steps.length === 0) continue;
    // A failed condition means that this version has been projected before.
    await deps.table.transact(steps);
    projected.push(after);
  }
  await writePaymentEntries(deps.table, projected);
  deps.log.info('changes projected', { count: projected.length });
  return undefined;
};
