/**
 * @module Stripe's search, limited to payment intents. A query consists of clauses `field:'value'` or
 * `metadata['key']:'value'`, joined by AND. Stripe's index lags by up to a minute, but this search has no lag.
 */

import * as z from 'zod';
import type { LedgerPayment } from '../../ledger/documents.ts';
import { stripePaymentView } from '../views/intent-views.ts';
import { invalidStripeRequest } from '../wire/errors.ts';
import { page, pageSize, readParameters, text } from '../wire/parameters.ts';
import type { StripeObject, StripeRequest } from '../wire/request.ts';

const fields = z.strictObject({
  query: text(),
  limit: pageSize.optional(),
  page: text().optional(),
  expand: page.expand,
});

type Clause = (payment: LedgerPayment) => boolean;

const DEFAULT_LIMIT = 10;
const CLAUSE =
  /^(?:metadata\[(?<k>["'])(?<key>[^"']+)\k<k>\]|(?<field>[a-z_]+))\s*:\s*(?:(?<q>["'])(?<quoted>.*)\k<q>|(?<bare>\S+))$/;

export const searchPayments = ({ call, unit }: StripeRequest): StripeObject => {
  const sent = readParameters(call, fields);
  const clauses = sent.query.split(/\sAND\s/i).map((clause) => clauseOf(clause.trim()));
  const reference = /metadata\[["']payment_id["']\]\s*:\s*["']([^"']+)["']/.exec(sent.query)?.[1];
  const found = unit.documents.payments
    .all(reference)
    .filter((payment) => payment.provider === unit.slot && clauses.every((clause) => clause(payment)))
    .reverse();
  const limit = sent.limit ?? DEFAULT_LIMIT;
  const start = sent.page === undefined ? 0 : Number(sent.page) || 0;
  const more = found.length > start + limit;
  return {
    object: 'search_result',
    data: found.slice(start, start + limit).map((payment) => stripePaymentView(payment, unit)),
    has_more: more,
    next_page: more ? String(start + limit) : null,
    url: call.path,
  };
};

const clauseOf = (clause: string): Clause => {
  const groups = CLAUSE.exec(clause)?.groups;
  if (!groups)
    throw invalidStripeRequest({ message: `We were unable to parse your search query: ${clause}`, param: 'query' });
  const value = groups['quoted'] ?? groups['bare'] ?? '';
  const key = groups['key'];
  if (key !== undefined) return (payment) => payment.metadata[key] === value;
  switch (groups['field']) {
    case 'status':
      return (payment) => payment.status === value;
    case 'customer':
      return (payment) => payment.customerId === value;
    case 'currency':
      return (payment) => payment.currency === value.toUpperCase();
    case 'amount':
      return (payment) => payment.amount === Number(value);
    default:
      throw invalidStripeRequest({
        message: `Field \`${groups['field']}\` is an unsupported search field.`,
        param: 'query',
      });
  }
};
