/**
 * @module The vault. A payer approves a setup token, which becomes a payment token. Later charges of the payment token
 * need no approval.
 */

import * as z from 'zod';
import { succeeds } from '../../ledger/behaviours.ts';
import type { LedgerMethod, LedgerSetup } from '../../ledger/documents.ts';
import { attachMethod, detachMethod } from '../../ledger/methods.ts';
import type { Unit } from '../../ledger/unit.ts';
import { type Answer, Refused } from '../../protocol/vendor.ts';
import { API, type PayPalObject } from '../views/fields.ts';
import { paymentTokenView, paypalCustomerView } from '../views/payment-views.ts';
import { malformed, paypalNotFound, refused, unprocessable } from '../wire/errors.ts';
import {
  answer,
  customerReference,
  noContent,
  type PayPalRequest,
  type PayPalRoute,
  readPayPalBody,
  readPayPalQuery,
} from '../wire/request.ts';
import { methodOfTestValue, newMethod, tokenOfTestValue } from '../wire/tokens.ts';
import { customerNamed } from './customers.ts';

const SETUP = '/v3/vault/setup-tokens';
const TOKENS = '/v3/vault/payment-tokens';

export const vaultRoutes: readonly PayPalRoute[] = [
  { method: 'POST', path: SETUP, run: (request) => createSetup(request) },
  { method: 'GET', path: `${SETUP}/:id`, run: (request) => answer(200, setupView(request.unit, findSetup(request))) },
  { method: 'POST', path: TOKENS, run: (request) => createToken(request) },
  { method: 'GET', path: TOKENS, run: (request) => listTokens(request) },
  {
    method: 'GET',
    path: `${TOKENS}/:id`,
    run: (request) => answer(200, paymentTokenView(request.unit, findToken(request))),
  },
  { method: 'DELETE', path: `${TOKENS}/:id`, run: (request) => removeToken(request) },
];

const customer = customerReference.optional();
const CUSTOMER_ID = '/customer/id';

const setupRequest = z.looseObject({
  customer,
  payment_source: z.looseObject({
    paypal: z
      .looseObject({
        usage_type: z.string().optional(),
        experience_context: z
          .looseObject({ return_url: z.url().optional(), cancel_url: z.url().optional() })
          .optional(),
      })
      .optional(),
    card: z.looseObject({}).optional(),
  }),
});

const createSetup = ({ call, unit }: PayPalRequest): Answer => {
  requireKey(call.headers);
  const { customer, payment_source: source } = readPayPalBody(call, setupRequest);
  const method = newMethod(unit, source.card ? 'SIM-CARD' : 'SIM-OK', {
    source: source.card ? 'card' : 'paypal',
    behaviour: succeeds,
  });
  const setup = unit.documents.setups.put({
    id: unit.newId('setup'),
    provider: unit.slot,
    metadata: {},
    wire: {},
    createdAt: unit.at,
    status: source.card ? 'succeeded' : 'requires_action',
    usage: 'off_session',
    description: null,
    customerId: customerNamed(unit, customer, CUSTOMER_ID).id,
    methodId: method.id,
    failure: null,
    returnUrl: source.paypal?.experience_context?.return_url ?? null,
    cancellationReason: null,
  });
  return answer(201, setupView(unit, setup));
};

const SETUP_STATUS: Partial<Record<LedgerSetup['status'], string>> = {
  requires_action: 'PAYER_ACTION_REQUIRED',
  succeeded: 'APPROVED',
};

const setupView = (unit: Unit, setup: LedgerSetup): PayPalObject => {
  const self = { href: `${API}${SETUP}/${setup.id}`, rel: 'self', method: 'GET' };
  const approve = { href: unit.customerPage(setup.id), rel: 'approve', method: 'GET' };
  return {
    id: setup.id,
    ...(setup.customerId !== null && { customer: paypalCustomerView(unit, setup.customerId) }),
    status: SETUP_STATUS[setup.status] ?? 'CREATED',
    links: setup.status === 'requires_action' ? [approve, self] : [self],
  };
};

