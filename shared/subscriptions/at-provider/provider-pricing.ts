/** @module Reads and applies the billing provider's own discount on a subscription. */

import { fractionOf, roundedHalfUp } from '../../core/fraction.ts';
import type { ProviderPricing } from '../../providers/subscription-port.ts';
import type { BillingDeps } from '../billing/biller.ts';
import type { Parts } from '../billing/paid-period.ts';
import { isProviderBilled, type Subscription } from '../record/subscription.ts';
import { requireAnswer, subscriptionsPortOf } from './provider-biller.ts';

const LIST_PRICE: ProviderPricing = { kind: 'list' };

/** @throws DomainError if the provider cannot be read now */
export const readPricing = async (deps: BillingDeps, subscription: Subscription): Promise<ProviderPricing> => {
  const { providerSubscriptionId } = subscription;
  if (!isProviderBilled(subscription) || providerSubscriptionId === undefined) return LIST_PRICE;
  const port = await subscriptionsPortOf(deps, subscription);
  return requireAnswer(await port.findPricing(providerSubscriptionId), subscription);
};

/** The price after the provider's discount, with tax in proportion. Undefined if only the provider can compute it. */
export const chargedPrice = (
  { totalCents, taxCents, discountCents }: Parts,
  pricing: ProviderPricing,
): Parts | undefined => {
  const off = offOf(totalCents, pricing);
  if (off === undefined) return undefined;
  const total = totalCents - off;
  const tax = totalCents === 0 ? 0 : roundedHalfUp(fractionOf(taxCents, total, totalCents));
  return { totalCents: total, taxCents: tax, discountCents: discountCents + totalCents - total - (taxCents - tax) };
};

const PERCENT = 100;
/** Providers keep two decimals of a percentage. */
const PARTS_OF_PERCENT = 100;

const offOf = (totalCents: number, pricing: ProviderPricing): number | undefined => {
  switch (pricing.kind) {
    case 'other':
      return undefined;
    case 'list':
      return 0;
    case 'amount':
      return Math.min(pricing.amountCents, totalCents);
    case 'percent':
      return roundedHalfUp(
        fractionOf(totalCents, Math.round(pricing.percent * PARTS_OF_PERCENT), PERCENT * PARTS_OF_PERCENT),
      );
  }
};
