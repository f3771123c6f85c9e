/**
 * @module Refunds and disputes that start on the provider's dashboard or at the payer's bank. Amounts are in ISO 4217
 * minor units. Calls name a payment by our id or the provider's. Captures, refunds and disputes are named by the
 * provider's id.
 */

import * as z from 'zod';
import { PROVIDER_SLOTS, type ProviderSlot } from '../../../shared/core/settings.ts';
import { DISPUTE_REASONS } from '../ledger/behaviours.ts';
import { changeDispute, openDispute } from '../ledger/disputes.ts';
import {
  type Collection,
  type LedgerCharge,
  type LedgerRefund,
  ledgerDisputeSchema,
  ledgerRefundSchema,
} from '../ledger/documents.ts';
import { canMoveRefund, createLedgerRefund, moveRefund, refundProblem } from '../ledger/refunds.ts';
import { NeverArrived, type Unit } from '../ledger/unit.ts';
import { type ControlCall, ControlError, type ControlParts, parsed } from './control-call.ts';
import { disputeRow, type MinorUnits, refundRow } from './ledger-view.ts';

const amount = z.int().min(1).optional();
/**
 * `reversed` is true if the provider itself takes the money back from the seller. Only PayPal distinguishes reversals
 * from refunds.
 */
const madeRefund = z.strictObject({
  amount,
  status: z.enum(['pending', 'succeeded']).optional(),
  reversed: z.boolean().default(false),
});
const madeDispute = z.strictObject({
  reason: z.enum(DISPUTE_REASONS).default('fraudulent'),
  amount,
  status: ledgerDisputeSchema.shape.status.optional(),
  inquiry: z.boolean().optional(),
});
const movedRefund = z.strictObject({ status: ledgerRefundSchema.shape.status });
/**
 * The fields of a dispute that a bank can change. Every status may follow every other status, also after a decision.
 */
const changedDispute = z
  .strictObject({
    status: ledgerDisputeSchema.shape.status.optional(),
    amount,
    reason: z.enum(DISPUTE_REASONS).optional(),
    evidence_due_by: z.iso.datetime({ offset: true }).optional(),
    inquiry: z.boolean().optional(),
  })
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), 'name what changes');

export const makeRefund = (parts: ControlParts, call: ControlCall, minorUnits: MinorUnits): Response => {
  const sent = parsed(madeRefund, call.body);
  const charge = chargeOf(parts, call.id);
  const refunded = vendorAmount(charge, sent.amount, minorUnits);
  const problem = refundProblem(charge, refunded);
  if (problem) throw new ControlError(409, `The charge ${charge.id} cannot be refunded: ${problem}`);
  const refund = change(parts, charge.provider, (unit) =>
    createLedgerRefund(unit, charge, { amount: refunded, status: sent.status, wire: sent.reversed ? REVERSED : {} }),
  );
  return Response.json(refundRow(parts.units.documents, refund, minorUnits), { status: 201 });
};

const REVERSED = { reversed: true };

export const settleRefundByHand = (parts: ControlParts, call: ControlCall, minorUnits: MinorUnits): Response => {
  const { status } = parsed(movedRefund, call.body);
  const refund = findById(parts.units.documents.refunds, 'refund', call.id);
  if (!canMoveRefund(refund, status) || !isStatusOf(parts, refund, status)) throw notMovable(refund, status);
  const moved = change(parts, refund.provider, (unit) => moveRefund(unit, refund, status));
  return Response.json(refundRow(parts.units.documents, moved, minorUnits));
};

const isStatusOf = (
  { vendors, options }: ControlParts,
  { provider }: LedgerRefund,
  status: LedgerRefund['status'],
): boolean => {
  const vendor = vendors.find(({ adapter }) => adapter === options.slots[provider].adapter);
  return status !== 'canceled' || vendor?.cancelsRefunds !== false;
};

