/** @module Helpers for tests of subscriptions. A refused call fails the test. */

import { expect } from 'vitest';
import { present } from '../builders/present.ts';
import { YEAR_SECONDS } from '../builders/seconds.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { signIn, type User } from './flow.ts';
import type { RequestOptions, TestHost } from './host.ts';
import { createCustomer, saveReadyMethod } from './payers.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Settings with which the service bills all subscriptions. */
export const OWN_BILLING = { PROVIDER_A_SUBSCRIPTIONS: 'service' } as const;

/** The two billers of a subscription at Stripe, with the host's settings. */
export const BILLERS = [
  ['the provider', {}],
  ['the service', OWN_BILLING],
] as const;

/** A user with a customer and a saved method, and the subscription fields that name both. */
export interface Subscriber {
  readonly options: RequestOptions;
  readonly names: { readonly customer_id: string; readonly payment_method_id: string; readonly provider_id: string };
}

export const subscriber = async (
  service: TestHost,
  token = 'pm_card_visa',
  fields: Fields = {},
): Promise<Subscriber & { readonly user: User }> => {
  const user = await signIn(service, { expires_in: YEAR_SECONDS });
  return { user, ...(await payer(service, user.options, { token, fields })) };
};

/** Creates a customer and a saved method for the caller. */
export const payer = async (
  service: TestHost,
  options: RequestOptions,
  { token = 'pm_card_visa', fields = {} }: { readonly token?: string; readonly fields?: Fields } = {},
): Promise<Subscriber> => {
  const customer = await createCustomer(service, options, fields);
  const { email: _email, name: _name, ...ofBoth } = fields;
  const method = await saveReadyMethod(service, options, { provider_payment_method_token: token, ...ofBoth });
  const names = { customer_id: customer.id, payment_method_id: method.id, provider_id: customer.provider_id };
  return { options, names };
};

export const trySubscribe = (service: TestHost, who: Subscriber, fields: Fields = {}) =>
  service.post('/subscriptions', subscriptionBody({ ...who.names, ...fields }), who.options);

export const subscribe = async (service: TestHost, who: Subscriber, fields: Fields = {}) => {
  const { status, body } = await trySubscribe(service, who, fields);
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
};

export const readSubscription = async (service: TestHost, who: Subscriber, id: string) => {
  const { status, body } = await service.get(`/subscriptions/${id}`, who.options);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
};

/** The payments of a subscription, oldest first. */
export const paymentsOf = async (service: TestHost, who: Subscriber, id: string) => {
  const { status, body } = await service.get('/payments?limit=50&orderDir=asc', who.options);
  expect(status).toBe(200);
  return body.data.filter((payment) => payment.subscription_id === id);
};

/** The canonical events of one subscription and its memberships from the bus, by name and reason or status. */
export const subscriptionEventsOf = async (service: TestHost, id: string): Promise<string[]> =>
  (await service.busEvents())
    .filter(
      (event) =>
        /^(subscription|membership)\./.test(event['detail-type']) && event.detail.payload.data.subscription_id === id,
    )
    .map((event) => {
      const { reason, status } = event.detail.payload.data;
      return `${event['detail-type']} ${reason ?? status}`;
    });

interface Command {
  readonly id: string;
  readonly name: 'cancel' | 'reactivate' | 'pause' | 'resume';
  readonly body?: Fields;
}

export const command = (service: TestHost, who: Subscriber, { id, name, body = {} }: Command) =>
  service.post(`/subscriptions/${id}/${name}`, body, who.options);

export const patch = (
  service: TestHost,
  who: Subscriber,
  { id, body }: { readonly id: string; readonly body: Fields },
) => service.request('PATCH', `/subscriptions/${id}`, { ...who.options, body });

/** Saves another method of the subscriber. @returns its id */
export const anotherMethod = async (service: TestHost, who: Subscriber, token = 'pm_card_visa'): Promise<string> =>
  (await saveReadyMethod(service, who.options, { provider_payment_method_token: token })).id;

/** A product billed monthly, with the tier `gold`. */
const goldPlan = async (service: TestHost, fields: Fields = {}): Promise<string> => {
  plans += 1;
  const id = `gold-plan-${plans}`;
  const admin = await signIn(service, { is_admin: true });
  const body = { name: 'Gold', total_cents: 1_900, currency: 'USD', billing_interval: 'monthly', ...fields };
  const { status } = await service.put(
    `/admin/products/${id}`,
    { ...body, metadata: { membership_type_id: 'gold' } },
    admin.options,
  );
  expect(status).toBe(200);
  return id;
};
let plans = 0;

export const subscribeToGold = async (service: TestHost, who: Subscriber, fields: Fields = {}) => {
  const product = await goldPlan(service, fields);
  const { status, body } = await service.post('/subscriptions', { ...who.names, product_id: product }, who.options);
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
};

/** The membership that belongs to a subscription. */
export const readMembership = async (service: TestHost, who: Subscriber, id: string) => {
  const { status, body } = await service.get('/memberships', who.options);
  expect(status).toBe(200);
  return present(body.data.find((membership) => membership.subscription_id === id));
};
