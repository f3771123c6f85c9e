/** The states and reasons of money that goes back to a payer. */
export const REFUND_STATUSES = ['pending', 'succeeded', 'failed', 'canceled'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const REFUND_REASONS = ['duplicate', 'fraudulent', 'requested_by_customer', 'other'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

export const DISPUTE_STATUSES = ['needs_response', 'under_review', 'won', 'lost', 'closed'] as const;
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number];

/** The provider has decided, or closed without a decision. It may open the dispute again. */
export const isClosedDispute = (status: DisputeStatus): boolean =>
  status === 'won' || status === 'lost' || status === 'closed';
