import type { Now } from '../core/time.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { promoteNewest } from '../table/defaults.ts';
import { recordStore } from '../table/record-store.ts';
import type { Table } from '../table/table.ts';
import { type Address, addressShape } from './address.ts';
import { isDefaultAddress, slotOf } from './defaults.ts';
import { unlinkAddress } from './unlink.ts';

/** Methods and subscriptions lose the address first. Where it was the default, the newest remaining address takes over. */
export const deleteAddress = async (
  deps: { readonly table: Table; readonly now: Now },
  { record }: ApiRequest<unknown, unknown, unknown, Address>,
): Promise<Reply> => {
  await unlinkAddress(deps, record.id);
  const [wasDefault] = await Promise.all([
    isDefaultAddress(deps.table, record),
    recordStore(deps.table, deps.now, addressShape).remove(record),
  ]);
  // What was linked while this went on.
  await unlinkAddress(deps, record.id);
  if (wasDefault) await promoteNewest(deps.table, slotOf(record), record.id);
  return { data: undefined };
};
