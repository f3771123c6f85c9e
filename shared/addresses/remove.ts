import type { Now } from '../core/time.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { promoteNewest } from '../table/defaults.ts';
import { recordStore } from '../table/record-store.ts';
import type { Table } from '../table/table.ts';
import { type Address, addressShape } from './address.ts';
import { isDefaultAddress, slotOf } from './defaults.ts';

/** Where it was the default, the newest remaining address of its owner and type takes over. */
export const deleteAddress = async (
  deps: { readonly table: Table; readonly now: Now },
  { record }: ApiRequest<unknown, unknown, unknown, Address>,
): Promise<Reply> => {
  const [wasDefault] = await Promise.all([
    isDefaultAddress(deps.table, record),
    recordStore(deps.table, deps.now, addressShape).remove(record),
  ]);
  if (wasDefault) await promoteNewest(deps.table, slotOf(record), record.id);
  return { data: undefined };
};
