import type { DynamoDBRecord } from 'aws-lambda';
import type { Log } from '../observability/logger.ts';
import { paymentOf } from '../payments/record/payment.ts';
import { paymentProjection } from '../payments/record/projection.ts';
import { changeOf } from '../table/images.ts';
import type { Table } from '../table/table.ts';

export interface ProjectDeps {
  readonly table: Table;
  readonly log: Log;
}

/** Writes the history and the counters that lists need, in one transaction per change; a repeated change counts once. */
export const projectChanges = async (
  deps: ProjectDeps,
  records: readonly DynamoDBRecord[],
): Promise<string | undefined> => {
  let projected = 0;
  for (const change of records.map(changeOf)) {
    if (change?.after['sk'] !== 'PAY') continue;
    const steps = paymentProjection(change.before && paymentOf(change.before), paymentOf(change.after));
    if (steps.length === 0) continue;
    // A failed condition means that this version has been projected before.
    await deps.table.transact(steps);
    projected += 1;
  }
  deps.log.info('changes projected', { count: projected });
  return undefined;
};
