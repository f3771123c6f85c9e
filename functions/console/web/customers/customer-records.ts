/** @module Reads the methods, subscriptions and payments of one customer from the lists that the caller may read. */

import { answerOf, api, nextCursor, nextOffset } from '../api/client.ts';
import { organizations } from '../api/organizations.ts';
import { may, session } from '../api/session.ts';
import type { Customer, Payment, PaymentMethod, Subscription } from '../api/types.ts';
import type { PageOf } from '../view/load.ts';

/** True if the customer's records are in the caller's own lists. */
const isListed = (customer: Customer): boolean => {
  const { organization_id: organization } = customer;
  if (organization === undefined) return customer.user_id === session.value?.userId;
  return !may('customers:read') || organizations.value.some(({ id }) => id === organization);
};

/** The customer's owner, as filters for the lists of all records. */
const ownerOf = (customer: Customer) => {
  const { organization_id: organization } = customer;
  return organization === undefined ? { user_id: customer.user_id ?? undefined } : { organization_id: organization };
};

const MOST_PER_PAGE = 100;

export const readSubscriptions = async (
  customer: Customer,
  cursor: string | undefined,
): Promise<PageOf<Subscription>> => {
  const isOf = ({ customer_id: id }: Subscription): boolean => id === customer.id;
  if (isListed(customer)) {
    const query = { organization_id: customer.organization_id ?? '', offset: Number(cursor ?? 0) };
    const { data, response } = await answerOf(api.GET('/subscriptions', { params: { query } }));
    return { rows: data.filter(isOf), next: nextOffset(response) };
  }
  const query = { ...ownerOf(customer), from: customer.created_at, limit: MOST_PER_PAGE, cursor };
  const { data } = await answerOf(api.GET('/admin/subscriptions', { params: { query } }));
  return { rows: data.data.filter(isOf), next: nextCursor(data.meta) };
};

const askPayments = (customer: Customer, cursor: string | undefined) => {
  const from = customer.created_at;
  if (isListed(customer)) {
    const query = { organization_id: customer.organization_id ?? '', created_at_from: from, limit: 50, cursor };
    return api.GET('/payments', { params: { query: { ...query, include: 'payment_method' } } });
  }
  const search = customer.is_guest ? (customer.guest_email ?? customer.email ?? undefined) : undefined;
  const query = { ...ownerOf(customer), search, from, limit: MOST_PER_PAGE, cursor };
  return api.GET('/admin/payments', { params: { query } });
};

export const readPayments = async (customer: Customer, cursor: string | undefined): Promise<PageOf<Payment>> => {
  const call = askPayments(customer, cursor);
  const { data } = await answerOf<{ data?: Payment[]; meta?: Record<string, unknown> }>(call);
  const rows = (data.data ?? []).filter(({ customer_id: id }) => id === customer.id);
  return { rows, next: nextCursor(data.meta) };
};

const readMethod = async (id: string): Promise<readonly PaymentMethod[]> => {
  const call = api.GET('/payment-methods/{id}', { params: { path: { id } } });
  const found = await answerOf(call).catch(() => undefined);
  return found ? [found.data] : [];
};

/** The methods on the customer's newest subscriptions and payments. */
const readUsedMethods = async (customer: Customer): Promise<readonly PaymentMethod[]> => {
  const [subscriptions, payments] = await Promise.all([
    readSubscriptions(customer, undefined),
    readPayments(customer, undefined),
  ]);
  const ids = [...subscriptions.rows, ...payments.rows].flatMap(({ payment_method_id: id }) => id ?? []);
  return (await Promise.all([...new Set(ids)].map(readMethod))).flat();
};

/**
 * The customer's saved methods. The API lists a person's methods only to that person, so the merchant sees the methods
 * on subscriptions and payments.
 */
export const readMethods = async (customer: Customer): Promise<PageOf<PaymentMethod>> => {
  const { organization_id: organization } = customer;
  if (!isListed(customer) && organization === undefined) {
    return { rows: await readUsedMethods(customer), next: undefined };
  }
  const query = { organization_id: organization ?? '', limit: MOST_PER_PAGE };
  const { data } = await answerOf(api.GET('/payment-methods', { params: { query } }));
  return { rows: data.filter(({ customer_id: id }) => id === customer.id), next: undefined };
};
