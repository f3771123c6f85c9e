/** @module The statuses and reasons of refunds and disputes. */

export const REFUND_STATUSES = ['pending', 'succeeded', 'failed', 'canceled'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const REFUND_REASONS = ['duplicate', 'fraudulent', 'requested_by_customer', 'other'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

export const DISPUTE_STATUSES = ['needs_response', 'under_review', 'won', 'lost', 'closed'] as const;
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number];

/** True if the dispute is decided or closed without a decision. The provider may open it again. */
export const isClosedDispute = (status: DisputeStatus): boolean =>
  status === 'won' || status === 'lost' || status === 'closed';
