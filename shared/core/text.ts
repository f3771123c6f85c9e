/** @module Text comparison and cutting, and each provider's statement descriptor rules, which several rooms share. */

/** The first `most` code points, in linear time. A lone surrogate becomes U+FFFD, because providers refuse it. */
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

/** A run of combining marks that is longer than any e-mail address. NFC sorts a run in time quadratic in its length. */
const LONG_RUN = /((?<!\p{M})\p{M}{255,})/u;

/**
 * For comparison, whatever the case, in linear time. Long runs of combining marks stay as they are. NFC runs twice,
 * because lower-casing may leave letters that NFC joins again.
 */
export const comparableText = (text: string): string =>
  text
    .split(LONG_RUN)
    .map((part, at) => (at % 2 === 1 ? part : part.normalize('NFC').toLowerCase().normalize('NFC')))
    .join('');

/** The one spelling of an e-mail address that the service stores and compares. */
export const normalizedEmail = (email: string): string => comparableText(email.trim());

type Provider = 'stripe' | 'paypal' | 'square' | 'braintree' | '';

interface Rule {
  readonly provider: string;
  readonly min: number;
  readonly max: number;
  readonly allowed: RegExp;
  readonly characters: string;
}

/** The longest statement descriptor that any provider accepts. */
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
  /** No payments. */
  braintree: undefined,
};

const ASCII = /^[ -~]*$/;

/** @returns why the provider refuses the descriptor, or undefined. An empty one means the account's own descriptor. */
export const descriptorProblem = (provider: Provider, text: string): string | undefined => {
  const rule = provider === '' ? undefined : RULES[provider];
  if (text === '' || rule === undefined) return undefined;
  if (text.length < rule.min || text.length > rule.max) {
    return `${rule.provider} requires ${rule.min} to ${rule.max} characters`;
  }
  if (!ASCII.test(text)) return `${rule.provider} accepts only ASCII characters`;
  return rule.allowed.test(text) ? undefined : `${rule.provider} ${rule.characters}`;
};
