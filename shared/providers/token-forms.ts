/**
 * @module Patterns of the vendors' tokens and payment method ids. An error uses them to name the vendor of a misplaced
 * token. The patterns do not decide whether a vendor accepts its own token.
 */

import { ADAPTERS, type AdapterName } from '../core/settings.ts';

interface VendorForm {
  readonly name: string;
  /** Undefined if the vendor's tokens have no recognizable pattern. */
  readonly token: RegExp | undefined;
}

export const VENDOR_FORMS: Readonly<Record<AdapterName, VendorForm>> = {
  /** docs.stripe.com/api: payment methods, tokens, sources, cards, bank accounts. */
  stripe: { name: 'Stripe', token: /^(?:pm|tok|btok|src|card|ba)_/ },
  /** `source_id` of CreatePayment and CreateCard, and the test values of developer.squareup.com. */
  square: { name: 'Square', token: /^(?:cnon|ccof|bnon|bauth|bact|wnon|gftc):/ },
  /** Nonces of the client SDKs, and the test values of developer.paypal.com/braintree. */
  braintree: { name: 'Braintree', token: /^(?:tokencc_|tokenbt_|fake-[a-z-]+-nonce$)/ },
  /** PayPal's order and vault ids are any letters and digits. */
  paypal: { name: 'PayPal', token: undefined },
};

/** The vendor by the token's pattern; undefined if no pattern matches. */
export const vendorOfToken = (token: string): AdapterName | undefined =>
  ADAPTERS.find((vendor) => VENDOR_FORMS[vendor].token?.test(token));
