import { expect } from 'vitest';
import { subscriptionBody } from '../builders/subscription.ts';
import { signIn, type User } from './flow.ts';
import type { ParsedJson, RequestOptions, TestAnswer, TestHost } from './host.ts';
import { createCustomer, saveMethod } from './payers.ts';

/** Steps of tests about subscriptions; a refused step fails the test. */
type Fields = Readonly<Record<string, unknown>>;

/** All is billed by the service itself. */
export const OWN_BILLING = { PROVIDER_A_SUBSCRIPTIONS: 'service' } as const;

/** Somebody with a customer and a saved method, and what a subscription of theirs names. */
export interface Subscriber {
  readonly options: RequestOptions;
  readonly names: { readonly customer_id: string; readonly payment_method_id: string; readonly provider_id: string };
}

/** As long as a session may last. */
const A_YEAR = 366 * 86_400;

export const subscriber = async (
  service: TestHost,
  token = 'pm_card_visa',
  fields: Fields = {},
): Promise<Subscriber & { readonly user: User }> => {
  const user = await signIn(service, { expires_in: A_YEAR });
  return { user, ...(await payer(service, user.options, token, fields)) };
};

/** Customer and method of whoever asks. */
export const payer = async (
  service: TestHost,
  options: RequestOptions,
  token = 'pm_card_visa',
  fields: Fields = {},
): Promise<Subscriber> => {
  const customer = await createCustomer(service, options, fields);
  const method = await saveMethod(service, options, { provider_payment_method_token: token, ...fields });
  const names = { customer_id: customer.id, payment_method_id: method.id, provider_id: customer.provider_id };
  return { options, names };
};

export const trySubscribe = (service: TestHost, who: Subscriber, fields: Fields = {}): Promise<TestAnswer> =>
  service.post('/subscriptions', subscriptionBody({ ...who.names, ...fields }), who.options);

export const subscribe = async (service: TestHost, who: Subscriber, fields: Fields = {}): Promise<ParsedJson> => {
  const { status, body } = await trySubscribe(service, who, fields);
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
};

export const readSubscription = async (service: TestHost, who: Subscriber, id: string): Promise<ParsedJson> => {
  const { status, body } = await service.get(`/subscriptions/${id}`, who.options);
  expect({ status, body }).toMatchObject({ status: 200 });
  return body;
};

/** The payments of a subscription, oldest first. */
export const paymentsOf = async (service: TestHost, who: Subscriber, id: string): Promise<ParsedJson[]> => {
  const { status, body } = await service.get('/payments?limit=50&orderDir=asc', who.options);
  expect(status).toBe(200);
  return body.data.filter((payment: ParsedJson) => payment.subscription_id === id);
};
