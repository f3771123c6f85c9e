/** @module Decides how an event, a read, an approval or a request may change a payment. All functions are pure. */

import { isFree, type OpenCall } from '../calls/exclusions.ts';
import { assertNever } from '../core/errors.ts';
import { epochSeconds, instant } from '../core/time.ts';
import type { ReportedStatus } from '../providers/payment-port.ts';
import type { Draft, Payment, PaymentStatus, VisiblePayment } from './payment.ts';
import { isSettled, mayPaymentChange } from './payment-states.ts';

const isFinal = (status: PaymentStatus): boolean => isSettled(status) || status === 'failed';

export type EventDecision =
  | { readonly kind: 'apply'; readonly status: PaymentStatus }
  /** The event has the record's status. The event may still have new facts. */
  | { readonly kind: 'same' }
  | { readonly kind: 'ignore'; readonly reason: 'stale' | 'backward' | 'names no hold'; readonly reconcile: boolean }
  /** The event contradicts a settled record, so read the provider once. */
  | { readonly kind: 'read'; readonly reason: string };

interface EventReport {
  readonly status: PaymentStatus;
  /** Epoch seconds. */
  readonly createdAt: number;
  readonly attemptRef: string | undefined;
  /** True if the event is about a hold or the end of a hold. */
  readonly isOfHold?: boolean;
}

export const decideEvent = (payment: VisiblePayment, event: EventReport): EventDecision => {
  const { status } = payment;
  const settled = isSettled(status);
  if (isStale(payment, event)) return { kind: 'ignore', reason: 'stale', reconcile: !settled };
  if (event.status === status) return { kind: 'same' };
  if (event.status === 'canceled' && !event.isOfHold && mayHold(payment)) {
    return { kind: 'ignore', reason: 'names no hold', reconcile: true };
  }
  if (mayPaymentChange(status, event.status, 'event')) return { kind: 'apply', status: event.status };
  if (settled && isFinal(event.status)) return { kind: 'read', reason: `${status} here, ${event.status} by the event` };
  return { kind: 'ignore', reason: 'backward', reconcile: !settled };
};

/** True if an amount is or may be held. Canceling only the intent, such as Square's order, does not end the hold. */
const mayHold = ({ captureMethod, status }: Payment): boolean =>
  captureMethod === 'manual' && (status === 'processing' || status === 'requires_capture');

/** True if the event is older, in whole seconds, than the current claim, or reports that an earlier attempt failed. */
const isStale = (payment: Payment, event: EventReport): boolean => {
  if (payment.claimedAt !== undefined && event.createdAt < epochSeconds(instant(payment.claimedAt))) return true;
  return event.status === 'failed' && isOfEarlierAttempt(payment, event.attemptRef);
};

const isOfEarlierAttempt = ({ priorAttemptRefs = [] }: Payment, attemptRef: string | undefined): boolean =>
  attemptRef !== undefined && priorAttemptRefs.includes(attemptRef);

export type ReadDecision =
  | { readonly kind: 'store'; readonly status: PaymentStatus; readonly anomaly: string | undefined }
  | { readonly kind: 'same' }
  /** The provider has not received our claim. */
  | { readonly kind: 'not reached' };

/**
 * Decides to store the status of an authoritative read, even if the status moves backward. Leaving a final status is an
 * anomaly.
 */
export const decideRead = (
  payment: VisiblePayment,
  report: { readonly status: ReportedStatus; readonly attemptRef: string | undefined },
): ReadDecision => {
  if (payment.status === 'processing' && payment.claimedAt !== undefined && !reached(payment, report)) {
    return { kind: 'not reached' };
  }
  const { holdCall } = payment;
  // A capture that is processing changes nothing yet, because the bank has not decided.
  if (holdCall?.kind === 'capture' && report.status === 'processing') return { kind: 'same' };
  if (report.status === payment.status) return { kind: 'same' };
  // A hold after a failed attempt is no anomaly, because the payer may pay with another card after a decline in the
  // browser.
  const isRetried = payment.status === 'failed' && report.status === 'requires_capture';
  const undone = isFinal(payment.status) && !isFinal(report.status) && !isRetried;
  const swapped = isSettled(payment.status) && isFinal(report.status);
  const anomaly = undone || swapped ? `${payment.status} here, ${report.status} at the provider` : undefined;
  return { kind: 'store', status: report.status, anomaly };
};

