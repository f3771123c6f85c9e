import { DomainError } from '../core/errors.ts';
import type { Now } from '../core/time.ts';
import { listOwned, offsetReply } from '../http/paging.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import type { Clause } from '../table/expression.ts';
import { recordStore } from '../table/record-store.ts';
import type { Table } from '../table/table.ts';
import { ADDRESS_TYPES, type Address, addressShape, addressView } from './address.ts';
import { followPointers, isDefaultAddress, readPointers } from './defaults.ts';
import type { ListAddressesQuery } from './requests.ts';

interface ReadDeps {
  readonly table: Table;
  readonly now: Now;
}

export const getAddress = async (
  deps: ReadDeps,
  { record }: ApiRequest<unknown, unknown, unknown, Address>,
): Promise<Reply> => ({ data: addressView(record, await isDefaultAddress(deps.table, record)) });

/** Reads index rows and default pointers in parallel, then the page and the default addresses. */
export const listAddresses = async (
  deps: ReadDeps,
  { owner, query }: ApiRequest<unknown, ListAddressesQuery>,
): Promise<Reply> => {
  if (!owner) throw new Error('a list needs an owner');
  if (query.project_id !== undefined) {
    throw new DomainError('UNSUPPORTED_FILTER', { message: 'addresses have no project_id' });
  }
  const [listed, pointers] = await Promise.all([
    listOwned(deps.table, { kind: 'ADDR', owner, page: query, filter: filtersOf(query) }),
    readPointers(deps.table, owner, query.type ? [query.type] : ADDRESS_TYPES),
  ]);
  const ids = listed.rows.map(({ pk }) => pk.slice('ADDR#'.length));
  const [addresses, defaults] = await Promise.all([
    recordStore(deps.table, deps.now, addressShape).loadMany(ids),
    followPointers(deps.table, pointers, new Set(ids)),
  ]);
  const views = addresses.map((address) => addressView(address, defaults.has(address.id)));
  return offsetReply(views, listed, query);
};

const filtersOf = ({ type, completeness }: ListAddressesQuery): readonly Clause[] => [
  ...(type ? [{ equals: ['f.t', type] as const }] : []),
  ...(completeness === 'any' ? [] : [{ equals: ['f.c', completeness] as const }]),
];
