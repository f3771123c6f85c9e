/** @module Reads the discounts and taxes with which Stripe charges a subscription. */

import type Stripe from 'stripe';
import type { ProviderPricing } from '../subscription-port.ts';
import { reportedAmount } from './currencies.ts';

/** The fields that `readStripePricing` needs. */
export const WITH_DISCOUNTS = { expand: ['discounts.source.coupon.applies_to', 'customer'] };

/**
 * Reads the pricing of a subscription. A discount of the customer counts as `other`, because it applies to every
 * subscription without its own discount and may end with any invoice.
 */
export const readStripePricing = (subscription: Stripe.Subscription): ProviderPricing => {
  const { discounts, customer, currency } = subscription;
  if (isTaxed(subscription) || subscription.items.data.some(({ discounts: own }) => own.length > 0)) return OTHER;
  const [discount, ...more] = discounts;
  if (discount === undefined) {
    const isDiscounted = typeof customer === 'object' && !customer.deleted && customer.discount != null;
    return isDiscounted ? OTHER : { kind: 'list' };
  }
  return more.length > 0 || typeof discount === 'string' ? OTHER : pricingOf(discount, currency);
};

const OTHER: ProviderPricing = { kind: 'other' };

/** True if Stripe adds a tax to the subscription's invoices. */
export const isTaxed = ({ automatic_tax, default_tax_rates, items }: Stripe.Subscription): boolean =>
  automatic_tax.enabled ||
  (default_tax_rates ?? []).length > 0 ||
  items.data.some(({ tax_rates }) => (tax_rates ?? []).length > 0);

const pricingOf = ({ end, source: { coupon } }: Stripe.Discount, currency: string): ProviderPricing => {
  if (end !== null || coupon === null || typeof coupon === 'string' || coupon.duration !== 'forever') return OTHER;
  // A discount limited to some products may not apply to the new plan's product.
  if (coupon.applies_to) return OTHER;
  if (coupon.percent_off !== null) return { kind: 'percent', percent: coupon.percent_off };
  if (coupon.amount_off === null || coupon.currency !== currency) return OTHER;
  const { amountCents } = reportedAmount({ amount: coupon.amount_off, currency });
  return amountCents === undefined ? OTHER : { kind: 'amount', amountCents };
};
