/**
 * @module Checks calls against the vendors' API descriptions, which lie outside this project. Every rig of the contract
 * tests checks its calls when it closes. Without the files, the check is skipped.
 */

import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { formValue, queryFields, typedValue } from './form-values.ts';
import { check, type DescribedOperation, operationsOf, queryProblems, strangersIn } from './openapi-check.ts';

/** One call as sent. */
export interface WireExchange {
  readonly method: string;
  readonly path: string;
  /** The query string with its question mark, or an empty string. */
  readonly search: string;
  readonly sent: string;
  readonly status: number;
  readonly answered: string;
}

const PLACES = ['../contracts', '../shared/contracts'];
export const contractsFolder = PLACES.map((place) => resolve(import.meta.dirname, '../..', place)).find(existsSync);

const FILES: Readonly<Record<string, readonly string[]>> = {
  stripe: ['stripe/spec3.2026-10-28.json'],
  paypal: ['checkout_orders_v2', 'payments_payment_v2', 'vault_payment_tokens_v3', 'notifications_webhooks_v1'].map(
    (name) => `paypal/${name}.json`,
  ),
  square: ['square/api.json'],
};

/** Fields and values documented by the vendors but missing in their files. */
const NOT_DESCRIBED: readonly RegExp[] = [
  /payment_source\.token\.type: "SETUP_TOKEN" is not one of BILLING_AGREEMENT/,
  /customer\.merchant_customer_id: is not in the document/,
  /\.(captures|authorizations)\[\d+\]\.supplementary_data: is not in the document/,
  // PayPal's link to the next page has parameters that PayPal does not describe.
  /webhooks-events\?(move_to|index_time|index_id): is not in the document/,
  // A verification request contains the received event with all its fields.
  /verify-webhook-signature sends\.webhook_event\./,
  // Stripe's browser page sends card data, unlike the server SDK.
  /payment_method_data\.(type: "card" is not one of|card: is not in the document)/,
];

const ACCEPTED_BELOW = 400;
const opened = new Map<string, readonly DescribedOperation[]>();

const operationsFor = (vendor: string): readonly DescribedOperation[] => {
  const known = opened.get(vendor);
  if (known) return known;
  const files = contractsFolder === undefined ? [] : (FILES[vendor] ?? []);
  const found = files
    .flatMap((file) => operationsOf(readFileSync(resolve(contractsFolder ?? '', file), 'utf8')))
    // A path without variable parts takes precedence.
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length);
  opened.set(vendor, found);
  return found;
};

/**
 * The problems of accepted calls to described operations, one line each. Refused requests and injected faults are
 * skipped, because they may be invalid.
 */
export const vendorProblems = (vendor: string, exchanges: readonly WireExchange[]): string[] => {
  const operations = operationsFor(vendor);
  return exchanges.flatMap((exchange) => {
    const { method, path, status } = exchange;
    if (status >= ACCEPTED_BELOW) return [];
    const operation = operations.find(
      (one) =>
        one.method === method && new RegExp(`^/${vendor}${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    );
    return operation ? problemsOf(vendor, operation, exchange) : [];
  });
};

const problemsOf = (vendor: string, operation: DescribedOperation, exchange: WireExchange): string[] =>
  [...requestProblems(vendor, operation, exchange), ...answerProblems(vendor, operation, exchange)].filter(
    (problem) => !NOT_DESCRIBED.some((known) => known.test(problem)),
  );

const requestProblems = (vendor: string, operation: DescribedOperation, { search, sent }: WireExchange): string[] => {
  const { api, method, path, request } = operation;
  const query = vendor === 'stripe' ? stripeQueryProblems(operation, search) : queryProblems(operation, search);
  if (sent === '' || !request) return query;
  const value = vendor === 'stripe' ? formValue(api, request, sent) : JSON.parse(sent);
  const found = { value, at: `${method} ${path} sends` };
  return [...query, ...check(api, request, found), ...strangersIn(api, request, found)];
};

const stripeQueryProblems = ({ api, method, path, query }: DescribedOperation, search: string): string[] =>
  queryFields(search).flatMap(([name, given]) => {
    const at = `${method} ${path}?${name}`;
    const known = query.find((one) => one.name === name);
    if (!known) return [`${at}: is not in the document`];
    return known.schema ? check(api, known.schema, { value: typedValue(api, known.schema, given), at }) : [];
  });

const answerProblems = (vendor: string, operation: DescribedOperation, exchange: WireExchange): string[] => {
  const { api, method, path, answers } = operation;
  const answer = answers.get(vendor === 'paypal' ? String(exchange.status) : '200');
  const value = jsonIn(exchange.answered);
  if (!answer || value === undefined) return [];
  const found = { value, at: `${method} ${path} ${exchange.status}` };
  return [...check(api, answer, found), ...strangersIn(api, answer, found)];
};

const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
