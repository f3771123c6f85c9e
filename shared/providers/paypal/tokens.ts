/**
 * @module Payment tokens, which are PayPal's saved methods. PayPal has no customer records. It assigns a customer id
 * with the first token; until then, our own id identifies the customer as `merchant_customer_id`.
 */

import type { MethodKind } from '../../core/fact-words.ts';
import { isIdOf } from '../../core/ids.ts';
import { mapOutcome, type Outcome } from '../../core/outcome.ts';
import type { ProviderMethod } from '../method-port.ts';
import { paypalCardFacts } from './capture-facts.ts';
import type { PayPalCall } from './outcome.ts';
import { type PaymentToken, paymentTokenSchema } from './schemas.ts';

export const TOKENS = '/v3/vault/payment-tokens';

export const tokenPath = (methodId: string): string => `${TOKENS}/${encodeURIComponent(methodId)}`;

export const findToken = async (call: PayPalCall, methodId: string): Promise<Outcome<ProviderMethod>> =>
  mapOutcome(await call({ method: 'GET', path: tokenPath(methodId), answer: paymentTokenSchema }), reportedToken);

export const reportedToken = (token: PaymentToken): ProviderMethod => ({
  methodId: token.id,
  customerId: token.customer?.id,
  ourCustomerId: token.customer?.merchant_customer_id,
  ...tokenFacts(token),
});

/**
 * The stored fields of a token. PayPal returns no fingerprint. A PayPal account counts as a card without a number and
 * an expiry date.
 */
export const tokenFacts = ({
  payment_source: source,
}: Pick<PaymentToken, 'payment_source'>): Omit<ProviderMethod, 'methodId' | 'customerId' | 'ourCustomerId'> => ({
  type: 'card',
  walletType: source?.card ? undefined : 'paypal',
  ...paypalCardFacts(source?.card ?? {}),
});

/** Reads a method's kind if our record lacks it, such as for a one-time token or in an old record. */
export const findKind = async (call: PayPalCall, methodId: string): Promise<Outcome<MethodKind>> =>
  mapOutcome(await findToken(call, methodId), ({ walletType }) => (walletType === undefined ? 'card' : 'wallet'));

/** The customer of a token in PayPal's format, by PayPal's id, or by our id until PayPal assigns an id. */
export const paypalCustomer = (customerId: string) =>
  isUnnamed(customerId) ? { merchant_customer_id: customerId } : { id: customerId };

/** True if PayPal has not assigned an id to the customer yet. */
export const isUnnamed = (customerId: string): boolean => isIdOf('customer', customerId);
