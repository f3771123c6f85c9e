/** @module Holds, which are amounts that a provider reserves until a capture, a release or the end of their time. */

import type { LedgerPayment } from './documents.ts';
import { cancelLedgerPayment } from './payments.ts';
import type { Unit } from './unit.ts';

/** Due work. The provider cancels a payment whose hold has reached its end. */
export const endHold = (unit: Unit, paymentId: string): void => {
  const payment = unit.documents.payments.get(unit.slot, paymentId);
  if (payment?.status === 'requires_capture') cancelLedgerPayment(unit, payment, 'automatic');
};

/** True if the bank refuses to pay out the amount that it holds. */
export const declinesCapture = (unit: Unit, { methodId }: LedgerPayment): boolean => {
  const behaviour = unit.documents.methods.get(unit.slot, methodId ?? '')?.behaviour;
  return behaviour?.kind === 'succeeds' && behaviour.declinesCapture === true;
};
