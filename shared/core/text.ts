/**
 * @module Comparing and cutting text, and each provider's rules for statement descriptors, which several folders share.
 */

/**
 * The first `most` code points, in linear time. A lone surrogate becomes U+FFFD, because providers refuse lone
 * surrogates.
 */
export const cutText = (text: string, most: number): string => {
  if (text.length <= most) return text.toWellFormed();
  let units = 0;
  let points = 0;
  for (const point of text) {
    if (points === most) break;
    units += point.length;
    points += 1;
  }
  return text.slice(0, units).toWellFormed();
};

/** A run of combining marks, longer than any e-mail address. NFC needs quadratic time for such a run. */
const LONG_RUN = /((?<!\p{M})\p{M}{255,})/u;

/**
 * Case-insensitive text for comparisons, in linear time. Long runs of combining marks stay unchanged. NFC runs twice,
 * because lower-casing can produce letters that NFC joins again.
 */
export const comparableText = (text: string): string =>
  text
    .split(LONG_RUN)
    .map((part, at) => (at % 2 === 1 ? part : part.normalize('NFC').toLowerCase().normalize('NFC')))
    .join('');

/** The single spelling of an e-mail address for storage and comparison. */
export const normalizedEmail = (email: string): string => comparableText(email.trim());

type Provider = 'stripe' | 'paypal' | 'square' | 'braintree' | '';

interface Rule {
  readonly provider: string;
  readonly min: number;
  readonly max: number;
  readonly allowed: RegExp;
  readonly characters: string;
}

/** The longest statement descriptor of any provider. */
export const LONGEST_DESCRIPTOR = 22;

const RULES: Readonly<Record<Exclude<Provider, ''>, Rule | undefined>> = {
  /** docs.stripe.com/get-started/account/statement-descriptors */
  stripe: {
    provider: 'Stripe',
    min: 5,
    max: 22,
    allowed: /^(?=.*[A-Za-z])[^<>\\'"*]*$/,
    characters: 'requires a letter, and none of < > \\ \' " *',
  },
  /** purchase_units[].soft_descriptor of Orders v2 */
  paypal: {
    provider: 'PayPal',
    min: 1,
    max: 22,
    allowed: /^[A-Za-z0-9*. -]*$/,
    characters: 'accepts only letters, digits, spaces, and * . -',
  },
  /** statement_description_identifier of CreatePayment */
  square: { provider: 'Square', min: 1, max: 20, allowed: /^/, characters: '' },
  /** No payments, so no descriptor. */
  braintree: undefined,
};

const ASCII = /^[ -~]*$/;

/**
 * @returns the provider's reason to refuse the descriptor, or undefined. An empty descriptor selects the account's own
 * descriptor.
 */
export const descriptorProblem = (provider: Provider, text: string): string | undefined => {
  const rule = provider === '' ? undefined : RULES[provider];
  if (text === '' || rule === undefined) return undefined;
  if (text.length < rule.min || text.length > rule.max) {
    return `${rule.provider} requires ${rule.min} to ${rule.max} characters`;
  }
  if (!ASCII.test(text)) return `${rule.provider} accepts only ASCII characters`;
  return rule.allowed.test(text) ? undefined : `${rule.provider} ${rule.characters}`;
};
