import { fingerprint } from '../../core/ids.ts';
import type { DeclineCode, Outcome } from '../../core/outcome.ts';
import type { StatusTable } from '../wire/failures.ts';
import type { Failed, HttpClient, HttpRequest } from '../wire/http-client.ts';
import { type SquareError, squareRefusalSchema } from './schemas.ts';

/** The version whose description this adapter was written against. */
const SQUARE_VERSION = '2025-08-20';

/** One call of Square's API. */
export type SquareCall = <T>(request: HttpRequest<T>) => Promise<Outcome<T>>;

export const squareCalls =
  (client: HttpClient, accessToken: string): SquareCall =>
  (request) =>
    client.call(
      {
        ...request,
        headers: {
          authorization: `Bearer ${accessToken}`,
          'square-version': SQUARE_VERSION,
          ...request.headers,
        },
      },
      readRefusal,
    );

const MAX_KEY_LENGTH = 45;

/** Square takes 45 characters at most: a key is a hash of ours, the same for the same parts. */
export const squareKey = (...parts: readonly string[]): string => fingerprint(...parts).slice(0, MAX_KEY_LENGTH);

/** 409: another call held the same object or key at that moment, and may have been this very one. */
export const SQUARE_STATUSES: StatusTable = { 408: 'unknown', 409: 'unknown', 425: 'unknown', 429: 'not_done' };

const readRefusal = (_: number, body: unknown): Failed => {
  const parsed = squareRefusalSchema.safeParse(body);
  if (!parsed.success) return { kind: 'unknown', reason: 'error' };
  const { errors, payment } = parsed.data;
  const error = errors.find(({ category }) => category === 'PAYMENT_METHOD_ERROR') ?? errors[0];
  if (!error || UNDECIDED.includes(error.category) || error.code === 'TEMPORARY_ERROR')
    return { kind: 'unknown', reason: 'error' };
  if (error.category !== 'PAYMENT_METHOD_ERROR' || SPENT_SOURCES.includes(error.code)) return refused(error);
  const code = squareDeclineCode(errors, payment?.card_details?.auth_result_code);
  return { kind: 'declined', code, attemptRef: payment?.id ?? undefined };
};

/** Square does not know itself what it did. */
const UNDECIDED: readonly string[] = ['API_ERROR', 'RATE_LIMIT_ERROR'];

/** Nothing was charged: the source itself is no good, whoever's card it stands for. */
const SPENT_SOURCES: readonly string[] = ['CARD_TOKEN_EXPIRED', 'CARD_TOKEN_USED', 'SOURCE_EXPIRED', 'SOURCE_USED'];

const refused = ({ code, field }: SquareError): Failed => ({
  kind: 'refused',
  reason: code,
  parameter: SPENT_SOURCES.includes(code) ? 'payment_method' : parameterOf(code, field),
});

const PARAMETERS: Readonly<Record<string, string>> = { source_id: 'payment_method', card_id: 'payment_method' };

const parameterOf = (code: string, field: string | null | undefined): string | undefined => {
  if (code === 'UNSUPPORTED_CURRENCY' || code === 'CURRENCY_MISMATCH' || field?.endsWith('.currency'))
    return 'currency';
  return PARAMETERS[field ?? ''] ?? field ?? undefined;
};

const DECLINES: Readonly<Record<string, DeclineCode>> = {
  INSUFFICIENT_FUNDS: 'insufficient_funds',
  CARD_EXPIRED: 'expired_card',
  EXPIRATION_FAILURE: 'expired_card',
  BAD_EXPIRATION: 'expired_card',
  INVALID_EXPIRATION: 'expired_card',
  INVALID_EXPIRATION_DATE: 'expired_card',
  INVALID_EXPIRATION_YEAR: 'expired_card',
  CVV_FAILURE: 'incorrect_cvc',
  VERIFY_CVV_FAILURE: 'incorrect_cvc',
  CARD_DECLINED_VERIFICATION_REQUIRED: 'authentication_required',
};

/** The card network's own answers (ISO 8583), where Square hands them on: it has no code of its own for these. */
const BY_ISSUER: Readonly<Record<string, DeclineCode>> = { '41': 'lost_card', '43': 'stolen_card' };

/** The narrowest that has a word here; else the bank simply said no. */
export const squareDeclineCode = (
  errors: readonly Pick<SquareError, 'code'>[] | null | undefined,
  issuerCode: string | null | undefined,
): DeclineCode =>
  BY_ISSUER[issuerCode ?? ''] ??
  errors?.map(({ code }) => DECLINES[code]).find((known) => known !== undefined) ??
  'do_not_honor';
