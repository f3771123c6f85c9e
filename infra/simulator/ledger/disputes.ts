/**
 * @module Disputes of a charge. A seller can only move a dispute forward, from needs_response to under_review, and from
 * either to won, lost or closed. The bank can change a dispute in any direction. A dispute does not change its charge's
 * amounts.
 */

const DAY_MS = 86_400_000;

import type { DisputeReason } from './behaviours.ts';
import type { LedgerCharge, LedgerDispute } from './documents.ts';
import type { Unit } from './unit.ts';

const EVIDENCE_MS = 7 * DAY_MS;

export interface DisputeTerms {
  readonly reason: DisputeReason;
  readonly inquiry?: boolean;
  /** In the vendor's units; undefined for the whole captured amount. */
  readonly amount?: number | undefined;
  readonly status?: LedgerDispute['status'] | undefined;
}

/** Expects a captured charge. */
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
    revision: 1,
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
  return changeDispute(unit, dispute, { status });
};

type DisputeTermsChange = Partial<
  Pick<LedgerDispute, 'status' | 'amount' | 'reason' | 'evidenceDueAt' | 'inquiry' | 'metadata'>
>;

/**
 * Changes a dispute as a bank does. Every status may follow every other status, also after a decision. Each change gets
 * a later time, even if the clock is frozen.
 */
export const changeDispute = (unit: Unit, before: LedgerDispute, changes: DisputeTermsChange): LedgerDispute => {
  const updatedAt = Math.max(unit.at, before.updatedAt + 1);
  const dispute = unit.documents.disputes.put({ ...before, ...changes, updatedAt, revision: before.revision + 1 });
  const isDecided = dispute.status !== before.status && LATER[dispute.status].length === 0;
  unit.announce({ kind: isDecided ? 'dispute.closed' : 'dispute.updated', dispute, before });
  return dispute;
};
