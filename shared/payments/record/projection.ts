import { ownerOfRecord } from '../../access/owner.ts';
import { utcDay } from '../../core/time.ts';
import { countKey, historyKey, ownerPartition, projectPartition } from '../../table/keys.ts';
import type { TransactionStep } from '../../table/table.ts';
import { isShown, isVisiblePayment, type Payment } from './payment.ts';

/** History and counters of one change; all are written only where the history entry is absent. */
export const paymentProjection = (before: Payment | undefined, after: Payment): readonly TransactionStep[] => {
  if (!isVisiblePayment(after) || before?.version === after.version) return [];
  const history: TransactionStep = {
    put: {
      ...historyKey(after.id, after.version),
      status: after.status,
      cause: after.cause,
      at: after.updatedAt,
      attempt: after.attempt,
      failureCode: after.failureCode,
      anomaly: after.anomaly,
      actor: after.actor,
      requestId: after.requestId,
      ...(after.cause === 'refund' && { refund: after.refund }),
      ...(after.cause === 'dispute' && { dispute: after.dispute }),
    },
    if: [{ absent: true }],
  };
  const day = utcDay(after.createdAt);
  // A payment that its readers do not see is in no list, and is not counted.
  if (!isShown(after)) return [history];
  const was = before && isShown(before) ? before : undefined;
  return [
    history,
    ...scopesOf(was, after).map(({ scope, add }) => ({ update: countKey(scope, day), changes: { add } })),
  ];
};

/** Takes an erased payment out of the counters. */
export const countersWithout = (payment: Payment): readonly TransactionStep[] =>
  scopesOfPayment(payment).map((scope) => ({
    update: countKey(scope, utcDay(payment.createdAt)),
    changes: { add: { [`n_${payment.status}`]: -1 } },
  }));

const scopesOf = (was: Payment | undefined, now: Payment) => {
  const added = new Map<string, Record<string, number>>();
  const count = (scope: string, status: string, by: number): void => {
    const numbers = added.get(scope) ?? {};
    numbers[`n_${status}`] = (numbers[`n_${status}`] ?? 0) + by;
    added.set(scope, numbers);
  };
  for (const scope of was ? scopesOfPayment(was) : []) count(scope, was?.status ?? '', -1);
  for (const scope of scopesOfPayment(now)) count(scope, now.status, 1);
  return [...added].flatMap(([scope, numbers]) => {
    const add = Object.fromEntries(Object.entries(numbers).filter(([, by]) => by !== 0));
    return Object.keys(add).length > 0 ? [{ scope, add }] : [];
  });
};

const scopesOfPayment = (payment: Payment): readonly string[] => {
  const owner = ownerOfRecord(payment);
  return [
    ...(owner ? [ownerPartition(owner, 'PAY')] : []),
    ...(payment.projectId ? [projectPartition(payment.projectId, 'PAY')] : []),
  ];
};
