import * as z from 'zod';
import type { LedgerCharge, LedgerEvent, LedgerRefund } from '../../ledger/documents.ts';
import { createLedgerRefund, leftOf, refundProblem } from '../../ledger/refunds.ts';
import { chargeView } from '../views/charge-views.ts';
import { refundView } from '../views/money-back-views.ts';
import { checkAmount } from '../wire/currencies.ts';
import { invalidStripeRequest, stripeNotFound } from '../wire/errors.ts';
import {
  anything,
  choice,
  createdRange,
  expand,
  mergeMetadata,
  metadata,
  page,
  readParameters,
  text,
  whole,
} from '../wire/parameters.ts';
import type { StripeObject } from '../wire/request.ts';
import { getRoute, listPage, type StripeRequest, type StripeRoute } from '../wire/request.ts';

export const chargeRoutes: readonly StripeRoute[] = [
  { method: 'GET', path: '/v1/charges', run: (request) => ({ object: listCharges(request) }) },
  getRoute<LedgerCharge>('/v1/charges/:id', 'charge', (unit) => ({
    collection: unit.documents.charges,
    view: (charge) => chargeView(charge, unit),
  })),
  { method: 'GET', path: '/v1/refunds', run: (request) => ({ object: listRefunds(request) }) },
  { method: 'POST', path: '/v1/refunds', run: (request) => ({ object: refundView(refund(request)) }) },
  getRoute('/v1/refunds/:id', 'refund', (unit) => ({ collection: unit.documents.refunds, view: refundView })),
  { method: 'GET', path: '/v1/events', run: (request) => ({ object: listEvents(request) }) },
  getRoute<LedgerEvent>('/v1/events/:id', 'event', (unit) => ({
    collection: unit.documents.events,
    view: (event) => eventObject.parse(JSON.parse(event.body)),
  })),
];

const eventObject = z.record(z.string(), z.unknown());

const refundFields = z.strictObject({
  charge: text().optional(),
  payment_intent: text().optional(),
  amount: whole.optional(),
  reason: choice(['duplicate', 'fraudulent', 'requested_by_customer']).optional(),
  metadata: metadata.optional(),
  refund_application_fee: anything.optional(),
  reverse_transfer: anything.optional(),
  expand: expand.optional(),
});

const listCharges = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const filters = { customer: text().optional(), payment_intent: text().optional(), created: createdRange.optional() };
  const sent = readParameters(call, z.strictObject({ ...page, ...filters }));
  const { customer } = sent;
  return listPage(request, sent, {
    collection: unit.documents.charges,
    view: (charge) => chargeView(charge, unit),
    holder: sent.payment_intent,
    wanted: customer === undefined ? undefined : (charge) => charge.customerId === customer,
    kind: 'charge',
  });
};

const listRefunds = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const filters = { charge: text().optional(), payment_intent: text().optional(), created: createdRange.optional() };
  const sent = readParameters(call, z.strictObject({ ...page, ...filters }));
  const { charge } = sent;
  return listPage(request, sent, {
    collection: unit.documents.refunds,
    view: refundView,
    holder: sent.payment_intent,
    wanted: charge === undefined ? undefined : (refund) => refund.chargeId === charge,
    kind: 'refund',
  });
};

const listEvents = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const filters = {
    type: text().optional(),
    types: z.array(text()).max(20).optional(),
    created: createdRange.optional(),
  };
  const sent = readParameters(call, z.strictObject({ ...page, ...filters }));
  if (sent.type !== undefined && sent.types !== undefined) {
    throw invalidStripeRequest({ message: 'You may pass only one of these parameters: type, types.', param: 'types' });
  }
  return listPage(request, sent, {
    collection: unit.documents.events,
    view: (event) => eventObject.parse(JSON.parse(event.body)),
    holder: sent.type,
    wanted: sent.types && (({ type }) => sent.types?.includes(type) ?? true),
    kind: 'event',
  });
};

const refund = ({ call, unit }: StripeRequest): LedgerRefund => {
  const sent = readParameters(call, refundFields);
  const charge = chargeFor(unit, sent);
  const left = leftOf(charge);
  const amount = checkAmount(sent.amount ?? left, charge.currency);
  if (refundProblem(charge) === 'already_refunded') {
    throw invalidStripeRequest({
      code: 'charge_already_refunded',
      message: `Charge ${charge.id} has already been refunded.`,
    });
  }
  if (refundProblem(charge, amount) !== undefined) {
    throw invalidStripeRequest({
      message: `Refund amount (${amount}) is greater than unrefunded amount on charge (${left})`,
      param: 'amount',
    });
  }
  return createLedgerRefund(unit, charge, { amount, reason: sent.reason, metadata: mergeMetadata({}, sent.metadata) });
};

const chargeFor = (unit: StripeRequest['unit'], sent: z.output<typeof refundFields>): LedgerCharge => {
  const payment =
    sent.payment_intent === undefined ? undefined : unit.documents.payments.get(unit.slot, sent.payment_intent);
  if (sent.payment_intent !== undefined && !payment)
    throw stripeNotFound('payment_intent', sent.payment_intent, 'payment_intent');
  const id = sent.charge ?? payment?.latestChargeId;
  if (!id) {
    throw invalidStripeRequest({
      code: 'parameter_missing',
      message: 'One of the following params should be provided for this request: payment_intent or charge.',
    });
  }
  const charge = unit.documents.charges.get(unit.slot, id);
  if (!charge) throw stripeNotFound('charge', id, 'charge');
  return charge;
};
