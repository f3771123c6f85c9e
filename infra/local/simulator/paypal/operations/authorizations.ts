/** @module Authorizations, which hold an amount until they are captured or voided. */

import * as z from 'zod';
import type { LedgerCharge, LedgerPayment } from '../../ledger/documents.ts';
import { declinesCapture, delaysCapture, startCapture } from '../../ledger/holds.ts';
import { cancelLedgerPayment, captureLedgerPayment } from '../../ledger/payments.ts';
import { type Answer, NOT_OFFERED, Refused } from '../../protocol/vendor.ts';
import {
  type AuthorizationStatus,
  authorizationStatus,
  authorizationView,
  type CaptureWire,
  findAuthorized,
} from '../views/authorization-views.ts';
import { captureView, minimalCaptureView } from '../views/payment-views.ts';
import { type Issue, paypalError, paypalNotFound, refused } from '../wire/errors.ts';
import { paypalAmount, readPayPalMoney } from '../wire/order-fields.ts';
import {
  answer,
  noContent,
  type PayPalRequest,
  type PayPalRoute,
  readPayPalBody,
  wantsRepresentation,
} from '../wire/request.ts';

const AUTHORIZATION = '/v2/payments/authorizations/:id';

export const paypalAuthorizationRoutes: readonly PayPalRoute[] = [
  {
    method: 'GET',
    path: AUTHORIZATION,
    run: (request) => answer(200, authorizationView(request.unit, find(request))),
  },
  { method: 'POST', path: `${AUTHORIZATION}/capture`, run: (request) => capture(request) },
  { method: 'POST', path: `${AUTHORIZATION}/void`, run: (request) => voidAuthorization(request) },
];

const find = ({ unit, id }: PayPalRequest): LedgerCharge => {
  const charge = findAuthorized(unit, id);
  if (!charge) throw paypalNotFound();
  return charge;
};

const orderOf = ({ unit }: PayPalRequest, { id, paymentId }: LedgerCharge): LedgerPayment => {
  const order = unit.documents.payments.get(unit.slot, paymentId);
  if (!order) throw new Error(`Charge ${id} has no order`);
  return order;
};

const captureFields = z.strictObject({
  amount: paypalAmount.optional(),
  invoice_id: z.string().min(1).max(127).optional(),
  note_to_payer: z.string().min(1).max(255).optional(),
  soft_descriptor: z.string().max(22).optional(),
  final_capture: z.boolean().default(false),
});

/** Without an amount, the whole amount is captured. */
const capture = (request: PayPalRequest): Answer => {
  const { call, unit } = request;
  const sent = readPayPalBody(call, captureFields);
  const held = find(request);
  const order = orderOf(request, held);
  const amount = sent.amount ? amountOf(held, sent.amount) : held.amount;
  requireCapturable(held, order);
  if (amount > held.amount) throw refused('MAX_CAPTURE_AMOUNT_EXCEEDED', '/amount/value');
  // The ledger captures a hold once.
  if (!sent.final_capture && amount < held.amount) throw new Refused({ ...paypalError(404), headers: NOT_OFFERED });
  if (declinesCapture(unit, order)) return shown(request, declined(request, held, amount));
  const wire: CaptureWire = { captured_at: unit.at };
  const asked = unit.documents.charges.put({
    ...held,
    wire: { ...held.wire, ...wire, ...(sent.invoice_id !== undefined && { invoice_id: sent.invoice_id }) },
  });
  if (delaysCapture(unit, order)) startCapture(unit, asked, amount);
  else captureLedgerPayment(unit, order, amount);
  return shown(request, find(request));
};

const amountOf = (held: LedgerCharge, sent: z.output<typeof paypalAmount>): number => {
  const { amount, currency } = readPayPalMoney(sent, { at: '/amount', indivisible: 'DECIMALS_NOT_SUPPORTED' });
  if (currency !== held.currency) throw refused('AUTH_CAPTURE_CURRENCY_MISMATCH', '/amount/currency_code');
  return amount;
};

const NOT_CAPTURABLE: Readonly<Record<Exclude<AuthorizationStatus, 'CREATED'>, Issue>> = {
  CAPTURED: 'AUTHORIZATION_ALREADY_CAPTURED',
  PARTIALLY_CAPTURED: 'AUTHORIZATION_ALREADY_CAPTURED',
  DENIED: 'AUTHORIZATION_DENIED',
  VOIDED: 'AUTHORIZATION_VOIDED',
  PENDING: 'TRANSACTION_NOT_CAPTURABLE',
};

const requireCapturable = (held: LedgerCharge, order: LedgerPayment): void => {
  const status = authorizationStatus(held);
  if (status === 'CREATED') return;
  throw refused(order.cancellationReason === EXPIRED ? 'AUTHORIZATION_EXPIRED' : NOT_CAPTURABLE[status]);
};

/** The ledger's reason for the end of a hold by the clock. */
const EXPIRED = 'automatic';

/** The bank pays nothing, and the authorization stays as it was. */
const declined = ({ unit }: PayPalRequest, held: LedgerCharge, amount: number): LedgerCharge => {
  const id = unit.newId('charge');
  const wire: CaptureWire = { declined_of: held.id };
  const charge = unit.documents.charges.put({
    ...held,
    ...{ id, amount, createdAt: unit.at, status: 'failed', reserved: false, authorized: 0, holdEndsAt: null },
    wire: { ...held.wire, ...wire },
    failure: { reason: 'do_not_honor', chargeId: id, methodId: held.methodId },
  });
  unit.announce({ kind: 'charge.failed', charge });
  return charge;
};

const shown = ({ call, unit }: PayPalRequest, captured: LedgerCharge): Answer =>
  answer(201, wantsRepresentation(call) ? captureView(unit, captured) : minimalCaptureView(unit, captured));

const NOT_VOIDABLE: Readonly<Record<Exclude<AuthorizationStatus, 'CREATED'>, Issue>> = {
  CAPTURED: 'PREVIOUSLY_CAPTURED',
  PARTIALLY_CAPTURED: 'PREVIOUSLY_CAPTURED',
  VOIDED: 'PREVIOUSLY_VOIDED',
  DENIED: 'CANNOT_BE_VOIDED',
  PENDING: 'CANNOT_BE_VOIDED',
};

const voidAuthorization = (request: PayPalRequest): Answer => {
  const { call, unit } = request;
  const held = find(request);
  const status = authorizationStatus(held);
  if (status !== 'CREATED') throw refused(NOT_VOIDABLE[status]);
  cancelLedgerPayment(unit, orderOf(request, held), null);
  return wantsRepresentation(call) ? answer(200, authorizationView(unit, find(request))) : noContent;
};
