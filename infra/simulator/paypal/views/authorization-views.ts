/** @module Shows the ledger's holds as PayPal's authorizations. One ledger charge is both a hold and its capture. */

import * as z from 'zod';
import type { LedgerCharge, LedgerPayment } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { moneyView } from '../wire/order-fields.ts';
import { API, type PayPalObject, processorResponse, readMerchantIds, timeView } from './fields.ts';

const AUTHORIZATION = 'A';
const CAPTURE = 'C';

/** PayPal has separate ids for an authorization and its capture, but the ledger has one charge. */
const authorizationIdOf = ({ id }: Pick<LedgerCharge, 'id'>): string => `${AUTHORIZATION}${id.slice(CAPTURE.length)}`;

export const findAuthorized = (unit: Unit, authorizationId: string): LedgerCharge | undefined => {
  if (!authorizationId.startsWith(AUTHORIZATION)) return undefined;
  const charge = unit.documents.charges.get(unit.slot, `${CAPTURE}${authorizationId.slice(AUTHORIZATION.length)}`);
  return charge && isAuthorization(unit, charge) ? charge : undefined;
};

/** Fields of a charge that captures an authorization. */
const captureWire = z.object({
  captured_at: z.int().optional(),
  /** The authorization's charge, for a capture declined by the bank. */
  declined_of: z.string().optional(),
  /** The authorization's charge, for a capture after the first. */
  captured_of: z.string().optional(),
  /** False if further captures of the authorization may follow. */
  final_capture: z.boolean().optional(),
  /** True if the rest of the authorization was voided after a capture. */
  voided: z.boolean().optional(),
});
export type CaptureWire = z.infer<typeof captureWire>;
export const readCaptureWire = (charge: LedgerCharge): CaptureWire => captureWire.parse(charge.wire);

/** An order's charges, oldest first, without immediately refused charges. */
const shownCharges = (unit: Unit, orderId: string): LedgerCharge[] =>
  unit.documents.charges
    .list(unit.slot, { holder: orderId, limit: 100 })
    .filter(({ wire }) => wire['refused'] !== true)
    .reverse();

const isLater = (unit: Unit, { paymentId }: LedgerCharge): boolean =>
  unit.documents.payments.get(unit.slot, paymentId)?.captures === 'later';

const isAuthorization = (unit: Unit, charge: LedgerCharge): boolean =>
  isLater(unit, charge) && charge.wire['refused'] !== true && holdOf(charge) === undefined;

/** The id of the authorization's charge; undefined if this charge is itself the authorization. */
const holdOf = (charge: LedgerCharge): string | undefined => {
  const { declined_of: declined, captured_of: captured } = readCaptureWire(charge);
  return declined ?? captured;
};

/** False for a charge that only holds an amount, and for an immediately refused charge. */
export const isCapture = (unit: Unit, charge: LedgerCharge): boolean =>
  charge.wire['refused'] !== true &&
  (!isLater(unit, charge) ||
    charge.captured ||
    isCapturing(charge) ||
    readCaptureWire(charge).declined_of !== undefined);

const isCapturing = ({ status, capturing }: LedgerCharge): boolean => status === 'pending' && capturing !== undefined;

export const capturesOf = (unit: Unit, orderId: string): LedgerCharge[] =>
  shownCharges(unit, orderId).filter((charge) => isCapture(unit, charge));

export const authorizationsOf = (unit: Unit, orderId: string): LedgerCharge[] =>
  shownCharges(unit, orderId).filter((charge) => isAuthorization(unit, charge));

export const capturedAt = (charge: LedgerCharge): number => readCaptureWire(charge).captured_at ?? charge.createdAt;

/** A capture's authorization; undefined for a capture of an order. */
export const authorizationOf = (unit: Unit, capture: LedgerCharge): string | undefined =>
  isLater(unit, capture) ? authorizationIdOf({ id: holdOf(capture) ?? capture.id }) : undefined;

/** The captured amount, or the amount to be captured. */
export const takenBy = ({ captured, capturing, amountCaptured, amount }: LedgerCharge): number =>
  captured ? amountCaptured : (capturing ?? amount);

export type AuthorizationStatus = 'CREATED' | 'CAPTURED' | 'DENIED' | 'PARTIALLY_CAPTURED' | 'VOIDED' | 'PENDING';

export const authorizationStatus = (charge: LedgerCharge): AuthorizationStatus => {
  if (isCapturing(charge)) return takenBy(charge) === charge.amount ? 'CAPTURED' : 'PARTIALLY_CAPTURED';
  if (charge.captured) {
    if (readCaptureWire(charge).voided) return 'VOIDED';
    return charge.released === 0 && !charge.stillHeld ? 'CAPTURED' : 'PARTIALLY_CAPTURED';
  }
  switch (charge.status) {
    case 'failed':
      return 'DENIED';
    case 'canceled':
      return 'VOIDED';
    default:
      return charge.reserved ? 'CREATED' : 'PENDING';
  }
};

export const authorizationView = (unit: Unit, charge: LedgerCharge): PayPalObject => {
  const id = authorizationIdOf(charge);
  const href = `${API}/v2/payments/authorizations/${id}`;
  const order = unit.documents.payments.get(unit.slot, charge.paymentId);
  const { custom_id, invoice_id } = readMerchantIds(order ?? charge);
  const status = authorizationStatus(charge);
  return {
    id,
    status,
    ...(status === 'PENDING' && { status_details: { reason: 'PENDING_REVIEW' } }),
    amount: moneyView(charge.amount, charge.currency),
    seller_protection: { status: 'NOT_ELIGIBLE' },
    ...(custom_id !== undefined && { custom_id }),
    ...(invoice_id !== undefined && { invoice_id }),
    ...(charge.holdEndsAt !== null && { expiration_time: timeView(charge.holdEndsAt) }),
    ...processorResponse(unit, charge),
    supplementary_data: { related_ids: { order_id: charge.paymentId } },
    create_time: timeView(charge.createdAt),
    update_time: timeView(changedAt(charge, order)),
    links: [
      { href, rel: 'self', method: 'GET' },
      ...linksOf(charge, status).map((rel) => ({
        href: `${href}/${rel}`,
        rel,
        method: 'POST',
      })),
      { href: `${API}/v2/checkout/orders/${charge.paymentId}`, rel: 'up', method: 'GET' },
    ],
  };
};

const linksOf = ({ stillHeld }: LedgerCharge, status: AuthorizationStatus): readonly string[] => {
  if (status === 'CREATED') return ['capture', 'void', 'reauthorize'];
  return stillHeld ? ['capture', 'void'] : [];
};

const changedAt = (charge: LedgerCharge, order: LedgerPayment | undefined): number =>
  charge.captured ? capturedAt(charge) : (order?.canceledAt ?? charge.createdAt);
