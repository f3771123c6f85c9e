/** @module Helpers for tests of customers and payment methods. A refused call fails the test. */

import { expect } from 'vitest';
import { fullAddress } from '../builders/address.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { present } from '../builders/present.ts';
import { itemsOf, partitionOf, signIn, type User } from './flow.ts';
import type { RequestOptions, TestAnswer, TestHost } from './host.ts';
import type { NewMethod, RefusalBody } from './routes.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Settings for a host with only the first provider. A refusal must not depend on the host's other providers. */
export const ONLY_A = { PROVIDER_B: '', PROVIDER_C: '', PROVIDER_D: '' } as const;

const made = async (answer: Promise<TestAnswer>) => {
  const { status, body } = await answer;
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
};

export const createCustomer = (service: TestHost, options: RequestOptions, fields: Fields = {}) =>
  made(service.post('/customers', customerBody(fields), options));

export const saveMethod = (service: TestHost, options: RequestOptions, fields: Fields = {}) =>
  made(service.post('/payment-methods', methodBody(fields), options));

/** A saved method with complete set-up. The payer authenticates if the provider requires it. */
export const saveReadyMethod = async (service: TestHost, options: RequestOptions, fields: Fields = {}) => {
  const method = await saveMethod(service, options, fields);
  if (method.setup_status === 'succeeded') return method;
  await service.authenticateMethod(method.id);
  await service.settle();
  const { body } = await service.get(`/payment-methods/${method.id}`, options);
  expect(body).toMatchObject({ setup_status: 'succeeded' });
  return body;
};

export const createAddress = (service: TestHost, options: RequestOptions, fields: Fields = {}) =>
  made(service.post('/addresses', fullAddress(fields), options));

/** A guest with a saved method and a guest token. */
export const guestWithMethod = async (
  service: TestHost,
  email: string,
  fields: Fields = {},
): Promise<{ readonly options: RequestOptions; readonly method: NewMethod; readonly token: string }> => {
  const method = await saveMethod(service, {}, { guest_data: { email, name: 'Gina Guest' }, ...fields });
  return { options: { guestToken: method.guest_token }, method, token: method.guest_token };
};

export interface Company {
  readonly id: string;
  readonly owner: User;
  readonly admin: User;
  readonly billing: User;
  readonly member: User;
}

const ROLES = ['admin', 'billing', 'member'] as const;
let companies = 0;

/** An organization with a member in every role. */
export const company = async (service: TestHost): Promise<Company> => {
  companies += 1;
  const emailOf = (role: string): string => `${role}.${companies}@acme.example.com`;
  const owner = await signIn(service, { email: emailOf('owner') });
  const created = await made(service.post('/organizations', { name: 'Acme' }, owner.options));
  const join = async (role: (typeof ROLES)[number]): Promise<User> => {
    const user = await signIn(service, { email: emailOf(role) });
    await made(
      service.post(`/organizations/${created.data.id}/members`, { email: emailOf(role), role }, owner.options),
    );
    return user;
  };
  const [admin, billing, member] = [await join('admin'), await join('billing'), await join('member')];
  return { id: created.data.id, owner, admin, billing, member };
};

/** The owner removes the member from the organization. */
export const removeMember = async (service: TestHost, { id, owner }: Company, { userId }: User): Promise<void> => {
  const members = await service.get(`/organizations/${id}/members`, owner.options);
  const member = members.body.data.find(({ user_id }) => user_id === userId);
  const removed = await service.request('DELETE', `/organizations/${id}/members/${present(member).id}`, owner.options);
  expect(removed).toMatchObject({ status: 200 });
};

/** The stored record of a customer, a payment method or a subscription. */
export const storedRecord = async (service: TestHost, kind: 'CUS' | 'PM' | 'SUB', id: string) =>
  (await partitionOf(service, `${kind}#${id}`)).find(({ sk }) => sk === kind);

/** The provider's own customer or method object. */
export const customerAtProvider = async (service: TestHost, id: string) =>
  present((await service.ledger()).customers.find((customer) => customer.id === id));

export const methodAtProvider = async (service: TestHost, id: string) =>
  present((await service.ledger()).payment_methods.find((method) => method.id === id));

/** The canonical events of one customer, from the bus. */
export const customerEventsOf = async (service: TestHost, customerId: string) =>
  (await service.busEvents()).filter(
    (event) => event['detail-type'].startsWith('customer.') && event.detail.payload.data.customer_id === customerId,
  );

/** The log entries of inbound events about one provider object, oldest first. */
export const outcomesOf = async (service: TestHost, providerObjectId: string) =>
  (await itemsOf(service, 'LOG#'))
    .filter((entry) => entry.payload?.data?.object?.id === providerObjectId)
    .sort((a, b) => (a.sort < b.sort ? -1 : 1));

/** The ids of the default methods in the caller's own list. */
export const defaultsIn = async (service: TestHost, options: RequestOptions, query = ''): Promise<string[]> => {
  const { status, body } = await service.get(`/payment-methods${query}`, options);
  expect(status).toBe(200);
  return body.filter(({ is_default }) => is_default).map(({ id }) => id);
};

/** The paths of the problems in a 400 response. */
export const problemsOf = ({ body }: TestAnswer<RefusalBody>): string[] =>
  Array.isArray(body.details) ? body.details.map(({ path }) => path) : [];
