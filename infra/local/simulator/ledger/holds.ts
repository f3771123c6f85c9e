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
  answers(unit, payment, 'declinesCapture');

/** True if the bank pays out later, as `startCapture` does. */
export const delaysCapture = (unit: Unit, payment: LedgerPayment): boolean => answers(unit, payment, 'delaysCapture');

const answers = (unit: Unit, { methodId }: LedgerPayment, how: 'declinesCapture' | 'delaysCapture'): boolean => {
  const behaviour = unit.documents.methods.get(unit.slot, methodId ?? '')?.behaviour;
  return behaviour?.kind === 'succeeds' && behaviour[how] === true;
};

/** Begins a capture that takes the amount a day later. Until then nothing else can be captured. */
export const startCapture = (unit: Unit, charge: LedgerCharge, amount: number): void => {
  unit.announce({ kind: 'charge.pending', charge: unit.documents.charges.put({ ...charge, capturing: amount }) });
  unit.schedule(unit.at + CAPTURE_DELAY_MS, 'settle_capture', charge.paymentId);
};

/** Due work. A hold that was released meanwhile stays released. */
export const settleCapture = (unit: Unit, paymentId: string): void => {
  const payment = unit.documents.payments.get(unit.slot, paymentId);
  if (payment?.status !== 'requires_capture') return;
  const { capturing, ...charge } = chargeOf(unit, payment) ?? {};
  if (capturing === undefined || !('id' in charge)) return;
  unit.documents.charges.put(charge);
  captureLedgerPayment(unit, payment, capturing);
};
