/** @module Square's orders. The ledger stores each order as a payment, also before it is paid. */

import * as z from 'zod';
import type { LedgerPayment } from '../../ledger/documents.ts';
import { cancelLedgerPayment } from '../../ledger/payments.ts';
import type { Unit } from '../../ledger/unit.ts';
import { characters } from '../../state/characters.ts';
import { orderState, type SquareOrderWire, squareOrderView, squareOrderWire } from '../views/payment-views.ts';
import { invalidSquareRequest, squareNotFound, versionConflict } from '../wire/errors.ts';
import { money, readSquareBody, type SquareRequest, type SquareRoute } from '../wire/request.ts';

const lineItem = z.strictObject({
  uid: z.string().max(60).optional(),
  name: characters(512).optional(),
  /** A whole number. Decimals need a `quantity_unit`, which the simulator does not support. */
  quantity: z.string().min(1).max(12).regex(/^\d+$/, 'must be a whole number of items'),
  base_price_money: money,
});

const orderFields = {
  location_id: z.string().min(1),
  reference_id: z.string().max(40).optional(),
  customer_id: z.string().max(191).optional(),
};
const created = z.strictObject({
  idempotency_key: z.string().max(192).optional(),
  order: z.strictObject({ ...orderFields, line_items: z.array(lineItem).min(1) }),
});
const changed = z.strictObject({
  idempotency_key: z.string().max(192).optional(),
  order: z.strictObject({
    ...orderFields,
    location_id: orderFields.location_id.optional(),
    version: z.int(),
    line_items: z.array(lineItem).optional(),
    state: z.enum(['OPEN', 'COMPLETED', 'CANCELED']).optional(),
  }),
});
type LineItem = z.output<typeof lineItem>;

export const squareOrderRoutes: readonly SquareRoute[] = [
  { method: 'POST', path: '/v2/orders', run: (request) => shown(request, create(request)) },
  {
    method: 'GET',
    path: '/v2/orders/:id',
    run: (request) => shown(request, findSquareOrder(request.unit, request.id)),
  },
  { method: 'PUT', path: '/v2/orders/:id', run: (request) => shown(request, update(request)) },
];

const shown = ({ unit }: SquareRequest, order: LedgerPayment) => ({ object: { order: squareOrderView(order, unit) } });

const create = ({ call, unit }: SquareRequest): LedgerPayment => {
  const { order } = readSquareBody(call, created);
  return addOrder(unit, {
    reference: order.reference_id,
    customerId: order.customer_id ?? null,
    locationId: order.location_id,
    ...priced(order.line_items),
  });
};

interface NewOrder {
  readonly reference: string | undefined;
  readonly customerId: string | null;
  readonly locationId: string;
  readonly currency: string;
  readonly amount: number;
  readonly lines: SquareOrderWire['line_items'];
  /** True if Square creates the order for a payment without an order. */
  readonly isOfPayment?: true;
}

export const addOrder = (unit: Unit, order: NewOrder): LedgerPayment => {
  const wire: SquareOrderWire = {
    location_id: order.locationId,
    version: 1,
    line_items: order.lines,
    ...(order.isOfPayment && { of_payment: true }),
  };
  const added = unit.documents.payments.put({
    id: unit.newId('payment'),
    provider: unit.slot,
    metadata: order.reference === undefined ? {} : { payment_id: order.reference },
    wire,
    createdAt: unit.at,
    amount: order.amount,
    currency: order.currency,
    status: 'requires_payment_method',
    captures: 'at_once',
    description: null,
    customerId: order.customerId,
    methodId: null,
    saveMethod: null,
    amountReceived: 0,
    latestChargeId: null,
    failure: null,
    returnUrl: null,
    canceledAt: null,
    cancellationReason: null,
  });
  unit.announce({ kind: 'payment.created', payment: added });
  return added;
};

/** All lines of one order have the same currency. */
const priced = (items: readonly LineItem[]): Pick<NewOrder, 'amount' | 'currency' | 'lines'> => {
  const currencies = new Set(items.map(({ base_price_money }) => base_price_money.currency));
  const [currency] = currencies;
  if (currency === undefined || currencies.size > 1) {
    throw invalidSquareRequest('CURRENCY_MISMATCH', 'All money of an order is in one currency.', 'order.line_items');
  }
  return {
    currency,
    amount: items.reduce((sum, item) => sum + totalOf(item), 0),
    lines: items.map(({ uid, name, quantity, base_price_money }, index) => ({
      uid: uid ?? `line-${index + 1}`,
      ...(name !== undefined && { name }),
      quantity,
      amount: base_price_money.amount,
    })),
  };
};

/** @throws Refused if the total is too large for an exact number. */
const totalOf = ({ quantity, base_price_money: { amount } }: LineItem): number => {
  const total = Number(quantity) * amount;
  if (Number.isSafeInteger(total)) return total;
  throw invalidSquareRequest('VALUE_TOO_HIGH', 'The total of the line is too large.', 'order.line_items');
};

export const findSquareOrder = (unit: Unit, id: string, field = 'order_id'): LedgerPayment => {
  const order = unit.documents.payments.get(unit.slot, id);
  if (!order) throw squareNotFound(`Order not found for id ${id}`, field);
  return order;
};

/** @throws Refused if the order is paid, canceled or being paid. */
export const checkOpen = (order: LedgerPayment): void => {
  if (orderState(order) === 'OPEN' && order.status !== 'processing' && order.status !== 'requires_capture') return;
  throw invalidSquareRequest('BAD_REQUEST', `The order is not open: it is ${orderState(order)} or has a tender.`);
};

/**
 * Changes only the sent fields. The caller must name the order's current version. Sent lines replace all lines of the
 * order.
 */
const update = ({ call, unit, id }: SquareRequest): LedgerPayment => {
  const { order: sent } = readSquareBody(call, changed);
  const order = findSquareOrder(unit, id);
  const wire = squareOrderWire.parse(order.wire);
  if (sent.version !== wire.version) {
    throw versionConflict(`The order is of version ${wire.version}, not ${sent.version}.`);
  }
  checkOpen(order);
  const prices = sent.line_items ? priced(sent.line_items) : undefined;
  const next = unit.documents.payments.put({
    ...order,
    ...(prices && { amount: prices.amount, currency: prices.currency }),
    customerId: sent.customer_id ?? order.customerId,
    metadata: { ...order.metadata, ...(sent.reference_id !== undefined && { payment_id: sent.reference_id }) },
    wire: { ...wire, version: wire.version + 1, ...(prices && { line_items: prices.lines }) },
  });
  return sent.state === 'CANCELED' ? cancelLedgerPayment(unit, next, null) : next;
};
