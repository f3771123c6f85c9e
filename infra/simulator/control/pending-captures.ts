/** @module The bank's decision on a pending capture. A call names the payment by our id. */

import * as z from 'zod';
import { decideCapture } from '../ledger/holds.ts';
import { type ControlCall, ControlError, type ControlParts, parsed } from './control-call.ts';
import { ledgerPaymentRow, type MinorUnits } from './ledger-view.ts';
import { change } from './money-back.ts';

const bankDecision = z.strictObject({ outcome: z.enum(['succeeded', 'failed']) });

export const decidePendingCapture = (
  parts: ControlParts,
  { id, body }: ControlCall,
  minorUnits: MinorUnits,
): Response => {
  const { outcome } = parsed(bankDecision, body);
  const { documents } = parts.units;
  const held = documents.payments.all(id).find(({ status }) => status === 'requires_capture');
  if (!held) throw new ControlError(404, `No provider holds an amount for ${id}`);
  if (!change(parts, held.provider, (unit) => decideCapture(unit, held, outcome)))
    throw new ControlError(409, `No capture of ${id} is pending`);
  const decided = documents.payments.get(held.provider, held.id) ?? held;
  return Response.json(ledgerPaymentRow(decided, minorUnits));
};
