/**
 * @module The state of a payment, from PayPal's order, its authorizations and its captures. A completed order may have
 * a pending or declined capture. An order stores no refused attempts or cancellations. So before an authorization or a
 * capture, our record decides the status.
 */

import type { PaymentFacts } from '../../core/payment-facts.ts';
import { DAY_MS, instant, iso } from '../../core/time.ts';
import { wordTable } from '../adapter.ts';
import type { KnownPayment, NextAction, ProviderHold, ProviderPayment, ReportedStatus } from '../payment-port.ts';
import { declineOf, knownFacts } from '../reported-facts.ts';
import { centsOf, wholeCentsOf } from './amounts.ts';
import { captureSettlement, settlementOfAll, sourceDetails } from './capture-facts.ts';
import { paypalAdvice, paypalDeclineCode } from './decline-codes.ts';
import type { Authorization, Capture, Order } from './schemas.ts';

type Known = Pick<KnownPayment, 'status' | 'method'>;

export const readPayPalOrder = (order: Order, known: Known): ProviderPayment => {
  const [unit] = order.purchase_units;
  const charged = chargedBy(unit?.payments ?? {});
  const status = charged?.status ?? unchargedStatus(order, known);
  return {
    intentId: order.id,
    paymentId: charged?.paymentId ?? order.id,
    status,
    amountCents: charged?.amountCents ?? (unit && centsOf(unit.amount)),
    currency: charged?.currency ?? unit?.amount.currency_code,
    attemptRef: charged?.attemptRef,
    failureCode: charged?.failureCode,
    clientSecret: order.id,
    nextAction: nextActionOf(order, status),
    methodId: vaultIdOf(order),
    ourPaymentId: unit?.custom_id,
    ...(status === 'pending' && order.status === 'APPROVED' && { awaitsCapture: true }),
    ...(charged?.isRefunded && { isRefunded: true }),
    facts: factsOf(order, status, charged?.facts),
    ...(charged?.hold && { hold: charged.hold }),
    ...(charged?.captures && { captures: charged.captures }),
  };
};

type OfCharge =
  | 'paymentId'
  | 'status'
  | 'attemptRef'
  | 'amountCents'
  | 'currency'
  | 'failureCode'
  | 'facts'
  | 'hold'
  | 'captures';

/** The authorization and the captures of an order, as a payment. */
interface Charged extends Pick<ProviderPayment, OfCharge> {
  readonly isRefunded: boolean;
}

type Payments = NonNullable<Order['purchase_units'][number]['payments']>;

const chargedBy = ({ authorizations = [], captures = [] }: Payments): Charged | undefined => {
  const authorization = decidingAuthorization(authorizations);
  if (authorization) return chargedLater(authorization, captures);
  const capture = decisive(captures);
  return capture && { ...chargedAs(capture, captureStatus(capture)), isRefunded: isRefunded(capture) };
};

const chargedAs = (charged: Capture | Authorization, status: ReportedStatus): Omit<Charged, 'isRefunded'> => ({
  paymentId: charged.id,
  status,
  attemptRef: charged.id,
  amountCents: charged.amount && centsOf(charged.amount),
  currency: charged.amount?.currency_code,
  failureCode: status === 'failed' ? paypalFailure(charged) : undefined,
  facts: status === 'succeeded' || status === 'failed' ? captureFacts(charged, status) : undefined,
});

/**
 * The last authorization with a held amount, else the last authorization. A reauthorization at PayPal adds another
 * authorization to the order.
 */
const decidingAuthorization = (authorizations: readonly Authorization[]): Authorization | undefined =>
  authorizations.findLast(({ status }) => status === 'CREATED') ?? authorizations.at(-1);

/**
 * The state of an order with an authorization. A declined capture does not change the authorization. The authorization
 * stays the attempt even after captures.
 */
const chargedLater = (authorization: Authorization, captures: readonly Capture[]): Charged => {
  const taken = captures.filter((capture) => captureStatus(capture) === 'succeeded');
  const last = taken.at(-1);
  const isCapturing = captures.some((capture) => captureStatus(capture) === 'processing');
  if (!last) {
    const status = isCapturing ? 'requires_capture' : authorizationStatus(authorization);
    const hold = readHold(authorization, isCapturing ? 'capturing' : undefined);
    const declined = captures.findLast((capture) => captureStatus(capture) === 'failed');
    return {
      ...chargedAs(authorization, status),
      isRefunded: false,
      hold: hold && { ...hold, ...(declined && { captureDeclined: paypalFailure(declined) }) },
    };
  }
  return {
    ...chargedAs(last, 'succeeded'),
    attemptRef: authorization.id,
    amountCents: sumOf(taken),
    isRefunded: taken.some(isRefunded),
    ...(taken.length > 1 && { facts: { settlement: settlementOfAll(taken) }, captures: listed(taken) }),
    hold: readHold(authorization, 'captured'),
  };
};

const listed = (captures: readonly Capture[]): ProviderPayment['captures'] =>
  captures.map(({ id, amount }) => ({ captureId: id, amountCents: (amount && centsOf(amount)) ?? Number.NaN }));

