/** @module The demo subscriptions, at least one in each state. */

import type { ProviderSlot } from '../../../shared/core/settings.ts';
import { type Demo, type DemoStep, MEMBER, OWNER } from './asking.ts';

interface Plan {
  readonly name: string;
  readonly daysAgo: number;
  readonly by: string;
  readonly slot: ProviderSlot;
  /** Names of demo records. */
  readonly customer: string;
  readonly method: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Later requests for the subscription. */
  readonly later?: readonly { readonly daysAgo: number; readonly action: string; readonly body?: unknown }[];
}

const PLANS: readonly Plan[] = [
  {
    name: 'subscription-active',
    ...{ daysAgo: 24.5, by: OWNER, slot: 'provider_a', customer: 'customer-owner-a', method: 'card-owner-visa' },
    body: { product_id: 'demo-gold-monthly' },
  },
  {
    name: 'subscription-weekly',
    ...{ daysAgo: 22.3, by: OWNER, slot: 'provider_b', customer: 'customer-owner-b', method: 'paypal-owner' },
    body: { ...price(1_150, 'EUR', 'weekly'), description: 'Box of materials' },
  },
  {
    name: 'subscription-trialing',
    ...{ daysAgo: 4.2, by: MEMBER, slot: 'provider_a', customer: 'customer-member-a', method: 'card-member-visa' },
    body: { ...price(2_856, 'EUR', 'monthly'), trial_days: 14, description: 'Gold, on trial' },
  },
  {
    name: 'subscription-past-due',
    ...{ daysAgo: 9.3, by: MEMBER, slot: 'provider_c', customer: 'customer-member-c', method: 'card-member-declining' },
    body: { ...price(990, 'USD', 'weekly'), description: 'Magazine' },
  },
  {
    name: 'subscription-paused',
    ...{ daysAgo: 19.5, by: OWNER, slot: 'provider_c', customer: 'customer-owner-c', method: 'card-owner-square' },
    body: { ...price(3_500, 'USD', 'monthly'), description: 'Studio space' },
    later: [{ daysAgo: 7.5, action: 'pause' }],
  },
  {
    name: 'subscription-canceled',
    ...{ daysAgo: 28.2, by: OWNER, slot: 'provider_c', customer: 'customer-owner-c', method: 'card-owner-square' },
    body: { ...price(2_200, 'USD', 'monthly'), description: 'Locker' },
    later: [{ daysAgo: 15.2, action: 'cancel', body: { cancel_at_period_end: false } }],
  },
  {
    name: 'subscription-ending',
    ...{ daysAgo: 13.7, by: MEMBER, slot: 'provider_a', customer: 'customer-member-a', method: 'card-member-visa' },
    body: { ...price(1_400, 'EUR', 'monthly'), description: 'Newsletter' },
    later: [{ daysAgo: 2.6, action: 'cancel', body: { cancel_at_period_end: true } }],
  },
  {
    name: 'subscription-organization',
    ...{ daysAgo: 26.1, by: OWNER, slot: 'provider_a', customer: 'customer-organization', method: 'card-organization' },
    body: { ...price(12_500, 'EUR', 'quarterly'), description: 'Seats for ten', organization_id: 'org_demo' },
  },
];

function price(total_cents: number, currency: string, billing_interval: string) {
  return { subtotal_cents: total_cents, total_cents, currency, billing_interval };
}

export const subscriptionSteps: readonly DemoStep[] = PLANS.flatMap((plan) => [
  { daysAgo: plan.daysAgo, run: (demo) => subscribe(demo, plan) },
  ...(plan.later ?? []).map(
    ({ daysAgo, action, body }): DemoStep => ({
      daysAgo,
      run: (demo) => demo.post({ path: `/subscriptions/${demo.made(plan.name).id}/${action}`, by: plan.by, body }),
    }),
  ),
]);

const subscribe = (demo: Demo, { name, by, slot, customer, method, body }: Plan): Promise<unknown> =>
  demo.create(name, {
    path: '/subscriptions',
    by,
    body: { provider_id: slot, customer_id: demo.made(customer).id, payment_method_id: demo.made(method).id, ...body },
  });
