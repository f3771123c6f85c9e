/** @module Reads one payment method, and lists an owner's methods. Each method shows whether it is the default. */

import { DomainError } from '../core/errors.ts';
import { listOwned, onlyRecordFilter, runList, totalHeader } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { Clause } from '../platform/expression.ts';
import { type Owner, ownerPartition } from '../platform/keys.ts';
import { type IndexRow, type Listed, sortedRows } from '../platform/listing.ts';
import type { StoreDeps } from '../platform/table.ts';
import { type CountedPage, exactly } from '../platform/totals.ts';
import type { ListMethodsQuery } from './method-requests.ts';
import {
  findDefaultMethod,
  isDefaultMethod,
  methodDefaultSlot,
  methodView,
  methodWithSecret,
  type PaymentMethod,
  paymentMethodRecord,
} from './payment-method.ts';

export const getMethod = async (
  deps: StoreDeps,
  { record, canWrite }: ApiRequest<unknown, unknown, unknown, PaymentMethod>,
): Promise<Reply> => {
  const isDefault = await isDefaultMethod(deps.table, record);
  return { data: canWrite ? methodWithSecret(record, isDefault, deps.now()) : methodView(record, isDefault) };
};

export const listMethods = async (
  deps: StoreDeps,
  { owner, query, caller }: ApiRequest<unknown, ListMethodsQuery>,
): Promise<Reply> => {
  if (!owner) throw new Error('a list needs an owner');
  if (query.project_id !== undefined) {
    throw new DomainError('UNSUPPORTED_FILTER', { message: 'payment methods have no project_id' });
  }
  return runList(deps.table, {
    findPage: () => findPage(deps, owner, { query, filter: [...filtersOf(query), ...onlyRecordFilter(caller, 'PM')] }),
    recordOf: paymentMethodRecord.parse,
    readAlongside: ({ rows }) =>
      findDefaultMethod(deps.table, methodDefaultSlot(owner), new Set(rows.map(({ pk }) => pk.slice('PM#'.length)))),
    viewsOf: (methods, defaultId) => methods.map((method) => methodView(method, method.id === defaultId)),
    replyOf: (views, { hasMore }, total) => ({
      data: views,
      ...(hasMore && { next: { page: String(query.page + 1), limit: String(query.limit) } }),
      ...totalHeader(total),
    }),
  });
};

type MethodPage = Pick<Listed, 'rows' | 'hasMore'> & CountedPage;

const findPage = async (
  { table }: StoreDeps,
  owner: Owner,
  { query, filter }: { readonly query: ListMethodsQuery; readonly filter: readonly Clause[] },
): Promise<MethodPage> => {
  const offset = (query.page - 1) * query.limit;
  if (query.orderBy === 'created_at' && query.orderDir === 'desc') {
    return listOwned(table, { owner, kind: 'PM', filter, page: { limit: query.limit, offset } });
  }
  const own: Clause[] = owner.kind === 'guest' ? [{ equals: ['f.g', owner.guestId] }] : [];
  const list = { index: 'owner', partition: ownerPartition(owner, 'PM'), filter: [...own, ...filter] } as const;
  const sorted = await sortedRows(table, { ...list, offset, limit: query.limit }, comparerFor(query));
  return { ...sorted, total: exactly(sorted.total) };
};

const comparerFor = ({ orderBy, orderDir }: ListMethodsQuery) => {
  const sign = orderDir === 'desc' ? -1 : 1;
  const orderKey = (row: IndexRow): string => {
    if (orderBy === 'created_at') return row.sort;
    return String(row.fields[orderBy === 'card_brand' ? 'b' : 's'] ?? '');
  };
  return (one: IndexRow, other: IndexRow): number => {
    const [a, b] = [orderKey(one), orderKey(other)];
    if (a !== b) return a < b ? -sign : sign;
    return one.sort < other.sort ? -sign : sign;
  };
};

const filtersOf = (query: ListMethodsQuery): Clause[] => [
  ...(query.payment_type ? [{ equals: ['f.y', query.payment_type] } as const] : []),
  ...(query.card_brand ? [{ equals: ['f.b', query.card_brand] } as const] : []),
  ...(query.search
    ? [
        {
          any: [
            { contains: ['f.s', query.search] },
            { contains: ['f.b', query.search] },
            { contains: ['f.l', query.search] },
          ],
        } as const,
      ]
    : []),
];
