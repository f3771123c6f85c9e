/** @module Coupons, discounts of subscriptions from coupons, and tax rates. */
import * as z from 'zod';
import { addMonths } from '../../billing/calendar.ts';
import type { LedgerCoupon, LedgerSubscription, LedgerTaxRate } from '../../ledger/billing-documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import { couponView, taxRateView } from '../views/catalog-views.ts';
import { checkCurrency } from '../wire/currencies.ts';
import { invalidStripeRequest, stripeNotFound } from '../wire/errors.ts';
import {
  choice,
  decimal,
  expand,
  flag,
  mergeMetadata,
  metadata,
  page,
  readParameters,
  text,
  whole,
} from '../wire/parameters.ts';
import { getRoute, listPage, type StripeRequest, type StripeRoute } from '../wire/request.ts';

export const discountRoutes: readonly StripeRoute[] = [
  { method: 'POST', path: '/v1/coupons', run: (request) => ({ object: couponView(createCoupon(request)) }) },
  {
    method: 'GET',
    path: '/v1/coupons',
    run: (request) => {
      const collection = request.unit.documents.coupons;
      const sent = readParameters(request.call, z.strictObject(page));
      return { object: listPage(request, sent, { collection, view: couponView, kind: 'coupon' }) };
    },
  },
  getRoute('/v1/coupons/:id', 'coupon', (unit) => ({ collection: unit.documents.coupons, view: couponView })),
  { method: 'POST', path: '/v1/tax_rates', run: (request) => ({ object: taxRateView(createTaxRate(request)) }) },
  {
    method: 'GET',
    path: '/v1/tax_rates',
    run: (request) => {
      const collection = request.unit.documents.taxRates;
      const sent = readParameters(request.call, z.strictObject(page));
      return { object: listPage(request, sent, { collection, view: taxRateView, kind: 'tax_rate' }) };
    },
  },
  getRoute('/v1/tax_rates/:id', 'tax_rate', (unit) => ({ collection: unit.documents.taxRates, view: taxRateView })),
];

const couponFields = z.strictObject({
  id: text().optional(),
  name: text(40).optional(),
  percent_off: decimal.optional(),
  amount_off: whole.optional(),
  currency: text(10).optional(),
  duration: choice(['forever', 'once', 'repeating']).optional(),
  duration_in_months: whole.optional(),
  metadata: metadata.optional(),
  expand: expand.optional(),
});
type CouponFields = z.output<typeof couponFields>;

const createCoupon = ({ call, unit }: StripeRequest): LedgerCoupon => {
  const sent = readParameters(call, couponFields);
  checkValue(sent);
  if (sent.id !== undefined && unit.documents.coupons.get(unit.slot, sent.id)) {
    throw invalidStripeRequest({ code: 'resource_already_exists', message: 'Coupon already exists.', param: 'id' });
  }
  return unit.documents.coupons.put({
    id: sent.id ?? unit.newId('coupon'),
    provider: unit.slot,
    metadata: mergeMetadata({}, sent.metadata),
    wire: {},
    createdAt: unit.at,
    name: sent.name ?? null,
    percentOff: sent.percent_off ?? null,
    amountOff: sent.amount_off ?? null,
    currency: sent.currency === undefined || sent.amount_off === undefined ? null : checkCurrency(sent.currency),
    duration: sent.duration ?? 'once',
    months: sent.duration_in_months ?? null,
  });
};

/**
 * @throws Refused if the coupon has no value or two kinds of value. Also if a repeating coupon has no months, or if any
 * other coupon has months.
 */
