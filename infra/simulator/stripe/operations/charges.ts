import * as z from 'zod';
import type { LedgerCharge, LedgerEvent } from '../../ledger/documents.ts';
import { chargeView } from '../views/charge-views.ts';
import { invalidStripeRequest } from '../wire/errors.ts';
import { createdRange, page, readParameters, text } from '../wire/parameters.ts';
import type { StripeObject } from '../wire/request.ts';
import { getRoute, listPage, type StripeRequest, type StripeRoute } from '../wire/request.ts';
import { stripeVersionOf } from '../wire/versions.ts';

export const chargeRoutes: readonly StripeRoute[] = [
  { method: 'GET', path: '/v1/charges', run: (request) => ({ object: listCharges(request) }) },
  getRoute<LedgerCharge>('/v1/charges/:id', 'charge', (unit, version) => ({
    collection: unit.documents.charges,
    view: (charge) => chargeView(charge, unit, version),
  })),
  { method: 'GET', path: '/v1/events', run: (request) => ({ object: listEvents(request) }) },
  getRoute<LedgerEvent>('/v1/events/:id', 'event', (unit) => ({
    collection: unit.documents.events,
    view: (event) => eventObject.parse(JSON.parse(event.body)),
  })),
];

const eventObject = z.record(z.string(), z.unknown());

const listCharges = (request: StripeRequest): StripeObject => {
  const { unit, call } = request;
  const filters = { customer: text().optional(), payment_intent: text().optional(), created: createdRange.optional() };
  const sent = readParameters(call, z.strictObject({ ...page, ...filters }));
  const { customer } = sent;
  return listPage(request, sent, {
    collection: unit.documents.charges,
    view: (charge) => chargeView(charge, unit, stripeVersionOf(call)),
    holder: sent.payment_intent,
    wanted: customer === undefined ? undefined : (charge) => charge.customerId === customer,
    kind: 'charge',
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