export const raiseDispute = (parts: ControlParts, call: ControlCall, minorUnits: MinorUnits): Response => {
  const sent = parsed(madeDispute, call.body);
  const charge = chargeOf(parts, call.id);
  const disputed = disputedAmount(charge, sent.amount, minorUnits);
  const { reason, status, inquiry = false } = sent;
  const dispute = change(parts, charge.provider, (unit) =>
    openDispute(unit, charge, { reason, status, inquiry, amount: disputed }),
  );
  return Response.json(disputeRow(parts.units.documents, dispute, minorUnits), { status: 201 });
};

const disputedAmount = (
  charge: LedgerCharge,
  minor: number | undefined,
  minorUnits: MinorUnits,
): number | undefined => {
  const disputed = vendorAmount(charge, minor, minorUnits);
  if ((disputed ?? 0) <= charge.amountCaptured) return disputed;
  throw new ControlError(409, `The charge ${charge.id} is less than the dispute's amount`);
};

export const changeDisputeByHand = (parts: ControlParts, call: ControlCall, minorUnits: MinorUnits): Response => {
  const { evidence_due_by: due, amount: asked, ...sent } = parsed(changedDispute, call.body);
  const { documents } = parts.units;
  const before = findById(documents.disputes, 'dispute', call.id);
  const charge = documents.charges.get(before.provider, before.chargeId);
  const disputed = charge && disputedAmount(charge, asked, minorUnits);
  const given = { ...sent, amount: disputed, evidenceDueAt: due === undefined ? undefined : Date.parse(due) };
  const changes = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const changed = change(parts, before.provider, (unit) => changeDispute(unit, before, changes));
  return Response.json(disputeRow(documents, changed, minorUnits));
};

export const change = <T>(parts: ControlParts, slot: ProviderSlot, task: (unit: Unit) => T): T => {
  const result = carriedOut(() => parts.units.work(slot, undefined, task).result);
  parts.deliverNow();
  return result;
};

/** Responds 409 if the call is lost. A change may charge a test card whose first charge never reaches the provider. */
const carriedOut = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof NeverArrived)) throw error;
    throw new ControlError(409, 'The charge of the card never reached the provider, so nothing has changed');
  }
};

/** The charge with this id (for one of several captures), or the payment's newest captured charge. */
const chargeOf = ({ units: { documents } }: ControlParts, id: string): LedgerCharge => {
  const named = PROVIDER_SLOTS.map((slot) => documents.charges.get(slot, id)).find((charge) => charge?.captured);
  if (named) return named;
  const theirs = PROVIDER_SLOTS.flatMap((slot) => documents.payments.get(slot, id) ?? []);
  const found = [...documents.payments.all(id), ...theirs];
  if (found.length === 0) throw new ControlError(404, `No provider knows a payment ${id}`);
  const charges = found.flatMap(({ provider, latestChargeId }) =>
    latestChargeId === null ? [] : (documents.charges.get(provider, latestChargeId) ?? []),
  );
  const captured = charges.findLast((charge) => charge.captured);
  if (captured) return captured;
  throw new ControlError(409, `The payment ${id} has not been paid; it is ${found.at(-1)?.status}`);
};

export const findById = <T>(collection: Collection<T>, kind: string, id: string): T => {
  const [found] = PROVIDER_SLOTS.flatMap((slot) => collection.get(slot, id) ?? []);
  if (found === undefined) throw new ControlError(404, `No provider knows a ${kind} ${id}`);
  return found;
};

const notMovable = ({ id, status }: LedgerRefund, next: string): ControlError =>
  new ControlError(409, `The refund ${id} is ${status}, and cannot become ${next}`);

/** A large round amount. Its conversion gives the exact ratio of the vendor's unit to the minor unit. */
const SAMPLE = 1_000_000;

/** @returns the amount in the vendor's units */
export const vendorAmount = (
  { provider, currency }: Pick<LedgerCharge, 'provider' | 'currency'>,
  minor: number | undefined,
  minorUnits: MinorUnits,
): number | undefined => {
  if (minor === undefined) return undefined;
  const counted = (minor * SAMPLE) / minorUnits({ provider, currency, amount: SAMPLE });
  if (Number.isInteger(counted)) return counted;
  throw new ControlError(400, `amount: ${provider} has no such amount in ${currency}`);
};
