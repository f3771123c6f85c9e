import { listOwned, offsetReply, runList } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import type { StoreDeps } from '../platform/table.ts';
import { type Customer, customerRecord, customerView } from './customer.ts';
import type { ListCustomersQuery } from './customer-requests.ts';

export const getCustomer = async (
  _deps: StoreDeps,
  { record }: ApiRequest<unknown, unknown, unknown, Customer>,
): Promise<Reply> => ({ data: customerView(record) });

export const listCustomers = async (
  deps: StoreDeps,
  { owner, query }: ApiRequest<unknown, ListCustomersQuery>,
): Promise<Reply> => {
  if (!owner) throw new Error('a list needs an owner');
  const filter = query.provider_id ? [{ equals: ['f.p', query.provider_id] as const }] : [];
  return runList(deps.table, {
    findPage: () => listOwned(deps.table, { owner, kind: 'CUS', filter, page: query }),
    recordOf: customerRecord.parse,
    viewsOf: (customers) => customers.map(customerView),
    replyOf: (views, listed, total) => offsetReply(views, { listed, page: query, total }),
  });
};
