/** @module A provider's fee for received money, in the provider's units. */

import type { LedgerCharge } from './documents.ts';
import type { ChargeFees, Unit } from './unit.ts';

interface FeeTerms {
  /** Hundredths of a percent. */
  readonly basisPoints: number;
  /** Fixed part of the fee, in addition to the percentage. */
  readonly fixed: number;
  readonly afterSeconds?: number;
}

export const chargeFees = ({ basisPoints, fixed, afterSeconds = 0 }: FeeTerms): ChargeFees => ({
  of: (amount) => Math.floor((amount * basisPoints + 5_000) / 10_000) + fixed,
  afterMs: afterSeconds * 1_000,
});

/** Adds the fee to a charge with received money, or schedules the fee. */
export const withFee = (unit: Unit, charge: LedgerCharge): LedgerCharge => {
  const { fees } = unit;
  if (!fees) return charge;
  if (fees.afterMs === 0) return unit.documents.charges.put({ ...charge, fee: fees.of(charge.amountCaptured) });
  unit.schedule(unit.at + fees.afterMs, 'assess_fee', charge.id);
  return charge;
};

/** Sets the charge's fee. Runs as due work. */
export const assessFee = (unit: Unit, chargeId: string): void => {
  const charge = unit.documents.charges.get(unit.slot, chargeId);
  if (!charge || !unit.fees) return;
  const assessed = unit.documents.charges.put({ ...charge, fee: unit.fees.of(charge.amountCaptured) });
  unit.announce({ kind: 'charge.fee_assessed', charge: assessed });
};
