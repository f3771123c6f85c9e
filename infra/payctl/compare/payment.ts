import { RESEND_WITHIN_MS } from '../../../shared/calls/call-times.ts';
import { amountWithCurrency } from '../../../shared/core/money.ts';
import type { Outcome } from '../../../shared/core/outcome.ts';
import { instant } from '../../../shared/core/time.ts';
import { capturableOf, holdChange } from '../../../shared/payments/holds/hold-versions.ts';
import type { Payment, VisiblePayment } from '../../../shared/payments/payment.ts';
import { findMismatch, matchAmount, statusHere } from '../../../shared/payments/payment-amounts.ts';
import { decideRead, wasFailedUnreached } from '../../../shared/payments/payment-decisions.ts';
import { providerReference } from '../../../shared/payments/payment-versions.ts';
import type { ProviderPayment } from '../../../shared/providers/payment-port.ts';
import type { Installation } from '../installation/installation.ts';

/** A difference between our record and the provider's, for a payment or one of its refunds or disputes. */
export interface Drift {
  readonly payment_id: string;
  readonly provider: string;
  readonly provider_payment_id: string | null;
  /** The provider's id of the differing refund or dispute. */
  readonly provider_object_id?: string;
  readonly kind: DriftKind;
  readonly here: string;
  readonly there: string;
}

export type DriftKind =
  | 'status differs'
  | 'amount differs'
  | 'currency differs'
  | 'hold differs'
  | 'captured more'
  | 'never reached the provider'
  | 'not at the provider'
  | 'creation unfinished'
  | 'payment not here'
  | 'charged again'
  | `${'refund' | 'dispute'} ${'not here' | 'not at the provider' | 'status differs' | 'amount differs' | 'currency differs'}`
  | `dispute ${'reason differs' | 'due date differs'}`;

/** The reason why a provider could not be read. */
export interface Unread {
  readonly unread: string;
}

/** Matches the errors of a provider that refuses our keys. This provider cannot be read. */
export const KEYS_REFUSED = /auth|api_key|permission|forbidden|HTTP_40[13]/i;

/** Compares a payment with its provider. A payment without an intent never reached the provider, so it matches. */
export const comparePayment = async (
  { deps }: Pick<Installation, 'deps'>,
  payment: VisiblePayment,
): Promise<{ readonly drift: Drift | undefined; readonly report: ProviderPayment | undefined } | Unread> => {
  if (payment.providerIntentId === undefined) return { drift: undefined, report: undefined };
  const provider = await deps.providers.find(payment.providerId);
  if (!provider?.can.payments) return { unread: 'closed' };
  const found = await provider.findPayment(providerReference(payment));
  if (isUnread(found)) return { unread: found.reason };
  return { drift: findDifference(payment, found, deps.now()), report: found.kind === 'done' ? found.value : undefined };
};

const isUnread = (
  found: Outcome<unknown>,
): found is Extract<Outcome<unknown>, { kind: 'unknown' | 'not_done' | 'refused' }> =>
  found.kind === 'unknown' ||
  found.kind === 'not_done' ||
  (found.kind === 'refused' && KEYS_REFUSED.test(found.reason));

type Difference = Pick<Drift, 'kind' | 'here' | 'there' | 'provider_object_id'>;

/** Reports a creation with an unknown outcome, because the provider did not respond. */
export const reportUnfinished = (payment: Payment): Drift =>
  findingOf(payment, { kind: 'creation unfinished', here: payment.status, there: 'no answer' });

export const findingOf = (payment: Payment, difference: Difference): Drift => ({
  payment_id: payment.id,
  provider: payment.providerId,
  provider_payment_id: payment.providerPaymentId ?? payment.providerIntentId ?? null,
  ...difference,
});

const holdInWords = (payment: VisiblePayment): string =>
  `${amountWithCurrency(capturableOf(payment), payment.currency)} until ${payment.captureBefore ?? 'an unknown time'}`;

const findMoneyDifference = (payment: VisiblePayment, report: ProviderPayment): Difference | undefined => {
  const { totalCents, currency } = payment;
  const mismatch = matchAmount(payment, report) ? undefined : findMismatch(payment, report);
  if (mismatch === 'currency differs') return { kind: mismatch, here: currency, there: report.currency ?? '' };
  const kind = mismatch ?? (hasGrown(payment, report) ? 'captured more' : undefined);
  if (!kind) return undefined;
  const there = report.amountCents === undefined ? 'none' : amountWithCurrency(report.amountCents, currency);
  return { kind, here: amountWithCurrency(totalCents, currency), there };
};

/** True if the provider has captured more of the hold than our record shows. */
const hasGrown = (payment: VisiblePayment, { status, amountCents = 0 }: ProviderPayment): boolean =>
  payment.status === 'succeeded' &&
  status === 'succeeded' &&
  payment.captureMethod === 'manual' &&
  amountCents > payment.totalCents;

/** @returns the difference between a payment and the provider's report. */
export const findDifference = (
  payment: VisiblePayment,
  found: Outcome<ProviderPayment>,
  now: number,
): Drift | undefined => {
  const of = (kind: DriftKind, here: string, there: string) => findingOf(payment, { kind, here, there });
  if (found.kind !== 'done') return of('not at the provider', payment.status, 'nothing');
  const report = found.value;
  const money = findMoneyDifference(payment, report);
  if (money) return findingOf(payment, money);
  if (wasFailedUnreached(payment, report)) return undefined;
  const decision = decideRead(payment, { ...report, status: statusHere(payment, report.status) });
  if (decision.kind === 'store') return of('status differs', payment.status, report.status);
  const changed = holdChange(payment, report, now);
  if (changed) return of('hold differs', holdInWords(payment), holdInWords({ ...payment, ...changed }));
  const isLate = payment.claimedAt !== undefined && now - instant(payment.claimedAt) > RESEND_WITHIN_MS;
  return decision.kind === 'not reached' && isLate
    ? of('never reached the provider', payment.status, report.status)
    : undefined;
};
