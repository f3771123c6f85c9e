import { DomainError } from '../../core/errors.ts';
import type { Reply } from '../../http/reply.ts';
import type { ApiRequest } from '../../http/request.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import { unansweredError } from '../../providers/registry/unwrap.ts';
import { storeReading } from '../attempts/reconcile.ts';
import type { VisiblePayment } from '../record/payment.ts';
import { paymentStore } from '../record/store.ts';
import { providerReference } from '../record/versions.ts';
import { paymentView } from '../record/view.ts';

const READ_TRIES = 5;

/** Pulls a payment's status from its provider: an authoritative read, stored as it is. */
export const syncPayment = async (
  deps: MoneyDeps,
  request: ApiRequest<{ provider_payment_id: string }, unknown, unknown, VisiblePayment>,
): Promise<Reply> => {
  const store = paymentStore(deps.table, deps.now);
  let payment = request.record;
  const provider = await deps.providers.require(payment.providerId, 'payments');
  const details = { payment_id: payment.id };
  for (let tries = 0; tries < READ_TRIES; tries += 1) {
    const found = await provider.findPayment(providerReference(payment));
    if (found.kind === 'unknown' || found.kind === 'not_done') throw unansweredError(found, details);
    if (found.kind !== 'done') throw new DomainError('PROVIDER_ERROR', { details });
    const stored = await storeReading(deps, store, payment, found.value, 'sync');
    payment = stored.payment;
    if (stored.outcome !== 'overtaken') return { data: paymentView(payment) };
  }
  throw new DomainError('VERSION_CONFLICT');
};
