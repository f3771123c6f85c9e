/** @module Parts of a subscription, shared by the list and its own page. */

import type { Subscription } from '../api/types.ts';
import { count, inWords, money } from '../view/format.ts';
import { Status, Time } from '../view/parts.tsx';

const PERIODS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  daily: ['day', 'days'],
  weekly: ['week', 'weeks'],
  monthly: ['month', 'months'],
  quarterly: ['quarter', 'quarters'],
  yearly: ['year', 'years'],
};

type Plan = Pick<Subscription, 'total_cents' | 'currency' | 'billing_interval' | 'interval_multiplier' | 'quantity'>;

/** The plan in words, such as `EUR 57.00 per 2 months, quantity 3`. */
export const planOf = ({ total_cents, currency, billing_interval, interval_multiplier, quantity }: Plan): string => {
  const [one, many] = PERIODS[billing_interval] ?? [billing_interval, billing_interval];
  const period = interval_multiplier === 1 ? one : `${interval_multiplier} ${many}`;
  return `${money(total_cents, currency)} per ${period}${quantity === 1 ? '' : `, quantity ${count(quantity)}`}`;
};

export const nameOf = ({ concept, description, product_id: product, billing_interval }: Subscription): string =>
  concept || description || product || inWords(billing_interval);

export const SubscriptionStatus = ({ subscription }: { readonly subscription: Subscription }) => (
  <span class="statuses">
    <Status of={subscription.status} />
    {subscription.cancel_at_period_end && subscription.status !== 'canceled' && <span class="status">Ending</span>}
  </span>
);

/** The next charge, or the next retry of a past-due subscription. */
export const NextCharge = ({ subscription: { next_billing_date: next } }: { readonly subscription: Subscription }) =>
  next === null ? <span class="quiet">–</span> : <Time at={next} />;
