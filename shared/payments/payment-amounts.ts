import type { ProviderCapture, ProviderHold, ReportedStatus } from '../providers/payment-port.ts';
import { type Payment, type VisiblePayment, withDraft } from './payment.ts';

/** The amount in a provider's response or event. `amountCents` is undefined if the provider sends no amount. */
export interface ReportedAmount {
  readonly amountCents: number | undefined;
  readonly currency: string | undefined;
  readonly status?: ReportedStatus | undefined;
  readonly hold?: ProviderHold | undefined;
  readonly captures?: readonly ProviderCapture[] | undefined;
}

/**
 * Matches a report's amount with the payment. Every report is checked here.
 * @returns the payment as stored if the amount matches, or with its draft if only the draft matches; undefined if
 * neither matches
 */
export const matchAmount = (payment: VisiblePayment, reported: ReportedAmount): VisiblePayment | undefined => {
  const updated = payment.draft && withDraft(payment, payment.draft);
  const byDraft = updated && findMismatch(updated, reported) === undefined ? updated : undefined;
  // A hold proves that the provider has applied the draft's manual capture.
  const isHeldByDraft = byDraft?.captureMethod === 'manual' && payment.captureMethod === undefined && reported.hold;
  return findMismatch(payment, reported) === undefined && !isHeldByDraft ? payment : byDraft;
};

type Amounts = Pick<Payment, 'totalCents' | 'currency'> &
  Partial<Pick<Payment, 'status' | 'captureMethod' | 'authorizedCents'>>;

/** How the reported amount and currency differ from the record; undefined if they agree. */
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
 * True if the report's amount fits the payment. A capture may take less than the held amount, and a provider may lower
 * the held amount. The captured amount never falls, but further captures may add to it.
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

/** Maps a provider's status to ours. Square reports an automatic payment as held until its capture is done. */
export const statusHere = (
  { captureMethod }: Pick<Payment, 'captureMethod'>,
  status: ReportedStatus,
): ReportedStatus => (status === 'requires_capture' && captureMethod !== 'manual' ? 'processing' : status);
