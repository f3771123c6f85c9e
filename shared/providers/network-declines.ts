/** @module Retry advice from the card networks' response codes (ISO 8583) and Mastercard's merchant advice codes. */

import type { DeclineWord } from '../core/fact-words.ts';
import { wordTable } from './adapter.ts';

/** Codes of Visa's category 1 (the issuer never approves), and of accounts unknown to the issuer. */
const BY_RESPONSE = wordTable<DeclineWord>({
  '04': 'do_not_try_again', // pick up the card
  '07': 'do_not_try_again', // pick up the card, fraud
  '14': 'do_not_try_again', // no such account
  '15': 'do_not_try_again', // no such issuer
  '41': 'do_not_try_again', // lost
  '43': 'do_not_try_again', // stolen
  '46': 'do_not_try_again', // closed
  R0: 'do_not_try_again', // stop payment order
  R1: 'do_not_try_again', // revocation of an authorization
  R3: 'do_not_try_again', // revocation of all authorizations
});

export const adviceOfResponse = (code: string | null | undefined): DeclineWord | undefined =>
  BY_RESPONSE.get(code ?? '');

/** Mastercard's codes 24 to 30 give the time until another attempt may succeed. */
const BY_MERCHANT_ADVICE = wordTable<DeclineWord>({
  '01': 'confirm_card_data',
  '02': 'try_again_later',
  '03': 'do_not_try_again',
  '21': 'do_not_try_again', // the payer has canceled the agreement
  '24': 'try_again_later',
  '25': 'try_again_later',
  '26': 'try_again_later',
  '27': 'try_again_later',
  '28': 'try_again_later',
  '29': 'try_again_later',
  '30': 'try_again_later',
});

export const adviceOfMerchantCode = (code: string | null | undefined): DeclineWord | undefined =>
  BY_MERCHANT_ADVICE.get(code ?? '');
