/** @module The state of a payment, from Square's order (our intent) and the order's payments (attempts). */

import { wordTable } from '../adapter.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import type { KnownPayment, ProviderPayment, ReportedStatus } from '../payment-port.ts';
import { attemptFacts } from './attempt-facts.ts';
import { reportedMoney } from './currencies.ts';
import { squareDeclineCode } from './outcome.ts';
import type { SquareOrder, SquarePayment } from './schemas.ts';

type Known = Pick<Partial<KnownPayment>, 'status'> & { readonly method: string | null | undefined };

export const readSquareOrder = (order: SquareOrder, known: Known): ProviderPayment => ({
  intentId: order.id,
  paymentId: order.id,
  status: orderStatus(order, known),
  ...reportedMoney(order.total_money),
  attemptRef: undefined,
  failureCode: undefined,
  clientSecret: undefined,
  nextAction: undefined,
  methodId: undefined,
  ourPaymentId: order.reference_id ?? undefined,
});

/**
 * Square receives the method only with the charge and stores no refused charge, so our record completes the status. The
 * payment of a completed order is looked up again.
 */
const orderStatus = ({ state }: SquareOrder, { method, status }: Known): ReportedStatus => {
  if (state === 'CANCELED') return 'canceled';
  if (state === 'COMPLETED') return 'processing';
  if (status === 'failed') return 'failed';
  return method ? 'created' : 'requires_payment_method';
};

export const readSquarePayment = (payment: SquarePayment, fingerprintOf: FingerprintOf): ProviderPayment => {
  const status = paymentStatus(payment.status);
  return {
    intentId: payment.order_id,
    paymentId: payment.id,
    status,
    ...reportedMoney(payment.amount_money),
    attemptRef: payment.id,
    failureCode: status === 'failed' ? squareFailure(payment) : undefined,
    clientSecret: undefined,
    nextAction: undefined,
    methodId: undefined,
    ourPaymentId: payment.reference_id ?? undefined,
    facts: attemptFacts(payment, status, fingerprintOf),
  };
};

export const squareFailure = ({
  card_details,
  bank_account_details,
}: Pick<SquarePayment, 'card_details' | 'bank_account_details'>) =>
  squareDeclineCode(card_details?.errors ?? bank_account_details?.errors, card_details?.auth_result_code);

/** A status unknown to this adapter is not final, so the payment is looked up again. */
export const paymentStatus = (status: string): ReportedStatus => STATUSES.get(status) ?? 'processing';

const STATUSES = wordTable<ReportedStatus>({
  APPROVED: 'processing',
  PENDING: 'processing',
  COMPLETED: 'succeeded',
  FAILED: 'failed',
  CANCELED: 'canceled',
});

/** The last succeeded attempt, else the last in processing, else the last. It decides the status. */
export const decisive = (attempts: readonly ProviderPayment[]): ProviderPayment | undefined =>
  attempts.findLast(({ status }) => status === 'succeeded') ??
  attempts.findLast(({ status }) => status === 'processing') ??
  attempts.at(-1);
