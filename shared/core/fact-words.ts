/**
 * @module The values for methods, authentications and declines. Separate from their schemas, because every function
 * loads this file.
 */

export const METHOD_KINDS = ['card', 'bank_account', 'wallet'] as const;
/** The kind of a method. A wallet is an account at the provider. A card in Apple Pay or Google Pay is a card. */
export type MethodKind = (typeof METHOD_KINDS)[number];

export const FUNDINGS = ['credit', 'debit', 'prepaid'] as const;
export type Funding = (typeof FUNDINGS)[number];

/** `attempted` means that the bank does not support 3-D Secure, `exempted` that authentication was not required. */
export const AUTHENTICATION_RESULTS = ['authenticated', 'attempted', 'exempted', 'failed'] as const;
export type AuthenticationResult = (typeof AUTHENTICATION_RESULTS)[number];

/** The advice of a provider or card network after a decline, in Stripe's words. */
export const DECLINE_WORDS = ['do_not_try_again', 'try_again_later', 'confirm_card_data'] as const;
export type DeclineWord = (typeof DECLINE_WORDS)[number];
