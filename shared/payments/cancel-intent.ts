import { DomainError } from '../core/errors.ts';
import { ifKnown } from '../core/outcome.ts';
import { requireReport } from '../providers/unwrap.ts';
import { decideReading } from './apply-reading.ts';
import type { IntentParts } from './create-intent.ts';
import { asDraft, type HistoryCause, type VisiblePayment } from './payment.ts';
import { statusHere } from './payment-amounts.ts';
import { isAhead, isSettled } from './payment-states.ts';
import { advanceStored } from './payment-store.ts';
import { providerReference, reportedFields } from './payment-versions.ts';
import { abandonDraft } from './update-call.ts';

/**
 * Cancels the payment at the provider, then in its record. If the provider refuses, the record gets the provider's
 * status. First drops an update that the provider has not applied. If the payment has manual capture, first claims an
 * empty draft, so no confirmation can start meanwhile.
 */
export const cancelIntent = async (
  parts: IntentParts,
  record: VisiblePayment,
  cause: Extract<HistoryCause, 'cancel' | 'expiry'>,
): Promise<VisiblePayment> => {
  const payment = await abandonDraft(parts, record);
  if (payment !== record && isSettled(payment.status)) return payment;
  if (payment.captureMethod === undefined) return cancelAtProvider(parts, payment, cause);
  const claimed = await parts.store.claimDraft(payment, asDraft(payment));
  if (!claimed) return standing(parts, payment);
  try {
    // If the payer has confirmed in the browser, record the hold and cancel nothing. Only the merchant may release a
    // hold.
    const canceled = (await readHold(parts, claimed)) ?? (await cancelAtProvider(parts, claimed, cause));
    return canceled === claimed ? payment : canceled;
  } finally {
    await parts.store.dropDraft(claimed);
  }
};

/**
 * Returns the payment if another request has settled or held it.
 * @throws DomainError PAYMENT_IN_PROGRESS if another request still works on the payment
 */
const standing = async ({ store }: IntentParts, { id }: VisiblePayment): Promise<VisiblePayment> => {
  const stands = await store.loadVisible(id);
  if (stands && (isSettled(stands.status) || stands.status === 'requires_capture')) return stands;
  throw new DomainError('PAYMENT_IN_PROGRESS');
};

const cancelAtProvider = async (
  { deps, store, provider }: IntentParts,
  payment: VisiblePayment,
  cause: Extract<HistoryCause, 'cancel' | 'expiry'>,
): Promise<VisiblePayment> => {
  const known = providerReference(payment);
  let outcome = await provider.cancelIntent({ ...known, idempotencyKey: `${payment.id}:cancel` });
  if (outcome.kind === 'refused') outcome = await provider.findPayment(known);
  const report = requireReport(outcome, { payment_id: payment.id });
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

/** Stores a hold that the provider reports and the record lacks. @returns undefined if nothing is held */
const readHold = async (
  { deps, store, provider }: IntentParts,
  payment: VisiblePayment,
): Promise<VisiblePayment | undefined> => {
  const found = ifKnown(await provider.findPayment(providerReference(payment)));
  const report = requireReport(found, { payment_id: payment.id });
  if (report?.status !== 'requires_capture') return undefined;
  const { record } = await store.change(payment, (current) => {
    if (!isAhead(current.status, report.status)) return undefined;
    const reading = decideReading(deps, { payment: current, report, cause: 'reconciliation' });
    return reading.outcome === 'store' ? { next: reading.next, by: 'read' } : undefined;
  });
  return record;
};
