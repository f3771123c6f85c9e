import { type VisiblePayment, withDraft } from './payment.ts';

/** The amount in a provider's answer or event; undefined where it names none. */
export interface ReportedAmount {
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
}

/**
 * The payment with the amount that the provider names: as stored, or with its draft in force. Undefined where the provider
 * names another amount. Every report of a provider is checked here.
 */
export const matchAmount = (payment: VisiblePayment, reported: ReportedAmount): VisiblePayment | undefined => {
  if (findMismatch(payment, reported) === undefined) return payment;
  if (!payment.draft) return undefined;
  const updated = withDraft(payment, payment.draft);
  return findMismatch(updated, reported) === undefined ? updated : undefined;
};

/** How an amount and currency that the provider names differ from the record's. */
export const findMismatch = (
  payment: { readonly totalCents: number; readonly currency: string },
  reported: ReportedAmount,
): 'amount differs' | 'currency differs' | undefined => {
  if (reported.amountCents !== undefined && reported.amountCents !== payment.totalCents) return 'amount differs';
  if (reported.currency !== undefined && reported.currency !== payment.currency) return 'currency differs';
  return undefined;
};

/** What may still be given back, in minor units; 0 unless the payment has succeeded. */
export const refundableCents = (payment: VisiblePayment): number =>
  payment.status === 'succeeded'
    ? Math.max(0, payment.totalCents - (payment.refundedCents ?? 0) - (payment.refundingCents ?? 0))
    : 0;
