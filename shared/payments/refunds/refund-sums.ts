/** @module The sums of refunds on a payment. They change in the same transaction as the refund. */

import { DomainError } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import { capturesReturning } from '../holds/several-captures.ts';
import { moneyAccount } from '../money-account.ts';
import type { VisiblePayment } from '../payment.ts';
import { versionAfter } from '../payment-fields.ts';
import type { Refund } from './refund.ts';

interface Sums {
  readonly refundedCents: number;
  readonly refundedCount: number;
  readonly refundingCents: number;
}

const NOTHING: Sums = { refundedCents: 0, refundedCount: 0, refundingCents: 0 };

const shareOf = (refund: Pick<Refund, 'status' | 'amountCents'> | undefined): Sums => {
  if (refund?.status === 'succeeded') return { ...NOTHING, refundedCents: refund.amountCents, refundedCount: 1 };
  if (refund?.status === 'pending') return { ...NOTHING, refundingCents: refund.amountCents };
  return NOTHING;
};

/** The amount that the refund has taken from its capture or has reserved. */
const reservedBy = (refund: Pick<Refund, 'status' | 'amountCents'> | undefined): number => {
  const { refundedCents, refundingCents } = shareOf(refund);
  return refundedCents + refundingCents;
};

/** True if a change keeps the refund's status and amount, and so the sums of its payment. */
export const isSameShare = (was: Refund, next: Refund): boolean =>
  was.status === next.status && was.amountCents === next.amountCents;

/**
 * The amount to refund; undefined if a lost dispute has taken this amount. `requireUndisputed` checks open disputes.
 * @throws DomainError INVALID_STATE; REFUND_EXCEEDS_PAYMENT with the refundable amount
 */
export const requireRefundable = (payment: VisiblePayment, amountCents: number | undefined): number | undefined => {
  if (payment.status !== 'succeeded') {
    throw new DomainError('INVALID_STATE', {
      message: 'Only a succeeded payment can be refunded',
      details: { payment_id: payment.id, status: payment.status },
    });
  }
  const { refundable: left, captured, refunded, refunding, lost } = moneyAccount(payment, { despiteDispute: true });
  const amount = amountCents ?? left;
  if (amount >= 1 && amount <= left) return amount;
  const isTakenByDispute = lost > 0 && Math.max(1, amount) <= captured - refunded - refunding;
  if (isTakenByDispute) return undefined;
  const { refundable } = moneyAccount(payment);
  throw new DomainError('REFUND_EXCEEDS_PAYMENT', {
    details: { payment_id: payment.id, refundable_cents: refundable },
  });
};

/** The payment after a change of one of its refunds. @param was the refund before; undefined if it is new */
export const withRefund = (
  payment: VisiblePayment,
  { was, next, now }: { readonly was: Refund | undefined; readonly next: Refund; readonly now: Instant },
): VisiblePayment => ({
  ...withShare(payment, shareOf(was), shareOf(next)),
  captures: capturesReturning(payment, next, reservedBy(next) - reservedBy(was)),
  ...versionAfter(payment, 'refund', now),
  refund: {
    id: next.id,
    amountCents: next.amountCents,
    status: next.status,
    was: was?.status,
    reason: next.reason,
    completedAt: next.completedAt,
  },
});

/** The payment without a refund that did not happen. Its reservation is released, and no event follows. */
export const withoutRefund = (payment: VisiblePayment, refund: Refund, now: Instant): VisiblePayment => ({
  ...withShare(payment, shareOf(refund), NOTHING),
  captures: capturesReturning(payment, refund, -reservedBy(refund)),
  ...versionAfter(payment, 'release', now),
});

const withShare = (payment: VisiblePayment, was: Sums, next: Sums): VisiblePayment => ({
  ...payment,
  refundedCents: (payment.refundedCents ?? 0) - was.refundedCents + next.refundedCents,
  refundedCount: (payment.refundedCount ?? 0) - was.refundedCount + next.refundedCount,
  refundingCents: (payment.refundingCents ?? 0) - was.refundingCents + next.refundingCents,
});

export const hasGivenBackTooMuch = (payment: VisiblePayment): boolean => {
  const { refunded, lost, captured } = moneyAccount(payment);
  return refunded + lost > captured;
};
