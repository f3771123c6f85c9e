import type { Host } from '../../infra/local/host/host.ts';
import { keyedId } from '../../shared/core/ids.ts';
import { iso } from '../../shared/core/time.ts';
import { customerShape } from '../../shared/customers/customer.ts';
import type { Item } from '../../shared/platform/table.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';

/** The maximum number of items in a transaction. */
const BATCH = 100;

/** Stores customers directly in the table, in the service's own form. Each causes one event. @returns their ids */
export const storeCustomers = async (
  { connection, clock }: Pick<Host, 'connection' | 'clock'>,
  names: readonly string[],
): Promise<readonly string[]> => {
  const ids = names.map((name) => keyedId('seed', 'customer', name));
  for (let from = 0; from < ids.length; from += BATCH) {
    const at = iso(clock.now());
    await connection.transact(ids.slice(from, from + BATCH).map((id) => ({ put: customerItem(id, at) })));
  }
  return ids;
};

const customerItem = (id: string, at: string): Item =>
  recordItem(customerShape, {
    id,
    version: 1,
    createdAt: at,
    updatedAt: at,
    providerId: 'provider_a',
    providerCustomerId: `cus_${id}`,
    userId: 'user_1',
  });
