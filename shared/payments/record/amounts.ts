import { type VisiblePayment, withDraft } from './payment.ts';

/** An amount, as a provider or one of its events says it; undefined where it says none. */
export interface ReportedAmount {
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
}

/**
 * The record as the provider has it: as it stands, or with its draft in force where the provider names the draft's
 * amount. Undefined where the provider names an amount of neither. Every reader of a provider's word decides here which
 * amount is the payment's.
 */
export const matchAmount = (payment: VisiblePayment, said: ReportedAmount): VisiblePayment | undefined => {
  if (findMismatch(payment, said) === undefined) return payment;
  if (!payment.draft) return undefined;
  const updated = withDraft(payment, payment.draft);
  return findMismatch(updated, said) === undefined ? updated : undefined;
};

/** How an amount and currency that the provider names differ from the record's. */
export const findMismatch = (
  payment: { readonly totalCents: number; readonly currency: string },
  said: ReportedAmount,
): 'amount differs' | 'currency differs' | undefined => {
  if (said.amountCents !== undefined && said.amountCents !== payment.totalCents) return 'amount differs';
  if (said.currency !== undefined && said.currency !== payment.currency) return 'currency differs';
  return undefined;
};
