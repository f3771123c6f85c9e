import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { setDefault } from '../table/defaults.ts';
import type { Table } from '../table/table.ts';
import { type Address, addressView } from './address.ts';
import { addressDefaultSlot } from './defaults.ts';

/** Updates the pointer only; the last update wins. */
export const setDefaultAddress = async (
  deps: { readonly table: Table },
  { record }: ApiRequest<unknown, unknown, unknown, Address>,
): Promise<Reply> => {
  await setDefault(deps.table, addressDefaultSlot(record), record.id);
  return { data: addressView(record, true) };
};
