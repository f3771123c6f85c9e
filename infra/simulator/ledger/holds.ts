/** @module Holds, which are amounts that a provider reserves until a capture, a release or the end of their time. */

import type { LedgerCharge, LedgerPayment } from './documents.ts';
import { releaseRest } from './further-captures.ts';
import { cancelLedgerPayment, captureLedgerPayment } from './payments.ts';
import type { Unit } from './unit.ts';

const CAPTURE_DELAY_MS = 86_400_000;

/** Due work. The provider cancels a payment whose hold has reached its end, unless its capture is under way. */
export const endHold = (unit: Unit, paymentId: string): void => {
  const payment = unit.documents.payments.get(unit.slot, paymentId);
  const held = payment && chargeOf(unit, payment);
  if (held?.stillHeld) releaseRest(unit, held);
  if (payment?.status !== 'requires_capture' || held?.capturing !== undefined) return;
  cancelLedgerPayment(unit, payment, 'automatic');
};

const chargeOf = (unit: Unit, { latestChargeId }: LedgerPayment): LedgerCharge | undefined =>
  unit.documents.charges.get(unit.slot, latestChargeId ?? '');

/** True if the bank refuses to pay out the amount that it holds. */
export const declinesCapture = (unit: Unit, payment: LedgerPayment): boolean =>
  ofHolds(unit, payment)?.declinesCapture === true;

/** True if the bank decides later, as `startCapture` does. */
export const delaysCapture = (unit: Unit, payment: LedgerPayment): boolean =>
  ofHolds(unit, payment)?.delaysCapture !== undefined;

const ofHolds = (unit: Unit, { methodId }: LedgerPayment) => {
  const behaviour = unit.documents.methods.get(unit.slot, methodId ?? '')?.behaviour;
  return behaviour?.kind === 'succeeds' ? behaviour : undefined;
};

/** Begins a capture that the bank decides on a day later. Until then nothing else can be captured. */
export const startCapture = (unit: Unit, charge: LedgerCharge, amount: number): void => {
  const capturing = { ...charge, capturing: amount, capturingSince: unit.at };
  unit.announce({ kind: 'charge.pending', charge: unit.documents.charges.put(capturing) });
  unit.schedule(unit.at + CAPTURE_DELAY_MS, 'settle_capture', charge.paymentId);
};

/** Due work. */
export const settleCapture = (unit: Unit, paymentId: string): void => {
  const payment = unit.documents.payments.get(unit.slot, paymentId);
  const since = payment && chargeOf(unit, payment)?.capturingSince;
  // A capture that began after an earlier decision has due work of its own.
  if (!payment || since === undefined || unit.at < since + CAPTURE_DELAY_MS) return;
  decideCapture(unit, payment, ofHolds(unit, payment)?.delaysCapture ?? 'succeeded');
};

/**
 * The bank decides on a pending capture. After a decline the amount is held as before. A hold that was released
 * meanwhile stays released.
 * @returns false if no capture is pending
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
