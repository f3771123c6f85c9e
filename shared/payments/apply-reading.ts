/**
 * @module Applies the provider's state of a payment, as a read has returned this state. The read is authoritative, so
 * it may also move the payment backward.
 */

import { notFound } from '../core/errors.ts';
import type { Instant } from '../core/time.ts';
import type { ProviderPayment } from '../providers/payment-port.ts';
import type { MoneyDeps } from '../providers/provider-deps.ts';
import { declinedLater } from './holds/hold-versions.ts';
import { withMoreCaptured } from './holds/more-captured.ts';
import { type HistoryCause, isVisiblePayment, type VisiblePayment } from './payment.ts';
import { findMismatch, matchAmount, statusHere } from './payment-amounts.ts';
import { decideRead } from './payment-decisions.ts';
import type { PaymentStore } from './payment-store.ts';
import { advancePayment, applyDraft, reportedFields } from './payment-versions.ts';
import { withFactsRead, withHoldChange } from './recorded-facts.ts';

export interface Reading {
  readonly payment: VisiblePayment;
  readonly report: ProviderPayment;
  readonly cause: HistoryCause;
}

type ReadingDeps = Pick<MoneyDeps, 'now' | 'log'>;

export type ReadingDecision =
  | { readonly outcome: 'store'; readonly next: VisiblePayment }
  | { readonly outcome: 'same' | 'not reached' | 'mismatch' };

/**
 * Decides the next version from a provider's report. Logs an anomaly if the payment leaves a final status or the amount
 * differs. A report with the draft's amount applies the draft.
 */
export const decideReading = (deps: ReadingDeps, { payment, report, cause }: Reading): ReadingDecision => {
  const alarm = (reason: string) =>
    deps.log.error('payment anomaly', { payment_id: payment.id, provider: payment.providerId, reason });
  const current = matchAmount(payment, report);
  if (!current) {
    alarm(findMismatch(payment, report) ?? 'amount differs');
    return { outcome: 'mismatch' };
  }
  const draft = current === payment ? undefined : payment.draft;
  const decision = decideRead(current, { ...report, status: statusHere(current, report.status) });
  if (decision.kind !== 'store' && !draft) {
    if (decision.kind !== 'same') return { outcome: decision.kind };
    const next = newsOf(current, { report, cause }, deps.now());
    return next ? { outcome: 'store', next } : { outcome: 'same' };
  }
  const anomaly = decision.kind === 'store' ? decision.anomaly : undefined;
  if (anomaly) alarm(anomaly);
  if (draft && isUnconfirmed(report.status))
    return { outcome: 'store', next: applyDraft(payment, draft, { now: deps.now() }) };
  const status = decision.kind === 'store' ? decision.status : current.status;
  const facts = { ...reportedFields(report), ...(anomaly && { anomaly }) };
  return {
    outcome: 'store',
    next: advancePayment(current, { to: status, now: deps.now(), cause, reported: report }, facts),
  };
};

const newsOf = (
  payment: VisiblePayment,
  { report, cause }: Omit<Reading, 'payment'>,
  now: Instant,
): VisiblePayment | undefined => withMoreCaptured(payment, report, now, cause) ?? withNews(payment, report, now);

/**
 * Returns the next version if the report keeps the status but has new facts, or another amount or end of the hold.
 * After a change of the hold, the payment gets the id in the report. PayPal renews a hold as a new authorization, and
 * only the new authorization can be captured.
 */
const withNews = (payment: VisiblePayment, report: ProviderPayment, now: Instant): VisiblePayment | undefined => {
  const declined = declinedLater(payment, report, now);
  if (declined) return declined;
  const known = withFactsRead(payment, report, now);
  const held = withHoldChange({ payment, next: known }, report, now);
  if (!held || held === known) return held;
  const { paymentId: providerPaymentId, attemptRef = held.attemptRef } = report;
  return { ...held, providerPaymentId, attemptRef };
};

const isUnconfirmed = (status: ProviderPayment['status']): boolean =>
  status === 'created' || status === 'requires_payment_method';

export interface ReadingResult {
  readonly payment: VisiblePayment;
  /** `overtaken` if the payment changed after the read began. The report may be outdated, so read again. */
  readonly outcome: 'stored' | 'same' | 'not reached' | 'mismatch' | 'overtaken';
}

/** Stores the result of a read, unless another commit was faster. */
export const storeReading = async (
  deps: ReadingDeps,
  store: PaymentStore,
  reading: Reading,
): Promise<ReadingResult> => {
  const { payment } = reading;
  const decision = decideReading(deps, reading);
  if (decision.outcome !== 'store') return { payment, outcome: decision.outcome };
  const { next } = decision;
  const committed = await store.commit(payment, next, { by: 'read' });
  if (committed.ok) return { payment: committed.record, outcome: 'stored' };
  if (!committed.found || !isVisiblePayment(committed.found)) throw notFound('payment');
  return { payment: committed.found, outcome: 'overtaken' };
};
