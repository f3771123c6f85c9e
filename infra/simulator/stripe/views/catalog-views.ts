/** @module Shows coupons, discounts and tax rates as Stripe's objects. */
import type { LedgerCoupon, LedgerDiscount, LedgerTaxRate } from '../../ledger/billing-documents.ts';
import type { StripeObject } from '../wire/request.ts';
import { lower, seconds } from './payment-views.ts';

export const couponView = (coupon: LedgerCoupon): StripeObject => ({
  id: coupon.id,
  object: 'coupon',
  amount_off: coupon.amountOff,
  created: seconds(coupon.createdAt),
  currency: coupon.currency === null ? null : lower(coupon.currency),
  duration: coupon.duration,
  duration_in_months: coupon.months,
  livemode: false,
  max_redemptions: null,
  metadata: coupon.metadata,
  name: coupon.name,
  percent_off: coupon.percentOff,
  redeem_by: null,
  times_redeemed: 0,
  valid: true,
});

export const discountView = (discount: LedgerDiscount): StripeObject => ({
  id: discount.id,
  object: 'discount',
  checkout_session: null,
  customer: discount.customerId,
  customer_account: null,
  end: discount.endAt === null ? null : seconds(discount.endAt),
  invoice: null,
  invoice_item: null,
  promotion_code: null,
  source: { coupon: discount.couponId, type: 'coupon' },
  start: seconds(discount.createdAt),
  subscription: discount.subscriptionId,
  subscription_item: null,
});

export const taxRateView = (rate: LedgerTaxRate): StripeObject => ({
  id: rate.id,
  object: 'tax_rate',
  active: true,
  country: rate.country,
  created: seconds(rate.createdAt),
  description: null,
  display_name: rate.displayName,
  effective_percentage: null,
  flat_amount: null,
  inclusive: rate.inclusive,
  jurisdiction: null,
  jurisdiction_level: null,
  livemode: false,
  metadata: rate.metadata,
  percentage: rate.percentage,
  rate_type: 'percentage',
  state: null,
  tax_type: null,
});
