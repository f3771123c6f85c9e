/** @module The entries of the list of all customers, which also map a name to its customers. */

import type { Customer } from '../customers/customer.ts';
import { customerEntryKey, customerEntryPartition, customerNamePartition, listSort } from '../platform/keys.ts';
import type { Cursor } from '../platform/listing.ts';
import type { Table } from '../platform/table.ts';
import type { CustomerChange } from './customer-emails.ts';

const changesEntry = ({ before, after }: CustomerChange): boolean =>
  before?.name !== after?.name || (before === undefined) !== (after === undefined);

export const projectCustomerEntry = async (table: Table, change: CustomerChange): Promise<void> => {
  const { before, after } = change;
  if (!changesEntry(change)) return;
  if (after === undefined) {
    if (before) await table.remove(customerEntryKey(before.id));
    return;
  }
  const { id, createdAt, providerId, name } = after;
  await table.put({
    ...customerEntryKey(id),
    owner: customerEntryPartition(id),
    sort: listSort(createdAt, id),
    f: { p: providerId },
    ...(name !== undefined && { project: customerNamePartition(name) }),
  });
};

/** The position of a customer in every partition of the list. */
export const customerCursor = ({ createdAt, id }: Pick<Customer, 'createdAt' | 'id'>): Cursor => ({
  ...customerEntryKey(id),
  sort: listSort(createdAt, id),
});
