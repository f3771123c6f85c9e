/** @module Holds, which reserve an amount until a capture, a release or the hold's end. */

import type { LedgerCharge, LedgerPayment } from './documents.ts';
import { releaseRest } from './further-captures.ts';
import { cancelLedgerPayment, captureLedgerPayment } from './payments.ts';
import type { Unit } from './unit.ts';

const CAPTURE_DELAY_MS = 86_400_000;

/**
 * Runs as due work at a hold's end. The provider cancels a payment without a capture, unless a capture is running.
 * After a partial capture, the provider releases the amount that is still held.
 */
export const endHold = (unit: Unit, paymentId: string): void => {
  const payment = unit.documents.payments.get(unit.slot, paymentId);
  const held = payment && chargeOf(unit, payment);
  if (held?.stillHeld) releaseRest(unit, held);
  if (payment?.status !== 'requires_capture' || held?.capturing !== undefined) return;
  cancelLedgerPayment(unit, payment, 'automatic');
};

const chargeOf = (unit: Unit, { latestChargeId }: LedgerPayment): LedgerCharge | undefined =>
  unit.documents.charges.get(unit.slot, latestChargeId ?? '');

/** True if the bank refuses to pay out the held amount. */
export const declinesCapture = (unit: Unit, payment: LedgerPayment): boolean =>
  ofHolds(unit, payment)?.declinesCapture === true;

/** True if the bank decides on a capture later. The capture must then start with `startCapture`. */
export const delaysCapture = (unit: Unit, payment: LedgerPayment): boolean =>
  ofHolds(unit, payment)?.delaysCapture !== undefined;

const ofHolds = (unit: Unit, { methodId }: LedgerPayment) => {
  const behaviour = unit.documents.methods.get(unit.slot, methodId ?? '')?.behaviour;
  return behaviour?.kind === 'succeeds' ? behaviour : undefined;
};

/** Starts a capture decided by the bank a day later. Until then no other capture is possible. */
export const startCapture = (unit: Unit, charge: LedgerCharge, amount: number): void => {
  const capturing = { ...charge, capturing: amount, capturingSince: unit.at };
  unit.announce({ kind: 'charge.pending', charge: unit.documents.charges.put(capturing) });
  unit.schedule(unit.at + CAPTURE_DELAY_MS, 'settle_capture', charge.paymentId);
};

/** Decides a pending capture after its delay. Runs as due work. */
export const settleCapture = (unit: Unit, paymentId: string): void => {
  const payment = unit.documents.payments.get(unit.slot, paymentId);
  const since = payment && chargeOf(unit, payment)?.capturingSince;
  // This due work may belong to an earlier, decided capture. The pending capture has its own due work.
  if (!payment || since === undefined || unit.at < since + CAPTURE_DELAY_MS) return;
  decideCapture(unit, payment, ofHolds(unit, payment)?.delaysCapture ?? 'succeeded');
};

/**
 * Applies the bank's decision on a pending capture. After a decline, the amount stays held.
 * @returns false if no capture is pending, for example after a release of the hold
 */
export const decideCapture = (unit: Unit, payment: LedgerPayment, outcome: 'succeeded' | 'failed'): boolean => {
  const { capturing, capturingSince = unit.at, ...charge } = chargeOf(unit, payment) ?? {};
  if (payment.status !== 'requires_capture' || capturing === undefined || !('id' in charge)) return false;
  unit.documents.charges.put(charge);
  if (outcome === 'succeeded') captureLedgerPayment(unit, payment, capturing);
  else declineCapture(unit, charge, { amount: capturing, createdAt: capturingSince });
  return true;
};

const declineCapture = (unit: Unit, held: LedgerCharge, capture: Pick<LedgerCharge, 'amount' | 'createdAt'>): void => {
  const id = unit.newId('charge');
  const charge = unit.documents.charges.put({
    ...held,
    ...capture,
    ...{ id, status: 'failed', reserved: false, authorized: 0, holdEndsAt: null },
    wire: { ...held.wire, declined_of: held.id },
    failure: { reason: 'do_not_honor', chargeId: id, methodId: held.methodId },
  });
  unit.announce({ kind: 'charge.failed', charge });
};
