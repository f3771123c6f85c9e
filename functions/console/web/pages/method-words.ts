/** @module The method of a payment and a decline, in words for support. */

import type { Decline, MethodDetails } from '../api/loose-fields.ts';
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

type InShort = Pick<MethodDetails, 'type' | 'walletType' | 'cardBrand' | 'lastFour' | 'bankName'>;

/** The method itself, such as `Visa •••• 4242`, `PayPal` or `Bank account •••• 6789`. */
export const methodInShort = ({ type, walletType, cardBrand, lastFour, bankName }: InShort): string => {
  const kind = type === 'wallet' ? (walletType ?? type) : (cardBrand ?? bankName ?? walletType ?? type);
  return lastFour === undefined ? nameOf(kind) : `${nameOf(kind)} •••• ${lastFour}`;
};

const AUTHENTICATIONS: Readonly<Record<string, string>> = {
  authenticated: '3-D Secure passed',
  attempted: '3-D Secure not supported by the bank',
  exempted: '3-D Secure not required',
  failed: '3-D Secure failed',
};

/** All that is known, such as `Visa •••• 4242, credit, US, Apple Pay, 3-D Secure passed`. */
export const methodInWords = (details: MethodDetails): string => {
  const { type, walletType, funding, country, authentication } = details;
  const parts = [
    methodInShort(details),
    funding,
    country,
    type === 'card' && walletType !== undefined ? nameOf(walletType) : undefined,
    authentication === undefined ? undefined : (AUTHENTICATIONS[authentication] ?? authentication),
  ];
  return parts.filter((part) => part !== undefined).join(', ');
};

const ADVICE = {
  retry_later: 'Ask the payer to try again later, or to use another card.',
  another_method: 'Ask the payer to use another card, and do not name the reason.',
  authenticate: 'Ask the payer to pay again and confirm the payment with the bank (3-D Secure).',
  correct_data: 'Ask the payer to check the card’s details, or to use another card.',
  contact_bank: 'Ask the payer to contact the bank or use another card.',
} as const;

const DECLINED = 'The bank declined the card';

const REASONS: Readonly<Record<string, readonly [words: string, advice: keyof typeof ADVICE]>> = {
  insufficient_funds: ['The card has insufficient funds', 'retry_later'],
  expired_card: ['The card has expired', 'correct_data'],
  incorrect_cvc: ['The security code is wrong', 'correct_data'],
  incorrect_number: ['The card number is wrong', 'correct_data'],
  lost_card: [DECLINED, 'another_method'],
  stolen_card: [DECLINED, 'another_method'],
  do_not_honor: [DECLINED, 'contact_bank'],
  processing_error: ['The bank could not process the payment', 'retry_later'],
  authentication_required: ['The bank asks the payer to authenticate', 'authenticate'],
};

const isAdvice = (text: string | undefined): text is keyof typeof ADVICE => text !== undefined && text in ADVICE;

/** The reason, such as `The bank declined the card (do_not_honor).` */
export const declineInWords = ({ code }: Pick<Decline, 'code'>): string =>
  `${REASONS[code]?.[0] ?? DECLINED} (${code}).`;

/** What support tells the payer. */
export const adviceFor = ({ code, advice, isHard }: Decline): string => {
  const given = isAdvice(advice) ? advice : (REASONS[code]?.[1] ?? 'contact_bank');
  return isHard ? `${ADVICE[given]} The same card will be declined again.` : ADVICE[given];
};
