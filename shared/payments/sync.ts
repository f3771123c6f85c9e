import { DomainError, notFound } from '../core/errors.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { unanswered } from '../providers/done.ts';
import type { ProviderPayment } from '../providers/provider.ts';
import { inStatus, knownOf, reported, updated } from './changes.ts';
import type { MoneyDeps } from './deps.ts';
import { type ChangeCause, isVisible, type VisiblePayment } from './payment.ts';
import { type PaymentStore, paymentStore } from './store.ts';
import { asTaken, mismatchOf } from './taken.ts';
import { decideRead } from './transitions.ts';
import { paymentView } from './view.ts';

const READ_TRIES = 5;

/** Pulls a payment's status from its provider: an authoritative read, stored as it is. */
export const syncPayment = async (
  deps: MoneyDeps,
  request: ApiRequest<{ provider_payment_id: string }, unknown, unknown, VisiblePayment>,
): Promise<Reply> => {
  const store = paymentStore(deps.table, deps.now);
  let payment = request.record;
  const provider = await deps.providers.forPayments(payment.providerId);
  const details = { payment_id: payment.id };
  for (let tries = 0; tries < READ_TRIES; tries += 1) {
    const found = await provider.findPayment(knownOf(payment));
    if (found.kind === 'unknown' || found.kind === 'not_done') throw unanswered(found, details);
    if (found.kind !== 'done') throw new DomainError('PROVIDER_ERROR', { details });
    const stored = await storeRead(deps, store, payment, found.value, 'sync');
    payment = stored.payment;
    if (stored.outcome !== 'overtaken') return { data: paymentView(payment) };
  }
  throw new DomainError('VERSION_CONFLICT');
};

export interface Stored {
  readonly payment: VisiblePayment;
  /** `overtaken`: it has changed since the provider was asked, whose answer may be older than that. Ask again. */
  readonly outcome: 'stored' | 'same' | 'not reached' | 'mismatch' | 'overtaken';
}

/**
 * Stores what a provider reports, also backward; a final state undone, or another amount, is an anomaly. An amount that
 * is the draft's brings the draft into force.
 * @param payment as it stood before the provider was asked
 */
export const storeRead = async (
  deps: Pick<MoneyDeps, 'now' | 'log'>,
  store: PaymentStore,
  payment: VisiblePayment,
  report: ProviderPayment,
  cause: ChangeCause,
): Promise<Stored> => {
  const alarm = (reason: string) =>
    deps.log.error('payment anomaly', { payment_id: payment.id, provider: payment.providerId, reason });
  const current = asTaken(payment, report);
  if (!current) {
    alarm(mismatchOf(payment, report) ?? 'amount differs');
    return { payment, outcome: 'mismatch' };
  }
  const draft = current === payment ? undefined : payment.draft;
  const decision = decideRead(current, report);
  if (decision.kind !== 'store' && !draft) return { payment, outcome: decision.kind };
  const base = draft && isUnconfirmed(report.status) ? updated(payment, draft, deps.now()) : undefined;
  const anomaly = decision.kind === 'store' ? decision.anomaly : undefined;
  if (anomaly) alarm(anomaly);
  const status = decision.kind === 'store' ? decision.status : current.status;
  const facts = { ...reported(report), ...(anomaly && { anomaly }) };
  const next = base ?? inStatus(current, status, deps.now(), cause, facts);
  const committed = await store.commit(payment, next);
  if (committed.ok) return { payment: next, outcome: 'stored' };
  if (!committed.found || !isVisible(committed.found)) throw notFound('payment');
  return { payment: committed.found, outcome: 'overtaken' };
};

const isUnconfirmed = (status: ProviderPayment['status']): boolean =>
  status === 'created' || status === 'requires_payment_method';
