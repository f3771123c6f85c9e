/** @module Lists the payments of the caller, an organization or a project. */

import { audienceOf } from '../access/audience.ts';
import type { Caller } from '../access/caller.ts';
import { DomainError } from '../core/errors.ts';
import { isIdOf } from '../core/ids.ts';
import { normalizedEmail } from '../core/text.ts';
import { onlyRecordFilter, runList } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { paymentRecord, type VisiblePayment } from '../payments/payment.ts';
import { paymentStore } from '../payments/payment-store.ts';
import { paymentView } from '../payments/payment-view.ts';
import { encodeCursor } from '../platform/cursor.ts';
import type { Clause } from '../platform/expression.ts';
import { guestPartition, ownerPartition, paymentKey, projectPartition } from '../platform/keys.ts';
import { type IndexRow, type ListQuery, listRows, sortedRows } from '../platform/listing.ts';
import type { StoreDeps } from '../platform/table.ts';
import { type CountedPage, exactly } from '../platform/totals.ts';
import { includedRecords } from './get-payment.ts';
import { includesOf } from './includes.ts';
import type { ListPaymentsQuery } from './parameters.ts';
import { paymentRow } from './payment-csv.ts';
import { type PageFound, pageByCreation, paymentsReply, positionOf } from './payment-page.ts';

interface Scope {
  readonly index: 'owner' | 'project';
  readonly partition: string;
  readonly clauses: readonly Clause[];
  readonly searchMethod: 'session' | 'guest_token' | 'organization' | 'project';
  readonly owns: (payment: VisiblePayment) => boolean;
}

export const listPayments = async (
  deps: StoreDeps,
  request: ApiRequest<unknown, ListPaymentsQuery>,
): Promise<Reply> => {
  const { caller, query } = request;
  const scope = scopeOf(request);
  const beside = { user_context: userContext(caller, scope.searchMethod) };
  return runList(deps.table, {
    findPage: () => find(deps, scope, request),
    recordOf: paymentRecord.parse,
    viewsOf: async (payments) => {
      if (request.csvPage) return payments.map(paymentRow);
      const views = payments.map((payment) => paymentView(payment, audienceOf(caller)));
      const included = await includedRecords(deps, caller, { payments, includes: includesOf(query) });
      return views.map((view, index) => ({ ...view, ...included[index] }));
    },
    replyOf: (views, found, total) => {
      const { orderBy, orderDir } = query;
      const list = scope.partition;
      const cursor = found.next && encodeCursor(found.next, list);
      const next = found.hasMore ? nextPage(query, cursor) : undefined;
      const reply = paymentsReply(views, found, { query, list, total, order: { orderBy, orderDir }, next });
      return { ...reply, beside, ...(cursor !== undefined && { more: { cursor } }) };
    },
  });
};

const nextPage = (query: ListPaymentsQuery, cursor: string | undefined): Record<string, string> =>
  query.cursor !== undefined && cursor !== undefined
    ? { cursor }
    : { page: String(query.page + 1), limit: String(query.limit) };

const userContext = (caller: Caller, searchMethod: Scope['searchMethod']) => ({
  authenticated: caller.kind !== 'guest',
  user_id: caller.kind === 'session' ? caller.userId : null,
  user_type: caller.kind === 'guest' ? 'guest' : 'authenticated',
  user_email: ('email' in caller ? caller.email : undefined) ?? null,
  search_method: searchMethod,
});

const scopeOf = ({ caller, owner, query }: ApiRequest<unknown, ListPaymentsQuery>): Scope => {
  if (caller.kind === 'guest') return guestScope(caller, query);
  if (caller.kind === 'anonymous' || !owner) throw new DomainError('AUTHENTICATION_REQUIRED');
  if (query.project_id !== undefined) return projectScope(query.project_id, query.organization_id || undefined);
  const organizationId = owner.kind === 'organization' ? owner.organizationId : undefined;
  return {
    index: 'owner',
    partition: ownerPartition(owner, 'PAY'),
    clauses: [],
    searchMethod: organizationId === undefined ? 'session' : 'organization',
    owns: (payment) =>
      payment.organizationId === organizationId &&
      (organizationId !== undefined || (caller.kind === 'session' && payment.userId === caller.userId)),
  };
};

const guestScope = (caller: Extract<Caller, { kind: 'guest' }>, query: ListPaymentsQuery): Scope => {
  const { onlyRecord } = caller;
  const owns = ({ id, guestId, guestEmail }: VisiblePayment) =>
    guestId === caller.guestId && guestEmail === caller.email && (onlyRecord === undefined || id === onlyRecord);
  return {
    index: 'owner',
    partition: guestPartition(caller.email, 'PAY'),
    clauses: [
      { equals: ['f.g', caller.guestId] },
      ...onlyRecordFilter(caller, 'PAY'),
      ...(query.project_id ? [{ equals: ['f.j', query.project_id] as const }] : []),
    ],
    searchMethod: 'guest_token',
    owns,
  };
};

