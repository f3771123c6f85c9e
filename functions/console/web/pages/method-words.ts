/** @module Describes payment methods and declines in words, for support. */

import type { Decline, MethodDetails } from '../api/types.ts';
import { inWords } from '../view/format.ts';

const NAMES: Readonly<Record<string, string>> = {
  apple_pay: 'Apple Pay',
  google_pay: 'Google Pay',
  samsung_pay: 'Samsung Pay',
  cash_app: 'Cash App',
  paypal: 'PayPal',
  amex: 'American Express',
  jcb: 'JCB',
  diners: 'Diners Club',
  unionpay: 'UnionPay',
};

const nameOf = (word: string): string => NAMES[word] ?? inWords(word);

type InShort = Pick<MethodDetails, 'type' | 'wallet_type' | 'card_brand' | 'last_four' | 'bank_name'>;

/** The method itself, such as `Visa •••• 4242`, `PayPal` or `Bank account •••• 6789`. */
export const methodInShort = ({ type, wallet_type, card_brand, last_four, bank_name }: InShort): string => {
  const kind = type === 'wallet' ? (wallet_type ?? type) : (card_brand ?? bank_name ?? wallet_type ?? type);
  return last_four === null ? nameOf(kind) : `${nameOf(kind)} •••• ${last_four}`;
};

const AUTHENTICATIONS: Readonly<Record<NonNullable<MethodDetails['three_d_secure']>['result'], string>> = {
  authenticated: '3-D Secure passed',
  attempted: '3-D Secure not supported by the bank',
  exempted: '3-D Secure not required',
  failed: '3-D Secure failed',
};

/** All known details, such as `Visa •••• 4242, credit, US, Apple Pay, 3-D Secure passed`. */
export const methodInWords = (details: MethodDetails): string => {
  const { type, wallet_type: wallet, funding, country, three_d_secure: authentication } = details;
  const parts = [
    methodInShort(details),
    funding,
    country,
    type === 'card' && wallet !== null ? nameOf(wallet) : null,
    authentication && AUTHENTICATIONS[authentication.result],
  ];
  return parts.filter((part) => part !== null).join(', ');
};

const ADVICE: Readonly<Record<Decline['advice'], string>> = {
  retry_later: 'Ask the payer to try again later, or to use another card.',
  another_method: 'Ask the payer to use another card, and do not name the reason.',
  authenticate: 'Ask the payer to pay again and confirm the payment with the bank (3-D Secure).',
  correct_data: 'Ask the payer to check the card’s details, or to use another card.',
  contact_bank: 'Ask the payer to contact the bank or use another card.',
};

const DECLINED = 'The bank declined the card';

/** The reasons in words. The list omits the reasons that support must not reveal. */
const REASONS: Readonly<Record<string, string>> = {
  insufficient_funds: 'The card has insufficient funds',
  expired_card: 'The card has expired',
  incorrect_cvc: 'The security code is wrong',
  processing_error: 'The bank could not process the payment',
  authentication_required: 'The bank asks the payer to authenticate',
};

/** The reason, such as `The bank declined the card (do_not_honor).` */
export const declineInWords = ({ code }: Pick<Decline, 'code'>): string => `${REASONS[code] ?? DECLINED} (${code}).`;

/** The answer that support gives the payer. */
export const adviceFor = ({ advice, hard }: Pick<Decline, 'advice' | 'hard'>): string =>
  hard ? `${ADVICE[advice]} The same card will be declined again.` : ADVICE[advice];
