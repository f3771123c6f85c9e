import type { Payment } from '../../shared/payments/payment.ts';
import { projectionOf, projectionSteps } from '../../shared/payments/payment-history.ts';
import type { TransactionStep } from '../../shared/platform/table.ts';

/** The transaction for one change of a payment; empty if readers cannot see the change. */
export const paymentProjection = (before: Payment | undefined, after: Payment): readonly TransactionStep[] => {
  const projection = projectionOf(before, after);
  return projection ? projectionSteps([projection]) : [];
};
