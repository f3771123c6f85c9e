const DAY_MS = 86_400_000;

import type { DisputeReason } from './behaviours.ts';
import type { LedgerCharge, LedgerDispute } from './documents.ts';
import type { Unit } from './unit.ts';

/**
 * Disputes of a charge. A dispute moves from needs_response to under_review, and from each of them to won, lost or
 * closed, which are never left. A dispute changes no amount of its charge.
 */
const EVIDENCE_MS = 7 * DAY_MS;

export interface DisputeTerms {
  readonly reason: DisputeReason;
  readonly inquiry?: boolean;
  /** As the vendor counts; undefined: all that was captured. */
  readonly amount?: number | undefined;
  readonly status?: LedgerDispute['status'] | undefined;
}

/** The charge has been captured. */
export const openDispute = (unit: Unit, charge: LedgerCharge, terms: DisputeTerms): LedgerDispute => {
  const dispute = unit.documents.disputes.put({
    id: unit.newId('dispute'),
    provider: unit.slot,
    metadata: {},
    wire: {},
    createdAt: unit.at,
    chargeId: charge.id,
    paymentId: charge.paymentId,
    amount: terms.amount ?? charge.amountCaptured,
    currency: charge.currency,
    status: 'needs_response',
    reason: terms.reason,
    inquiry: terms.inquiry ?? false,
    evidenceDueAt: unit.at + EVIDENCE_MS,
    updatedAt: unit.at,
  });
  unit.announce({ kind: 'dispute.created', dispute });
  const { status } = terms;
  return status === undefined || status === 'needs_response' ? dispute : moveDispute(unit, dispute, status);
};

const LATER: Readonly<Record<LedgerDispute['status'], readonly LedgerDispute['status'][]>> = {
  needs_response: ['under_review', 'won', 'lost', 'closed'],
  under_review: ['won', 'lost', 'closed'],
  won: [],
  lost: [],
  closed: [],
};

export const canMoveDispute = (dispute: LedgerDispute, status: LedgerDispute['status']): boolean =>
  LATER[dispute.status].includes(status);

export const moveDispute = (unit: Unit, dispute: LedgerDispute, status: LedgerDispute['status']): LedgerDispute => {
  if (!canMoveDispute(dispute, status)) {
    throw new Error(`Dispute ${dispute.id} is ${dispute.status}, not to be ${status}`);
  }
  const moved = unit.documents.disputes.put({ ...dispute, status, updatedAt: unit.at });
  unit.announce({ kind: status === 'under_review' ? 'dispute.updated' : 'dispute.closed', dispute: moved });
  return moved;
};
