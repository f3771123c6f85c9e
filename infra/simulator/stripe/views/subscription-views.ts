/**
 * @module Shows the ledger's subscriptions and prices as Stripe's objects, in the newest API version's format. In this
 * format, the period is on the item.
 */

import { taxRateOf } from '../../billing/billing.ts';
import type { LedgerPrice, LedgerSubscription } from '../../ledger/billing-documents.ts';
import type { Unit } from '../../ledger/unit.ts';
import type { StripeObject } from '../wire/request.ts';
import { taxRateView } from './catalog-views.ts';
import { lower, seconds } from './payment-views.ts';

export const orNull = (at: number | null): number | null => (at === null ? null : seconds(at));

export const stripeSubscriptionView = (subscription: LedgerSubscription, unit: Unit): StripeObject => ({
  id: subscription.id,
  object: 'subscription',
  application: null,
  application_fee_percent: null,
  automatic_tax: { disabled_reason: null, enabled: false, liability: null },
  billing_cycle_anchor: seconds(subscription.anchor),
  billing_cycle_anchor_config: null,
  billing_mode: {
    flexible: subscription.billingMode === 'flexible' ? { proration_discounts: 'included' } : null,
    type: subscription.billingMode,
  },
  billing_schedules: [],
  billing_thresholds: null,
  cancel_at: orNull(subscription.cancelAtPeriodEnd ? subscription.periodEnd : subscription.cancelAt),
  cancel_at_period_end: subscription.cancelAtPeriodEnd,
  canceled_at: orNull(subscription.canceledAt),
  cancellation_details: {
    comment: null,
    feedback: null,
    reason: subscription.endReason ?? (isToEnd(subscription) ? 'cancellation_requested' : null),
  },
  collection_method: subscription.collection ?? 'charge_automatically',
  created: seconds(subscription.createdAt),
  currency: lower(subscription.currency),
  customer: subscription.customerId,
  customer_account: null,
  days_until_due: subscription.collection === undefined ? null : DAYS_UNTIL_DUE,
  default_payment_method: subscription.methodId,
  default_source: null,
  default_tax_rates: subscription.taxRateIds.map((id) => taxRateView(taxRateOf(unit, id))),
  description: subscription.description,
  discounts: subscription.discountIds,
  ended_at: orNull(subscription.endedAt),
  invoice_settings: {
    account_tax_ids: null,
    custom_fields: null,
    description: null,
    footer: null,
    issuer: { type: 'self' },
  },
  items: {
    object: 'list',
    data: [itemView(subscription, unit), ...otherItemViews(subscription, unit)],
    has_more: false,
    url: `/v1/subscription_items?subscription=${subscription.id}`,
  },
  latest_invoice: subscription.latestInvoiceId,
  livemode: false,
  managed_payments: null,
  metadata: subscription.metadata,
  next_pending_invoice_item_invoice: null,
  on_behalf_of: null,
  pause_collection:
    subscription.pausedCollection === null ? null : { behavior: subscription.pausedCollection, resumes_at: null },
  payment_settings: {
    payment_method_options: null,
    payment_method_types: null,
    save_default_payment_method: subscription.keepsPayingMethod ? 'on_subscription' : 'off',
  },
  pending_invoice_item_interval: null,
  pending_setup_intent: null,
  pending_update: null,
  schedule: subscription.scheduleId ?? null,
  start_date: seconds(subscription.createdAt),
  status: subscription.status,
  test_clock: null,
  transfer_data: null,
  trial_end: orNull(subscription.trialEnd),
  trial_settings: { end_behavior: { missing_payment_method: subscription.withoutMethod } },
  trial_start: orNull(subscription.trialStart),
});

const isToEnd = ({ cancelAt, cancelAtPeriodEnd }: LedgerSubscription): boolean =>
  cancelAtPeriodEnd || cancelAt !== null;

const DAYS_UNTIL_DUE = 30;

/** The id of the subscription's first item. It derives from the subscription's id. */
export const itemIdOf = ({ id }: LedgerSubscription): string => id.replace(/^sub_/, 'si_');

const itemView = (subscription: LedgerSubscription, unit: Unit): StripeObject => {
  const price = findPrice(subscription.priceId, unit);
  return {
    id: itemIdOf(subscription),
    object: 'subscription_item',
    billing_thresholds: null,
    created: seconds(subscription.createdAt),
    current_period_end: seconds(subscription.periodEnd),
    current_period_start: seconds(subscription.periodStart),
    discounts: [],
    metadata: {},
    plan: planView(price),
    price: priceView(price),
    quantity: subscription.quantity,
    subscription: subscription.id,
    tax_rates: [],
  };
};

const otherItemViews = (subscription: LedgerSubscription, unit: Unit): StripeObject[] =>
  (subscription.otherItems ?? []).map((item, index) => ({
    ...itemView({ ...subscription, ...item }, unit),
    id: `${itemIdOf(subscription)}${index + 1}`,
  }));

/** The price of a subscription, or of an invoice line. */
export const findPrice = (priceId: string, unit: Unit): LedgerPrice => {
  const price = unit.documents.prices.get(unit.slot, priceId);
  if (!price) throw new Error(`There is no price ${priceId}`);
  return price;
};

export const priceView = (price: LedgerPrice): StripeObject => ({
  id: price.id,
  object: 'price',
  active: true,
  billing_scheme: price.scheme ?? 'per_unit',
  created: seconds(price.createdAt),
  currency: lower(price.currency),
  custom_unit_amount: null,
  livemode: false,
  lookup_key: null,
  metadata: price.metadata,
  nickname: null,
  product: price.productId,
  recurring: {
    interval: price.unit,
    interval_count: price.count,
    meter: null,
    trial_period_days: null,
    usage_type: price.usageType ?? 'licensed',
  },
  tax_behavior: 'unspecified',
  tiers_mode: price.scheme === undefined ? null : 'graduated',
  transform_quantity: null,
  type: 'recurring',
  unit_amount: price.scheme === undefined ? price.amount : null,
  unit_amount_decimal: price.scheme === undefined ? String(price.amount) : null,
});

/** A price in Stripe's older format. Subscription items still include this format. */
const planView = (price: LedgerPrice): StripeObject => ({
  id: price.id,
  object: 'plan',
  active: true,
  amount: price.scheme === undefined ? price.amount : null,
  amount_decimal: price.scheme === undefined ? String(price.amount) : null,
  billing_scheme: price.scheme ?? 'per_unit',
  created: seconds(price.createdAt),
  currency: lower(price.currency),
  interval: price.unit,
  interval_count: price.count,
  livemode: false,
  metadata: price.metadata,
  meter: null,
  nickname: null,
  product: price.productId,
  tiers_mode: price.scheme === undefined ? null : 'graduated',
  transform_usage: null,
  trial_period_days: null,
  usage_type: price.usageType ?? 'licensed',
});
