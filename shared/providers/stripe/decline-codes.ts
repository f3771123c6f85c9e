/** @module Maps Stripe's declines to our decline code and to retry advice with precedence over the code. */

import { DECLINE_WORDS, type DeclineWord } from '../../core/fact-words.ts';
import type { DeclineCode } from '../../core/outcome.ts';
import { wordTable } from '../adapter.ts';
import { adviceOfMerchantCode, adviceOfResponse } from '../network-declines.ts';

type Word = string | null | undefined;

/** An error of a charge or of a payment. */
export interface StripeDecline {
  readonly code?: Word;
  readonly decline_code?: Word;
  readonly advice_code?: Word;
  readonly network_advice_code?: Word;
}

const BY_CODE = wordTable<DeclineCode>({
  insufficient_funds: 'insufficient_funds',
  expired_card: 'expired_card',
  incorrect_cvc: 'incorrect_cvc',
  invalid_cvc: 'incorrect_cvc',
  lost_card: 'lost_card',
  stolen_card: 'stolen_card',
  processing_error: 'processing_error',
  authentication_required: 'authentication_required',
  authentication_not_handled: 'authentication_required',
  payment_intent_authentication_failure: 'authentication_required',
  setup_intent_authentication_failure: 'authentication_required',
  subscription_payment_intent_requires_action: 'authentication_required',
  invoice_payment_intent_requires_action: 'authentication_required',
});

/** Our code for Stripe's `decline_code`, else for the less specific `code`, else do_not_honor. */
export const stripeDeclineCode = (error: StripeDecline): DeclineCode =>
  BY_CODE.get(error.decline_code ?? '') ?? BY_CODE.get(error.code ?? '') ?? 'do_not_honor';

/** Stripe's list of hard declines, and its codes of closed bank accounts and withdrawn mandates. */
const BY_LIST = wordTable<DeclineWord>({
  account_closed: 'do_not_try_again',
  bank_account_unusable: 'do_not_try_again',
  debit_not_authorized: 'do_not_try_again',
  do_not_try_again: 'do_not_try_again',
  highest_risk_level: 'do_not_try_again',
  incorrect_number: 'confirm_card_data',
  invalid_account: 'do_not_try_again',
  invalid_account_number: 'do_not_try_again',
  invalid_number: 'confirm_card_data',
  new_account_information_available: 'confirm_card_data',
  no_account: 'do_not_try_again',
  pickup_card: 'do_not_try_again',
  revocation_of_all_authorizations: 'do_not_try_again',
  revocation_of_authorization: 'do_not_try_again',
  stop_payment_order: 'do_not_try_again',
  transaction_not_allowed: 'do_not_try_again',
  try_again_later: 'try_again_later',
});

/**
 * Stripe's advice and the network's advice take precedence over Stripe's code. If either forbids a retry, the result is
 * do_not_try_again, because the card networks charge a fine for another attempt.
 * @param networkCode the network's response code
 */
export const stripeAdvice = (error: StripeDecline, networkCode?: Word): DeclineWord | undefined => {
  const given = [stripeWord(error.advice_code), adviceOfMerchantCode(error.network_advice_code)];
  if (given.includes('do_not_try_again')) return 'do_not_try_again';
  return (
    given.find((word) => word !== undefined) ??
    BY_LIST.get(error.decline_code ?? '') ??
    BY_LIST.get(error.code ?? '') ??
    adviceOfResponse(networkCode)
  );
};

const stripeWord = (word: Word): DeclineWord | undefined => DECLINE_WORDS.find((known) => known === word);
