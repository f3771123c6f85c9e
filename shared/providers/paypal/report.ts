import type { KnownPayment, NextAction, ProviderPayment, ReportedStatus } from '../port/payments.ts';
import { centsOf } from './amounts.ts';
import { paypalDeclineCode } from './outcome.ts';
import type { Capture, Order } from './schemas.ts';

/**
 * PayPal's order is our intent, its capture an attempt at it. A completed order alone is no success: its capture may be
 * pending or declined. An order keeps no trace of a refused attempt and cannot be canceled: until money is captured, what
 * the record holds of either stands.
 */
type Known = Pick<KnownPayment, 'status' | 'method'>;

export const readPaypalOrder = (order: Order, known: Known): ProviderPayment => {
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
  };
};

/** An order that PayPal no longer has: nobody captured it in time, and nobody can any more. */
export const expiredOrder = (known: Known & Pick<KnownPayment, 'intentId'>): ProviderPayment => ({
  intentId: known.intentId,
  paymentId: known.intentId,
  status: standing(known),
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

/** A status newer than this adapter settles nothing: it is looked up again. */
const captureStatus = (status: string | undefined): ReportedStatus => CAPTURE_STATUS.get(status ?? '') ?? 'processing';

const CAPTURE_STATUS: ReadonlyMap<string, ReportedStatus> = new Map(
  Object.entries({
    COMPLETED: 'succeeded',
    PARTIALLY_REFUNDED: 'succeeded',
    REFUNDED: 'succeeded',
    PENDING: 'processing',
    DECLINED: 'failed',
    DENIED: 'failed',
    FAILED: 'failed',
  } as const),
);

/** Of several captures, what counts: money that moved, then money that may, then the last that failed. */
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
      // The payer has done his part. A capture of ours that is under way has not arrived.
      return ['failed', 'canceled', 'processing'].includes(known.status) ? standing(known) : 'pending';
    default:
      return standing(known);
  }
};

const standing = ({ status, method }: Known): ReportedStatus => {
  if (status === 'pending' || status === 'failed' || status === 'canceled') return status;
  return method === undefined ? 'requires_payment_method' : 'created';
};

/** Where the payer approves; PayPal names the link by how the order was made. */
const APPROVAL_LINKS: readonly string[] = ['payer-action', 'approve'];

const nextActionOf = (order: Order, status: ReportedStatus): NextAction | undefined => {
  if (status !== 'pending' && status !== 'requires_payment_method') return undefined;
  const link = order.links?.find(({ rel }) => APPROVAL_LINKS.includes(rel));
  return link && { type: 'redirect_to_url', url: link.href };
};

/** The method that the payer let be saved; not there before PayPal has made it. */
export const vaultIdOf = ({ payment_source: source }: Order): string | undefined =>
  (source?.paypal ?? source?.card)?.attributes?.vault?.id;

/** Whether a method is still to be saved for the payer. */
export const isVaulting = ({ payment_source: source }: Order): boolean =>
  (source?.paypal ?? source?.card)?.attributes?.vault !== undefined;
