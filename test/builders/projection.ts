import type { Payment } from '../../shared/payments/record/payment.ts';
import { projectionOf, projectionSteps } from '../../shared/payments/record/projection.ts';
import type { TransactionStep } from '../../shared/table/table.ts';

/** The transaction for one change of a payment; empty where readers do not see the change. */
export const paymentProjection = (before: Payment | undefined, after: Payment): readonly TransactionStep[] => {
  const projection = projectionOf(before, after);
  return projection ? projectionSteps([projection]) : [];
};