const sumOf = (captures: readonly Capture[]): number | undefined => {
  const cents = captures.map(({ amount }) => amount && centsOf(amount));
  return cents.reduce((sum, one) => (sum === undefined || one === undefined ? undefined : sum + one), 0);
};

/**
 * An authorization has no status for a capture in progress. Until a capture succeeds, the payment is reported as held,
 * with nothing left to capture. A status unknown to this adapter is not final, so the payment is looked up again.
 */
const authorizationStatus = ({ status = '' }: Authorization): ReportedStatus =>
  AUTHORIZATION_STATUS.get(status) ?? 'processing';

const AUTHORIZATION_STATUS = wordTable<ReportedStatus>({
  CREATED: 'requires_capture',
  CAPTURED: 'requires_capture',
  PARTIALLY_CAPTURED: 'requires_capture',
  DENIED: 'failed',
  VOIDED: 'canceled',
  EXPIRED: 'canceled',
});

/** PayPal guarantees the capture for three days. */
const HONOR_MS = 3 * DAY_MS;

/** @returns undefined if the authorization never held an amount, or does not hold an amount yet */
export const readHold = (
  { status = '', amount, create_time: madeAt, expiration_time: expiresAt, update_time: changedAt }: Authorization,
  progress?: 'capturing' | 'captured',
): ProviderHold | undefined => {
  const authorizedCents = amount && wholeCentsOf(amount);
  const reported = AUTHORIZATION_STATUS.get(status);
  if (authorizedCents === undefined || reported === undefined || reported === 'failed') return undefined;
  const captureBefore = expiresAt && iso(instant(expiresAt));
  const honoredUntil = madeAt && iso(instant(madeAt) + HONOR_MS);
  return {
    authorizedCents,
    capturableCents: status === 'CREATED' && progress === undefined ? authorizedCents : 0,
    captureBefore,
    guaranteedUntil: captureBefore && honoredUntil && captureBefore < honoredUntil ? captureBefore : honoredUntil,
    endedAt: reported === 'canceled' && progress !== 'captured' ? changedAt && iso(instant(changedAt)) : undefined,
  };
};

/** The facts of an attempt. The order omits a refused capture, but contains the payment source of that capture. */
const factsOf = (order: Order, status: ReportedStatus, charged?: PaymentFacts): PaymentFacts | undefined =>
  ATTEMPTED.includes(status) ? knownFacts({ details: sourceDetails(order.payment_source), ...charged }) : undefined;

const ATTEMPTED: readonly ReportedStatus[] = ['requires_capture', 'succeeded', 'failed'];

/** The decline of a failed capture or authorization, or PayPal's fee for a capture that succeeded. */
export const captureFacts = (capture: Capture | Authorization, status: 'succeeded' | 'failed'): PaymentFacts =>
  status === 'failed'
    ? { decline: declineOf(capture.processor_response?.response_code, undefined, paypalAdvice(capture)) }
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

export const paypalFailure = (charged: Capture | Authorization) =>
  paypalDeclineCode(charged.processor_response?.response_code);

/** A status unknown to this adapter is not final, so the payment is looked up again. */
export const captureStatus = ({ status = '' }: Capture): ReportedStatus => CAPTURE_STATUS.get(status) ?? 'processing';

const CAPTURE_STATUS = wordTable<ReportedStatus>({
  COMPLETED: 'succeeded',
  PARTIALLY_REFUNDED: 'succeeded',
  REFUNDED: 'succeeded',
  PENDING: 'processing',
  DECLINED: 'failed',
  DENIED: 'failed',
  FAILED: 'failed',
});

/** True if the capture is refunded in part or in full. */
const isRefunded = ({ status }: Capture): boolean => status === 'PARTIALLY_REFUNDED' || status === 'REFUNDED';

/**
 * The capture that decides the status: the last capture that succeeded, else the last capture in processing, else the
 * last capture.
 */
const decisive = (captures: readonly Capture[]): Capture | undefined => {
  const last = (wanted: ReportedStatus) => captures.findLast((capture) => captureStatus(capture) === wanted);
  return last('succeeded') ?? last('processing') ?? captures.at(-1);
};

const unchargedStatus = (order: Order, known: Known): ReportedStatus => {
  switch (order.status) {
    case 'VOIDED':
      return 'canceled';
    case 'COMPLETED':
      return 'processing';
    case 'APPROVED':
      // The payer has approved, so the payment is pending unless our record is further. If our record has a capture in
      // progress, that capture has not reached PayPal.
      return NOT_WAITING.includes(known.status) ? recordedStatus(known) : 'pending';
    default:
      return recordedStatus(known);
  }
};

const NOT_WAITING: readonly ReportedStatus[] = ['failed', 'canceled', 'processing', 'requires_capture'];

const recordedStatus = ({ status, method }: Known): ReportedStatus => {
  if (KEPT.includes(status)) return status;
  return method === undefined ? 'requires_payment_method' : 'created';
};

/** Recorded statuses possible for an order without a capture or an authorization. */
const KEPT: readonly ReportedStatus[] = ['pending', 'requires_capture', 'failed', 'canceled'];

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
