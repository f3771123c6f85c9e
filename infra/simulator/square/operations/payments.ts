/** @module Payments. Each payment is one attempt to charge for an order, immediately or later. */

import * as z from 'zod';
import type { LedgerCharge, LedgerMethod, LedgerPayment } from '../../ledger/documents.ts';
import { attemptPayment, authenticate } from '../../ledger/payments.ts';
import type { Unit } from '../../ledger/unit.ts';
import { type SquareOrderWire, squareOrderWire, squarePaymentView } from '../views/payment-views.ts';
import { delayMs } from '../wire/delays.ts';
import { declineError, invalidSquareRequest, squareError, squareNotFound } from '../wire/errors.ts';
import { checkLimit, MAX_PAGE, readSquareQuery, sortOrder, squarePage, time, wholeText } from '../wire/lists.ts';
import {
  key,
  money,
  readSquareBody,
  type SquareReply,
  type SquareRequest,
  type SquareRoute,
  squareAddress,
} from '../wire/request.ts';
import { asksVerification, checkHolder, isBank, isVerified, methodOfSource } from '../wire/tokens.ts';
import { addOrder, checkOpen, findSquareOrder } from './orders.ts';

const fields = z.strictObject({
  source_id: z.string().min(1),
  idempotency_key: key,
  amount_money: money,
  autocomplete: z.boolean().default(true),
  delay_duration: z.string().optional(),
  /** Only CANCEL is supported. Square can also complete a payment on its own. */
  delay_action: z.enum(['CANCEL']).optional(),
  order_id: z.string().optional(),
  customer_id: z.string().optional(),
  location_id: z.string().optional(),
  reference_id: z.string().max(40).optional(),
  note: z.string().max(500).optional(),
  verification_token: z.string().optional(),
  buyer_email_address: z.string().max(255).optional(),
  billing_address: squareAddress.optional(),
  statement_description_identifier: z.string().max(20).optional(),
  customer_details: z.strictObject({ customer_initiated: z.boolean().optional() }).optional(),
});
type Fields = z.output<typeof fields>;

export const paymentRoutes: readonly SquareRoute[] = [
  { method: 'POST', path: '/v2/payments', run: (request) => create(request) },
  { method: 'GET', path: '/v2/payments', run: (request) => list(request) },
  { method: 'GET', path: '/v2/payments/:id', run: ({ unit, id }) => shownPayment(unit, findSquareCharge(unit, id)) },
];

export const shownPayment = (unit: Unit, charge: LedgerCharge): SquareReply => ({
  object: { payment: squarePaymentView(charge, unit) },
});

const listFields = z.strictObject({
  begin_time: time.optional(),
  end_time: time.optional(),
  sort_order: sortOrder.optional(),
  cursor: z.string().optional(),
  location_id: z.string().optional(),
  total: wholeText.optional(),
  limit: wholeText.optional(),
});

/** Newest first. Square treats a limit above 100 as 100. */
const list = ({ call, unit }: SquareRequest): SquareReply => {
  const sent = readSquareQuery(call, listFields);
  const from = sent.begin_time === undefined ? 0 : Date.parse(sent.begin_time);
  const until = sent.end_time === undefined ? unit.at : Date.parse(sent.end_time);
  const found = unit.documents.charges
    .list(unit.slot, { limit: MOST_LISTED })
    .filter(({ createdAt }) => createdAt >= from && createdAt <= until)
    .filter(({ amount }) => sent.total === undefined || amount === Number(sent.total))
    .filter(
      ({ wire }) => sent.location_id === undefined || squareOrderWire.parse(wire).location_id === sent.location_id,
    );
  const limit = Number(sent.limit ?? MAX_PAGE) > MAX_PAGE ? undefined : sent.limit;
  const { page, next } = squarePage(sent.sort_order === 'ASC' ? found.toReversed() : found, {
    size: checkLimit(limit),
    cursor: sent.cursor,
  });
  return { object: { payments: page.map((charge) => squarePaymentView(charge, unit)), ...next } };
};

const MOST_LISTED = 100_000;

/**
 * Square's API cannot authenticate the customer. So Square declines a card that requires authentication, unless the
 * caller sends the verification token of Square's browser page.
 */
const create = ({ call, unit }: SquareRequest): SquareReply => {
  const sent = readSquareBody(call, fields);
  const order = sent.order_id === undefined ? ownOrder(unit, sent) : findSquareOrder(unit, sent.order_id);
  checkOpen(order);
  if (sent.amount_money.amount !== order.amount || sent.amount_money.currency !== order.currency) {
    throw invalidSquareRequest('PAYMENT_AMOUNT_MISMATCH', 'The amount is not that of the order.', 'amount_money');
  }
  const customerId = sent.customer_id ?? order.customerId;
  const method = methodOfSource(unit, sent.source_id);
  checkHolder(method, customerId);
  checkDelay(sent, method);
  const started = startedPayment(order, sent, customerId);
  const terms = { offSession: true, attempt: `key:${sent.idempotency_key}` };
  const verified = isVerified(sent.verification_token) && asksVerification(method);
  const { payment, declined } = verified
    ? { payment: authenticate(unit, { payment: { ...started, methodId: method.id, failure: null }, method }, true) }
    : attemptPayment(unit, { payment: started, method }, terms);
  const charge = unit.documents.charges.get(unit.slot, payment.latestChargeId ?? '');
  if (!charge) throw new Error(`order ${order.id} was charged without a payment`);
  if (!declined) return shownPayment(unit, charge);
  const beside = { payment: squarePaymentView(charge, unit) };
  return { answer: squareError(402, declineError(declined.reason), { began: true, beside }) };
};

/** Only cards can be charged later. @throws Refused */
const checkDelay = ({ autocomplete, delay_duration, delay_action }: Fields, method: LedgerMethod): void => {
  if (autocomplete && (delay_duration !== undefined || delay_action !== undefined)) {
    throw invalidSquareRequest(
      'CONFLICTING_PARAMETERS',
      'A delay requires `autocomplete` to be false.',
      'autocomplete',
    );
  }
  if (autocomplete || !isBank(method)) return;
  throw invalidSquareRequest('UNSUPPORTED_SOURCE_TYPE', 'Only a card can be charged later.', 'source_id');
};

const startedPayment = (order: LedgerPayment, sent: Fields, customerId: string | null): LedgerPayment => {
  const wire = squareOrderWire.parse(order.wire);
  const next: SquareOrderWire = {
    ...wire,
    version: wire.version + 1,
    payment_key: sent.idempotency_key,
    ...(sent.note !== undefined && { note: sent.note }),
  };
  return {
    ...order,
    customerId,
    ...(sent.autocomplete ? { captures: 'at_once' } : { captures: 'later', holdMs: delayMs(sent.delay_duration) }),
    metadata: { ...order.metadata, ...(sent.reference_id !== undefined && { payment_id: sent.reference_id }) },
    wire: next,
  };
};

/** The order that Square creates for a payment without an order. */
const ownOrder = (unit: Unit, { amount_money: { amount, currency }, ...sent }: Fields): LedgerPayment =>
  addOrder(unit, {
    reference: sent.reference_id,
    customerId: sent.customer_id ?? null,
    locationId: sent.location_id ?? 'MAIN',
    currency,
    amount,
    lines: [{ uid: 'line-1', name: 'Custom Amount', quantity: '1', amount }],
    isOfPayment: true,
  });

export const findSquareCharge = (unit: Unit, id: string): LedgerCharge => {
  const charge = unit.documents.charges.get(unit.slot, id);
  if (!charge) throw squareNotFound(`Could not find payment with id: ${id}`, 'payment_id');
  return charge;
};
