/** @module The terms of another integration's subscription, with its prices and its discount. */

import * as z from 'zod';
import { addMonths } from '../billing/calendar.ts';
import { addForeignSubscription, canBeCharged, FOREIGN_STATUSES } from '../billing/foreign-subscription.ts';
import type { LedgerPrice, LedgerSubscription } from '../ledger/billing-documents.ts';
import type { Unit } from '../ledger/unit.ts';
import { ControlError } from './control-call.ts';
import type { MinorUnits } from './ledger-view.ts';
import { vendorAmount } from './money-back.ts';

const time = z.iso.datetime({ offset: true }).transform((iso) => Math.floor(Date.parse(iso) / 1_000) * 1_000);

const foreignItem = z.strictObject({
  unit_amount: z.int().min(0),
  quantity: z.int().min(1).default(1),
  interval: z.enum(['day', 'week', 'month', 'year']).default('month'),
  interval_count: z.int().min(1).default(1),
  usage_type: z.enum(['licensed', 'metered']).default('licensed'),
  billing_scheme: z.enum(['per_unit', 'tiered']).default('per_unit'),
});
type ForeignItem = z.output<typeof foreignItem>;

const foreignCoupon = z
  .strictObject({
    percent_off: z.number().gt(0).max(100).optional(),
    amount_off: z.int().min(1).optional(),
    duration: z.enum(['once', 'repeating', 'forever']),
    duration_in_months: z.int().min(1).optional(),
  })
  .refine(
    (sent) => (sent.percent_off === undefined) !== (sent.amount_off === undefined),
    'give percent_off or amount_off',
  )
  .refine(
    (sent) => (sent.duration === 'repeating') === (sent.duration_in_months !== undefined),
    'months are of repeating',
  );

export const foreignSubscription = z.strictObject({
  customer: z.union([z.int().min(0), z.string().min(1).max(255)]),
  currency: z.string().length(3).toUpperCase().default('USD'),
  items: z.array(foreignItem).min(1).max(20),
  /** Index into the customer's methods. */
  default_payment_method: z.int().min(0).nullable().default(null),
  collection_method: z.enum(['charge_automatically', 'send_invoice']).default('charge_automatically'),
  schedule: z.boolean().default(false),
  coupon: foreignCoupon.optional(),
  pause_collection: z.enum(['void', 'keep_as_draft', 'mark_uncollectible']).optional(),
  trial_end: time.optional(),
  cancel_at: time.optional(),
  cancel_at_period_end: z.boolean().default(false),
  billing_cycle_anchor: time.optional(),
  status: z.enum(FOREIGN_STATUSES).default('active'),
  metadata: z.record(z.string().max(40), z.string().max(500)).default({}),
});
type ForeignSubscription = z.output<typeof foreignSubscription>;

export interface AddedCustomer {
  readonly id: string;
  readonly methodIds: readonly string[];
}

interface NewTerms {
  readonly one: ForeignSubscription;
  readonly path: string;
  readonly customer: AddedCustomer;
}

/** @returns the ids of the subscription, its customer, items and prices */
export const addSubscription = (unit: Unit, terms: NewTerms, minorUnits: MinorUnits) => {
  const { one, path, customer } = terms;
  checkTimes(unit, terms);
  const prices = one.items.map((item) => addPrice(unit, { item, currency: one.currency }, minorUnits));
  const methodId = one.default_payment_method === null ? null : customer.methodIds[one.default_payment_method];
  if (methodId === undefined) throw new ControlError(400, `${path}.default_payment_method: names no method`);
  if (one.status === 'incomplete' && !canBeCharged(unit, { customerId: customer.id, methodId })) {
    throw new ControlError(400, `${path}.status: an incomplete subscription has a method`);
  }
  const id = unit.newId('subscription');
  const discountIds = one.coupon ? [addDiscount(unit, { ...terms, id }, minorUnits)] : [];
  const wanted = {
    ...calendarOf(unit, one),
    ...priceOf(one, prices),
    id,
    discountIds,
    customerId: customer.id,
    methodId,
  };
  addForeignSubscription(unit, { ...UNUSED, ...wanted, provider: unit.slot, metadata: one.metadata }, one.status);
  const itemId = id.replace(/^sub_/, 'si_');
  const items = prices.map((shown, index) => ({ id: index === 0 ? itemId : `${itemId}${index}`, price: shown.id }));
  return { id, customer: customer.id, items };
};

const UNUSED = {
  wire: {},
  description: null,
  withoutMethod: 'create_invoice',
  endedAt: null,
  endReason: null,
  keepsPayingMethod: false,
  taxRateIds: [],
  billingMode: 'classic',
} as const satisfies Partial<LedgerSubscription>;

