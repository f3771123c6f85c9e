/** @module Converts an owner's change of a subscription on the dashboard to the form of the vendor's own call. */
import * as z from 'zod';
import type { LedgerPrice, LedgerSubscription } from '../ledger/billing-documents.ts';
import type { VendorCalls } from './vendor-calls.ts';

const time = z.iso.datetime({ offset: true });
const percentage = z.number().gt(0).max(100);
/** Stripe requires months only for a repeating coupon. */
const runs = {
  duration: z.enum(['once', 'repeating', 'forever']).default('once'),
  duration_in_months: z.int().min(1).optional(),
};

/** The id of an existing coupon, or a new coupon. */
const coupon = z.union([
  z.string().min(1),
  z.strictObject({ percent_off: percentage, ...runs }),
  z.strictObject({ amount_off: z.int().min(1), ...runs }),
]);
const tax = z.strictObject({ percentage, inclusive: z.boolean().default(false) });

/** null clears the field. */
export const subscriptionWish = z.strictObject({
  cancel_at: time.nullable().optional(),
  cancel_at_period_end: z.boolean().optional(),
  trial_end: z.union([z.literal('now'), time]).optional(),
  quantity: z.int().min(1).optional(),
  unit_amount: z.int().min(0).optional(),
  coupon: coupon.nullable().optional(),
  tax: tax.nullable().optional(),
  pause_collection: z.enum(['void', 'keep_as_draft', 'mark_uncollectible']).nullable().optional(),
  status: z.enum(['unpaid', 'canceled']).optional(),
});
export type SubscriptionWish = z.output<typeof subscriptionWish>;

interface Translating {
  readonly subscription: LedgerSubscription;
  readonly price: LedgerPrice | undefined;
  readonly wish: SubscriptionWish;
  readonly create: VendorCalls['create'];
  /** Converts from ISO 4217 minor units. */
  readonly toVendor: (amount: number | undefined) => number | undefined;
}

/** The form of the vendor's call for a wish. Also creates the wish's coupon and tax rate. */
export const subscriptionForm = (translating: Translating): URLSearchParams => {
  const { wish, create } = translating;
  const fields: Record<string, string | number | boolean | undefined> = {
    cancel_at: cleared(wish.cancel_at, secondsOf),
    cancel_at_period_end: wish.cancel_at_period_end,
    trial_end: wish.trial_end === undefined || wish.trial_end === 'now' ? wish.trial_end : secondsOf(wish.trial_end),
    ...itemFields(translating),
    ...group(wish.coupon, { name: 'discounts', inner: '[0][coupon]' }, (sent) => couponOf(translating, sent)),
    ...group(wish.tax, { name: 'default_tax_rates', inner: '[0]' }, (sent) => create('/v1/tax_rates', taxForm(sent))),
    ...group(wish.pause_collection, { name: 'pause_collection', inner: '[behavior]' }, (behavior) => behavior),
  };
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.set(name, String(value));
  return form;
};

const secondsOf = (iso: string): number => Math.floor(Date.parse(iso) / 1_000);

const cleared = <T, U>(sent: T | null | undefined, write: (value: T) => U): U | '' | undefined => {
  if (sent === undefined) return undefined;
  return sent === null ? '' : write(sent);
};

/** A group's form fields. Null clears the group by an empty string under `name`. A value is sent inside the group. */
const group = <T>(
  sent: T | null | undefined,
  { name, inner }: { readonly name: string; readonly inner: string },
  write: (value: T) => string,
): Record<string, string> => {
  if (sent === undefined) return {};
  return sent === null ? { [name]: '' } : { [`${name}${inner}`]: write(sent) };
};

const itemFields = ({ subscription, price, wish, toVendor }: Translating): Record<string, string | number> => {
  if (wish.quantity === undefined && wish.unit_amount === undefined) return {};
  const amount = toVendor(wish.unit_amount);
  return {
    'items[0][id]': subscription.id.replace(/^sub_/, 'si_'),
    proration_behavior: 'none',
    ...(wish.quantity !== undefined && { 'items[0][quantity]': wish.quantity }),
    ...(amount !== undefined &&
      price && {
        'items[0][price_data][currency]': price.currency.toLowerCase(),
        'items[0][price_data][product]': price.productId,
        'items[0][price_data][unit_amount]': amount,
        'items[0][price_data][recurring][interval]': price.unit,
        'items[0][price_data][recurring][interval_count]': price.count,
      }),
  };
};

const couponOf = (
  { create, subscription, toVendor }: Translating,
  sent: NonNullable<SubscriptionWish['coupon']>,
): string => {
  if (typeof sent === 'string') return sent;
  const form = new URLSearchParams({ duration: sent.duration });
  if (sent.duration_in_months !== undefined) form.set('duration_in_months', String(sent.duration_in_months));
  if ('percent_off' in sent) form.set('percent_off', String(sent.percent_off));
  else {
    form.set('amount_off', String(toVendor(sent.amount_off)));
    form.set('currency', subscription.currency);
  }
  return create('/v1/coupons', form);
};

const taxForm = ({ percentage: percent, inclusive }: z.output<typeof tax>): URLSearchParams =>
  new URLSearchParams({ display_name: 'Tax', percentage: String(percent), inclusive: String(inclusive) });
