import { ownerOfRecord } from '../../access/record-kind.ts';
import { utcDay } from '../../core/time.ts';
import { countKey, historyKey, ownerPartition, projectPartition } from '../../table/keys.ts';
import type { TransactionStep } from '../../table/table.ts';
import { isShown, isVisiblePayment, type Payment } from './payment.ts';
import { additionsOf, type CountedRefund, refundShares, type Share, sharesOf, takenBack } from './sums.ts';

/** History, counters and sums of one change; all are written only where the history entry is absent. */
export const paymentProjection = (before: Payment | undefined, after: Payment): readonly TransactionStep[] => {
  if (!isVisiblePayment(after) || before?.version === after.version) return [];
  const refund = refundChangeOf(after, before?.refundedCents);
  const history: TransactionStep = {
    put: {
      ...historyKey({ kind: 'PAY', id: after.id }, after.version),
      status: after.status,
      cause: after.cause,
      at: after.updatedAt,
      attempt: after.attempt,
      failureCode: after.failureCode,
      anomaly: after.anomaly,
      actor: after.actor,
      requestId: after.requestId,
      ...(after.cause === 'refund' && { refund: after.refund }),
      // What the refund changed of the sum of refunds: an erasure takes it back.
      ...(refund && { refundedBy: refund.refundedBy }),
      ...(after.cause === 'dispute' && { dispute: after.dispute }),
    },
    if: [{ absent: true }],
  };
  // A payment that its readers do not see is in no list, and is not counted.
  if (!isShown(after)) return [history];
  const was = before && isShown(before) ? before : undefined;
  return [
    history,
    ...updates([
      ...(was ? takenBack(allSharesOf(was)) : []),
      ...allSharesOf(after),
      ...(refund ? refundShares(after, refund) : []),
    ]),
  ];
};

/** The refund that this version changed. @param refundedBefore the sum of refunds before this version */
export const refundChangeOf = (
  { cause, refund, refundedCents = 0 }: Payment,
  refundedBefore = 0,
): CountedRefund | undefined =>
  cause === 'refund' && refund ? { ...refund, refundedBy: refundedCents - refundedBefore } : undefined;

/** Takes an erased payment out of the counters and sums, with its refunds. */
export const countersWithout = (payment: Payment, refunds: readonly CountedRefund[]): readonly TransactionStep[] =>
  isShown(payment)
    ? updates(takenBack([...allSharesOf(payment), ...refunds.flatMap((refund) => refundShares(payment, refund))]))
    : [];

const updates = (shares: readonly Share[]): readonly TransactionStep[] =>
  additionsOf(shares).map(({ key, add }) => ({ update: key, changes: { add } }));

const allSharesOf = (payment: Payment): readonly Share[] => [...countsOf(payment), ...sharesOf(payment)];

/** The numbers by status of the lists that show the payment, by its day of creation. */
const countsOf = (payment: Payment): readonly Share[] =>
  scopesOfPayment(payment).map((scope) => ({
    key: countKey(scope, utcDay(payment.createdAt)),
    name: `n_${payment.status}`,
    by: 1,
  }));

const scopesOfPayment = (payment: Payment): readonly string[] => {
  const owner = ownerOfRecord(payment);
  return [
    ...(owner ? [ownerPartition(owner, 'PAY')] : []),
    ...(payment.projectId ? [projectPartition(payment.projectId, 'PAY')] : []),
  ];
};
