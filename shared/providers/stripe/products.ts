/**
 * @module The Stripe product of a subscription. Subscriptions to one of our products share a Stripe product.
 * Subscriptions without a product of ours share a Stripe product per price. The product id derives from the request, so
 * concurrent creations name the same product.
 */

import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import { cutText } from '../../core/text.ts';
import type { NewProviderSubscription } from '../subscription-port.ts';
import type { StripeCall } from './outcome.ts';

type Sold = Pick<
  NewProviderSubscription,
  'productId' | 'productName' | 'amountCents' | 'currency' | 'unit' | 'count' | 'idempotencyKey'
>;

export interface ProductMaker {
  readonly stripe: Stripe;
  readonly call: StripeCall;
  /** The text on the payer's statement; if empty, the account's default applies. */
  readonly descriptor: string;
}

/** Creates the product if it does not exist. @returns the product id */
export const ensureProduct = async (
  { stripe, call, descriptor }: ProductMaker,
  sold: Sold,
): Promise<Outcome<string>> => {
  const id = productIdOf(sold);
  const created = await call(
    () =>
      stripe.products.create(
        {
          id,
          name: cutText(sold.productName ?? '', MAX_NAME_LENGTH) || 'Subscription',
          ...(sold.productId !== undefined && { metadata: { product_id: sold.productId } }),
          ...(descriptor !== '' && { statement_descriptor: descriptor }),
        },
        { idempotencyKey: `${sold.idempotencyKey}:product` },
      ),
    (product) => product.id,
  );
  const isThere = created.kind === 'refused' && created.reason === 'resource_already_exists';
  return isThere ? { kind: 'done', value: id } : created;
};

const MAX_NAME_LENGTH = 250;

/** Stripe allows letters, digits, `_` and `-` in ids. Another product id is encoded in hexadecimal. */
const productIdOf = ({ productId, amountCents, currency, unit, count }: Sold): string => {
  if (productId === undefined) return `payments_price_${currency.toLowerCase()}_${amountCents}_${count}_${unit}`;
  const isPlain = /^[\w-]{1,200}$/.test(productId);
  return isPlain ? `payments_${productId}` : `payments_x_${Buffer.from(productId, 'utf8').toString('hex')}`;
};
