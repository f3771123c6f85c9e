/** @module The statuses and reasons of refunds and disputes, and the money that a view shows. */

export const REFUND_STATUSES = ['pending', 'succeeded', 'failed', 'canceled'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const REFUND_REASONS = ['duplicate', 'fraudulent', 'requested_by_customer', 'other'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

export const DISPUTE_STATUSES = ['needs_response', 'under_review', 'won', 'lost', 'closed'] as const;
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number];

/** True if the provider has decided the dispute or closed it without a decision. The provider may open it again. */
export const isClosedDispute = (status: DisputeStatus): boolean =>
  status === 'won' || status === 'lost' || status === 'closed';

/** The money of a payment as its view shows it, in minor units. */
export interface ShownMoney {
  readonly captured_cents: number;
  readonly refunded_cents: number;
  readonly refundable_cents: number;
  readonly disputed_cents: number;
  readonly lost_cents: number;
}

/** What can be refunded despite an open dispute, in minor units. */
export const refundableDespiteDispute = (shown: ShownMoney): number =>
  Math.max(
    0,
    Math.min(
      shown.captured_cents - shown.refunded_cents - shown.lost_cents,
      shown.refundable_cents + shown.disputed_cents,
    ),
  );
