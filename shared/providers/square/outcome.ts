/** @module Calls Square's API. A payment method's error is a decline. A temporary error leaves the outcome unknown. */

import { fingerprint } from '../../core/ids.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { PaymentFacts } from '../../core/payment-facts.ts';
import { wordTable } from '../adapter.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import { REFUND_DISPUTED, REFUND_EXCEEDS } from '../refund-port.ts';
import { declineOf } from '../reported-facts.ts';
import type { Failed, HttpClient, HttpRequest, ReadRefusal } from '../vendor-http.ts';
import { squareAdvice, squareDeclineCode } from './decline-codes.ts';
import { attemptFacts } from './facts.ts';
import { type SquareError, squareRefusalSchema } from './schemas.ts';

/** The API version of this adapter, the same as in Square's SDK 46. */
export const SQUARE_VERSION = '2026-09-16';

/** One call of Square's API. By default, a refusal is read as the refusal of a charge. */
export type SquareCall = <T>(request: HttpRequest<T>, read?: ReadRefusal) => Promise<Outcome<T>>;

interface SquareCallOptions {
  readonly accessToken: string;
  readonly fingerprintOf: FingerprintOf;
}

export const squareCalls =
  (client: HttpClient, { accessToken, fingerprintOf }: SquareCallOptions): SquareCall =>
  (request, read = chargeRefusal(fingerprintOf)) =>
    client.call(
      {
        ...request,
        headers: {
          authorization: `Bearer ${accessToken}`,
          'square-version': SQUARE_VERSION,
          ...request.headers,
        },
      },
      read,
    );

const MAX_KEY_LENGTH = 45;

/** A hash of our idempotency key, because Square accepts at most 45 characters. */
export const squareKey = (...parts: readonly string[]): string => fingerprint(...parts).slice(0, MAX_KEY_LENGTH);

const chargeRefusal =
  (fingerprintOf: FingerprintOf): ReadRefusal =>
  (_, body) => {
    const parsed = squareRefusalSchema.safeParse(body);
    if (!parsed.success) return UNKNOWN;
    const { errors, payment } = parsed.data;
    const error = errors.find(({ category }) => category === 'PAYMENT_METHOD_ERROR') ?? errors[0];
    if (!error || isUndecided(error)) return UNKNOWN;
    if (error.category !== 'PAYMENT_METHOD_ERROR' || SPENT_SOURCES.includes(error.code)) return refused(error);
    const code = squareDeclineCode(errors, payment?.card_details?.auth_result_code);
    const facts = attemptFacts(payment ?? {}, 'failed', fingerprintOf);
    return { kind: 'declined', code, attemptRef: payment?.id ?? undefined, facts: facts ?? declineFacts(error) };
  };

/** The facts of a refusal without a payment, for example for a test card. Such a refusal contains only the error. */
const declineFacts = ({ code }: SquareError): PaymentFacts => ({
  decline: declineOf(code, undefined, squareAdvice(code, undefined)),
});

const UNKNOWN: Failed = { kind: 'unknown', reason: 'error' };

/** Reads the refusal of a refund. No method is charged, so a card's error is also a refusal, not a decline. */
export const readRefundRefusal: ReadRefusal = (_, body) => {
  const errors = squareRefusalSchema.safeParse(body).data?.errors ?? [];
  const [error] = errors;
  if (!error || errors.some(isUndecided)) return UNKNOWN;
  const reason = errors.map(({ code }) => REFUND_REFUSALS.get(code)).find((known) => known !== undefined);
  return reason === undefined ? refused(error) : { kind: 'refused', reason };
};

const REFUND_REFUSALS = wordTable<string>({
  REFUND_AMOUNT_INVALID: REFUND_EXCEEDS,
  PAYMENT_NOT_REFUNDABLE_DUE_TO_DISPUTE: REFUND_DISPUTED,
});

const isUndecided = ({ category, code }: SquareError): boolean =>
  UNDECIDED.includes(category) || code === 'TEMPORARY_ERROR';

/** Error categories after which the outcome is unknown. */
const UNDECIDED: readonly string[] = ['API_ERROR', 'RATE_LIMIT_ERROR'];

/** Codes of an expired or used token. Nothing was charged. */
const SPENT_SOURCES: readonly string[] = ['CARD_TOKEN_EXPIRED', 'CARD_TOKEN_USED', 'SOURCE_EXPIRED', 'SOURCE_USED'];

const refused = ({ code, field }: SquareError): Failed => ({
  kind: 'refused',
  reason: code,
  parameter: SPENT_SOURCES.includes(code) ? 'payment_method' : parameterOf(code, field),
});

const PARAMETERS = wordTable<string>({ source_id: 'payment_method', card_id: 'payment_method' });

const parameterOf = (code: string, field: string | null | undefined): string | undefined => {
  if (code === 'UNSUPPORTED_CURRENCY' || code === 'CURRENCY_MISMATCH' || field?.endsWith('.currency'))
    return 'currency';
  return PARAMETERS.get(field ?? '') ?? field ?? undefined;
};
