/** @module Shows the ledger's refunds and disputes as PayPal's objects. */

import type { DisputeReason } from '../../ledger/behaviours.ts';
import type { LedgerCharge, LedgerDispute, LedgerRefund } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { Link } from '../wire/errors.ts';
import { moneyView } from '../wire/order-fields.ts';
import { API, type PayPalObject, readMerchantIds, timeView } from './fields.ts';

const REFUND_STATUS: Readonly<Record<LedgerRefund['status'], string>> = {
  pending: 'PENDING',
  succeeded: 'COMPLETED',
  failed: 'FAILED',
  canceled: 'CANCELLED',
};

const refundLinks = ({ id, chargeId }: LedgerRefund): Link[] => [
  { href: `${API}/v2/payments/refunds/${id}`, rel: 'self', method: 'GET' },
  { href: `${API}/v2/payments/captures/${chargeId}`, rel: 'up', method: 'GET' },
];

export const minimalRefundView = (refund: LedgerRefund): PayPalObject => ({
  id: refund.id,
  status: REFUND_STATUS[refund.status],
  links: refundLinks(refund),
});

/** Without merchant ids of its own, a refund has those of its capture, as at PayPal. */
export const paypalRefundView = (unit: Unit, refund: LedgerRefund): PayPalObject => {
  const charge = unit.documents.charges.get(unit.slot, refund.chargeId);
  const { custom_id, invoice_id } = { ...(charge && readMerchantIds(charge)), ...readMerchantIds(refund) };
  const waits = refund.status === 'pending' || refund.status === 'failed';
  const amount = moneyView(refund.amount, refund.currency);
  return {
    id: refund.id,
    status: REFUND_STATUS[refund.status],
    ...(waits && { status_details: { reason: 'ECHECK' } }),
    amount,
    ...(custom_id !== undefined && { custom_id }),
    ...(invoice_id !== undefined && { invoice_id }),
    ...(refund.note !== null && { note_to_payer: refund.note }),
    seller_payable_breakdown: {
      gross_amount: amount,
      paypal_fee: moneyView(0, refund.currency),
      net_amount: amount,
      total_refunded_amount: moneyView(refundedUntil(unit, refund), refund.currency),
    },
    payer: { email_address: 'shop@example.com', merchant_id: 'X5XAHHCG636FA' },
    create_time: timeView(refund.createdAt),
    update_time: timeView(refund.updatedAt),
    links: refundLinks(refund),
  };
};

/** Oldest first. */
export const refundsOf = (unit: Unit, orderId: string): LedgerRefund[] =>
  unit.documents.refunds.list(unit.slot, { holder: orderId, limit: 1_000 }).reverse();

const refundedUntil = (unit: Unit, refund: LedgerRefund): number => {
  const refunds = refundsOf(unit, refund.paymentId).filter(({ chargeId }) => chargeId === refund.chargeId);
  return refunds
    .slice(0, refunds.findIndex(({ id }) => id === refund.id) + 1)
    .filter(({ status }) => status === 'pending' || status === 'succeeded')
    .reduce((sum, { amount }) => sum + amount, 0);
};

/** A capture's status includes completed refunds, but not pending refunds. */
export const refundedStatus = (unit: Unit, charge: LedgerCharge): string => {
  const back = refundsOf(unit, charge.paymentId)
    .filter(({ chargeId, status }) => chargeId === charge.id && status === 'succeeded')
    .reduce((sum, { amount }) => sum + amount, 0);
  if (back === 0) return 'COMPLETED';
  return back === charge.amountCaptured ? 'REFUNDED' : 'PARTIALLY_REFUNDED';
};

const REASONS: Readonly<Record<DisputeReason, string>> = {
  fraudulent: 'UNAUTHORISED',
  product_not_received: 'MERCHANDISE_OR_SERVICE_NOT_RECEIVED',
  product_unacceptable: 'MERCHANDISE_OR_SERVICE_NOT_AS_DESCRIBED',
  duplicate: 'DUPLICATE_TRANSACTION',
  credit_not_processed: 'CREDIT_NOT_PROCESSED',
  subscription_canceled: 'CANCELED_RECURRING_BILLING',
  general: 'OTHER',
};

const OUTCOMES: Readonly<Partial<Record<LedgerDispute['status'], string>>> = {
  won: 'RESOLVED_SELLER_FAVOUR',
  lost: 'RESOLVED_BUYER_FAVOUR',
  closed: 'CANCELED_BY_BUYER',
};

/** An inquiry is open between payer and seller. A claim waits for the seller's response to PayPal. */
const disputeStatus = ({ status, inquiry }: LedgerDispute): string => {
  if (OUTCOMES[status] !== undefined) return 'RESOLVED';
  if (status === 'under_review') return 'UNDER_REVIEW';
  return inquiry ? 'OPEN' : 'WAITING_FOR_SELLER_RESPONSE';
};

const STATES: Readonly<Record<string, string>> = {
  RESOLVED: 'RESOLVED',
  UNDER_REVIEW: 'UNDER_PAYPAL_REVIEW',
  OPEN: 'OPEN_INQUIRIES',
  WAITING_FOR_SELLER_RESPONSE: 'REQUIRED_ACTION',
};

export const disputeState = (dispute: LedgerDispute): string => STATES[disputeStatus(dispute)] ?? 'RESOLVED';

const isOpen = ({ status }: LedgerDispute): boolean => status === 'needs_response' || status === 'under_review';

/** A dispute in PayPal's list, without its transactions and its outcome. */
export const disputeSummary = (dispute: LedgerDispute): PayPalObject => ({
  dispute_id: dispute.id,
  create_time: milliseconds(dispute.createdAt),
  update_time: milliseconds(dispute.updatedAt),
  reason: REASONS[dispute.reason],
  status: disputeStatus(dispute),
  dispute_state: disputeState(dispute),
  dispute_amount: moneyView(dispute.amount, dispute.currency),
  dispute_life_cycle_stage: dispute.inquiry ? 'INQUIRY' : 'CHARGEBACK',
  dispute_channel: 'INTERNAL',
  ...(isOpen(dispute) && { seller_response_due_date: milliseconds(dispute.evidenceDueAt) }),
  links: [{ href: `${API}/v1/customer/disputes/${dispute.id}`, rel: 'self', method: 'GET' }],
});

export const paypalDisputeView = (unit: Unit, dispute: LedgerDispute): PayPalObject => {
  const { dispute_state: _, ...summary } = disputeSummary(dispute);
  const charge = unit.documents.charges.get(unit.slot, dispute.chargeId);
  const outcome = OUTCOMES[dispute.status];
  return {
    ...summary,
    disputed_transactions: [
      {
        seller_transaction_id: dispute.chargeId,
        ...(charge && {
          create_time: milliseconds(charge.createdAt),
          transaction_status: 'COMPLETED',
          gross_amount: moneyView(charge.amountCaptured, charge.currency),
          custom: readMerchantIds(charge).custom_id,
        }),
        seller: { merchant_id: 'X5XAHHCG636FA', name: 'Test Store' },
        seller_protection_eligible: true,
      },
    ],
    ...(outcome !== undefined && {
      dispute_outcome: {
        outcome_code: outcome,
        ...(dispute.status === 'lost' && { amount_refunded: moneyView(dispute.amount, dispute.currency) }),
      },
    }),
  };
};

/** Disputes have times with milliseconds. */
const milliseconds = (at: number): string => new Date(at).toISOString();
