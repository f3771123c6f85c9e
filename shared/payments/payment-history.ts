/**
 * @module Adds each version of a payment to the history, the counters and the sums, in one transaction and only once.
 */

import { ownerOfRecord } from '../access/record-kind.ts';
import { utcDay } from '../core/time.ts';
import { countKey, hasSums, historyKey, ownerPartition, projectPartition } from '../platform/keys.ts';
import type { Item, TransactionStep } from '../platform/table.ts';
import { isShown, isVisiblePayment, type Payment } from './payment.ts';
import {
  additionsOf,
  type CountedRefund,
  payerShares,
  refundShares,
  type Share,
  sharesOf,
  takenBack,
} from './summary-sums.ts';

export interface Projection {
  /** The history entry. The same transaction adds the shares to the sums, so each version counts once. */
  readonly history: Item;
  readonly shares: readonly Share[];
}

/**
 * @param spread chooses the shard of the sums of all payments; any shard is right, because readers add the shards up
 * @param isFirst true if the payment is the first of its payer that succeeded
 * @returns undefined if the change adds no version, or if the payment has no intent yet
 */
export const projectionOf = (
  before: Payment | undefined,
  after: Payment,
  spread: string = after.id,
  isFirst = false,
): Projection | undefined => {
  if (!isVisiblePayment(after) || before?.version === after.version) return undefined;
  const refund = refundChangeOf(after, before?.refundedCents);
  const history: Item = {
    ...historyKey({ kind: 'PAY', id: after.id }, after.version),
    status: after.status,
    cause: after.cause,
    at: after.updatedAt,
    attempt: after.attempt,
    failureCode: after.failureCode,
    anomaly: after.anomaly,
    ...discountEntry(before, after),
    actor: after.actor,
    requestId: after.requestId,
    ...(after.cause === 'refund' && { refund: after.refund }),
    // How much this version changes the sum of refunds. An erasure subtracts the change again.
    ...(refund && { refundedBy: refund.refundedBy }),
    ...(after.cause === 'dispute' && { dispute: after.dispute }),
    ...(after.cause === 'capture' && { holdCall: after.holdCall }),
  };
  // A payment that readers do not see, such as a withheld payment, is not listed and not counted.
  if (!isShown(after)) return { history, shares: [] };
  const was = before && isShown(before) ? before : undefined;
  return {
    history,
    shares: [
      ...(was ? takenBack(allSharesOf(was, spread)) : []),
      ...allSharesOf(after, spread),
      ...(refund ? refundShares(after, refund, spread) : []),
      ...(isFirst ? firstShares(was, after, spread) : []),
    ],
  };
};

/** True if this version makes the payment succeeded for its readers, or no longer succeeded. */
export const changesPaid = (before: Payment | undefined, after: Payment): boolean => isPaid(before) !== isPaid(after);

const isPaid = (payment: Payment | undefined): boolean =>
  payment !== undefined && isShown(payment) && payment.status === 'succeeded';

const firstShares = (was: Payment | undefined, after: Payment, spread: string): readonly Share[] => [
  ...(was && isPaid(was) ? takenBack(payerShares(was, spread)) : []),
  ...(isPaid(after) ? payerShares(after, spread) : []),
];

/** The discount code that this version adds or removes. */
const discountEntry = (before: Payment | undefined, after: Payment) => {
  const { discount } = after;
  const isNew = discount?.code !== (before && isVisiblePayment(before) ? before.discount?.code : undefined);
  return isNew && { discount: discount ? { code: discount.code, cents: discount.cents } : NO_CODE };
};

const NO_CODE = { code: null, cents: 0 };

/** The steps for several versions. Each history entry must be absent, and each counter or sum gets one update. */
export const projectionSteps = (projections: readonly Projection[]): readonly TransactionStep[] => [
  ...projections.map(({ history }): TransactionStep => ({ put: history, if: [{ absent: true }] })),
  ...updates(projections.flatMap(({ shares }) => shares)),
];

/** The refund change of this version, if any. @param refundedBefore the sum of refunds before this version */
export const refundChangeOf = (
  { cause, refund, refundedCents = 0 }: Payment,
  refundedBefore = 0,
): CountedRefund | undefined =>
  cause === 'refund' && refund ? { ...refund, refundedBy: refundedCents - refundedBefore } : undefined;

/** Removes an erased payment and its refunds from the counters and sums. @param others further shares to remove */
export const countersWithout = (
  payment: Payment,
  refunds: readonly CountedRefund[],
  others: readonly Share[],
): readonly TransactionStep[] =>
  isShown(payment)
    ? updates(
        takenBack([
          ...allSharesOf(payment, payment.id),
          ...refunds.flatMap((refund) => refundShares(payment, refund, payment.id)),
          ...others,
        ]),
      )
    : [];

const updates = (shares: readonly Share[]): readonly TransactionStep[] =>
  additionsOf(shares).map(({ key, add }) => ({ update: key, changes: { add } }));

const allSharesOf = (payment: Payment, spread: string): readonly Share[] => [
  ...countsOf(payment),
  ...sharesOf(payment, spread),
];

/** Counts the payment by status on its day of creation, in the lists without sums. */
const countsOf = (payment: Payment): readonly Share[] =>
  scopesOfPayment(payment)
    .filter((scope) => !hasSums(scope))
    .map((scope) => ({
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
