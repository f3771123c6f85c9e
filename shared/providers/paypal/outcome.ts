/**
 * @module Turns PayPal's refusals into outcomes. A refused method is a decline. Other refusals have PayPal's issue as
 * reason.
 */

import type { Outcome, Refusal } from '../../core/outcome.ts';
import { wordTable } from '../adapter.ts';
import { declineOf } from '../reported-facts.ts';
import type { Exchanged, Failed, HttpRequest, ReadRefusal } from '../vendor-http.ts';
import { adviceOfIssue, paypalDeclineOf } from './decline-codes.ts';
import { paypalRefusalSchema } from './schemas.ts';

export type PayPalCall = <T>(request: HttpRequest<T>) => Promise<Outcome<T>>;

/** Makes one call of PayPal's API. Returns a refusal unparsed. */
export type PayPalExchange = <T>(request: HttpRequest<T>) => Promise<Exchanged<T>>;

/** @param read turns a refusal into an outcome; by default the outcome of a refused charge */
export const callsBy =
  (exchange: PayPalExchange, read: ReadRefusal = chargeRefusal): PayPalCall =>
  async (request) => {
    const exchanged = await exchange(request);
    return exchanged.kind === 'answered no' ? read(exchanged.status, exchanged.body) : exchanged;
  };

/** Our reason if PayPal reports an id as unknown or expired. */
export const PAYPAL_NOT_FOUND = 'RESOURCE_NOT_FOUND';

/** A refusal whose reason is PayPal's issue. */
export const paypalRefusal = (status: number, body: unknown): Refusal => {
  if (status === 404) return { kind: 'refused', reason: PAYPAL_NOT_FOUND };
  const parsed = paypalRefusalSchema.safeParse(body);
  const detail = parsed.data?.details?.[0];
  const reason = detail?.issue ?? parsed.data?.name ?? `HTTP_${status}`;
  return { kind: 'refused', reason, parameter: parameterOf(reason, detail?.field) };
};

const PAYMENT_REQUIRED = 402;
const UNPROCESSABLE = 422;

const chargeRefusal = (status: number, body: unknown): Failed => {
  const refusal = paypalRefusal(status, body);
  const named = paypalDeclineOf(refusal.reason);
  const code = status === PAYMENT_REQUIRED ? (named ?? 'do_not_honor') : named;
  if (!code || (status !== UNPROCESSABLE && status !== PAYMENT_REQUIRED)) return refusal;
  const decline = declineOf(refusal.reason, undefined, adviceOfIssue(refusal.reason));
  return { kind: 'declined', code, attemptRef: undefined, facts: { decline } };
};

const PARAMETERS = wordTable<string>({
  TOKEN_ID_NOT_FOUND: 'payment_method',
  AGREEMENT_ALREADY_CANCELLED: 'payment_method',
  MISMATCHED_VAULT_ID_TO_PAYMENT_SOURCE: 'payment_method',
  INVALID_CURRENCY_CODE: 'currency',
  CURRENCY_NOT_SUPPORTED: 'currency',
  DECIMAL_PRECISION: 'amount',
  DECIMALS_NOT_SUPPORTED: 'amount',
  UNSUPPORTED_INTENT_FOR_PAYMENT_SOURCE: 'payment_method',
  RETURN_URL_REQUIRED: 'return_url',
  CANCEL_URL_REQUIRED: 'return_url',
});

const parameterOf = (issue: string, field: string | undefined): string | undefined => {
  if (field?.endsWith('/vault_id')) return 'payment_method';
  return PARAMETERS.get(issue) ?? field?.split('/').at(-1);
};
