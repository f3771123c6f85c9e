import { DomainError } from '../core/errors.ts';
import { unansweredError } from '../providers/unwrap.ts';
import type { IntentParts } from './create-intent.ts';
import type { HistoryCause, VisiblePayment } from './payment.ts';
import { isSettled } from './payment-states.ts';
import { advanceStored } from './payment-store.ts';
import { providerReference, reportedFields } from './payment-versions.ts';
import { abandonDraft } from './update-intent.ts';

/**
 * Cancels the payment at the provider, then in its record. If the provider refuses, the record gets the provider's
 * status. An update with an unknown outcome that the provider has not applied is dropped first.
 */
export const cancelIntent = async (
  parts: IntentParts,
  record: VisiblePayment,
  cause: Extract<HistoryCause, 'cancel' | 'expiry'>,
): Promise<VisiblePayment> => {
  const { deps, store, provider } = parts;
  const payment = await abandonDraft(parts, record);
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
