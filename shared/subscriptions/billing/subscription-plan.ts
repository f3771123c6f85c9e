/** @module Price, interval and trial of a new subscription. A product in the request determines all three. */

import type { Product } from '../../catalog/catalog-records.ts';
import { priceOf } from '../../catalog/price.ts';
import { DomainError, invalid } from '../../core/errors.ts';
import type { GivenPrices } from '../../core/money.ts';
import type { SubscriptionPlan } from '../record/plan-change.ts';
import type { Subscription } from '../record/subscription.ts';
import type { CreateSubscriptionBody } from '../record/subscription-requests.ts';

type NewPlan = SubscriptionPlan & Pick<Subscription, 'currency'>;

type PlanBody = Pick<CreateSubscriptionBody, 'currency' | 'quantity' | 'billing_interval' | 'interval_multiplier'> &
  GivenPrices;

/** Price and interval. A product in the request determines both, and the client cannot override them. */
export const planOf = (body: PlanBody, product: Product | undefined): NewPlan => {
  const prices = priceOf(body, product, 0);
  const quantity = body.quantity ?? 1;
  if (product) return { ...prices, ...intervalOf(body, product), ...soldAs(product), quantity };
  if (body.billing_interval === undefined) {
    throw invalid([{ path: 'billing_interval', rule: 'required', message: 'is required' }]);
  }
  const interval = { billingInterval: body.billing_interval, intervalMultiplier: body.interval_multiplier ?? 1 };
  return { ...prices, ...interval, quantity };
};

/** The product fields stored in a subscription, with the membership tier. */
export const soldAs = ({
  id,
  name,
  metadata: { membership_type_id: tier },
}: Product): Pick<SubscriptionPlan, 'productId' | 'productName' | 'tierId'> => ({
  productId: id,
  productName: name,
  tierId: typeof tier === 'string' && tier !== '' ? tier : undefined,
});

/**
 * The trial days. A product determines them; 0 in the request accepts the product's days.
 * @throws DomainError PRICING_MISMATCH if the request sends another number than the product has
 */
export const trialDaysOf = (
  { trial_days: sent }: Pick<CreateSubscriptionBody, 'trial_days'>,
  product: Product | undefined,
): number => {
  if (!product) return sent ?? 0;
  const { trial_days: days } = product;
  if (!sent || sent === days) return days;
  throw new DomainError('PRICING_MISMATCH', {
    message: `The product has ${days} trial days, not ${sent}`,
    details: { path: 'trial_days', expected: days },
  });
};

const intervalOf = (
  body: PlanBody,
  { billing_interval: interval, interval_multiplier: multiplier }: Product,
): Pick<SubscriptionPlan, 'billingInterval' | 'intervalMultiplier'> => {
  if (!interval) {
    throw invalid([{ path: 'product_id', rule: 'recurring', message: 'names a product without a billing_interval' }]);
  }
  const differs =
    (body.billing_interval ?? interval) !== interval || (body.interval_multiplier ?? multiplier) !== multiplier;
  if (differs) {
    throw new DomainError('PRICING_MISMATCH', { message: `The product is billed ${interval} × ${multiplier}` });
  }
  return { billingInterval: interval, intervalMultiplier: multiplier };
};
