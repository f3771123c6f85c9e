import * as z from 'zod';
import type { Charge, Payment } from '../../ledger/documents.ts';
import { attemptPayment, cancel, capture } from '../../ledger/payments.ts';
import type { Unit } from '../../ledger/unit.ts';
import { orderWire, paymentView } from '../views/views.ts';
import { declineError, errorAnswer, invalidRequest, notFound } from '../wire/errors.ts';
import { address, key, money, type Reply, readBody, type SquareRequest, type SquareRoute } from '../wire/request.ts';
import { checkHolder, methodOfSource } from '../wire/tokens.ts';
import { addOrder, checkOpen, findOrder } from './orders.ts';

/** Payments: one attempt each to charge for an order. */
const fields = z.strictObject({
  source_id: z.string().min(1),
  idempotency_key: key,
  amount_money: money,
  autocomplete: z.boolean().default(true),
  order_id: z.string().optional(),
  customer_id: z.string().optional(),
  location_id: z.string().optional(),
  reference_id: z.string().max(40).optional(),
  note: z.string().max(500).optional(),
  verification_token: z.string().optional(),
  buyer_email_address: z.string().max(255).optional(),
  billing_address: address.optional(),
  customer_details: z.strictObject({ customer_initiated: z.boolean().optional() }).optional(),
});
type Fields = z.output<typeof fields>;

export const paymentRoutes: readonly SquareRoute[] = [
  { method: 'POST', path: '/v2/payments', run: (request) => create(request) },
  { method: 'GET', path: '/v2/payments/:id', run: (request) => shown(request.unit, findCharge(request)) },
  { method: 'POST', path: '/v2/payments/:id/cancel', run: (request) => end(request, cancelOrder) },
  { method: 'POST', path: '/v2/payments/:id/complete', run: (request) => end(request, capture) },
];

const shown = (unit: Unit, charge: Charge): Reply => ({ object: { payment: paymentView(charge, unit) } });

/** The customer is never asked from here: a card that wants it is declined, and its holder verifies it in the browser. */
const create = ({ call, unit }: SquareRequest): Reply => {
  const sent = readBody(call, fields);
  const order = sent.order_id === undefined ? ownOrder(unit, sent) : findOrder(unit, sent.order_id);
  checkOpen(order);
  if (sent.amount_money.amount !== order.amount || sent.amount_money.currency !== order.currency) {
    throw invalidRequest('PAYMENT_AMOUNT_MISMATCH', 'The amount is not that of the order.', 'amount_money');
  }
  const customerId = sent.customer_id ?? order.customerId;
  const method = methodOfSource(unit, sent.source_id);
  checkHolder(method, customerId);
  const wire = orderWire.parse(order.wire);
  const started: Payment = {
    ...order,
    customerId,
    captures: sent.autocomplete ? 'at_once' : 'later',
    metadata: { ...order.metadata, ...(sent.reference_id !== undefined && { payment_id: sent.reference_id }) },
    wire: { ...wire, version: wire.version + 1, ...(sent.note !== undefined && { note: sent.note }) },
  };
  const terms = { offSession: true, attempt: `key:${sent.idempotency_key}` };
  const { payment, declined } = attemptPayment(unit, { payment: started, method }, terms);
  const charge = unit.documents.charges.get(unit.slot, payment.latestChargeId ?? '');
  if (!charge) throw new Error(`order ${order.id} was charged without a payment`);
  if (!declined) return shown(unit, charge);
  const beside = { payment: paymentView(charge, unit) };
  return { answer: errorAnswer(402, declineError(declined.reason), { began: true, beside }) };
};

/** A payment that names no order has one made for it. */
const ownOrder = (unit: Unit, { amount_money: { amount, currency }, ...sent }: Fields): Payment =>
  addOrder(unit, {
    reference: sent.reference_id,
    customerId: sent.customer_id ?? null,
    locationId: sent.location_id ?? 'MAIN',
    currency,
    amount,
    lines: [{ uid: 'line-1', name: 'Custom Amount', quantity: '1', amount }],
  });

const findCharge = ({ unit, id }: SquareRequest): Charge => {
  const charge = unit.documents.charges.get(unit.slot, id);
  if (!charge) throw notFound(`Could not find payment with id: ${id}`, 'payment_id');
  return charge;
};

const cancelOrder = (unit: Unit, order: Payment): Payment => cancel(unit, order, null);

/** Only money that is reserved can be taken or let go. */
const end = (request: SquareRequest, how: (unit: Unit, order: Payment, amount: number) => Payment): Reply => {
  const { unit } = request;
  const charge = findCharge(request);
  if (!charge.reserved || charge.status !== 'pending') {
    throw invalidRequest('BAD_REQUEST', `Payment ${charge.id} is not APPROVED.`, 'payment_id');
  }
  how(unit, findOrder(unit, charge.paymentId), charge.amount);
  return shown(unit, findCharge(request));
};
