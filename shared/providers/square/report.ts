import type { KnownPayment, ProviderPayment, ReportedStatus } from '../port/payments.ts';
import { reportedMoney } from './currencies.ts';
import { squareDeclineCode } from './outcome.ts';
import type { SquareOrder, SquarePayment } from './schemas.ts';

/** What the record knows of a payment whose order says only that it is open. */
type Known = Pick<Partial<KnownPayment>, 'status'> & { readonly method: string | null | undefined };

/** Square's order is our intent, its payment one attempt at it: each said in the service's words. */
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

/** Square hears of a method only when it is charged, and keeps no trace of one that it refused to charge. */
const orderStatus = ({ state }: SquareOrder, { method, status }: Known): ReportedStatus => {
  if (state === 'CANCELED') return 'canceled';
  if (status === 'failed') return 'failed';
  return method ? 'created' : 'requires_payment_method';
};

export const readSquarePayment = (payment: SquarePayment): ProviderPayment => {
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
  };
};

export const squareFailure = ({
  card_details,
  bank_account_details,
}: Pick<SquarePayment, 'card_details' | 'bank_account_details'>) =>
  squareDeclineCode(card_details?.errors ?? bank_account_details?.errors, card_details?.auth_result_code);

/** A status newer than this adapter settles nothing: it is looked up again. */
export const paymentStatus = (status: string): ReportedStatus => STATUSES[status] ?? 'processing';

const STATUSES: Readonly<Record<string, ReportedStatus>> = {
  APPROVED: 'processing',
  PENDING: 'processing',
  COMPLETED: 'succeeded',
  FAILED: 'failed',
  CANCELED: 'canceled',
};

/** Of several attempts at one order, what counts: money that moved, then money that may, then the last that failed. */
export const decisive = (attempts: readonly ProviderPayment[]): ProviderPayment | undefined =>
  attempts.findLast(({ status }) => status === 'succeeded') ??
  attempts.findLast(({ status }) => status === 'processing') ??
  attempts.at(-1);
