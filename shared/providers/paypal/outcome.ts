/** @module Turns PayPal's refusals into outcomes. A refused method is a decline; others keep PayPal's issue. */

import type { DeclineCode, Outcome, Refusal } from '../../core/outcome.ts';
import { wordTable } from '../adapter.ts';
import type { Exchanged, Failed, HttpRequest, ReadRefusal } from '../vendor-http.ts';
import { paypalRefusalSchema } from './schemas.ts';

export type PayPalCall = <T>(request: HttpRequest<T>) => Promise<Outcome<T>>;

/** One call of PayPal's API that returns a refusal unparsed. */
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
  const named = DECLINES.get(refusal.reason);
  const code = status === PAYMENT_REQUIRED ? (named ?? 'do_not_honor') : named;
  if (!code || (status !== UNPROCESSABLE && status !== PAYMENT_REQUIRED)) return refusal;
  return { kind: 'declined', code, attemptRef: undefined, facts: { decline: { providerCode: refusal.reason } } };
};

/** Refusals of the payment method, after which the payer may pay with another method. */
const DECLINES = wordTable<DeclineCode>({
  INSTRUMENT_DECLINED: 'do_not_honor',
  TRANSACTION_REFUSED: 'do_not_honor',
  TRANSACTION_LIMIT_EXCEEDED: 'do_not_honor',
  TRANSACTION_BLOCKED_BY_PAYEE: 'do_not_honor',
  PAYEE_BLOCKED_TRANSACTION: 'do_not_honor',
  PAYER_ACCOUNT_LOCKED_OR_CLOSED: 'do_not_honor',
  PAYER_ACCOUNT_RESTRICTED: 'do_not_honor',
  PAYER_CANNOT_PAY: 'do_not_honor',
  PAYMENT_SOURCE_CANNOT_BE_USED: 'do_not_honor',
  PAYMENT_SOURCE_DECLINED_BY_PROCESSOR: 'do_not_honor',
  REDIRECT_PAYER_FOR_ALTERNATE_FUNDING: 'do_not_honor',
  MAX_NUMBER_OF_PAYMENT_ATTEMPTS_EXCEEDED: 'do_not_honor',
  COMPLIANCE_VIOLATION: 'do_not_honor',
  CARD_BRAND_NOT_SUPPORTED: 'do_not_honor',
  CARD_EXPIRED: 'expired_card',
  REFERENCED_CARD_EXPIRED: 'expired_card',
});

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

/** Processor codes about a card, which PayPal passes on. */
const BY_PROCESSOR = wordTable<DeclineCode>({
  '00N7': 'incorrect_cvc',
  '5110': 'incorrect_cvc',
  '5120': 'insufficient_funds',
  '5400': 'expired_card',
  '5650': 'authentication_required',
  '5910': 'processing_error',
  '5920': 'processing_error',
  '7710': 'authentication_required',
  '9520': 'lost_card',
});

/** The most specific decline code that we support, else do_not_honor. */
export const paypalDeclineCode = (processorCode: string | undefined): DeclineCode =>
  BY_PROCESSOR.get(processorCode ?? '') ?? 'do_not_honor';
