/**
 * @module Refunds of a charge. Pending and succeeded refunds never exceed the captured amount. `amountRefunded`
 * includes a refund from its creation until it fails or is canceled. A refund moves from pending to succeeded, failed
 * or canceled, and from succeeded only to failed.
 */

import type { RefundCourse } from './behaviours.ts';
import type { LedgerCharge, LedgerRefund } from './documents.ts';
import type { Unit } from './unit.ts';

const SETTLEMENT_MS = 60_000;

export interface RefundTerms {
  /** In the vendor's units; undefined for the whole remaining amount. */
  readonly amount: number | undefined;
  readonly reason?: string | undefined;
  readonly note?: string | undefined;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Fields that only one vendor's protocol has. */
  readonly wire?: Readonly<Record<string, unknown>>;
  /** Undefined for the default initial status of the charge's method. */
  readonly status?: 'pending' | 'succeeded' | undefined;
  /** True if a pending refund settles automatically. It succeeds, unless the charge's method has another outcome. */
  readonly settles?: true;
}

export type RefundProblem = 'not_paid' | 'already_refunded' | 'exceeds';

/** The refundable amount of the charge, in the vendor's units. */
export const leftOf = (charge: LedgerCharge): number => charge.amountCaptured - charge.amountRefunded;

/** @returns the reason why this amount cannot be refunded; undefined if it can. */
export const refundProblem = (charge: LedgerCharge, amount = leftOf(charge)): RefundProblem | undefined => {
  if (charge.status === 'refunded') return 'already_refunded';
  if (charge.status !== 'succeeded') return 'not_paid';
  return amount > leftOf(charge) ? 'exceeds' : undefined;
};

/** Refunds the charge. The caller first checks refundProblem and reports problems in its vendor's format. */
export const createLedgerRefund = (unit: Unit, charge: LedgerCharge, terms: RefundTerms): LedgerRefund => {
  const amount = terms.amount ?? leftOf(charge);
  if (refundProblem(charge, amount) !== undefined || amount < 1) {
    throw new Error(`Charge ${charge.id} cannot be refunded by ${amount}`);
  }
  const course = courseOf(unit, charge);
  const refund = unit.documents.refunds.put({
    id: unit.newId('refund'),
    provider: unit.slot,
    metadata: { ...terms.metadata },
    wire: { ...terms.wire },
    createdAt: unit.at,
    chargeId: charge.id,
    paymentId: charge.paymentId,
    amount,
    currency: charge.currency,
    status: terms.status ?? (course?.startsWith('pending') ? 'pending' : 'succeeded'),
    reason: terms.reason ?? null,
    note: terms.note ?? null,
    failureReason: null,
    updatedAt: unit.at,
  });
  const after = refundedBy(unit, charge, amount);
  unit.announce({ kind: 'refund.created', refund });
  unit.announce({ kind: 'charge.refunded', charge: after });
  if (course !== undefined || terms.settles) unit.schedule(unit.at + SETTLEMENT_MS, 'settle_refund', refund.id);
  return refund;
};

const LATER: Readonly<Record<LedgerRefund['status'], readonly LedgerRefund['status'][]>> = {
  pending: ['succeeded', 'failed', 'canceled'],
  succeeded: ['failed'],
  failed: [],
  canceled: [],
};

export const canMoveRefund = (refund: LedgerRefund, status: LedgerRefund['status']): boolean =>
  LATER[refund.status].includes(status);

/**
 * Settles, cancels or fails a pending refund. A succeeded refund can also fail, because a bank may return the money.
 */
export const moveRefund = (unit: Unit, refund: LedgerRefund, status: LedgerRefund['status']): LedgerRefund => {
  if (!canMoveRefund(refund, status)) throw new Error(`Refund ${refund.id} is ${refund.status}, not to be ${status}`);
  const failureReason = status === 'failed' ? 'expired_or_canceled_card' : null;
  const moved = unit.documents.refunds.put({ ...refund, status, failureReason, updatedAt: unit.at });
  if (status !== 'succeeded') {
    const charge = unit.documents.charges.get(unit.slot, refund.chargeId);
    if (!charge) throw new Error(`Refund ${refund.id} has no charge`);
    refundedBy(unit, charge, -refund.amount);
  }
  unit.announce({ kind: status === 'failed' ? 'refund.failed' : 'refund.updated', refund: moved });
  return moved;
};

const ENDS: Readonly<Record<RefundCourse, readonly [from: LedgerRefund['status'], to: LedgerRefund['status']]>> = {
  pending_then_succeeded: ['pending', 'succeeded'],
  pending_then_failed: ['pending', 'failed'],
  succeeded_then_failed: ['succeeded', 'failed'],
};

/** Runs as due work. Skips the refund if its status has changed meanwhile. */
export const settleLedgerRefund = (unit: Unit, refundId: string): void => {
  const refund = unit.documents.refunds.get(unit.slot, refundId);
  const charge = refund && unit.documents.charges.get(unit.slot, refund.chargeId);
  if (refund === undefined || charge === undefined) return;
  const [from, to] = ENDS[courseOf(unit, charge) ?? 'pending_then_succeeded'];
  if (refund.status === from) moveRefund(unit, refund, to);
};

const courseOf = (unit: Unit, { methodId }: LedgerCharge): RefundCourse | undefined => {
  const behaviour = unit.documents.methods.get(unit.slot, methodId)?.behaviour;
  return behaviour?.kind === 'succeeds' ? behaviour.refunds : undefined;
};

const refundedBy = (unit: Unit, charge: LedgerCharge, amount: number): LedgerCharge => {
  const amountRefunded = charge.amountRefunded + amount;
  const status = amountRefunded === charge.amountCaptured ? 'refunded' : 'succeeded';
  return unit.documents.charges.put({ ...charge, amountRefunded, status });
};
