/** @module Items that map an e-mail address to its customers, for the search by the merchant. */

import { type Customer, customerRecord } from '../customers/customer.ts';
import { emailCustomerKey, emailCustomers, type Key } from '../platform/keys.ts';
import type { Table } from '../platform/table.ts';

/** A customer change; undefined before creation or after removal. */
export interface CustomerChange {
  readonly before: Customer | undefined;
  readonly after: Customer | undefined;
}

export const projectCustomerEmail = async (table: Table, { before, after }: CustomerChange): Promise<void> => {
  if (before?.email !== undefined && before.email !== after?.email) {
    await table.remove(emailCustomerKey(before.email, before.id));
  }
  if (after?.email !== undefined) {
    await table.put({ ...emailCustomerKey(after.email, after.id), customerId: after.id });
  }
};

/** The customers with this e-mail address, unordered. May still include a customer after a change of the address. */
export const customersByEmail = async (
  table: Table,
  email: string,
  limit: number,
): Promise<{ readonly keys: readonly Key[]; readonly hasMore: boolean }> => {
  const { items, next } = await table.queryItems({ ...emailCustomers(email), limit });
  return { keys: items.map(({ customerId }) => customerRecord.key(String(customerId))), hasMore: next !== undefined };
};
