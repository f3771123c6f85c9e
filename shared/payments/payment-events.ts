/**
 * @module The events of a change of a payment. The events depend only on the versions before and after the change, so a
 * repeat makes events with the same ids.
 */

import { isClosedDispute, type RefundStatus } from '../core/money-back.ts';
import { type BusEvent, type CanonicalEvent, canonicalBusEvent, orderView, payerOf } from '../platform/bus-event.ts';
import { FAILURE_OF } from '../platform/command-end.ts';
import { eventDetailsView } from './facts-view.ts';
import { capturableOf } from './holds/hold-versions.ts';
import { moneyAccount } from './money-account.ts';
import { payingCustomerIdOf } from './paying-customer.ts';
import { isShown, type Payment, type PaymentStatus, type VisiblePayment } from './payment.ts';

export const paymentEvents = (before: Payment | undefined, after: Payment): readonly BusEvent[] => {
  if (!isShown(after) || before?.version === after.version) return [];
  // Taking back a claim publishes nothing, because the restored status was already published.
  if (after.cause === 'release') return [];
  // A restore publishes nothing, because the lost record was already published. An import publishes no payments.
  if (after.cause === 'restore' || after.cause === 'import') return [];
  if (after.cause === 'refund') return refundEvents(after);
  if (after.cause === 'dispute') return disputeEvents(after);
  const was = before && isShown(before) ? before : undefined;
  return namesOf(was, after).map((name) =>
    canonicalBusEvent(name, after, { ...dataFor(name, after), ...(name === CAPTURED_MORE && addedTo(was, after)) }),
  );
};

const CAPTURED_MORE = 'payment.captured_more';

/** The amount that further captures have added, and the sum of all captures. */
const addedTo = (was: VisiblePayment | undefined, { totalCents }: VisiblePayment) => ({
  amount: totalCents - (was?.totalCents ?? 0),
  captured_amount: totalCents,
});

/** @param was the payment before; undefined if it was not visible */
const namesOf = (was: VisiblePayment | undefined, after: VisiblePayment): readonly CanonicalEvent[] => {
  // A further failed attempt has its own event. A billing provider reports each failed attempt at an invoice, with no
  // other status in between.
  const failsAgain = was !== undefined && after.status === 'failed' && was.attempt < after.attempt;
  const entered = was?.status !== after.status || failsAgain ? STATUS_EVENT[after.status] : undefined;
  const isOfHold = entered !== 'payment.released' || was?.status === 'requires_capture';
  const hasGrown = was?.status === 'succeeded' && after.status === 'succeeded' && after.totalCents > was.totalCents;
  const isReminder = after.captureDueSent && !was?.captureDueSent;
  const failure = failureOf(was, after);
  return [
    ...(was ? [] : (['payment.created'] as const)),
    ...(entered && isOfHold ? [entered] : []),
    ...(hasGrown ? ([CAPTURED_MORE] as const) : []),
    ...(isReminder ? (['payment.capture_due'] as const) : []),
    ...(failure ? [failure] : []),
    ...(after.cause === 'metadata' ? (['payment.updated'] as const) : []),
  ];
};

/** The event of a capture or a release that failed after the API response had left its outcome open. */
const failureOf = (was: VisiblePayment | undefined, after: VisiblePayment): CanonicalEvent | undefined =>
  was?.holdCall && !after.holdCall && after.holdFailure ? FAILURE_OF[after.holdFailure.call].event : undefined;

/** A canceled payment has an event only if an amount was held. */
const STATUS_EVENT: Readonly<Partial<Record<PaymentStatus, CanonicalEvent>>> = {
  succeeded: 'payment.succeeded',
  failed: 'payment.failed',
  requires_capture: 'payment.authorized',
  canceled: 'payment.released',
};

/**
 * The data of an event about the payment itself. Except payment.created, every such event has the details of the method
 * known by then, without the expiry date.
 */
