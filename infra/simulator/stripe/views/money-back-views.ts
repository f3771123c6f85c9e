import type { LedgerDispute, LedgerRefund } from '../../ledger/documents.ts';
import type { StripeObject } from '../wire/request.ts';
import { refundTransactionId } from './balance-views.ts';
import { lower, seconds } from './payment-views.ts';

export const stripeRefundView = (refund: LedgerRefund): StripeObject => ({
  id: refund.id,
  object: 'refund',
  amount: refund.amount,
  balance_transaction: refundTransactionId(refund),
  charge: refund.chargeId,
  created: seconds(refund.createdAt),
  currency: lower(refund.currency),
  customer: null,
  customer_account: null,
  destination_details: {
    card: { reference_status: 'pending', reference_type: 'acquirer_reference_number', type: 'refund' },
    type: 'card',
  },
  ...(refund.failureReason !== null && { failure_reason: refund.failureReason }),
  ...(refund.status === 'pending' && { pending_reason: 'processing' }),
  metadata: refund.metadata,
  payment_intent: refund.paymentId,
  payment_method: null,
  reason: refund.reason,
  receipt_number: null,
  source_transfer_reversal: null,
  status: refund.status,
  transfer_reversal: null,
});

/**
 * An inquiry has its own statuses until it is won or lost. The status `prevented` means that a dispute was settled
 * before a chargeback.
 */
const statusOf = ({ status, inquiry }: LedgerDispute): string => {
  if (status === 'won' || status === 'lost') return status;
  if (inquiry) return `warning_${status}`;
  return status === 'closed' ? 'prevented' : status;
};

/** True if the disputed charge can be refunded, because the bank has not taken the money or has returned it. */
export const isRefundable = ({ status, inquiry }: LedgerDispute): boolean =>
  status === 'won' || status === 'closed' || (inquiry && status !== 'lost');

export const stripeDisputeView = (dispute: LedgerDispute): StripeObject => ({
  id: dispute.id,
  object: 'dispute',
  amount: dispute.amount,
  balance_transactions: [],
  charge: dispute.chargeId,
  created: seconds(dispute.createdAt),
  currency: lower(dispute.currency),
  enhanced_eligibility_types: [],
  evidence: { ...Object.fromEntries(EVIDENCE_FIELDS.map((field) => [field, null])), enhanced_evidence: {} },
  evidence_details: {
    due_by: seconds(dispute.evidenceDueAt),
    enhanced_eligibility: {},
    has_evidence: dispute.status !== 'needs_response',
    past_due: false,
    submission_count: dispute.status === 'needs_response' ? 0 : 1,
    submission_method: dispute.status === 'needs_response' ? 'not_submitted' : 'manual',
  },
  is_charge_refundable: isRefundable(dispute),
  livemode: false,
  metadata: dispute.metadata,
  payment_intent: dispute.paymentId,
  payment_method_details: {
    card: {
      brand: 'visa',
      case_type: dispute.inquiry ? 'inquiry' : 'chargeback',
      network: 'visa',
      network_reason_code: '10.4',
    },
    type: 'card',
  },
  reason: dispute.reason,
  status: statusOf(dispute),
});

export const EVIDENCE_FIELDS = [
  'access_activity_log',
  'billing_address',
  'cancellation_policy',
  'cancellation_policy_disclosure',
  'cancellation_rebuttal',
  'customer_communication',
  'customer_email_address',
  'customer_name',
  'customer_purchase_ip',
  'customer_signature',
  'duplicate_charge_documentation',
  'duplicate_charge_explanation',
  'duplicate_charge_id',
  'product_description',
  'receipt',
  'refund_policy',
  'refund_policy_disclosure',
  'refund_refusal_explanation',
  'service_date',
  'service_documentation',
  'shipping_address',
  'shipping_carrier',
  'shipping_date',
  'shipping_documentation',
  'shipping_tracking_number',
  'uncategorized_file',
  'uncategorized_text',
] as const;
