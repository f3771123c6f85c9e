/** @module The end of a hold on the provider's dashboard. A call names the payment by our id or by the provider's. */

import { PROVIDER_SLOTS } from '../../../../shared/core/settings.ts';
import type { LedgerPayment } from '../ledger/documents.ts';
import { cancelLedgerPayment } from '../ledger/payments.ts';
import { type ControlCall, ControlError, type ControlParts } from './control-call.ts';
import { ledgerPaymentRow, type MinorUnits } from './ledger-view.ts';
import { change } from './money-back.ts';

export const releaseByHand = (parts: ControlParts, { id }: ControlCall, minorUnits: MinorUnits): Response => {
  const held = heldPayment(parts, id);
  const released = change(parts, held.provider, (unit) => cancelLedgerPayment(unit, held, null));
  return Response.json(ledgerPaymentRow(released, minorUnits));
};

const heldPayment = ({ units: { documents } }: ControlParts, id: string): LedgerPayment => {
  const theirs = PROVIDER_SLOTS.flatMap((slot) => documents.payments.get(slot, id) ?? []);
  const found = [...documents.payments.all(id), ...theirs];
  const held = found.find(({ status }) => status === 'requires_capture');
  if (held) return held;
  if (found.length === 0) throw new ControlError(404, `No provider knows a payment ${id}`);
  throw new ControlError(409, `The payment ${id} is not held; it is ${found.at(-1)?.status}`);
};
