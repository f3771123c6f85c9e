/** The states and reasons of money that goes back to a payer. */
export const REFUND_STATUSES = ['pending', 'succeeded', 'failed', 'canceled'] as const;
export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const REFUND_REASONS = ['duplicate', 'fraudulent', 'requested_by_customer', 'other'] as const;
export type RefundReason = (typeof REFUND_REASONS)[number];

export const DISPUTE_STATUSES = ['needs_response', 'under_review', 'won', 'lost', 'closed'] as const;
/** The statuses after which nothing follows. */
export const CLOSED_DISPUTE_STATUSES: readonly string[] = ['won', 'lost', 'closed'];
export type DisputeStatus = (typeof DISPUTE_STATUSES)[number];
