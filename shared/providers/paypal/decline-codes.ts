/** @module Maps PayPal's declines to our decline code and to retry advice with precedence over the code. */

import type { DeclineWord } from '../../core/fact-words.ts';
import type { DeclineCode } from '../../core/outcome.ts';
import { wordTable } from '../adapter.ts';
import { adviceOfMerchantCode } from '../network-declines.ts';
import type { Authorization, Capture } from './schemas.ts';

/** Refusals of the payment method, after which the payer may pay with another method. */
const BY_ISSUE = wordTable<DeclineCode>({
  AGREEMENT_ALREADY_CANCELLED: 'do_not_honor',
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

/** The decline code of a refusal with this issue; undefined if the refusal is not a decline. */
export const paypalDeclineOf = (issue: string): DeclineCode | undefined => BY_ISSUE.get(issue);

/**
 * Issues after which no further attempt can succeed, because the payer's account is closed or the payer has withdrawn
 * the agreement.
 */
const ISSUE_ADVICE = wordTable<DeclineWord>({
  AGREEMENT_ALREADY_CANCELLED: 'do_not_try_again',
  PAYER_ACCOUNT_LOCKED_OR_CLOSED: 'do_not_try_again',
});

export const adviceOfIssue = (issue: string): DeclineWord | undefined => ISSUE_ADVICE.get(issue);

/** A card processor's codes, which PayPal passes on. */
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

const PROCESSOR_ADVICE = wordTable<DeclineWord>({
  '0390': 'do_not_try_again', // ACCOUNT_NOT_FOUND
  '1330': 'do_not_try_again', // INVALID_ACCOUNT
  '1335': 'do_not_try_again', // INVALID_ACCOUNT_RECURRING
  '1352': 'do_not_try_again', // RESTRICTED_OR_INACTIVE_ACCOUNT
  '5140': 'do_not_try_again', // CARD_CLOSED
  '5150': 'do_not_try_again', // PICKUP_CARD_SPECIAL_CONDITIONS
  '5180': 'do_not_try_again', // INVALID_OR_RESTRICTED_CARD
  '5950': 'confirm_card_data', // DECLINED_DUE_TO_UPDATED_ACCOUNT
  '6300': 'do_not_try_again', // ACCOUNT_NOT_ON_FILE
});

/** The network's advice takes precedence over the processor's code. */
export const paypalAdvice = ({ processor_response: said }: Capture | Authorization): DeclineWord | undefined =>
  adviceOfMerchantCode(said?.payment_advice_code) ?? PROCESSOR_ADVICE.get(said?.response_code ?? '');
