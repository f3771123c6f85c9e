/** @module A payment with several captures: their sum, the payment's prices, and the capture to refund. */

import { DomainError } from '../../core/errors.ts';
import type { Prices } from '../../core/money.ts';
import type { ProviderCapture } from '../../providers/payment-port.ts';
import { moneyAccount } from '../money-account.ts';
import type { Payment, VisiblePayment } from '../payment.ts';

type Captures = NonNullable<Payment['captures']>;

/** The captures of the next version. Refunds from before a second capture belong to the first capture. */
export const capturesOfNext = (payment: Payment, reported: readonly ProviderCapture[]): Captures => {
  const { refunded, refunding } = moneyAccount(payment);
  const known = payment.captures ?? [{ id: payment.providerPaymentId, returnedCents: refunded + refunding }];
  return reported.map(({ captureId: id, amountCents }) => ({
    id,
    amountCents,
    returnedCents: known.find((capture) => capture.id === id)?.returnedCents ?? 0,
  }));
};

/** The prices of several captures. Tax and discount are those of the hold, in proportion to the captured total. */
export const pricesInProportion = (payment: Payment, totalCents: number): Prices => {
  const { taxCents: tax, discountCents: discount } = payment.heldSplit ?? payment;
  const heldCents = payment.authorizedCents ?? totalCents;
  const discountCents = shareOf(discount, totalCents, heldCents);
  // Rounding may not make the subtotal negative.
  const taxCents = Math.min(shareOf(tax, totalCents, heldCents), totalCents + discountCents);
  return { totalCents, taxCents, discountCents, subtotalCents: totalCents - taxCents + discountCents };
};

/** The part of an amount, rounded half up. */
const shareOf = (cents: number, part: number, whole: number): number =>
  Number((2n * BigInt(cents) * BigInt(part) + BigInt(whole)) / (2n * BigInt(whole)));

/** Stores the hold's tax and discount if a capture changes those of the payment. */
export const withHeldSplit = (payment: Payment, prices: Prices): Prices & Pick<Payment, 'heldSplit'> => {
  const { taxCents, discountCents, heldSplit = { taxCents, discountCents } } = payment;
  const isSame = prices.taxCents === heldSplit.taxCents && prices.discountCents === heldSplit.discountCents;
  return { ...prices, ...(!isSame && { heldSplit }) };
};

/** The captures after a change of a refund's amount. A refund without a capture id belongs to the first capture. */
export const capturesReturning = (
  { captures, providerPaymentId }: Payment,
  { captureId = providerPaymentId }: { readonly captureId?: string | undefined },
  byCents: number,
): Captures | undefined =>
  captures?.map((capture) =>
    capture.id === captureId ? { ...capture, returnedCents: capture.returnedCents + byCents } : capture,
  );

/**
 * The capture to refund, with the largest refundable amount; undefined if the payment has only one capture.
 * @throws DomainError INVALID_STATE if no capture has that much left
 */
export const captureToRefund = (payment: VisiblePayment, amountCents: number): string | undefined => {
  if (!payment.captures) return undefined;
  const left = payment.captures.map((capture) => ({ id: capture.id, cents: leftOf(payment, capture) }));
  const most = left.reduce((best, one) => (one.cents > best.cents ? one : best), { id: '', cents: 0 });
  if (amountCents <= most.cents) return most.id;
  throw new DomainError('INVALID_STATE', {
    message: 'The amount exceeds the rest of each capture; send several refunds',
    details: {
      payment_id: payment.id,
      refundable_cents: moneyAccount(payment, { despiteDispute: true }).refundable,
      captures: left.map(({ cents }) => ({ refundable_cents: cents })),
    },
  });
};

/** A capture's refundable amount. A dispute without a capture id belongs to the first capture. */
const leftOf = (
  { disputes = [], providerPaymentId }: VisiblePayment,
  { id, amountCents, returnedCents }: Captures[number],
): number => {
  const lost = disputes.filter((one) => one.lostAt !== undefined && (one.captureId ?? providerPaymentId) === id);
  return Math.max(0, amountCents - returnedCents - lost.reduce((sum, one) => sum + one.amountCents, 0));
};

/** How a capture's event compares with the record of a succeeded payment. */
export type CaptureNews =
  /** The record has this capture. */
  | 'known'
  /** The record has this capture with another amount. */
  | 'other amount'
  /** The record lacks this capture, so the provider may have captured more. */
  | 'unknown';

/** @returns undefined unless the object is a capture of a held and then succeeded payment */
export const captureNews = (
  { captureMethod, status, captures, providerPaymentId }: Payment,
  object: { readonly id: string; readonly intentId: string | undefined; readonly amountCents: number | undefined },
): CaptureNews | undefined => {
  if (captureMethod !== 'manual' || status !== 'succeeded' || object.intentId === undefined) return undefined;
  if (!captures) return object.id === providerPaymentId ? undefined : 'unknown';
  const known = captures.find(({ id }) => id === object.id);
  if (!known) return 'unknown';
  return known.amountCents === object.amountCents ? 'known' : 'other amount';
};
