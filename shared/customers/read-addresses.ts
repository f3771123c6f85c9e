/** @module Reads one address, and lists an owner's addresses. Each address shows whether it is the default. */

import { DomainError } from '../core/errors.ts';
import { listOwned, offsetReply, runList } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { Clause } from '../platform/expression.ts';
import type { StoreDeps } from '../platform/table.ts';
import {
  ADDRESS_TYPES,
  type Address,
  addressRecord,
  addressView,
  followPointers,
  isDefaultAddress,
  readPointers,
} from './address.ts';
import type { ListAddressesQuery } from './address-requests.ts';

export const getAddress = async (
  deps: StoreDeps,
  { record }: ApiRequest<unknown, unknown, unknown, Address>,
): Promise<Reply> => ({ data: addressView(record, await isDefaultAddress(deps.table, record)) });

/**
 * Lists an owner's addresses. Reads the default pointers together with the page of ids, and the default addresses
 * together with the page's records.
 */
export const listAddresses = async (
  deps: StoreDeps,
  { owner, query }: ApiRequest<unknown, ListAddressesQuery>,
): Promise<Reply> => {
  if (!owner) throw new Error('a list needs an owner');
  if (query.project_id !== undefined) {
    throw new DomainError('UNSUPPORTED_FILTER', { message: 'addresses have no project_id' });
  }
  return runList(deps.table, {
    findPage: async () => {
      const [page, pointers] = await Promise.all([
        listOwned(deps.table, { owner, kind: 'ADDR', filter: filtersOf(query), page: query }),
        readPointers(deps.table, owner, query.type ? [query.type] : ADDRESS_TYPES),
      ]);
      return { ...page, pointers };
    },
    recordOf: addressRecord.parse,
    readAlongside: ({ rows, pointers }) =>
      followPointers(deps.table, pointers, new Set(rows.map(({ pk }) => pk.slice('ADDR#'.length)))),
    viewsOf: (addresses, defaults) =>
      addresses.map((address) => addressView(address, defaults?.has(address.id) ?? false)),
    replyOf: (views, listed, total) => offsetReply(views, { listed, page: query, total }),
  });
};

const filtersOf = ({ type, completeness }: ListAddressesQuery): readonly Clause[] => [
  ...(type ? [{ equals: ['f.t', type] as const }] : []),
  ...(completeness === 'any' ? [] : [{ equals: ['f.c', completeness] as const }]),
];