const wholeSeconds = (at: number): number => Math.floor(at / 1_000) * 1_000;

const calendarOf = (unit: Unit, one: ForeignSubscription) => {
  const isEnding = one.cancel_at_period_end || one.cancel_at !== undefined;
  const anchor = one.trial_end ?? one.billing_cycle_anchor ?? wholeSeconds(unit.at);
  return {
    anchor,
    createdAt: Math.min(anchor, unit.at),
    trialEnd: one.trial_end ?? null,
    trialStart: one.trial_end === undefined ? null : wholeSeconds(unit.at),
    cancelAtPeriodEnd: one.cancel_at_period_end,
    cancelAt: one.cancel_at ?? null,
    canceledAt: isEnding ? unit.at : null,
    pausedCollection: one.pause_collection ?? null,
    ...(one.collection_method === 'send_invoice' && { collection: one.collection_method }),
    ...(one.schedule && { scheduleId: unit.newId('subscription').replace(/^sub_/, 'sub_schedule_') }),
  };
};

const priceOf = ({ items }: ForeignSubscription, [first, ...others]: readonly LedgerPrice[]) => {
  if (!first) throw new ControlError(400, 'items: at least one is required');
  const quantities = items.map(({ quantity }) => quantity);
  const otherItems = others.map(({ id }, index) => ({ priceId: id, quantity: quantities[index + 1] ?? 1 }));
  const prices = [first, ...others];
  return {
    ...{ priceId: first.id, currency: first.currency, unit: first.unit, count: first.count },
    quantity: quantities[0] ?? 1,
    amount: prices.reduce((sum, { amount }, index) => sum + amount * (quantities[index] ?? 1), 0),
    ...(otherItems.length > 0 && { otherItems }),
  };
};

const checkTimes = (unit: Unit, { one, path }: NewTerms): void => {
  const future = ['trial_end', 'cancel_at'] as const;
  for (const field of future) {
    if ((one[field] ?? Number.POSITIVE_INFINITY) <= unit.at) {
      throw new ControlError(400, `${path}.${field}: must be in the future`);
    }
  }
  if ((one.billing_cycle_anchor ?? 0) > unit.at) {
    throw new ControlError(400, `${path}.billing_cycle_anchor: must not be in the future`);
  }
};

interface NewPrice {
  readonly item: ForeignItem;
  readonly currency: string;
}

const blank = (unit: Unit) => ({ provider: unit.slot, metadata: {}, wire: {}, createdAt: unit.at });

const addPrice = (unit: Unit, { item, currency }: NewPrice, minorUnits: MinorUnits): LedgerPrice => {
  const product = { ...blank(unit), id: unit.newId('product'), name: 'Old plan', description: null };
  return unit.documents.prices.put({
    ...blank(unit),
    id: unit.newId('price'),
    productId: unit.documents.products.put(product).id,
    amount: amountIn(unit, { amount: item.unit_amount, currency }, minorUnits),
    ...{ currency, unit: item.interval, count: item.interval_count },
    ...(item.usage_type === 'metered' && { usageType: item.usage_type }),
    ...(item.billing_scheme === 'tiered' && { scheme: item.billing_scheme }),
  });
};

const amountIn = (
  unit: Unit,
  { amount, currency }: { readonly amount: number; readonly currency: string },
  minorUnits: MinorUnits,
): number => vendorAmount({ provider: unit.slot, currency }, amount, minorUnits) ?? amount;

const addDiscount = (
  unit: Unit,
  { one, customer, id }: NewTerms & Pick<LedgerSubscription, 'id'>,
  minorUnits: MinorUnits,
): string => {
  const { percent_off, amount_off, duration = 'once', duration_in_months } = one.coupon ?? {};
  const amountOff = amount_off === undefined ? null : amountIn(unit, { ...one, amount: amount_off }, minorUnits);
  const coupon = unit.documents.coupons.put({
    ...blank(unit),
    id: unit.newId('coupon'),
    ...{ name: null, percentOff: percent_off ?? null, amountOff },
    currency: amountOff === null ? null : one.currency,
    ...{ duration, months: duration_in_months ?? null },
  });
  const endAt = duration_in_months === undefined ? null : addMonths(unit.at, duration_in_months);
  const discount = { ...blank(unit), id: unit.newId('discount'), couponId: coupon.id, customerId: customer.id };
  return unit.documents.discounts.put({ ...discount, subscriptionId: id, endAt }).id;
};