const tokenRequest = z.looseObject({
  customer,
  payment_source: z.looseObject({
    token: z.looseObject({ id: z.string().min(1).max(255), type: z.enum(['SETUP_TOKEN', 'BILLING_AGREEMENT']) }),
  }),
});

const createToken = ({ call, unit }: PayPalRequest): Answer => {
  requireKey(call.headers);
  const sent = readPayPalBody(call, tokenRequest);
  const { id } = sent.payment_source.token;
  const setup = unit.documents.setups.get(unit.slot, id);
  const method = setup ? ofSetup(unit, setup) : methodOfTestValue(unit, id);
  if (!method) throw paypalNotFound();
  // Storing a method checks it with the bank.
  if (method.behaviour.kind === 'declines' && !method.behaviour.attaches) {
    throw new Refused(unprocessable('INSTRUMENT_DECLINED'));
  }
  const named = sent.customer?.id === undefined ? setup?.customerId : undefined;
  const holder = named ?? customerNamed(unit, sent.customer, CUSTOMER_ID).id;
  return answer(201, paymentTokenView(unit, attachMethod(unit, method, holder)));
};

const ofSetup = (unit: Unit, setup: LedgerSetup): LedgerMethod | undefined => {
  if (setup.status !== 'succeeded') throw refused('SETUP_TOKEN_NOT_APPROVED', '/payment_source/token/id');
  const method = unit.documents.methods.get(unit.slot, setup.methodId ?? '');
  // A setup token can be used once.
  return method?.customerId === null && !method.spent ? method : undefined;
};

const requireKey = (headers: Headers): void => {
  if (headers.get('paypal-request-id')) return;
  throw malformed([
    { issue: 'MISSING_REQUIRED_PARAMETER', description: 'PayPal-Request-Id is required', field: 'PayPal-Request-Id' },
  ]);
};

const findSetup = ({ unit, id }: PayPalRequest): LedgerSetup => {
  const setup = unit.documents.setups.get(unit.slot, id);
  if (!setup) throw paypalNotFound();
  return setup;
};

const findToken = ({ unit, id }: PayPalRequest): LedgerMethod => {
  const method = unit.documents.methods.get(unit.slot, id);
  const token = method?.customerId === null ? undefined : (method ?? tokenOfTestValue(unit, id));
  if (!token) throw paypalNotFound();
  return token;
};

const removeToken = ({ unit, id }: PayPalRequest): Answer => {
  const method = unit.documents.methods.get(unit.slot, id);
  if (method && method.customerId !== null) detachMethod(unit, method);
  return noContent;
};

/** A page has at most five tokens, and a list ten pages. */
const listQuery = z.object({
  customer_id: z
    .string()
    .min(7)
    .max(36)
    .regex(/^[0-9a-zA-Z_-]+$/),
  page_size: z.coerce.number().int().min(1).max(5).default(5),
  page: z.coerce.number().int().min(1).max(10).default(1),
  total_required: z.enum(['true', 'false']).default('false'),
});

const listTokens = ({ call, unit }: PayPalRequest): Answer => {
  const { customer_id: holder, page_size: size, page, total_required: counted } = readPayPalQuery(call, listQuery);
  const found = unit.documents.methods.list(unit.slot, { holder, limit: 1_000 });
  const start = (page - 1) * size;
  return answer(200, {
    customer: paypalCustomerView(unit, holder),
    payment_tokens: found.slice(start, start + size).map((method) => paymentTokenView(unit, method)),
    ...(counted === 'true' &&
      found.length > 0 && { total_items: found.length, total_pages: Math.ceil(found.length / size) }),
    links: [{ href: `${API}${call.path}`, rel: 'self', method: 'GET' }],
  });
};
