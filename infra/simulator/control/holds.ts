/**
 * @module Captures and releases of a hold on the provider's dashboard. A call names the payment by our id or the
 * provider's.
 */

import * as z from 'zod';
import { PROVIDER_SLOTS } from '../../../shared/core/settings.ts';
import type { LedgerPayment } from '../ledger/documents.ts';
import { cancelLedgerPayment } from '../ledger/payments.ts';
import { Refused } from '../protocol/vendor.ts';
import { type ControlCall, ControlError, type ControlParts, parsed } from './control-call.ts';
import { ledgerPaymentRow, type MinorUnits } from './ledger-view.ts';
import { change, vendorAmount } from './money-back.ts';

export const releaseByHand = (parts: ControlParts, { id }: ControlCall, minorUnits: MinorUnits): Response => {
  const held = heldPayment(parts, id);
  const released = change(parts, held.provider, (unit) => cancelLedgerPayment(unit, held, null));
  return Response.json(ledgerPaymentRow(released, minorUnits));
};

const sentCapture = z.strictObject({ amount: z.int().min(1).optional(), final: z.boolean().default(false) });
const refusal = z.object({ details: z.array(z.object({ issue: z.string() })).min(1) });

/** Captures a hold in whole or in part. A hold with an earlier, non-final capture can be captured again. */
export const captureByHand = (parts: ControlParts, call: ControlCall, minorUnits: MinorUnits): Response => {
  const { amount, final: isFinal } = parsed(sentCapture, call.body);
  const payment = paymentNamed(parts, call.id);
  const { vendors, options } = parts;
  const vendor = vendors.find(({ adapter }) => adapter === options.slots[payment.provider].adapter);
  const captureOnSite = vendor?.captureOnSite;
  if (!captureOnSite) throw new ControlError(409, `${payment.provider} ends a hold with its first capture`);
  const charge = change(parts, payment.provider, (unit) => {
    try {
      return captureOnSite(unit, payment, { amount: vendorAmount(payment, amount, minorUnits), isFinal });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const [{ issue } = { issue: '' }] = refusal.parse(JSON.parse(error.answer.body)).details;
      throw new ControlError(409, `The payment ${call.id} cannot be captured: ${issue}`);
    }
  });
  const { id, amountCaptured } = charge;
  return Response.json({ id, captured: minorUnits({ ...charge, amount: amountCaptured }) }, { status: 201 });
};

const paymentNamed = ({ units: { documents } }: ControlParts, id: string): LedgerPayment => {
  const theirs = PROVIDER_SLOTS.flatMap((slot) => documents.payments.get(slot, id) ?? []);
  const found = [...documents.payments.all(id), ...theirs].at(-1);
  if (!found) throw new ControlError(404, `No provider knows a payment ${id}`);
  return found;
};

const heldPayment = ({ units: { documents } }: ControlParts, id: string): LedgerPayment => {
  const theirs = PROVIDER_SLOTS.flatMap((slot) => documents.payments.get(slot, id) ?? []);
  const found = [...documents.payments.all(id), ...theirs];
  const held = found.find(({ status }) => status === 'requires_capture');
  if (held) return held;
  if (found.length === 0) throw new ControlError(404, `No provider knows a payment ${id}`);
  throw new ControlError(409, `The payment ${id} is not held; it is ${found.at(-1)?.status}`);
};
