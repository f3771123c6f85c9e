import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { setDefault } from '../table/defaults.ts';
import type { Table } from '../table/table.ts';
import type { Address } from './address.ts';
import { slotOf } from './defaults.ts';
import { addressView } from './view.ts';

/** The pointer alone: one update, the last wins. */
export const setDefaultAddress = async (
  deps: { readonly table: Table },
  { record }: ApiRequest<unknown, unknown, unknown, Address>,
): Promise<Reply> => {
  await setDefault(deps.table, slotOf(record), record.id);
  return { data: addressView(record, true) };
};
