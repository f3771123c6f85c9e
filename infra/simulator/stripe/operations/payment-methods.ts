import * as z from 'zod';
import type { LedgerMethod } from '../../ledger/documents.ts';
import { attachMethod, detachMethod } from '../../ledger/methods.ts';
import type { Unit } from '../../ledger/unit.ts';
import { Refused } from '../../protocol/vendor.ts';
import { stripeMethodView } from '../views/payment-views.ts';
import { declineFields, invalidStripeRequest, stripeError } from '../wire/errors.ts';
import {
  billingDetails,
  findMethod,
  findStripeCustomer,
  mergeBilling,
  methodData,
  methodFromData,
} from '../wire/method-data.ts';
import { choice, expand, mergeMetadata, metadata, page, readParameters, text, whole } from '../wire/parameters.ts';
import type { StripeObject } from '../wire/request.ts';
import { listPage, none, type StripeRequest, type StripeRoute } from '../wire/request.ts';

const created = methodData.extend({ expand: expand.optional() });
const changes = z.strictObject({
  billing_details: billingDetails.optional(),
  card: z.strictObject({ exp_month: whole.optional(), exp_year: whole.optional() }).optional(),
  metadata: metadata.optional(),
  allow_redisplay: choice(['always', 'limited', 'unspecified']).optional(),
  expand: expand.optional(),
});

const withView = (run: (request: StripeRequest) => LedgerMethod) => (request: StripeRequest) => ({
  object: stripeMethodView(run(request)),
});

const PATH = '/v1/payment_methods/:id';

export const paymentMethodRoutes: readonly StripeRoute[] = [
  {
    method: 'POST',
    path: '/v1/payment_methods',
    browser: true,
    run: withView(({ call, unit }) => methodFromData(unit, readParameters(call, created))),
  },
  { method: 'GET', path: '/v1/payment_methods', run: (request) => ({ object: list(request) }) },
  { method: 'GET', path: '/v1/customers/:id/payment_methods', run: (request) => ({ object: listOf(request) }) },
  { method: 'GET', path: PATH, run: withView(read) },
  { method: 'POST', path: PATH, run: withView(update) },
  { method: 'POST', path: `${PATH}/attach`, run: withView(attach) },
  { method: 'POST', path: `${PATH}/detach`, run: withView(detach) },
];

function read({ call, unit, id }: StripeRequest): LedgerMethod {
  readParameters(call, none);
  return findMethod(unit, id, 'id');
}

function update({ call, unit, id }: StripeRequest): LedgerMethod {
  const sent = readParameters(call, changes);
  const before = findMethod(unit, id, 'id');
  if (before.customerId === null) {
    throw invalidStripeRequest({ message: 'You must save this PaymentMethod to a customer before you can update it.' });
  }
  const method = unit.documents.methods.put({
    ...before,
    billing: mergeBilling(before.billing, sent.billing_details ?? {}),
    card: {
      ...before.card,
      expMonth: sent.card?.exp_month ?? before.card.expMonth,
      expYear: sent.card?.exp_year ?? before.card.expYear,
    },
    metadata: mergeMetadata(before.metadata, sent.metadata),
  });
  unit.announce({ kind: 'method.updated', method, before });
  return method;
}

function attach({ call, unit, id }: StripeRequest): LedgerMethod {
  const sent = readParameters(call, z.strictObject({ customer: text(), expand: expand.optional() }));
  const customer = findStripeCustomer(unit, sent.customer, 'customer');
  const method = findMethod(unit, id, 'id');
  if (method.customerId === customer.id) return method;
  if (method.customerId !== null) {
    throw invalidStripeRequest({ message: 'The payment method you provided has already been attached to a customer.' });
  }
  if (method.spent) {
    throw invalidStripeRequest({
      message:
        'This PaymentMethod was previously used without being attached to a Customer or was detached from a Customer, ' +
        'and may not be used again.',
    });
  }
  checkCard(method);
  return attachMethod(unit, method, customer.id);
}

function detach({ call, unit, id }: StripeRequest): LedgerMethod {
  readParameters(call, none);
  const method = findMethod(unit, id, 'id');
  if (method.customerId === null) {
    throw invalidStripeRequest({
      message: 'The payment method you provided is not attached to a customer so detachment is impossible.',
    });
  }
  return detachMethod(unit, method);
}

/** @throws Refused if the bank declines the card when it is stored. */
const checkCard = ({ behaviour }: LedgerMethod): void => {
  if (behaviour.kind !== 'declines' || behaviour.attaches) return;
  throw new Refused(stripeError(402, declineFields(behaviour.reason), true));
};

const listFields = { ...page, type: choice(['card']).optional() };

const list = (request: StripeRequest): StripeObject => {
  const sent = readParameters(request.call, z.strictObject({ ...listFields, customer: text().optional() }));
  if (sent.customer !== undefined) findStripeCustomer(request.unit, sent.customer, 'customer');
  return listPage(request, sent, { ...listed(request.unit), holder: sent.customer });
};

const listOf = (request: StripeRequest): StripeObject => {
  const sent = readParameters(request.call, z.strictObject(listFields));
  return listPage(request, sent, {
    ...listed(request.unit),
    holder: findStripeCustomer(request.unit, request.id, 'id').id,
  });
};

const listed = (unit: Unit) => ({ collection: unit.documents.methods, view: stripeMethodView, kind: 'PaymentMethod' });
