import { type Address, addressShape } from '../addresses/address.ts';
import { addressDefaultSlot, isDefaultAddress } from '../addresses/defaults.ts';
import type { Now } from '../core/time.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { unlinkMethod } from '../payment-methods/commit.ts';
import { unlinkSubscription } from '../subscriptions/record/unlink-address.ts';
import { promoteNewest } from '../table/defaults.ts';
import { ADDRESS_USES, recordKey } from '../table/keys.ts';
import { recordStore } from '../table/record-store.ts';
import type { Item, Table } from '../table/table.ts';

interface Deps {
  readonly table: Table;
  readonly now: Now;
}

/** Removes an address from every method and subscription that uses it, of any owner. Payments keep their address. */
export const unlinkAddress = async (deps: Deps, addressId: string): Promise<void> => {
  let after: Item | undefined;
  do {
    const partition = recordKey('ADDR', addressId).pk;
    const page = await deps.table.queryItems({ partition, ...ADDRESS_USES, consistent: true, after });
    for (const item of page.items) await unlinkUse(deps, addressId, item);
    after = page.next;
  } while (after);
};

const unlinkUse = async (deps: Deps, addressId: string, item: Item): Promise<void> => {
  const [pk, sk] = [String(item['pk']), String(item['sk'])];
  const [kind = '', id = ''] = sk.split('#');
  await (kind === 'PM' ? unlinkMethod(deps, id, addressId) : unlinkSubscription(deps, id, addressId));
  await deps.table.remove({ pk, sk });
};

/** Deletes an address after unlinking it. The newest remaining address replaces a deleted default. */
export const deleteAddress = async (
  deps: Deps,
  { record }: ApiRequest<unknown, unknown, unknown, Address>,
): Promise<Reply> => {
  await removeAddress(deps, record);
  return { data: undefined };
};

export const removeAddress = async (deps: Deps, record: Address): Promise<void> => {
  await unlinkAddress(deps, record.id);
  const [wasDefault] = await Promise.all([
    isDefaultAddress(deps.table, record),
    recordStore(deps.table, deps.now, addressShape).remove(record),
  ]);
  // Repeated for methods and subscriptions that were linked during the removal.
  await unlinkAddress(deps, record.id);
  if (wasDefault) await promoteNewest(deps.table, addressDefaultSlot(record), { id: record.id, deletes: true });
};
