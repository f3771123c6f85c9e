import { DomainError } from '../../core/errors.ts';
import type { Arrived, DeclineCode, NotDone, Outcome } from '../../core/outcome.ts';
import type { ProviderPayment, ReportedStatus } from '../../providers/port/payments.ts';
import type { PaymentProvider } from '../../providers/port/provider.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import { findMismatch } from '../record/amounts.ts';
import type { Payment, PaymentStatus, VisiblePayment } from '../record/payment.ts';
import { mayPaymentChange } from '../record/states.ts';
import { advanceStored, type PaymentStore } from '../record/store.ts';
import { providerReference, reportedFields } from '../record/versions.ts';
import { refusalError } from './create-intent.ts';

/** What came of an attempt, and the payment as it is now. */
export interface AttemptResult {
  readonly payment: VisiblePayment;
  readonly declined?: DeclineCode;
  /** The provider said no without trying to charge. */
  readonly refusal?: DomainError;
  /** The provider certainly did nothing, and the claim has been taken back. */
  readonly notDone?: NotDone;
}

type AnswerDeps = Pick<MoneyDeps, 'now' | 'log'>;

export interface AttemptParts {
  readonly store: PaymentStore;
  readonly provider: PaymentProvider;
  /** What becomes of a claim that the provider refused without trying to charge; by default the payment has failed. */
  readonly onRefusal?: (() => Promise<{ readonly payment: VisiblePayment }>) | undefined;
}

/** Records the provider's answer to a claimed attempt. `unknown` leaves the claim, and its appointment, as they are. */
export const recordAnswer = async (
  deps: AnswerDeps,
  parts: AttemptParts,
  payment: VisiblePayment,
  outcome: Arrived<ProviderPayment>,
): Promise<AttemptResult> => {
  const { store } = parts;
  switch (outcome.kind) {
    case 'unknown':
      return { payment };
    case 'declined': {
      const { code: failureCode, attemptRef } = outcome;
      const failed = await settle(deps, store, payment, 'failed', { failureCode, ...(attemptRef && { attemptRef }) });
      return { payment: failed, declined: outcome.code };
    }
    case 'done':
      return recordReport(deps, store, payment, outcome.value);
    case 'refused':
      return recordRefusal(deps, parts, payment, outcome);
  }
};

const recordReport = async (
  deps: AnswerDeps,
  store: PaymentStore,
  payment: VisiblePayment,
  report: ProviderPayment,
): Promise<AttemptResult> => {
  const mismatch = findMismatch(payment, report);
  if (mismatch) {
    deps.log.error('payment anomaly', { payment_id: payment.id, provider: payment.providerId, reason: mismatch });
    throw new DomainError('PROVIDER_ERROR', { details: { payment_id: payment.id } });
  }
  if (report.status === 'failed') {
    const code = report.failureCode ?? 'do_not_honor';
    const failed = await settle(deps, store, payment, 'failed', { ...reportedFields(report), failureCode: code });
    return { payment: failed, declined: code };
  }
  if (!mayPaymentChange('processing', report.status, 'answer') && report.status !== 'canceled') return { payment };
  if (report.status === 'processing') await store.learnIds(payment, reportedFields(report));
  return { payment: await settle(deps, store, payment, report.status, reportedFields(report)) };
};

/** Another confirmation (the payer's browser, say) came first: its outcome counts. */
const UNDER_WAY_OR_SETTLED: readonly ReportedStatus[] = ['pending', 'processing', 'succeeded', 'canceled'];

/** Nothing was charged by this call; an earlier one may have been, so the provider is read before it is given up. */
const recordRefusal = async (
  deps: AnswerDeps,
  { store, provider, onRefusal }: AttemptParts,
  payment: VisiblePayment,
  refused: Extract<Outcome<ProviderPayment>, { kind: 'refused' }>,
): Promise<AttemptResult> => {
  const found = await provider.findPayment(providerReference(payment));
  // An earlier call of this attempt may have charged: what could not be read is not known, the claim stands.
  if (found.kind === 'unknown' || found.kind === 'not_done') return { payment };
  if (found.kind !== 'done') return { payment, refusal: refusalError(refused) };
  if (UNDER_WAY_OR_SETTLED.includes(found.value.status)) {
    return recordReport(deps, store, payment, found.value);
  }
  const refusal = refusalError(refused);
  if (onRefusal) return { payment: (await onRefusal()).payment, refusal };
  const failed = await settle(deps, store, payment, 'failed', { failureCode: 'processing_error' });
  return { payment: failed, refusal };
};

/** `processing` is what the claim says already; its facts come with the settlement, but for the id that it is found by. */
const settle = async (
  deps: AnswerDeps,
  store: PaymentStore,
  payment: VisiblePayment,
  status: PaymentStatus,
  facts: Partial<Payment>,
): Promise<VisiblePayment> =>
  status === 'processing'
    ? payment
    : advanceStored({ store, now: deps.now(), payment, status, cause: 'answer', facts });