const checkValue = (sent: CouponFields): void => {
  const { percent_off: percent, amount_off: amount, currency, duration, duration_in_months: months } = sent;
  if ((percent === undefined) === (amount === undefined)) {
    throw invalidStripeRequest({ message: 'You must pass either `percent_off` or `amount_off`, and not both.' });
  }
  if (percent !== undefined && (percent <= 0 || percent > 100)) {
    throw invalidStripeRequest({
      message: 'Invalid percent_off: must be greater than 0 and at most 100.',
      param: 'percent_off',
    });
  }
  if (amount !== undefined && amount < 1) {
    throw invalidStripeRequest({ message: 'Invalid positive integer', param: 'amount_off' });
  }
  if (amount !== undefined && currency === undefined) {
    throw invalidStripeRequest({
      code: 'parameter_missing',
      message: 'You must pass a currency when passing amount_off.',
      param: 'currency',
    });
  }
  if ((duration === 'repeating') !== (months !== undefined && months > 0)) {
    throw invalidStripeRequest({
      message: 'You must pass `duration_in_months` as a positive integer if, and only if, `duration` is repeating.',
      param: 'duration_in_months',
    });
  }
};

const createTaxRate = ({ call, unit }: StripeRequest): LedgerTaxRate => {
  const sent = readParameters(
    call,
    z.strictObject({
      display_name: text(50),
      percentage: decimal,
      inclusive: flag,
      country: text(2).optional(),
      metadata: metadata.optional(),
      expand: expand.optional(),
    }),
  );
  if (sent.percentage > 100) {
    throw invalidStripeRequest({ message: 'Invalid percentage: must be between 0 and 100.', param: 'percentage' });
  }
  return unit.documents.taxRates.put({
    id: unit.newId('tax_rate'),
    provider: unit.slot,
    metadata: mergeMetadata({}, sent.metadata),
    wire: {},
    createdAt: unit.at,
    displayName: sent.display_name,
    percentage: sent.percentage,
    inclusive: sent.inclusive,
    country: sent.country ?? null,
  });
};

const MOST_DISCOUNTS = 20;
/** An empty string removes all discounts. */
export const discountsField = z.union([
  z.literal(''),
  z.array(z.union([z.strictObject({ coupon: text() }), z.strictObject({ discount: text() })])).max(MOST_DISCOUNTS),
]);
type SentDiscounts = z.output<typeof discountsField>;

type Discounted = Pick<LedgerSubscription, 'id' | 'customerId' | 'currency' | 'discountIds'>;

/** @returns the subscription's discount ids after the change. The sent list replaces the current list. */
export const discountIdsFor = (unit: Unit, subscription: Discounted, sent: SentDiscounts | undefined): string[] => {
  if (sent === undefined) return subscription.discountIds;
  if (sent === '') return [];
  return sent.map((one, index) => {
    if ('coupon' in one)
      return redeem(unit, subscription, { coupon: one.coupon, param: `discounts[${index}][coupon]` });
    if (subscription.discountIds.includes(one.discount)) return one.discount;
    throw stripeNotFound('discount', one.discount, `discounts[${index}][discount]`);
  });
};

const redeem = (
  unit: Unit,
  { id, customerId, currency }: Discounted,
  { coupon: couponId, param }: { readonly coupon: string; readonly param: string },
): string => {
  const coupon = unit.documents.coupons.get(unit.slot, couponId);
  if (!coupon) throw stripeNotFound('coupon', couponId, param);
  if (coupon.currency !== null && coupon.currency !== currency) {
    throw invalidStripeRequest({
      message: `The coupon is in ${coupon.currency.toLowerCase()}, but the subscription is in ${currency.toLowerCase()}.`,
      param,
    });
  }
  return unit.documents.discounts.put({
    id: unit.newId('discount'),
    provider: unit.slot,
    metadata: {},
    wire: {},
    createdAt: unit.at,
    couponId: coupon.id,
    customerId,
    subscriptionId: id,
    endAt: coupon.months === null ? null : addMonths(unit.at, coupon.months),
  }).id;
};

/** An empty string removes all tax rates. */
export const taxRatesField = z.union([z.literal(''), z.array(text()).max(MOST_DISCOUNTS)]);

export const taxRateIdsFor = (
  unit: Unit,
  before: readonly string[],
  sent: z.output<typeof taxRatesField> | undefined,
): string[] => {
  if (sent === undefined) return [...before];
  if (sent === '') return [];
  return sent.map((id, index) => {
    if (!unit.documents.taxRates.get(unit.slot, id))
      throw stripeNotFound('tax rate', id, `default_tax_rates[${index}]`);
    return id;
  });
};
