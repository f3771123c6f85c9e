import type * as z from 'zod';
import type { LedgerPayment } from '../../ledger/documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { Answer } from '../../protocol/vendor.ts';
import { authorizationsOf, capturesOf } from '../views/authorization-views.ts';
import {
  minimalOrderView,
  type PayPalOrderWire,
  paypalOrderView,
  readPayPalOrderWire,
  statusOf,
} from '../views/payment-views.ts';
import { paypalNotFound, refused } from '../wire/errors.ts';
import {
  captureRequest,
  confirmRequest,
  intentSchema,
  orderRequest,
  type PaymentSource,
  patchRequest,
  readPayPalPrice,
} from '../wire/order-fields.ts';
import {
  answer,
  noContent,
  type PayPalRequest,
  type PayPalRoute,
  readPayPalBody,
  wantsRepresentation,
} from '../wire/request.ts';
import { charge, chargeApproved, vaulting } from './capture.ts';

const ORDER = '/v2/checkout/orders/:id';

export const paypalOrderRoutes: readonly PayPalRoute[] = [
  { method: 'POST', path: '/v2/checkout/orders', run: (request) => create(request) },
  { method: 'GET', path: ORDER, run: (request) => answer(200, paypalOrderView(request.unit, find(request))) },
  { method: 'PATCH', path: ORDER, run: (request) => patch(request) },
  { method: 'POST', path: `${ORDER}/confirm-payment-source`, run: (request) => confirmSource(request) },
  { method: 'POST', path: `${ORDER}/authorize`, run: (request) => authorize(request) },
  { method: 'POST', path: `${ORDER}/capture`, run: (request) => capture(request) },
];

/** The payer has three hours to reach PayPal and three more hours to approve. Then an uncharged order expires. */
const EXPIRES_MS = 6 * 3_600_000;

/** An authorization holds the amount for 29 days. */
const HOLD_MS = 29 * 86_400_000;

const find = ({ unit, id }: PayPalRequest): LedgerPayment => {
  const order = unit.documents.payments.get(unit.slot, id);
  if (!order) throw paypalNotFound();
  const isOpen = ['CREATED', 'APPROVED', 'PAYER_ACTION_REQUIRED'].includes(statusOf(unit, order));
  if (isOpen && unit.at > order.createdAt + EXPIRES_MS) throw paypalNotFound();
  return order;
};

const shown = ({ call, unit }: PayPalRequest, order: LedgerPayment) =>
  wantsRepresentation(call) ? paypalOrderView(unit, order) : minimalOrderView(unit, order);

const create = (request: PayPalRequest): Answer => {
  const { call, unit } = request;
  const sent = readPayPalBody(call, orderRequest);
  const [purchase] = sent.purchase_units;
  const { amount, currency } = readPayPalPrice(purchase?.amount);
  const order = newOrder(unit, sent, { amount, currency });
  unit.announce({ kind: 'payment.created', payment: order });
  // Charge now if the request names a saved method.
  const reply = charge(request, order, sent.payment_source);
  return reply ?? answer(201, shown(request, order));
};

const capturesBy = (intent: z.output<typeof intentSchema>): LedgerPayment['captures'] =>
  intent === 'AUTHORIZE' ? 'later' : 'at_once';

const newOrder = (
  unit: Unit,
  sent: z.output<typeof orderRequest>,
  price: { readonly amount: number; readonly currency: string },
): LedgerPayment => {
  const [purchase] = sent.purchase_units;
  const wire: PayPalOrderWire = {
    reference_id: purchase?.reference_id ?? 'default',
    custom_id: purchase?.custom_id,
    invoice_id: purchase?.invoice_id,
    payer: false,
    return_url: sent.application_context?.return_url,
    cancel_url: sent.application_context?.cancel_url,
  };
  const order: LedgerPayment = {
    id: unit.newId('payment'),
    provider: unit.slot,
    metadata: purchase?.custom_id === undefined ? {} : { payment_id: purchase.custom_id },
    wire,
    createdAt: unit.at,
    ...price,
    status: 'requires_payment_method',
    captures: capturesBy(sent.intent),
    holdMs: HOLD_MS,
    description: purchase?.description ?? null,
    customerId: null,
    methodId: null,
    saveMethod: null,
    amountReceived: 0,
    latestChargeId: null,
    failure: null,
    returnUrl: null,
    canceledAt: null,
    cancellationReason: null,
  };
  return unit.documents.payments.put(withPayer(unit, order, sent.payment_source));
};

