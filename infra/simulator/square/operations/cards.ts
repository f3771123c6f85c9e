/** @module Cards on file. */

import * as z from 'zod';
import type { LedgerMethod } from '../../ledger/documents.ts';
import { attachMethod, detachMethod } from '../../ledger/methods.ts';
import type { Unit } from '../../ledger/unit.ts';
import { Refused } from '../../protocol/vendor.ts';
import { cardView } from '../views/payment-views.ts';
import { declineError, invalidSquareRequest, spentToken, squareError, squareNotFound } from '../wire/errors.ts';
import { readSquareQuery, sortOrder, squarePage } from '../wire/lists.ts';
import { key, readSquareBody, type SquareRequest, type SquareRoute, squareAddress } from '../wire/request.ts';
import { asksVerification, isBank, isVerified, methodOfSource } from '../wire/tokens.ts';
import { findSquareCustomer } from './customers.ts';

const fields = z.strictObject({
  idempotency_key: key,
  source_id: z.string().min(1).max(16_384),
  verification_token: z.string().optional(),
  card: z.strictObject({
    customer_id: z.string().min(1),
    cardholder_name: z.string().max(96).optional(),
    billing_address: squareAddress.optional(),
    reference_id: z.string().max(128).optional(),
  }),
});

export const cardRoutes: readonly SquareRoute[] = [
  { method: 'GET', path: '/v2/cards', run: (request) => list(request) },
  { method: 'POST', path: '/v2/cards', run: (request) => shown(create(request)) },
  { method: 'GET', path: '/v2/cards/:id', run: (request) => shown(findCard(request)) },
  { method: 'POST', path: '/v2/cards/:id/disable', run: (request) => shown(disable(request)) },
];

const shown = (method: LedgerMethod) => ({ object: { card: cardView(method) } });

const create = ({ call, unit }: SquareRequest): LedgerMethod => {
  const { source_id: source, card, verification_token: verification } = readSquareBody(call, fields);
  const customer = findSquareCustomer(unit, card.customer_id, 'card.customer_id');
  const method = methodOfPayment(unit, source) ?? methodOfSource(unit, source);
  if (isBank(method)) throw invalidSquareRequest('UNSUPPORTED_SOURCE_TYPE', 'A bank account is no card.', 'source_id');
  const { behaviour } = method;
  // Storing a card checks it with the bank.
  if (behaviour.kind === 'declines' && !behaviour.attaches) {
    throw new Refused(squareError(402, declineError(behaviour.reason), { began: true }));
  }
  const verified = isVerified(verification);
  if (asksVerification(method) && !verified) {
    throw new Refused(squareError(402, declineError('authentication_required'), { began: true }));
  }
  const named = {
    ...method,
    setUp: method.setUp || verified,
    billing: { ...method.billing, name: card.cardholder_name ?? null },
  };
  return attachMethod(unit, named, customer.id);
};

/** The card of a payment. It can be stored once. */
const methodOfPayment = (unit: Unit, source: string): LedgerMethod | undefined => {
  const charge = unit.documents.charges.get(unit.slot, source);
  const used = charge && unit.documents.methods.get(unit.slot, charge.methodId);
  if (!used) return undefined;
  if (charge.status !== 'succeeded')
    throw invalidSquareRequest('BAD_REQUEST', 'The payment is not completed.', 'source_id');
  if (used.wire['stored'] === true || used.customerId !== null) throw spentToken('SOURCE_USED');
  unit.documents.methods.put({ ...used, wire: { ...used.wire, stored: true } });
  return unit.documents.methods.put({
    ...used,
    id: unit.newId('method'),
    createdAt: unit.at,
    spent: false,
    setUp: used.setUp || charge.authenticated,
  });
};

const listFields = z.strictObject({
  cursor: z.string().optional(),
  customer_id: z.string().optional(),
  include_disabled: z.enum(['true', 'false']).optional(),
  sort_order: sortOrder.optional(),
});

/** The page has a fixed size. */
const CARDS_PER_PAGE = 25;
const MOST_LISTED = 100_000;

/** Oldest first. A disabled card has no customer in the ledger. */
const list = ({ call, unit }: SquareRequest) => {
  const sent = readSquareQuery(call, listFields);
  const found = unit.documents.methods
    .list(unit.slot, { limit: MOST_LISTED, holder: sent.customer_id })
    .filter((method) => method.customerId !== null || (sent.include_disabled === 'true' && method.spent));
  const { page, next } = squarePage(sent.sort_order === 'DESC' ? found : found.toReversed(), {
    size: CARDS_PER_PAGE,
    cursor: sent.cursor,
  });
  return { object: { cards: page.map((method) => cardView(method)), ...next } };
};

const findCard = ({ unit, id }: SquareRequest): LedgerMethod => {
  const method = unit.documents.methods.get(unit.slot, id);
  if (!method) throw squareNotFound(`Card with id ${id} not found.`, 'card_id');
  return method;
};

const disable = (request: SquareRequest): LedgerMethod => {
  const method = findCard(request);
  return method.customerId === null ? method : detachMethod(request.unit, method);
};
