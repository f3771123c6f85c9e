import type { DisputeStatus, RefundReason, RefundStatus } from '../../core/money-back.ts';
import type { ProviderDispute, ProviderRefund } from '../port/refunds.ts';
import { reportedAmount } from './currencies.ts';

/** The fields that are read of a Refund, as the SDK answers it or an event holds it. */
export interface StripeRefund {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly created: number;
  readonly status?: string | null | undefined;
  readonly reason?: string | null | undefined;
  readonly failure_reason?: string | null | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | null | undefined;
}

export const readStripeRefund = (refund: StripeRefund): ProviderRefund => {
  const ourRefundId = refund.metadata?.['refund_id'];
  return {
    refundId: refund.id,
    status: refundStatusOf(refund.status),
    ...reportedAmount(refund),
    ourRefundId: typeof ourRefundId === 'string' ? ourRefundId : undefined,
    reason: reasonOf(refund.reason),
    failureCode: refund.failure_reason ?? undefined,
    createdAt: refund.created,
  };
};

const refundStatusOf = (status: string | null | undefined): RefundStatus => {
  switch (status) {
    case 'succeeded':
    case 'failed':
    case 'canceled':
      return status;
    default:
      // `requires_action` waits for the payer. A status that this SDK does not know is not final.
      return 'pending';
  }
};

const reasonOf = (reason: string | null | undefined): RefundReason | undefined => {
  switch (reason) {
    case null:
    case undefined:
      return undefined;
    case 'duplicate':
    case 'fraudulent':
    case 'requested_by_customer':
      return reason;
    default:
      return 'other';
  }
};

/** The fields that are read of a Dispute. */
export interface StripeDispute {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly created: number;
  readonly status: string;
  readonly reason?: string | null | undefined;
  readonly evidence_details?: { readonly due_by?: number | null | undefined } | null | undefined;
}

export const readStripeDispute = (dispute: StripeDispute): ProviderDispute => ({
  disputeId: dispute.id,
  status: disputeStatusOf(dispute.status),
  ...reportedAmount(dispute),
  reason: dispute.reason?.toLowerCase(),
  // Stripe writes 0 where the bank takes no evidence.
  evidenceDueBy: dispute.evidence_details?.due_by || undefined,
  createdAt: dispute.created,
});

/** An inquiry (`warning_…`) counts as the state after the prefix, and so does an appeal. */
const disputeStatusOf = (status: string): DisputeStatus => {
  switch (status.replace(/^(?:warning|appeal)_/, '')) {
    case 'needs_response':
      return 'needs_response';
    case 'won':
      return 'won';
    case 'lost':
      return 'lost';
    case 'closed':
    case 'prevented':
      return 'closed';
    default:
      // `under_review`. A status that this SDK does not know is not final.
      return 'under_review';
  }
};
