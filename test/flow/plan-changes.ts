/** @module Helpers for tests of plan changes. A refused call fails the test. */

import { expect } from 'vitest';
import { atStripe } from './at-stripe.ts';
import { signIn } from './flow.ts';
import type { TestHost } from './host.ts';
import type { ParsedJson } from './routes.ts';
import { readSubscription, type Subscriber, subscribe, subscriber } from './subscribers.ts';

type Fields = Readonly<Record<string, unknown>>;

let products = 0;

/** Creates a product billed monthly. @returns its id */
export const plan = async (service: TestHost, cents: number, fields: Fields = {}): Promise<string> => {
  products += 1;
  const id = `plan-${products}-${cents}`;
  const admin = await signIn(service, { is_admin: true });
  const body = { name: `Plan ${cents}`, total_cents: cents, currency: 'USD', billing_interval: 'monthly', ...fields };
  const answer = await service.put(`/admin/products/${id}`, body, admin.options);
  const { status, body: said } = answer;
  expect({ status, said }).toMatchObject({ status: 200 });
  return id;
};

/** A provider with its settings, and a method that needs no authentication. */
export const PLAN_PLACES = [
  ['Stripe, which bills', { slot: 'provider_a', token: 'pm_card_visa', settings: {} }],
  [
    'Stripe, billed here',
    { slot: 'provider_a', token: 'pm_card_visa', settings: { PROVIDER_A_SUBSCRIPTIONS: 'service' } },
  ],
  ['PayPal', { slot: 'provider_b', token: 'SIM-OK', settings: {} }],
  ['Square', { slot: 'provider_c', token: 'cnon:card-nonce-ok', settings: {} }],
] as const;
export interface PlanPlace {
  readonly slot: string;
  readonly token: string;
}

/** A subscriber to a product at this provider. */
export const subscribed = async (
  service: TestHost,
  { slot, token }: PlanPlace,
  fields: Fields,
): Promise<{ readonly who: Subscriber; readonly id: string; readonly first: ParsedJson }> => {
  const who = await subscriber(service, token, slot === 'provider_a' ? {} : { provider_id: slot });
  const first = await subscribe(service, who, { ...NO_PRICE, ...fields });
  return { who, id: first.id, first };
};

/** Omits the price fields, because the product sets the price. */
const NO_PRICE = {
  subtotal_cents: undefined,
  total_cents: undefined,
  currency: undefined,
  billing_interval: undefined,
};

/** A subscriber and the id of their subscription. */
export interface PlanHolder {
  readonly who: Subscriber;
  readonly id: string;
}

export const changeTo = (service: TestHost, { who, id }: PlanHolder, body: Fields) =>
  service.post(`/subscriptions/${id}/change`, body, who.options);

export const preview = (service: TestHost, { who, id }: PlanHolder, body: Fields) =>
  service.post(`/subscriptions/${id}/change/preview`, body, who.options);

export const withdraw = (service: TestHost, { who, id }: PlanHolder) =>
  service.request('DELETE', `/subscriptions/${id}/change`, who.options);

/** The reasons in the events of the subscription's plan changes, in order. */
export const planEvents = async (service: TestHost, id: string): Promise<string[]> =>
  (await service.busEvents('subscription.updated'))
    .map(({ detail }) => detail.payload.data)
    .filter((data) => data.subscription_id === id && /^plan_/.test(data.reason ?? ''))
    .map((data) => data.reason);

/** Stripe's next price; undefined if the service bills. */
export const priceAtStripe = async (service: TestHost, { who, id }: PlanHolder): Promise<number | undefined> => {
  const { provider_subscription_id: there } = await readSubscription(service, who, id);
  if (there === null) return undefined;
  const { items } = await atStripe(service, `POST subscriptions/${there}`, { 'metadata[seen]': '1' });
  return items.data[0].price.unit_amount * items.data[0].quantity;
};
