import { DomainError, notFound } from '../core/errors.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { unclear } from '../providers/done.ts';
import type { ProviderPayment } from '../providers/provider.ts';
import { mismatchOf } from './answer.ts';
import { inStatus, knownOf, reported } from './changes.ts';
import type { MoneyDeps } from './deps.ts';
import { type ChangeCause, isVisible, type VisiblePayment } from './payment.ts';
import { type PaymentStore, paymentStore } from './store.ts';
import { decideRead } from './transitions.ts';
import { paymentView } from './view.ts';

const STORE_TRIES = 5;

/** Pulls a payment's status from its provider: an authoritative read, stored as it is. */
export const syncPayment = async (
  deps: MoneyDeps,
  request: ApiRequest<{ provider_payment_id: string }, unknown, unknown, VisiblePayment>,
): Promise<Reply> => {
  const store = paymentStore(deps.table, deps.now);
  const payment = request.record;
  const provider = await deps.providers.forPayments(payment.providerId);
  const found = await provider.findPayment(knownOf(payment));
  const details = { payment_id: payment.id };
  if (found.kind === 'unknown') throw unclear(found.reason, details);
  if (found.kind !== 'done') throw new DomainError('PROVIDER_ERROR', { details });
  const { payment: synced } = await storeRead(deps, store, payment, found.value, 'sync');
  return { data: paymentView(synced) };
};

export interface Stored {
  readonly payment: VisiblePayment;
  readonly outcome: 'stored' | 'same' | 'not reached' | 'mismatch';
}

/** Stores what a provider reports, also backward; a final state undone, or another amount, is an anomaly. */
export const storeRead = async (
  deps: Pick<MoneyDeps, 'now' | 'log'>,
  store: PaymentStore,
  payment: VisiblePayment,
  report: ProviderPayment,
  cause: ChangeCause,
): Promise<Stored> => {
  let current = payment;
  for (let tries = 0; tries < STORE_TRIES; tries += 1) {
    const mismatch = mismatchOf(current, report);
    if (mismatch) {
      deps.log.error('payment anomaly', { payment_id: current.id, provider: current.providerId, reason: mismatch });
      return { payment: current, outcome: 'mismatch' };
    }
    const decision = decideRead(current, report);
    if (decision.kind !== 'store') return { payment: current, outcome: decision.kind };
    const { anomaly } = decision;
    if (anomaly) {
      deps.log.error('payment anomaly', { payment_id: current.id, provider: current.providerId, reason: anomaly });
    }
    const next = inStatus(current, decision.status, deps.now(), cause, {
      ...reported(report),
      ...(anomaly && { anomaly }),
    });
    const committed = await store.commit(current, next);
    if (committed.ok) return { payment: next, outcome: 'stored' };
    if (!committed.found || !isVisible(committed.found)) throw notFound('payment');
    current = committed.found;
  }
  throw new DomainError('VERSION_CONFLICT');
};
