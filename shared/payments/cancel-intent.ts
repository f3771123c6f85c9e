import { DomainError } from '../core/errors.ts';
import { unansweredError } from '../providers/unwrap.ts';
import { decideReading } from './apply-reading.ts';
import type { IntentParts } from './create-intent.ts';
import type { HistoryCause, VisiblePayment } from './payment.ts';
import { statusHere } from './payment-amounts.ts';
import { isAhead, isSettled } from './payment-states.ts';
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
  // The payer may have confirmed in the browser, and only the merchant ends a hold.
  const held = payment.captureMethod && (await readHold(parts, payment));
  if (held) return held;
  const known = providerReference(payment);
  let outcome = await provider.cancelIntent({ ...known, idempotencyKey: `${payment.id}:cancel` });
  if (outcome.kind === 'refused') outcome = await provider.findPayment(known);
  const details = { payment_id: payment.id };
  if (outcome.kind === 'unknown' || outcome.kind === 'not_done') throw unansweredError(outcome, details);
  if (outcome.kind !== 'done') throw new DomainError('PROVIDER_ERROR', { details });
  const report = outcome.value;
  if (report.status === payment.status) return payment;
  const status = statusHere(payment, report.status);
  return advanceStored(store, payment, {
    now: deps.now(),
    status,
    cause,
    by: status === 'canceled' ? 'cancel' : 'read',
    reported: report,
    facts: reportedFields(report),
  });
};

/** Stores the hold of a payment that was not known to be held. @returns undefined if nothing is held */
const readHold = async (
  { deps, store, provider }: IntentParts,
  payment: VisiblePayment,
): Promise<VisiblePayment | undefined> => {
  const found = await provider.findPayment(providerReference(payment));
  if (found.kind === 'unknown' || found.kind === 'not_done') {
    throw unansweredError(found, { payment_id: payment.id });
  }
  if (found.kind !== 'done' || found.value.status !== 'requires_capture') return undefined;
  const { record } = await store.change(payment, (current) => {
    if (!isAhead(current.status, found.value.status)) return undefined;
    const reading = decideReading(deps, { payment: current, report: found.value, cause: 'reconciliation' });
    return reading.outcome === 'store' ? { next: reading.next, by: 'read' } : undefined;
  });
  return record;
};
