/** @module Authorizations, which hold an amount until they are captured or voided. */

import * as z from 'zod';
import type { LedgerCharge, LedgerPayment } from '../../ledger/documents.ts';
import { captureFurther, releaseRest } from '../../ledger/further-captures.ts';
import { declinesCapture, delaysCapture, startCapture } from '../../ledger/holds.ts';
import { cancelLedgerPayment, captureLedgerPayment } from '../../ledger/payments.ts';
import type { Unit } from '../../ledger/unit.ts';
import { type Answer, NOT_OFFERED, Refused, type SiteCapture } from '../../protocol/vendor.ts';
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

const orderOf = (unit: Unit, { id, paymentId }: LedgerCharge): LedgerPayment => {
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

/** Without an amount, captures the whole rest. */
const capture = (request: PayPalRequest): Answer => {
  const { call, unit } = request;
  const sent = readPayPalBody(call, captureFields);
  const held = find(request);
  const amount = sent.amount ? amountOf(held, sent.amount) : leftOf(held);
  const { final_capture: isFinal, invoice_id: invoiceId } = sent;
  return shown(request, captureAuthorized(unit, held, { amount, isFinal, invoiceId, most: leftOf(held) }));
};

const leftOf = ({ captured, stillHeld, amount }: LedgerCharge): number => (captured ? (stillHeld ?? 0) : amount);

interface Capture {
  readonly amount: number;
  /** False if further captures may follow. */
  readonly isFinal: boolean;
  readonly invoiceId?: string | undefined;
  /** Maximum amount of this capture. */
  readonly most: number;
}

/** @returns the charge of the capture @throws Refused */
const captureAuthorized = (unit: Unit, held: LedgerCharge, capture: Capture): LedgerCharge => {
  const order = orderOf(unit, held);
  requireCapturable(unit, held, order);
  const { amount, isFinal, invoiceId, most } = capture;
  if (amount > most) throw refused('MAX_CAPTURE_AMOUNT_EXCEEDED', '/amount/value');
  if (declinesCapture(unit, order)) return declined(unit, held, amount);
  const stillHeld = isFinal ? 0 : Math.max(0, leftOf(held) - amount);
  const wire = {
    captured_at: unit.at,
    final_capture: stillHeld === 0,
    ...(invoiceId !== undefined && { invoice_id: invoiceId }),
  } satisfies CaptureWire & { invoice_id?: string };
  if (held.captured) {
    const further: CaptureWire = { captured_of: held.id };
    return captureFurther(unit, { payment: order, held, amount, stillHeld, wire: { ...wire, ...further } });
  }
  const isDelayed = delaysCapture(unit, order);
  // The ledger can delay only a final capture.
  if (isDelayed && stillHeld > 0) throw new Refused({ ...paypalError(404), headers: NOT_OFFERED });
  const asked = unit.documents.charges.put({
    ...held,
    ...(stillHeld > 0 && { stillHeld }),
    wire: { ...held.wire, ...wire },
  });
  if (isDelayed) startCapture(unit, asked, amount);
  else captureLedgerPayment(unit, order, amount);
  return unit.documents.charges.get(unit.slot, held.id) ?? asked;
};

/** By PayPal's documents, all captures of an authorization together may reach 115 % of its amount. */
const OVERAGE_PERCENT = 115;

/** A capture by the seller on PayPal's site. @throws Refused */
export const captureOnSite = (unit: Unit, order: LedgerPayment, { amount, isFinal }: SiteCapture): LedgerCharge => {
  const held = unit.documents.charges.get(unit.slot, order.latestChargeId ?? '');
  if (!held) throw paypalNotFound();
  const most = Math.floor((held.amount * OVERAGE_PERCENT) / 100) - order.amountReceived;
  return captureAuthorized(unit, held, { amount: amount ?? leftOf(held), isFinal, most });
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

const requireCapturable = (unit: Unit, held: LedgerCharge, order: LedgerPayment): void => {
  const status = authorizationStatus(held);
  if (status === 'CREATED') return;
  if (status === 'PARTIALLY_CAPTURED' && held.stillHeld) return;
  if (held.captured && held.holdEndsAt !== null && unit.at >= held.holdEndsAt) throw refused('AUTHORIZATION_EXPIRED');
  throw refused(order.cancellationReason === EXPIRED ? 'AUTHORIZATION_EXPIRED' : NOT_CAPTURABLE[status]);
};

/** The ledger's reason for an expired hold. */
const EXPIRED = 'automatic';

/** Records a declined capture. The bank pays nothing, and the authorization stays unchanged. */
const declined = (unit: Unit, { stillHeld: _, ...held }: LedgerCharge, amount: number): LedgerCharge => {
  const id = unit.newId('charge');
  const wire: CaptureWire = { declined_of: held.id };
  const charge = unit.documents.charges.put({
    ...held,
    ...{ id, amount, createdAt: unit.at, status: 'failed', reserved: false, authorized: 0, holdEndsAt: null },
    ...{ captured: false, amountCaptured: 0, amountRefunded: 0, released: 0, fee: null },
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
  const isPart = status === 'PARTIALLY_CAPTURED' && (held.stillHeld ?? 0) > 0;
  if (status !== 'CREATED' && !isPart) throw refused(NOT_VOIDABLE[status]);
  if (isPart) voidRest(unit, held);
  else cancelLedgerPayment(unit, orderOf(unit, held), null);
  return wantsRepresentation(call) ? answer(200, authorizationView(unit, find(request))) : noContent;
};

/** Voids the rest of a partly captured authorization. Captured amounts stay captured. */
const voidRest = (unit: Unit, held: LedgerCharge): void => {
  const wire: CaptureWire = { voided: true };
  releaseRest(unit, { ...held, wire: { ...held.wire, ...wire } });
};
