/** @module The plan entered by a user, and its API fields. */

import { majorUnits } from '../../../../shared/core/money.ts';
import type { Product, Subscription } from '../api/types.ts';
import { minorUnits } from '../view/format.ts';
import { mayManage } from './subscription-rights.ts';

export type Interval = NonNullable<Product['billing_interval']>;

export const INTERVALS: readonly Interval[] = ['daily', 'weekly', 'monthly', 'quarterly', 'yearly'];

export const intervalNamed = (name: string): Interval | undefined => INTERVALS.find((one) => one === name);

/** Payers choose a product. Staff can only set a price. */
export type PlanDraft =
  | { readonly kind: 'product'; readonly productId: string; readonly quantity: number }
  | { readonly kind: 'price'; readonly total: string; readonly interval: Interval; readonly multiplier: number };

export const draftOf = (subscription: Subscription): PlanDraft => {
  const { product_id: productId, quantity, total_cents: cents, currency } = subscription;
  if (mayManage(subscription)) return { kind: 'product', productId: productId ?? '', quantity };
  return {
    kind: 'price',
    total: majorUnits(cents, currency),
    interval: intervalNamed(subscription.billing_interval) ?? 'monthly',
    multiplier: subscription.interval_multiplier,
  };
};

/** The API fields of a plan. An invalid amount is omitted, so the API reports the missing field. */
export const bodyOf = (draft: PlanDraft, { currency, ...present }: Subscription) => {
  if (draft.kind === 'product') return { product_id: draft.productId, quantity: draft.quantity };
  const isOtherInterval =
    draft.interval !== present.billing_interval || draft.multiplier !== present.interval_multiplier;
  return {
    total_cents: minorUnits(draft.total, currency),
    ...(isOtherInterval && { billing_interval: draft.interval, interval_multiplier: draft.multiplier }),
  };
};
