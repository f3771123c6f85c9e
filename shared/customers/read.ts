import { listOwned, offsetReply } from '../http/paging.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import type { ProviderRecordDeps } from '../providers/registry/deps.ts';
import { recordStore } from '../table/record-store.ts';
import { type Customer, customerShape, customerView } from './customer.ts';
import type { ListCustomersQuery } from './requests.ts';

type ReadDeps = Pick<ProviderRecordDeps, 'table' | 'now'>;

export const getCustomer = async (
  _deps: ReadDeps,
  { record }: ApiRequest<unknown, unknown, unknown, Customer>,
): Promise<Reply> => ({ data: customerView(record) });

export const listCustomers = async (
  deps: ReadDeps,
  { owner, query }: ApiRequest<unknown, ListCustomersQuery>,
): Promise<Reply> => {
  if (!owner) throw new Error('a list needs an owner');
  const filter = query.provider_id ? [{ equals: ['f.p', query.provider_id] as const }] : [];
  const listed = await listOwned(deps.table, { kind: 'CUS', owner, page: query, filter });
  const ids = listed.rows.map(({ pk }) => pk.slice('CUS#'.length));
  const customers = await recordStore(deps.table, deps.now, customerShape).loadMany(ids);
  return offsetReply(customers.map(customerView), listed, query);
};
