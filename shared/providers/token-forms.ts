/**
 * @module The forms of the vendors' tokens and ids of payment methods. With them, an error names the vendor of a token that
 * belongs elsewhere. The forms do not decide whether a vendor accepts a token of its own.
 */

import { ADAPTERS, type AdapterName } from '../core/settings.ts';

interface VendorForm {
  readonly name: string;
  /** Undefined if the vendor's tokens have no form of their own. */
  readonly token: RegExp | undefined;
}

export const VENDOR_FORMS: Readonly<Record<AdapterName, VendorForm>> = {
  /** docs.stripe.com/api: payment methods, tokens, sources, cards, bank accounts. */
  stripe: { name: 'Stripe', token: /^(?:pm|tok|btok|src|card|ba)_/ },
  /** `source_id` of CreatePayment and CreateCard, and the test values of developer.squareup.com. */
  square: { name: 'Square', token: /^(?:cnon|ccof|bnon|bauth|bact|wnon|gftc):/ },
  /** Nonces of the client SDKs, and the test values of developer.paypal.com/braintree. */
  braintree: { name: 'Braintree', token: /^(?:tokencc_|tokenbt_|fake-[a-z-]+-nonce$)/ },
  /** Order and vault ids are any letters and digits. */
  paypal: { name: 'PayPal', token: undefined },
};

/** The vendor whose form the token has; undefined if no vendor has this form. */
export const vendorOfToken = (token: string): AdapterName | undefined =>
  ADAPTERS.find((vendor) => VENDOR_FORMS[vendor].token?.test(token));
