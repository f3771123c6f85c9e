import type { ProviderCapture, ProviderHold, ReportedStatus } from '../providers/payment-port.ts';
import { type Payment, type VisiblePayment, withDraft } from './payment.ts';

/** The amount in a provider's response or event; undefined if it names none. */
export interface ReportedAmount {
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
  readonly status?: ReportedStatus | undefined;
  readonly hold?: ProviderHold | undefined;
  readonly captures?: readonly ProviderCapture[] | undefined;
}

/** The payment as stored or with its draft in force; undefined for another amount. Every report is checked here. */
export const matchAmount = (payment: VisiblePayment, reported: ReportedAmount): VisiblePayment | undefined => {
  const updated = payment.draft && withDraft(payment, payment.draft);
  const byDraft = updated && findMismatch(updated, reported) === undefined ? updated : undefined;
  // A hold shows that the update to manual capture has reached the provider.
  const isHeldByDraft = byDraft?.captureMethod === 'manual' && payment.captureMethod === undefined && reported.hold;
  return findMismatch(payment, reported) === undefined && !isHeldByDraft ? payment : byDraft;
};

type Amounts = Pick<Payment, 'totalCents' | 'currency'> &
  Partial<Pick<Payment, 'status' | 'captureMethod' | 'authorizedCents'>>;

/** How an amount and currency that the provider names differ from the record's. */
export const findMismatch = (
  payment: Amounts,
  reported: ReportedAmount,
): 'amount differs' | 'currency differs' | undefined => {
  const { amountCents, currency } = reported;
  if (amountCents !== undefined && !isAmountOf(payment, amountCents, reported)) return 'amount differs';
  if (currency !== undefined && currency !== payment.currency) return 'currency differs';
  return undefined;
};

/**
 * A capture may take less than was held, and a provider may lower what is held. The amount of a capture never changes,
 * but further captures may take more of the hold.
 */
const isAmountOf = (payment: Amounts, amountCents: number, { status, hold, captures }: ReportedAmount): boolean => {
  const { captureMethod, totalCents, authorizedCents } = payment;
  const isCaptured = status === 'succeeded';
  if (captureMethod !== 'manual') return amountCents === totalCents;
  if (isCaptured && payment.status === 'succeeded') {
    const mostCents = captures ? Math.max(totalCents, authorizedCents ?? totalCents) : totalCents;
    return amountCents >= totalCents && amountCents <= mostCents;
  }
  const heldCents = authorizedCents ?? totalCents;
  const isOfThisHold =
    isCaptured || authorizedCents !== undefined || (hold?.authorizedCents ?? amountCents) === heldCents;
  return isOfThisHold && amountCents >= 1 && amountCents <= heldCents;
};

/** The provider's status as the record knows it. Square reports an automatic payment that it still captures as held. */
export const statusHere = (
  { captureMethod }: Pick<Payment, 'captureMethod'>,
  status: ReportedStatus,
): ReportedStatus => (status === 'requires_capture' && captureMethod !== 'manual' ? 'processing' : status);
