/** @module Shows the ledger's refunds and disputes as Square's objects. */

import type { DisputeReason } from '../../ledger/behaviours.ts';
import type { LedgerCharge, LedgerDispute, LedgerRefund } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { isoTime } from '../wire/request.ts';
import { isBank, REJECTS_REFUNDS } from '../wire/tokens.ts';
import { methodOfCharge, moneyOf, type SquareObject, squareOrderWire } from './payment-views.ts';

export const squareRefundStatus = (refund: LedgerRefund, unit: Unit): string => {
  switch (refund.status) {
    case 'pending':
      return 'PENDING';
    case 'succeeded':
      return 'COMPLETED';
    case 'failed':
      return methodOfCharge(chargeOf(refund, unit), unit).token === REJECTS_REFUNDS ? 'REJECTED' : 'FAILED';
    case 'canceled':
      throw new Error(`Refund ${refund.id} is canceled, which Square does not have`);
  }
};

/** The refund's destination, in Square's terms. */
export const squareSourceType = (refund: LedgerRefund, unit: Unit): string =>
  isBank(methodOfCharge(chargeOf(refund, unit), unit)) ? 'BANK_ACCOUNT' : 'CARD';

/** The location of the refunded or disputed payment. */
export const squareLocationOf = (document: LedgerRefund | LedgerDispute, unit: Unit): string =>
  squareOrderWire.parse(chargeOf(document, unit).wire).location_id;

/** A refund has its own order, created by Square. */
export const squareRefundView = (refund: LedgerRefund, unit: Unit): SquareObject => ({
  id: refund.id,
  status: squareRefundStatus(refund, unit),
  location_id: squareLocationOf(refund, unit),
  unlinked: false,
  destination_type: squareSourceType(refund, unit),
  amount_money: moneyOf(refund.amount, refund.currency),
  payment_id: refund.chargeId,
  order_id: `${refund.id}ORDER`,
  ...(refund.reason !== null && { reason: refund.reason }),
  created_at: isoTime(refund.createdAt),
  updated_at: isoTime(refund.updatedAt),
});

const STATE: Readonly<Record<LedgerDispute['status'], string>> = {
  needs_response: 'EVIDENCE_REQUIRED',
  under_review: 'PROCESSING',
  won: 'WON',
  lost: 'LOST',
  // Square has this state only for inquiries.
  closed: 'INQUIRY_CLOSED',
};

export const squareDisputeState = ({ status, inquiry }: LedgerDispute): string =>
  inquiry && (status === 'needs_response' || status === 'under_review') ? `INQUIRY_${STATE[status]}` : STATE[status];

const REASON: Readonly<Record<DisputeReason, string>> = {
  fraudulent: 'NO_KNOWLEDGE',
  product_not_received: 'NOT_RECEIVED',
  product_unacceptable: 'NOT_AS_DESCRIBED',
  duplicate: 'DUPLICATE',
  credit_not_processed: 'CUSTOMER_REQUESTS_CREDIT',
  subscription_canceled: 'CANCELLED',
  general: 'AMOUNT_DIFFERS',
};

export const squareDisputeView = (dispute: LedgerDispute, unit: Unit): SquareObject => ({
  id: dispute.id,
  dispute_id: dispute.id,
  amount_money: moneyOf(dispute.amount, dispute.currency),
  reason: REASON[dispute.reason],
  state: squareDisputeState(dispute),
  due_at: isoTime(dispute.evidenceDueAt),
  disputed_payment: { payment_id: dispute.chargeId },
  card_brand: methodOfCharge(chargeOf(dispute, unit), unit).card.brand,
  created_at: isoTime(dispute.createdAt),
  updated_at: isoTime(dispute.updatedAt),
  brand_dispute_id: `VISA${dispute.id}`,
  reported_at: isoTime(dispute.createdAt),
  version: dispute.revision,
  location_id: squareLocationOf(dispute, unit),
});

const chargeOf = ({ id, chargeId }: LedgerRefund | LedgerDispute, unit: Unit): LedgerCharge => {
  const charge = unit.documents.charges.get(unit.slot, chargeId);
  if (!charge) throw new Error(`${id} is of no payment`);
  return charge;
};