/** Makes the order wait for the payer's approval at PayPal, if it is for a PayPal account without a saved method. */
const withPayer = (unit: Unit, order: LedgerPayment, source: PaymentSource | undefined): LedgerPayment => {
  const paypal = source?.paypal;
  if (!paypal || paypal.vault_id !== undefined) return order;
  const { return_url, cancel_url } = paypal.experience_context ?? {};
  return {
    ...order,
    wire: { ...order.wire, payer: true, return_url, cancel_url },
    status: 'requires_action',
    returnUrl: return_url ?? null,
    ...vaulting(unit, paypal.attributes ?? {}, CUSTOMER_ID),
  };
};

const CUSTOMER_ID = '/payment_source/paypal/attributes/customer/id';

const patch = (request: PayPalRequest): Answer => {
  const { call, unit } = request;
  const order = find(request);
  const operations = readPayPalBody(call, patchRequest);
  if (statusOf(unit, order) === 'COMPLETED') throw refused('ORDER_ALREADY_COMPLETED');
  unit.documents.payments.put(operations.reduce((next, operation) => patched(unit, next, operation), order));
  return noContent;
};

const patched = (
  unit: Unit,
  order: LedgerPayment,
  { op, path, value }: z.output<typeof patchRequest>[number],
): LedgerPayment => {
  const unitPath = `/purchase_units/@reference_id=='${readPayPalOrderWire(order).reference_id}'`;
  switch (path) {
    case `${unitPath}/amount`: {
      if (op === 'remove') throw refused('NOT_PATCHABLE', path);
      if (statusOf(unit, order) === 'APPROVED') throw refused('AMOUNT_CHANGE_NOT_ALLOWED', path);
      return { ...order, ...readPayPalPrice(value) };
    }
    case '/intent':
      if (op !== 'replace') throw refused('NOT_PATCHABLE', path);
      return { ...order, captures: capturesBy(intentSchema.parse(value)) };
    case `${unitPath}/description`:
      return { ...order, description: op === 'remove' ? null : String(value) };
    default:
      throw refused('NOT_PATCHABLE', path);
  }
};

const confirmSource = (request: PayPalRequest): Answer => {
  const { call, unit } = request;
  const order = find(request);
  const { payment_source: source } = readPayPalBody(call, confirmRequest);
  if (statusOf(unit, order) === 'COMPLETED') throw refused('ORDER_CANNOT_BE_CONFIRMED');
  const asked = unit.documents.payments.put({ ...withPayer(unit, order, source), methodId: null });
  return answer(200, shown(request, asked));
};

const capture = (request: PayPalRequest): Answer => {
  const { call, unit } = request;
  const order = find(request);
  const { payment_source: source } = readPayPalBody(call, captureRequest);
  if (order.captures === 'later') throw refused('ACTION_DOES_NOT_MATCH_AUTHORIZE');
  if (capturesOf(unit, order.id).length > 0) throw refused('ORDER_ALREADY_CAPTURED');
  return charge(request, order, source) ?? chargeApproved(request, order);
};

const authorize = (request: PayPalRequest): Answer => {
  const { call, unit } = request;
  const order = find(request);
  const { payment_source: source } = readPayPalBody(call, captureRequest);
  if (order.captures !== 'later') throw refused('ACTION_DOES_NOT_MATCH_CAPTURE');
  if (authorizationsOf(unit, order.id).length > 0) throw refused('ORDER_ALREADY_AUTHORIZED');
  return charge(request, order, source) ?? chargeApproved(request, order);
};
