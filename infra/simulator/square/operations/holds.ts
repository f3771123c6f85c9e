/** @module Payments that wait until the seller completes or cancels them. The seller can also lower the amount. */

import * as z from 'zod';
import type { LedgerCharge, LedgerPayment } from '../../ledger/documents.ts';
import { declinesCapture } from '../../ledger/holds.ts';
import { cancelLedgerPayment, captureLedgerPayment } from '../../ledger/payments.ts';
import type { Unit } from '../../ledger/unit.ts';
import { squareOrderWire, squareStatusOf, versionToken } from '../views/payment-views.ts';
import { declineError, invalidSquareRequest, squareError, tokenMismatch } from '../wire/errors.ts';
import { key, money, readSquareBody, type SquareReply, type SquareRequest, type SquareRoute } from '../wire/request.ts';
import { findSquareOrder } from './orders.ts';
import { findSquareCharge, shownPayment } from './payments.ts';

/** The body's idempotency key is the key of the payment's creation, not of this request. */
export const CANCEL_BY_KEY = '/v2/payments/cancel';

export const squareHoldRoutes: readonly SquareRoute[] = [
  { method: 'POST', path: CANCEL_BY_KEY, run: (request) => cancelByKey(request) },
  { method: 'PUT', path: '/v2/payments/:id', run: (request) => lower(request) },
  { method: 'POST', path: '/v2/payments/:id/complete', run: (request) => complete(request) },
  { method: 'POST', path: '/v2/payments/:id/cancel', run: (request) => cancel(request) },
];

interface Held {
  readonly charge: LedgerCharge;
  readonly order: LedgerPayment;
}

const CODES: Readonly<Record<string, string>> = {
  CANCELED: 'DELAYED_TRANSACTION_CANCELED',
  COMPLETED: 'DELAYED_TRANSACTION_CAPTURED',
  FAILED: 'DELAYED_TRANSACTION_FAILED',
};

/** @throws Refused unless the payment is APPROVED and has the caller's version */
const heldOf = (unit: Unit, id: string, token?: string | null): Held => {
  const charge = findSquareCharge(unit, id);
  const order = findSquareOrder(unit, charge.paymentId);
  const status = squareStatusOf(charge);
  if (status !== 'APPROVED') {
    const hasExpired = status === 'CANCELED' && order.cancellationReason === 'automatic';
    const code = hasExpired ? 'DELAYED_TRANSACTION_EXPIRED' : (CODES[status] ?? 'BAD_REQUEST');
    throw invalidSquareRequest(code, `Payment ${id} is ${status}.`, 'payment_id');
  }
  if (token && token !== versionToken(charge, status)) throw tokenMismatch();
  return { charge, order };
};

const token = z.string().nullish();
const updated = z.strictObject({
  idempotency_key: key,
  payment: z.strictObject({ amount_money: money, version_token: token }),
});
const completed = z.strictObject({ version_token: token });

/** Lowers the amount, also of the order that Square made for the payment. */
const lower = ({ call, unit, id }: SquareRequest): SquareReply => {
  const { payment: sent } = readSquareBody(call, updated);
  const { charge, order } = heldOf(unit, id, sent.version_token);
  const { amount } = sent.amount_money;
  const wire = squareOrderWire.parse(order.wire);
  if (amount > charge.amount) {
    throw invalidSquareRequest('AMOUNT_TOO_HIGH', 'The amount can only be lowered.', 'amount_money.amount');
  }
  if (!wire.of_payment) {
    throw invalidSquareRequest('PAYMENT_AMOUNT_MISMATCH', 'The amount is not that of the order.', 'amount_money');
  }
  const line_items = wire.line_items.map((line) => ({ ...line, amount }));
  unit.documents.payments.put({ ...order, amount, wire: { ...wire, version: wire.version + 1, line_items } });
  const next = unit.documents.charges.put({ ...changedNow(unit, charge), amount });
  unit.announce({ kind: 'charge.lowered', charge: next });
  return shownPayment(unit, next);
};

const changedNow = (unit: Unit, charge: LedgerCharge): LedgerCharge => ({
  ...charge,
  wire: { ...charge.wire, changed_at: unit.at },
});

const complete = ({ call, unit, id }: SquareRequest): SquareReply => {
  const { version_token } = readSquareBody(call, completed);
  const { charge, order } = heldOf(unit, id, version_token);
  if (declinesCapture(unit, order)) return { answer: squareError(402, declineError('generic_decline')) };
  unit.documents.charges.put(changedNow(unit, charge));
  captureLedgerPayment(unit, order, charge.amount);
  return shownPayment(unit, findSquareCharge(unit, id));
};

const cancel = ({ unit, id }: SquareRequest): SquareReply => {
  const { order } = heldOf(unit, id);
  cancelLedgerPayment(unit, order, null);
  return shownPayment(unit, findSquareCharge(unit, id));
};

const canceledByKey = z.strictObject({ idempotency_key: key });
const MOST_SEARCHED = 100_000;

/** Square also returns 200 if no payment has the key. */
const cancelByKey = ({ call, unit }: SquareRequest): SquareReply => {
  const { idempotency_key } = readSquareBody(call, canceledByKey);
  const charge = unit.documents.charges
    .list(unit.slot, { limit: MOST_SEARCHED })
    .find(({ wire }) => squareOrderWire.parse(wire).payment_key === idempotency_key);
  if (charge) cancelLedgerPayment(unit, heldOf(unit, charge.id).order, null);
  return { object: {} };
};
