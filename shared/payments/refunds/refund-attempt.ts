/** @module Sends a refund and records the outcome. Every send has the same key, so the refund is made once. */

import { DomainError } from '../../core/errors.ts';
import type { Arrived, NotDone, Outcome, Refusal } from '../../core/outcome.ts';
import { iso } from '../../core/time.ts';
import {
  type ProviderRefund,
  REFUND_EXCEEDS,
  type RefundedCharge,
  type RefundsPort,
} from '../../providers/refund-port.ts';
import type { VisiblePayment } from '../payment.ts';
import type { Refund } from './refund.ts';
import { recordAnsweredRefund, recordReportedRefunds } from './refund-reports.ts';
import { type RefundStoreDeps, refundStore } from './refund-store.ts';

export interface RefundParts {
  readonly deps: RefundStoreDeps;
  readonly port: RefundsPort;
  readonly payment: VisiblePayment;
}

/** The provider's ids of a payment. */
export const chargedAs = ({ providerIntentId, providerPaymentId, captures }: VisiblePayment): RefundedCharge => ({
  intentId: providerIntentId ?? '',
  paymentId: providerPaymentId ?? providerIntentId ?? '',
  ...(captures && { captureIds: captures.map(({ id }) => id) }),
});

/** Sends the refund under an idempotency key that is derived from its id. */
export const sendRefund = ({ port, payment }: RefundParts, refund: Refund): Promise<Outcome<ProviderRefund>> =>
  port.createRefund({
    idempotencyKey: `${refund.id}:refund`,
    refundId: refund.id,
    payment: { ...chargedAs(payment), ...(refund.captureId && { paymentId: refund.captureId }) },
    amountCents: refund.amountCents,
    currency: refund.currency,
    reason: refund.reason,
  });

export interface RefundResult {
  /** undefined if the refund did not happen and is not stored. */
  readonly refund: Refund | undefined;
  readonly refusal?: Refusal;
  readonly notDone?: NotDone;
}

/** `unknown` leaves the refund pending, with its reservation and its next lookup. */
export const recordRefundAnswer = async (
  parts: RefundParts,
  refund: Refund,
  outcome: Arrived<ProviderRefund>,
): Promise<RefundResult> => {
  switch (outcome.kind) {
    case 'unknown':
      return { refund };
    case 'done':
      return nowOrLater({ ...refund, providerRefundId: outcome.value.refundId }, async () => ({
        refund: await recordAnsweredRefund(parts.deps, refund, outcome.value),
      }));
    case 'declined':
      return nowOrLater(refund, () => recordRefusal(parts, refund, { kind: 'refused', reason: outcome.code }));
    case 'refused':
      return nowOrLater(refund, () => recordRefusal(parts, refund, outcome));
  }
};

/** Refunds of one payment commit one by one. A refund that cannot commit now stays pending until its next lookup. */
export const nowOrLater = async (pending: Refund, settle: () => Promise<RefundResult>): Promise<RefundResult> => {
  try {
    return await settle();
  } catch (error) {
    if (!(error instanceof DomainError) || error.code !== 'VERSION_CONFLICT') throw error;
    return { refund: pending };
  }
};

/** An earlier call may have refunded, so the provider is read first. Until then the refund stays pending. */
const recordRefusal = async (parts: RefundParts, refund: Refund, refusal: Refusal): Promise<RefundResult> => {
  const found = await readRefunds(parts, refund);
  if (found === undefined) return { refund };
  if (found.refund) return { refund: found.refund };
  const failed = await failRefund(parts.deps, refund, { cause: 'refusal', failureCode: refusal.reason });
  return failed.status === 'failed' ? { refund: failed, refusal } : { refund: failed };
};

/** Stores all of the payment's refunds. @returns undefined if they cannot be read; else this refund, if it exists */
export const readRefunds = async (
  { deps, port, payment }: RefundParts,
  refund: Refund,
): Promise<{ readonly refund: Refund | undefined } | undefined> => {
  const read = await port.listRefunds(chargedAs(payment));
  if (read.kind !== 'done') return undefined;
  const stored = await recordReportedRefunds(deps, payment, read.value);
  return { refund: stored.find(({ id }) => id === refund.id) };
};

interface Failure {
  readonly cause: 'refusal' | 'limit';
  readonly failureCode: string;
}

/** Fails a refund that the provider has not made. A report that came first counts. */
export const failRefund = async (
  deps: RefundStoreDeps,
  refund: Refund,
  { cause, failureCode }: Failure,
): Promise<Refund> => {
  const { record } = await refundStore(deps).change(refund, cause, (current) =>
    current.status === 'pending' && current.providerRefundId === undefined
      ? {
          ...current,
          status: 'failed',
          failureCode,
          reconcileAt: undefined,
          reconcileStep: undefined,
          version: current.version + 1,
          updatedAt: iso(deps.now()),
        }
      : undefined,
  );
  return record;
};

/** The error of a refund that the provider refused. */
export const refundRefusedError = (refund: Refund, refundableCents: number): DomainError => {
  const details = { refund_id: refund.id, payment_id: refund.paymentId };
  return refund.failureCode === REFUND_EXCEEDS
    ? new DomainError('INVALID_STATE', {
        message: 'The amount exceeds what the provider can still refund',
        details: { ...details, refundable_cents: refundableCents },
      })
    : new DomainError('PROVIDER_ERROR', {
        message: 'The provider refused the refund',
        details: { ...details, reason: refund.failureCode ?? 'refused' },
      });
};
