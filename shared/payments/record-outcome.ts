/** @module Records a claimed attempt's outcome. `unknown` leaves the claim and its due time as they are. */

import { DomainError } from '../core/errors.ts';
import type { Arrived, DeclineCode, NotDone, Outcome } from '../core/outcome.ts';
import type { ProviderPayment, ReportedStatus } from '../providers/payment-port.ts';
import { type IntentParts, refusalError } from './create-intent.ts';
import type { Payment, PaymentStatus, VisiblePayment } from './payment.ts';
import { findMismatch, statusHere } from './payment-amounts.ts';
import { mayPaymentChange } from './payment-states.ts';
import { advanceStored, type PaymentStore } from './payment-store.ts';
import { providerReference, reportedFields } from './payment-versions.ts';
import { reportedFacts } from './recorded-facts.ts';

export interface AttemptResult {
  readonly payment: VisiblePayment;
  readonly declined?: DeclineCode;
  /** The provider refused without trying to charge. */
  readonly refusal?: DomainError;
  /** The provider certainly did nothing, and the claim was released. */
  readonly notDone?: NotDone;
}

export interface AnswerParts extends IntentParts {
  /** Handles a claim that the provider refused without trying to charge. Without this function the payment fails. */
  readonly onRefusal?: (() => Promise<{ readonly payment: VisiblePayment }>) | undefined;
}

export const recordAnswer = async (
  parts: AnswerParts,
  payment: VisiblePayment,
  outcome: Arrived<ProviderPayment>,
): Promise<AttemptResult> => {
  switch (outcome.kind) {
    case 'unknown':
      return { payment };
    case 'declined': {
      const { code: failureCode, attemptRef, facts } = outcome;
      const failed = await settle(parts, payment, [
        'failed',
        { failureCode, ...(attemptRef && { attemptRef }), ...reportedFacts('failed', facts) },
      ]);
      return { payment: failed, declined: outcome.code };
    }
    case 'done':
      return recordReport(parts, payment, outcome.value);
    case 'refused':
      return recordRefusal(parts, payment, outcome);
  }
};

const recordReport = async (
  parts: IntentParts,
  payment: VisiblePayment,
  report: ProviderPayment,
): Promise<AttemptResult> => {
  const mismatch = findMismatch(payment, report);
  if (mismatch) {
    const { id, providerId } = payment;
    parts.deps.log.error('payment anomaly', { payment_id: id, provider: providerId, reason: mismatch });
    throw new DomainError('PROVIDER_ERROR', { details: { payment_id: id } });
  }
  if (report.status === 'failed') {
    const code = report.failureCode ?? 'do_not_honor';
    const failed = await settle(parts, payment, ['failed', { ...reportedFields(report), failureCode: code }]);
    return { payment: failed, declined: code };
  }
  const status = statusHere(payment, report.status);
  if (!mayPaymentChange('processing', status, 'answer')) return { payment };
  if (status === 'processing') await learnFrom(parts.store, payment, report);
  return { payment: await settle(parts, payment, [status, reportedFields(report), report]) };
};

/** Some providers report a failed attempt only by the attempt's own id. */
const learnFrom = async (store: PaymentStore, payment: VisiblePayment, report: ProviderPayment): Promise<void> => {
  await Promise.all([store.learnIds(payment, reportedFields(report)), store.learnAttempt(payment, report.attemptRef)]);
};

/** Statuses that show another confirmation (for example in the payer's browser), whose outcome counts. */
const UNDER_WAY_OR_SETTLED: readonly ReportedStatus[] = [
  'pending',
  'processing',
  'requires_capture',
  'succeeded',
  'canceled',
];

/** An earlier call may have charged, so the provider is read before the refusal is recorded. */
const recordRefusal = async (
  parts: AnswerParts,
  payment: VisiblePayment,
  refused: Extract<Outcome<ProviderPayment>, { kind: 'refused' }>,
): Promise<AttemptResult> => {
  const found = await parts.provider.findPayment(providerReference(payment));
  // An earlier call of this attempt may have charged, so the claim stays while the provider cannot be read.
  if (found.kind === 'unknown' || found.kind === 'not_done') return { payment };
  if (found.kind !== 'done') return { payment, refusal: refusalError(refused) };
  if (UNDER_WAY_OR_SETTLED.includes(found.value.status)) return recordReport(parts, payment, found.value);
  const refusal = refusalError(refused);
  if (parts.onRefusal) return { payment: (await parts.onRefusal()).payment, refusal };
  const failed = await settle(parts, payment, ['failed', { failureCode: 'processing_error' }]);
  return { payment: failed, refusal };
};

/** The claim has set `processing`, so a `processing` response commits nothing but ids. The settlement stores the rest. */
const settle = async (
  { deps, store }: IntentParts,
  payment: VisiblePayment,
  [status, facts, reported]: readonly [PaymentStatus, Partial<Payment>, ProviderPayment?],
): Promise<VisiblePayment> =>
  status === 'processing'
    ? payment
    : advanceStored(store, payment, { now: deps.now(), status, cause: 'answer', facts, reported });
