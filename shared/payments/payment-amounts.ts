import { type VisiblePayment, withDraft } from './payment.ts';

/** The amount in a provider's response or event; undefined if it names none. */
export interface ReportedAmount {
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
}

/** The payment as stored or with its draft in force; undefined for another amount. Every report is checked here. */
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

/** The amount that can still be refunded, in minor units; 0 unless the payment has succeeded. */
export const refundableCents = (payment: VisiblePayment): number =>
  payment.status === 'succeeded'
    ? Math.max(0, payment.totalCents - (payment.refundedCents ?? 0) - (payment.refundingCents ?? 0))
    : 0;
