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
 * status. First drops an update not applied by the provider. Canceling a payment with manual capture claims an
 * empty draft, which blocks confirmations.
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
    // The payer may have confirmed in the browser. Only the merchant may release a hold.
    const canceled = (await readHold(parts, claimed)) ?? (await cancelAtProvider(parts, claimed, cause));
    return canceled === claimed ? payment : canceled;
  } finally {
    await parts.store.dropDraft(claimed);
  }
};

/** @throws DomainError PAYMENT_IN_PROGRESS if another request works on the payment */
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

/** Stores an unrecorded hold. @returns undefined if nothing is held */
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
