/** @module Square's error bodies: `{errors: [{category, code, detail, field}]}`. */

import type { DeclineReason } from '../../ledger/behaviours.ts';
import { type Answer, Refused } from '../../protocol/vendor.ts';

type Category =
  | 'API_ERROR'
  | 'AUTHENTICATION_ERROR'
  | 'INVALID_REQUEST_ERROR'
  | 'RATE_LIMIT_ERROR'
  | 'PAYMENT_METHOD_ERROR'
  | 'REFUND_ERROR';

export interface SquareErrorBody {
  readonly category: Category;
  readonly code: string;
  readonly detail: string;
  readonly field?: string;
}

export const squareError = (
  status: number,
  error: SquareErrorBody,
  { began = false, beside = {} }: { readonly began?: boolean; readonly beside?: object } = {},
): Answer => ({
  status,
  body: JSON.stringify({ errors: [error], ...beside }),
  began,
});

/** Refused before the operation began, so the same key may be used again. */
export const invalidSquareRequest = (code: string, detail: string, field?: string): Refused =>
  refuse(400, { code, detail, field });

export const squareNotFound = (detail: string, field?: string): Refused =>
  refuse(404, { code: 'NOT_FOUND', detail, field });

/** The caller's version is not the object's current version. */
export const versionConflict = (detail: string): Refused => refuse(409, { code: 'CONFLICT', detail, field: 'version' });

/** The caller's version token is not the payment's current token. */
export const tokenMismatch = (): Refused =>
  refuse(409, {
    code: 'VERSION_MISMATCH',
    detail: 'The payment has changed since this version.',
    field: 'version_token',
  });

/** The payment cannot be refunded with these fields. */
export const refundError = (code: string, detail: string, field: string): Refused =>
  new Refused(squareError(400, { category: 'REFUND_ERROR', code, detail, field }));

const refuse = (
  status: number,
  { field, ...error }: { readonly code: string; readonly detail: string; readonly field: string | undefined },
): Refused =>
  new Refused(
    squareError(status, { category: 'INVALID_REQUEST_ERROR', ...error, ...(field !== undefined && { field }) }),
  );

/** The refusal of a token that can no longer be used. */
export const spentToken = (code: 'CARD_TOKEN_USED' | 'CARD_TOKEN_EXPIRED' | 'SOURCE_USED'): Refused =>
  new Refused(
    squareError(400, {
      category: 'PAYMENT_METHOD_ERROR',
      code,
      detail: `Authorization error: '${code}'`,
      field: 'source_id',
    }),
  );

interface Decline {
  readonly code: string;
  /** The response code of the card's issuer (ISO 8583). */
  readonly issuer?: string;
}

const DECLINES: Readonly<Record<DeclineReason, Decline>> = {
  generic_decline: { code: 'GENERIC_DECLINE' },
  do_not_honor: { code: 'GENERIC_DECLINE', issuer: '05' },
  insufficient_funds: { code: 'INSUFFICIENT_FUNDS', issuer: '51' },
  lost_card: { code: 'GENERIC_DECLINE', issuer: '41' },
  stolen_card: { code: 'GENERIC_DECLINE', issuer: '43' },
  fraudulent: { code: 'GENERIC_DECLINE', issuer: '59' },
  expired_card: { code: 'INVALID_EXPIRATION', issuer: '54' },
  incorrect_cvc: { code: 'CVV_FAILURE' },
  incorrect_postal_code: { code: 'ADDRESS_VERIFICATION_FAILURE' },
  processing_error: { code: 'TEMPORARY_ERROR' },
  card_velocity_exceeded: { code: 'TRANSACTION_LIMIT', issuer: '61' },
  authentication_required: { code: 'CARD_DECLINED_VERIFICATION_REQUIRED' },
  authentication_failed: { code: 'CARD_DECLINED_VERIFICATION_REQUIRED' },
  pickup_card: { code: 'GENERIC_DECLINE', issuer: '04' },
  invalid_account: { code: 'INVALID_ACCOUNT' },
  account_closed: { code: 'GENERIC_DECLINE', issuer: '46' },
  authorization_revoked: { code: 'GENERIC_DECLINE', issuer: 'R1' },
  payment_stopped: { code: 'GENERIC_DECLINE', issuer: 'R0' },
  never_again: { code: 'ACCOUNT_UNUSABLE' },
  agreement_canceled: { code: 'GENERIC_DECLINE', issuer: 'R3' },
  wrong_data: { code: 'PAN_FAILURE' },
};

export const declineError = (reason: DeclineReason): SquareErrorBody => {
  const { code } = DECLINES[reason];
  return { category: 'PAYMENT_METHOD_ERROR', code, detail: `Authorization error: '${code}'` };
};

export const issuerCode = (reason: DeclineReason): string | undefined => DECLINES[reason].issuer;