const projectScope = (projectId: string, organizationId: string | undefined): Scope => ({
  index: 'project',
  partition: projectPartition(projectId, 'PAY'),
  clauses: organizationId ? [{ equals: ['f.o', organizationId] }] : [],
  searchMethod: 'project',
  owns: (payment) =>
    payment.projectId === projectId && (organizationId === undefined || payment.organizationId === organizationId),
});

const find = async (
  deps: StoreDeps,
  scope: Scope,
  { query, csvPage }: ApiRequest<unknown, ListPaymentsQuery>,
): Promise<PageFound & Partial<CountedPage>> => {
  if (query.search && isIdOf('payment', query.search)) return findById(deps, { scope, query, id: query.search });
  const list: ListQuery = {
    index: scope.index,
    partition: scope.partition,
    from: query.created_at_from,
    to: query.created_at_to,
    descending: query.orderDir === 'desc',
    filter: [...scope.clauses, ...filtersOf(query)],
    ...positionOf(
      { ...query, ...(csvPage && { page: 1, limit: csvPage.limit, cursor: csvPage.cursor }) },
      { list: scope.partition, from: query.created_at_from, to: query.created_at_to },
    ),
  };
  if (csvPage) return csvRows(deps, list, query);
  if (query.orderBy !== 'created_at') return sortedPage(deps, list, query);
  const onlyStatus = scope.clauses.length === 0 && !query.search && query.product_id === undefined;
  return pageByCreation(deps.table, list, onlyStatus ? { statuses: query.status } : undefined);
};

/** A CSV page shows no total, so the list is not counted. */
const csvRows = async ({ table }: StoreDeps, list: ListQuery, { orderBy }: ListPaymentsQuery): Promise<PageFound> => {
  if (orderBy !== 'created_at') {
    throw new DomainError('UNSUPPORTED_FILTER', { message: 'CSV goes with orderBy=created_at' });
  }
  return listRows(table, list);
};

const filtersOf = (query: ListPaymentsQuery): Clause[] => {
  const { search } = query;
  return [
    ...(query.status ? [{ oneOf: ['f.s', query.status] } as const] : []),
    ...(query.product_id ? [{ equals: ['f.d', query.product_id] } as const] : []),
    ...(search ? [searchClause(search)] : []),
  ];
};

const searchClause = (search: string): Clause => ({
  any: [{ contains: ['f.e', normalizedEmail(search)] }, { contains: ['f.t', search.toLowerCase()] }],
});

interface ById {
  readonly scope: Scope;
  readonly query: ListPaymentsQuery;
  readonly id: string;
}

const findById = async (deps: StoreDeps, { scope, query, id }: ById): Promise<PageFound & CountedPage> => {
  const payment = await paymentStore(deps.table, deps.now).loadVisible(id);
  const matches =
    payment !== undefined &&
    scope.owns(payment) &&
    (query.status === undefined || query.status.includes(payment.status)) &&
    (query.product_id === undefined || payment.productId === query.product_id) &&
    payment.createdAt >= (query.created_at_from ?? '') &&
    (query.created_at_to === undefined || payment.createdAt <= query.created_at_to);
  const rows: IndexRow[] = matches && query.page === 1 ? [{ ...paymentKey(id), sort: '', fields: {} }] : [];
  return { rows, hasMore: false, next: undefined, total: exactly(matches ? 1 : 0) };
};

const FIELD_OF = { amount_cents: 'a', status: 's', updated_at: 'u' } as const;

const sortedPage = async (
  deps: StoreDeps,
  list: ListQuery,
  query: ListPaymentsQuery,
): Promise<PageFound & CountedPage> => {
  if (query.orderBy === 'created_at') throw new Error('created_at is the index order');
  if (query.cursor !== undefined) {
    throw new DomainError('UNSUPPORTED_FILTER', { message: 'cursor goes with orderBy=created_at; use page' });
  }
  const field = FIELD_OF[query.orderBy];
  const sign = query.orderDir === 'desc' ? -1 : 1;
  const page = await sortedRows(
    deps.table,
    list,
    (one, other) => sign * (compare(one.fields[field], other.fields[field]) || compare(one.sort, other.sort)),
  );
  return { ...page, next: undefined, total: exactly(page.total) };
};

const compare = (one: unknown, other: unknown): number => {
  if (typeof one === 'number' && typeof other === 'number') return one - other;
  const [a, b] = [String(one), String(other)];
  return a < b ? -1 : a > b ? 1 : 0;
};
