/**
 * @module The state of a payment, from PayPal's order and its captures. A completed order may have a pending or
 * declined capture. An order stores no refused attempts or cancellations, so our record decides before a capture.
 */

import type { PaymentFacts } from '../../core/payment-facts.ts';
import { wordTable } from '../adapter.ts';
import type { KnownPayment, NextAction, ProviderPayment, ReportedStatus } from '../payment-port.ts';
import { declineOf, knownFacts } from '../reported-facts.ts';
import { centsOf } from './amounts.ts';
import { captureSettlement, sourceDetails } from './capture-facts.ts';
import { paypalDeclineCode } from './outcome.ts';
import type { Capture, Order } from './schemas.ts';

type Known = Pick<KnownPayment, 'status' | 'method'>;

export const readPayPalOrder = (order: Order, known: Known): ProviderPayment => {
  const [unit] = order.purchase_units;
  const capture = decisive(unit?.payments?.captures ?? []);
  const status = capture ? captureStatus(capture.status) : uncapturedStatus(order, known);
  const money = capture?.amount ?? unit?.amount;
  return {
    intentId: order.id,
    paymentId: capture?.id ?? order.id,
    status,
    amountCents: money && centsOf(money),
    currency: money?.currency_code,
    attemptRef: capture?.id,
    failureCode: capture && status === 'failed' ? paypalFailure(capture) : undefined,
    clientSecret: order.id,
    nextAction: nextActionOf(order, status),
    methodId: vaultIdOf(order),
    ourPaymentId: unit?.custom_id,
    ...(status === 'pending' && order.status === 'APPROVED' && { awaitsCapture: true }),
    ...(REFUNDED.includes(capture?.status ?? '') && { isRefunded: true }),
    facts: factsOf(order, capture, status),
  };
};

/** A capture that PayPal refused is not in the order, but its source is. */
const factsOf = (order: Order, capture: Capture | undefined, status: ReportedStatus): PaymentFacts | undefined => {
  if (status !== 'succeeded' && status !== 'failed') return undefined;
  return knownFacts({ details: sourceDetails(order.payment_source), ...(capture && captureFacts(capture, status)) });
};

/** The decline of a failed capture, or PayPal's fee for a capture that succeeded. */
export const captureFacts = (capture: Capture, status: 'succeeded' | 'failed'): PaymentFacts =>
  status === 'failed'
    ? { decline: declineOf(capture.processor_response?.response_code, undefined) }
    : { settlement: captureSettlement(capture) };

/** The report of an order that PayPal no longer has, because it expired without a capture. */
export const expiredOrder = (known: Known & Pick<KnownPayment, 'intentId'>): ProviderPayment => ({
  intentId: known.intentId,
  paymentId: known.intentId,
  status: recordedStatus(known),
  amountCents: undefined,
  currency: undefined,
  attemptRef: undefined,
  failureCode: undefined,
  clientSecret: undefined,
  nextAction: undefined,
  methodId: undefined,
  ourPaymentId: undefined,
});

export const paypalFailure = (capture: Capture) => paypalDeclineCode(capture.processor_response?.response_code);

/** A status unknown to this adapter is not final, so the payment is looked up again. */
const captureStatus = (status: string | undefined): ReportedStatus => CAPTURE_STATUS.get(status ?? '') ?? 'processing';

const CAPTURE_STATUS = wordTable<ReportedStatus>({
  COMPLETED: 'succeeded',
  PARTIALLY_REFUNDED: 'succeeded',
  REFUNDED: 'succeeded',
  PENDING: 'processing',
  DECLINED: 'failed',
  DENIED: 'failed',
  FAILED: 'failed',
});

/** Statuses of captures that are refunded in part or in full. */
const REFUNDED: readonly string[] = ['PARTIALLY_REFUNDED', 'REFUNDED'];

/** The last succeeded capture, else the last in processing, else the last. It decides the status. */
const decisive = (captures: readonly Capture[]): Capture | undefined => {
  const last = (wanted: ReportedStatus) => captures.findLast(({ status }) => captureStatus(status) === wanted);
  return last('succeeded') ?? last('processing') ?? captures.at(-1);
};

const uncapturedStatus = (order: Order, known: Known): ReportedStatus => {
  switch (order.status) {
    case 'VOIDED':
      return 'canceled';
    case 'COMPLETED':
      return 'processing';
    case 'APPROVED':
      // The payer has approved. If the record says that a capture is in progress, that capture has not reached PayPal.
      return ['failed', 'canceled', 'processing'].includes(known.status) ? recordedStatus(known) : 'pending';
    default:
      return recordedStatus(known);
  }
};

const recordedStatus = ({ status, method }: Known): ReportedStatus => {
  if (status === 'pending' || status === 'failed' || status === 'canceled') return status;
  return method === undefined ? 'requires_payment_method' : 'created';
};

/** The possible names of the approval link, which depend on how the order was created. */
const APPROVAL_LINKS: readonly string[] = ['payer-action', 'approve'];

const nextActionOf = (order: Order, status: ReportedStatus): NextAction | undefined => {
  if (status !== 'pending' && status !== 'requires_payment_method') return undefined;
  const link = order.links?.find(({ rel }) => APPROVAL_LINKS.includes(rel));
  return link && { type: 'redirect_to_url', url: link.href };
};

/** The method that the payer agreed to save; undefined until PayPal has saved it. */
export const vaultIdOf = ({ payment_source: source }: Order): string | undefined =>
  (source?.paypal ?? source?.card)?.attributes?.vault?.id;

/** True if PayPal saves a method for the payer. */
export const isVaulting = ({ payment_source: source }: Order): boolean =>
  (source?.paypal ?? source?.card)?.attributes?.vault !== undefined;
