/** @module Maps Square's declines to our decline code and to retry advice with precedence over the code. */

import type { DeclineWord } from '../../core/fact-words.ts';
import type { DeclineCode } from '../../core/outcome.ts';
import { wordTable } from '../adapter.ts';
import { adviceOfResponse } from '../network-declines.ts';
import type { SquareError } from './schemas.ts';

const DECLINES = wordTable<DeclineCode>({
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
});

/** Card network codes (ISO 8583) for which Square has no code of its own. */
const BY_ISSUER = wordTable<DeclineCode>({ '41': 'lost_card', '43': 'stolen_card' });

/** The most specific decline code that we support, else do_not_honor. */
export const squareDeclineCode = (
  errors: readonly Pick<SquareError, 'code'>[] | null | undefined,
  issuerCode: string | null | undefined,
): DeclineCode =>
  BY_ISSUER.get(issuerCode ?? '') ??
  errors?.map(({ code }) => DECLINES.get(code)).find((known) => known !== undefined) ??
  'do_not_honor';

/** BUYER_REFUSED_PAYMENT means that the holder of a bank account has not authorized the payment. */
const ADVICE = wordTable<DeclineWord>({
  ACCOUNT_UNUSABLE: 'do_not_try_again',
  BUYER_REFUSED_PAYMENT: 'do_not_try_again',
  INVALID_ACCOUNT: 'do_not_try_again',
  INVALID_CARD: 'confirm_card_data',
  PAN_FAILURE: 'confirm_card_data',
});

/** @param issuerCode the card network's response code, which is more specific than Square's code */
export const squareAdvice = (
  code: string | null | undefined,
  issuerCode: string | null | undefined,
): DeclineWord | undefined => adviceOfResponse(issuerCode) ?? ADVICE.get(code ?? '');