const dataFor = (name: CanonicalEvent, payment: VisiblePayment) => ({
  ...dataOf(payment),
  ...(name !== 'payment.created' && { payment_method_details: eventDetailsView(payment.details) }),
  ...(HOLD_EVENT_NAMES.includes(name) && {
    authorized_amount: payment.authorizedCents ?? null,
    capturable_amount: capturableOf(payment),
    capture_before: payment.captureBefore ?? null,
  }),
  ...(name === 'payment.updated' && { reason: 'metadata' }),
  ...(name === 'payment.released' && { reason: payment.holdEnd ?? 'provider' }),
  ...(HOLD_FAILURE_NAMES.includes(name) && {
    reason: payment.holdFailure?.reason ?? null,
    failure_code: payment.holdFailure?.code ?? null,
  }),
});

const HOLD_FAILURE_NAMES: readonly CanonicalEvent[] = [FAILURE_OF.capture.event, FAILURE_OF.release.event];
const HOLD_EVENT_NAMES: readonly CanonicalEvent[] = [
  'payment.authorized',
  'payment.capture_due',
  'payment.released',
  ...HOLD_FAILURE_NAMES,
];

/** A version with the cause `refund` has no other events. */
const refundEvents = (payment: VisiblePayment): readonly BusEvent[] => {
  const { refund } = payment;
  if (refund === undefined || refund.status === refund.was) return [];
  const name = REFUND_EVENT[refund.status];
  if (name === undefined) return [];
  const { id, amountCents: amount, reason, status } = refund;
  const data = {
    ...dataOf(payment),
    refund: { id, amount, reason: reason ?? null, status },
    refunded_cents: moneyAccount(payment).refunded,
  };
  return [canonicalBusEvent(name, payment, data)];
};

const REFUND_EVENT: Readonly<Partial<Record<RefundStatus, CanonicalEvent>>> = {
  succeeded: 'payment.refunded',
  failed: FAILURE_OF.refund.event,
  canceled: FAILURE_OF.refund.event,
};

const disputeEvents = (payment: VisiblePayment): readonly BusEvent[] => {
  const { dispute } = payment;
  if (dispute === undefined) return [];
  const name = disputeEventOf(dispute);
  if (name === undefined) return [];
  const { id, amountCents: amount, reason, status, evidenceDueBy } = dispute;
  const data = {
    ...dataOf(payment),
    dispute: { id, amount, reason: reason ?? null, status, evidence_due_by: evidenceDueBy ?? null },
  };
  return [canonicalBusEvent(name, payment, data)];
};

/**
 * The event of a changed dispute, if any. Each opening and each decision has an event, also a later decision. A dispute
 * closed in its first report has only the closed event. A new reason and the move to review have no event.
 */
const disputeEventOf = ({ status, was, termsChanged }: NonNullable<Payment['dispute']>): CanonicalEvent | undefined => {
  const isClosed = isClosedDispute(status);
  if (isClosed && status !== was) return 'payment.dispute_closed';
  if (!isClosed && (was === undefined || isClosedDispute(was))) return 'payment.dispute_opened';
  const isAskedAgain = status === 'needs_response' && was !== status;
  return termsChanged || isAskedAgain ? 'payment.dispute_updated' : undefined;
};

const dataOf = (payment: VisiblePayment) => ({
  payment_id: payment.id,
  amount: payment.totalCents,
  currency: payment.currency,
  discount_code: payment.discount?.code ?? null,
  ...(payment.paymentLink && { payment_link_id: payment.paymentLink.id }),
  status: payment.status,
  user: payerOf(payment),
  project: payment.projectId ? { id: payment.projectId } : null,
  provider_payment_id: payment.providerPaymentId ?? null,
  organization_id: payment.organizationId ?? null,
  customer_id: payingCustomerIdOf(payment) ?? null,
  subscription_id: payment.subscriptionId ?? null,
  failure_code: payment.failureCode ?? null,
  ...orderView(payment),
  quantity: payment.quantity ?? 1,
});
