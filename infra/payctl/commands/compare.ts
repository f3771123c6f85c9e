import type { Outcome } from '../../../shared/core/outcome.ts';
import { instant } from '../../../shared/core/time.ts';
import { findMismatch, matchAmount } from '../../../shared/payments/record/amounts.ts';
import { decideRead } from '../../../shared/payments/record/decisions.ts';
import { RESEND_WITHIN_MS } from '../../../shared/payments/record/due.ts';
import type { Payment, VisiblePayment } from '../../../shared/payments/record/payment.ts';
import { providerReference } from '../../../shared/payments/record/versions.ts';
import type { ProviderPayment } from '../../../shared/providers/port/payments.ts';
import type { Installation } from '../installation/installation.ts';

/** A difference between a payment here and at its provider. */
export interface Drift {
  readonly payment_id: string;
  readonly provider: string;
  readonly provider_payment_id: string | null;
  readonly kind:
    | 'status differs'
    | 'amount differs'
    | 'currency differs'
    | 'never reached the provider'
    | 'not at the provider'
    | 'cannot be read'
    | 'creation unfinished';
  readonly here: string;
  readonly there: string;
}

/** Reads the payment at its provider. A payment without an intent was never sent there, and agrees. */
export const compareWithProvider = async (
  { deps }: Pick<Installation, 'deps'>,
  payment: VisiblePayment,
): Promise<{ readonly drift: Drift | undefined; readonly report: ProviderPayment | undefined }> => {
  if (payment.providerIntentId === undefined) return { drift: undefined, report: undefined };
  const provider = await deps.providers.find(payment.providerId);
  const found: Outcome<ProviderPayment> = provider?.can.payments
    ? await provider.findPayment(providerReference(payment))
    : { kind: 'unknown', reason: 'unreachable' };
  return { drift: findDifference(payment, found, deps.now()), report: found.kind === 'done' ? found.value : undefined };
};

/** The outcome of the creation is unknown: the provider has not answered. */
export const reportUnfinished = (payment: Payment): Drift =>
  findingOf(payment, { kind: 'creation unfinished', here: payment.status, there: 'no answer' });

const findingOf = (payment: Payment, difference: Pick<Drift, 'kind' | 'here' | 'there'>): Drift => ({
  payment_id: payment.id,
  provider: payment.providerId,
  provider_payment_id: payment.providerPaymentId ?? payment.providerIntentId ?? null,
  ...difference,
});

const findDifference = (payment: VisiblePayment, found: Outcome<ProviderPayment>, now: number): Drift | undefined => {
  const of = (kind: Drift['kind'], here: string, there: string) => findingOf(payment, { kind, here, there });
  if (found.kind === 'unknown' || found.kind === 'not_done') return of('cannot be read', payment.status, found.reason);
  if (found.kind !== 'done') return of('not at the provider', payment.status, 'nothing');
  const report = found.value;
  const mismatch = matchAmount(payment, report) ? undefined : findMismatch(payment, report);
  if (mismatch === 'amount differs') return of(mismatch, String(payment.totalCents), String(report.amountCents));
  if (mismatch) return of('currency differs', payment.currency, report.currency ?? '');
  const decision = decideRead(payment, report);
  if (decision.kind === 'store') return of('status differs', payment.status, report.status);
  const isLate = payment.claimedAt !== undefined && now - instant(payment.claimedAt) > RESEND_WITHIN_MS;
  return decision.kind === 'not reached' && isLate
    ? of('never reached the provider', payment.status, report.status)
    : undefined;
};