/** True if our failed attempt never reached the provider, which still waits for an attempt. */
export const wasFailedUnreached = (
  { status, failureCode, attemptRef }: Payment,
  report: { readonly status: ReportedStatus; readonly awaitsCapture?: true | undefined },
): boolean =>
  status === 'failed' &&
  failureCode === 'processing_error' &&
  attemptRef === undefined &&
  (report.status === 'created' || report.status === 'requires_payment_method' || report.awaitsCapture === true);

const reached = (
  payment: Payment,
  report: { readonly status: ReportedStatus; readonly attemptRef: string | undefined },
): boolean => {
  switch (report.status) {
    case 'created':
    case 'requires_payment_method':
      return false;
    case 'failed':
      // A failure without an attempt's id counts for the current attempt only if an earlier attempt had an id.
      // Otherwise, the current attempt is sent again under its key.
      return report.attemptRef === undefined
        ? payment.priorAttemptRefs !== undefined
        : !isOfEarlierAttempt(payment, report.attemptRef);
    case 'pending':
    case 'processing':
    case 'requires_capture':
    case 'succeeded':
    case 'canceled':
      return true;
    default:
      return assertNever(report.status);
  }
};

export const openCallsOfPayment = ({ status, draft, holdCall }: VisiblePayment): readonly OpenCall[] => [
  ...(status === 'processing' ? (['charge'] as const) : []),
  ...(draft ? (['update'] as const) : []),
  ...(holdCall ? [holdCall.kind] : []),
];

export type ClaimRefusal = 'already succeeded' | 'already held' | 'canceled' | 'in progress';

export const claimRefusal = (payment: VisiblePayment): ClaimRefusal | undefined => {
  if (payment.status === 'succeeded') return 'already succeeded';
  if (payment.status === 'requires_capture') return 'already held';
  if (payment.status === 'canceled') return 'canceled';
  const mayClaim =
    mayPaymentChange(payment.status, 'processing', 'claim') && isFree('charge', openCallsOfPayment(payment));
  return mayClaim ? undefined : 'in progress';
};

export type ApprovalDecision =
  | { readonly kind: 'claim' }
  /** An update is under way, so the caller must decide on the approval later. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'ignore'; readonly reason: string; readonly reconcile: boolean };

/** Decides on an approval. After a failed attempt, only a later approval counts. @param approvedAt epoch seconds */
export const decideApproval = (payment: VisiblePayment, approvedAt: number): ApprovalDecision => {
  if (payment.draft) return { kind: 'busy' };
  if (!mayPaymentChange(payment.status, 'processing', 'approval')) {
    return { kind: 'ignore', reason: `is ${payment.status}`, reconcile: payment.status === 'processing' };
  }
  if (payment.claimedAt === undefined) return { kind: 'claim' };
  const claimedAt = epochSeconds(instant(payment.claimedAt));
  const isStale = payment.status === 'failed' ? approvedAt <= claimedAt : approvedAt < claimedAt;
  return isStale ? { kind: 'ignore', reason: 'stale', reconcile: payment.status === 'pending' } : { kind: 'claim' };
};

/** True if the update changes a field at the provider. Other updates need no call. */
export const concernsProvider = (payment: VisiblePayment, draft: Draft): boolean =>
  draft.totalCents !== payment.totalCents ||
  draft.currency !== payment.currency ||
  draft.methodRef !== payment.methodRef ||
  draft.paymentMethodId !== payment.paymentMethodId ||
  draft.description !== payment.description ||
  draft.returnUrl !== payment.returnUrl ||
  draft.setupFutureUsage !== payment.setupFutureUsage ||
  draft.providerCustomerId !== payment.providerCustomerId ||
  draft.captureMethod !== payment.captureMethod;
