/**
 * @module Text rules that several rooms share: the form for comparison, the cut to a length, and each provider's rules
 * for the text on payers' statements.
 */

/**
 * The first `most` code points of a text. A lone surrogate becomes U+FFFD, because providers, tables and signatures
 * accept only well-formed text. Runs in time that is linear in `most`.
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

/**
 * The form of a text for comparison, whatever its letter case and composition. Lower-casing may leave letters that NFC
 * joins again, so NFC runs before and after it, and the result is stable.
 */
export const comparableText = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC');

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
    characters: 'a letter, and none of < > \\ \' " *',
  },
  /** purchase_units[].soft_descriptor of Orders v2 */
  paypal: {
    provider: 'PayPal',
    min: 1,
    max: 22,
    allowed: /^[A-Za-z0-9*. -]*$/,
    characters: 'only letters, digits, spaces, and * . -',
  },
  /** statement_description_identifier of CreatePayment */
  square: { provider: 'Square', min: 1, max: 20, allowed: /^/, characters: '' },
  /** No payments. */
  braintree: undefined,
};

const ASCII = /^[ -~]*$/;

/**
 * @returns why the provider refuses the text; undefined if the provider accepts the text. An empty text means the
 * account's own.
 */
export const descriptorProblem = (provider: Provider, text: string): string | undefined => {
  const rule = provider === '' ? undefined : RULES[provider];
  if (text === '' || rule === undefined) return undefined;
  if (text.length < rule.min || text.length > rule.max) {
    return `${rule.provider} takes ${rule.min} to ${rule.max} characters`;
  }
  if (!ASCII.test(text)) return `${rule.provider} takes only characters of ASCII`;
  return rule.allowed.test(text) ? undefined : `${rule.provider} takes ${rule.characters}`;
};
