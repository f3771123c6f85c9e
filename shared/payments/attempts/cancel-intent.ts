import { DomainError } from '../../core/errors.ts';
import type { PaymentProvider } from '../../providers/port/provider.ts';
import type { MoneyDeps } from '../../providers/registry/deps.ts';
import { unansweredError } from '../../providers/registry/unwrap.ts';
import type { HistoryCause, VisiblePayment } from '../record/payment.ts';
import { isSettled } from '../record/states.ts';
import { advanceStored, type PaymentStore } from '../record/store.ts';
import { providerReference, reportedFields } from '../record/versions.ts';
import { abandonDraft } from './update-intent.ts';

/**
 * Cancels at the provider, then here. Where the provider refuses, what it has instead is stored. An unclear update that
 * the provider has not taken is dropped first.
 */
export const cancelIntent = async (
  deps: Pick<MoneyDeps, 'now' | 'log'>,
  store: PaymentStore,
  provider: PaymentProvider,
  record: VisiblePayment,
  cause: HistoryCause,
): Promise<VisiblePayment> => {
  const payment = await abandonDraft({ deps, store, provider }, record);
  if (payment !== record && isSettled(payment.status)) return payment;
  const known = providerReference(payment);
  let outcome = await provider.cancelIntent({ ...known, idempotencyKey: `${payment.id}:cancel` });
  if (outcome.kind === 'refused') outcome = await provider.findPayment(known);
  const details = { payment_id: payment.id };
  if (outcome.kind === 'unknown' || outcome.kind === 'not_done') throw unansweredError(outcome, details);
  if (outcome.kind !== 'done') throw new DomainError('PROVIDER_ERROR', { details });
  const report = outcome.value;
  if (report.status === payment.status) return payment;
  const { status } = report;
  return advanceStored(store, payment, {
    now: deps.now(),
    status,
    cause,
    by: status === 'canceled' ? 'cancel' : 'read',
    facts: reportedFields(report),
  });
};
