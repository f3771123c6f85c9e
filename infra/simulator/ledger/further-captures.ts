/**
 * @module Several captures of one hold. The hold's own charge is the first capture. Each further capture is a new
 * charge without a hold. Together, the captures may exceed the hold if the provider allows this.
 */

import type { LedgerCharge, LedgerPayment } from './documents.ts';
import { withFee } from './fees.ts';
import type { Unit } from './unit.ts';

interface FurtherCapture {
  readonly payment: LedgerPayment;
  /** The hold's charge, after its first capture. */
  readonly held: LedgerCharge;
  readonly amount: number;
  /** The amount that stays held for further captures; the rest is released. */
  readonly stillHeld: number;
  /** Fields that only one vendor's protocol has. */
  readonly wire: Readonly<Record<string, unknown>>;
}

/** Captures another part of the hold. */
export const captureFurther = (
  unit: Unit,
  { payment, held, amount, stillHeld, wire }: FurtherCapture,
): LedgerCharge => {
  const { stillHeld: before = 0, ...own } = held;
  unit.documents.charges.put({ ...own, stillHeld, released: held.released + Math.max(0, before - amount - stillHeld) });
  unit.documents.payments.put({ ...payment, amountReceived: payment.amountReceived + amount });
  const charge = withFee(
    unit,
    unit.documents.charges.put({
      ...own,
      ...{ id: unit.newId('charge'), createdAt: unit.at, status: 'succeeded', failure: null, fee: null },
      ...{ amount, amountCaptured: amount, authorized: 0, released: 0, holdEndsAt: null, amountRefunded: 0 },
      wire: { ...own.wire, ...wire },
    }),
  );
  unit.announce({ kind: 'charge.captured', charge });
  return charge;
};

/** Releases the amount still held after a capture. */
export const releaseRest = (unit: Unit, { stillHeld = 0, ...held }: LedgerCharge): LedgerCharge =>
  unit.documents.charges.put({ ...held, stillHeld: 0, released: held.released + stillHeld });
