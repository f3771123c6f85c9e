/**
 * @module The forms of the vendors' tokens and ids of payment methods. They tell a token that was made at another vendor,
 * so that the error names the vendor. The forms do not decide whether a vendor accepts a token of its own.
 */

import { DomainError } from '../core/errors.ts';
import { ADAPTERS, type AdapterName } from '../core/settings.ts';
import type { PaymentProvider } from './provider.ts';

interface Vendor {
  readonly name: string;
  /** Undefined if the vendor's tokens have no form of their own, so that they cannot be told. */
  readonly token: RegExp | undefined;
}

const VENDORS: Readonly<Record<AdapterName, Vendor>> = {
  /** docs.stripe.com/api: payment methods, tokens, sources, cards, bank accounts. */
  stripe: { name: 'Stripe', token: /^(?:pm|tok|btok|src|card|ba)_/ },
  /** `source_id` of CreatePayment and CreateCard, and the test values of developer.squareup.com. */
  square: { name: 'Square', token: /^(?:cnon|ccof|bnon|bauth|bact|wnon|gftc):/ },
  /** Nonces of the client SDKs, and the test values of developer.paypal.com/braintree. */
  braintree: { name: 'Braintree', token: /^(?:tokencc_|tokenbt_|fake-[a-z-]+-nonce$)/ },
  /** Order and vault ids are any letters and digits. */
  paypal: { name: 'PayPal', token: undefined },
};

interface GivenToken {
  /** The field of the request. */
  readonly path: string;
  readonly token: string;
  /** The record that the request is about. */
  readonly record: 'payment' | 'payment method';
}

/** @throws DomainError PROVIDER_MISMATCH if the token has the form of another vendor's tokens */
export const requireOwnToken = (
  { adapter, slot }: Pick<PaymentProvider, 'adapter' | 'slot'>,
  { path, token, record }: GivenToken,
): void => {
  const given = ADAPTERS.find((vendor) => VENDORS[vendor].token?.test(token));
  if (given === undefined || given === adapter) return;
  throw new DomainError('PROVIDER_MISMATCH', {
    message: `${path} is a ${VENDORS[given].name} token; this ${record} is at ${slot} (${VENDORS[adapter].name})`,
    details: { path, provider_id: slot, expected: adapter, given },
  });
};
