import { notFound } from '../../core/errors.ts';
import type { ProviderPayment } from '../../providers/port/payments.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import { findMismatch, matchAmount } from '../record/amounts.ts';
import { decideRead } from '../record/decisions.ts';
import { type HistoryCause, isVisiblePayment, type VisiblePayment } from '../record/payment.ts';
import type { PaymentStore } from '../record/store.ts';
import { advance, applyDraft, reportedFields } from '../record/versions.ts';

export interface ReadingResult {
  readonly payment: VisiblePayment;
  /** `overtaken`: it has changed since the provider was asked, whose answer may be older than that. Ask again. */
  readonly outcome: 'stored' | 'same' | 'not reached' | 'mismatch' | 'overtaken';
}

/**
 * Stores what a provider reports, also backward; a final state undone, or another amount, is an anomaly. An amount that
 * is the draft's brings the draft into force.
 * @param payment as it stood before the provider was asked
 */
export const storeReading = async (
  deps: Pick<MoneyDeps, 'now' | 'log'>,
  store: PaymentStore,
  payment: VisiblePayment,
  report: ProviderPayment,
  cause: HistoryCause,
): Promise<ReadingResult> => {
  const alarm = (reason: string) =>
    deps.log.error('payment anomaly', { payment_id: payment.id, provider: payment.providerId, reason });
  const current = matchAmount(payment, report);
  if (!current) {
    alarm(findMismatch(payment, report) ?? 'amount differs');
    return { payment, outcome: 'mismatch' };
  }
  const draft = current === payment ? undefined : payment.draft;
  const decision = decideRead(current, report);
  if (decision.kind !== 'store' && !draft) return { payment, outcome: decision.kind };
  const base = draft && isUnconfirmed(report.status) ? applyDraft(payment, draft, deps.now()) : undefined;
  const anomaly = decision.kind === 'store' ? decision.anomaly : undefined;
  if (anomaly) alarm(anomaly);
  const status = decision.kind === 'store' ? decision.status : current.status;
  const facts = { ...reportedFields(report), ...(anomaly && { anomaly }) };
  const next = base ?? advance(current, status, deps.now(), cause, facts);
  const committed = await store.commit(payment, next);
  if (committed.ok) return { payment: next, outcome: 'stored' };
  if (!committed.found || !isVisiblePayment(committed.found)) throw notFound('payment');
  return { payment: committed.found, outcome: 'overtaken' };
};

const isUnconfirmed = (status: ProviderPayment['status']): boolean =>
  status === 'created' || status === 'requires_payment_method';
