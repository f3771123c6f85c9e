/** @module Reads a subscription, and lists those of a caller, an organization or a project, newest first. */

import { type Include, showBeside } from '../access/included-records.ts';
import { projectBeside } from '../catalog/catalog-view.ts';
import { DomainError } from '../core/errors.ts';
import type { CsvPage } from '../http/csv.ts';
import { offsetReply, runList } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { methodBeside } from '../payment-methods/payment-method.ts';
import { decodeCursor, encodeCursor } from '../platform/cursor.ts';
import type { Clause } from '../platform/expression.ts';
import { type Owner, ownerPartition, projectPartition } from '../platform/keys.ts';
import { type Cursor, type ListQuery, listRows } from '../platform/listing.ts';
import type { StoreDeps } from '../platform/table.ts';
import { listCounted } from '../platform/totals.ts';
import { findChangePayment, findOpenPayment, openPaymentView } from '../subscriptions/billing/open-payment.ts';
import { pendingChangeView } from '../subscriptions/record/plan-change-view.ts';
import { subscriptionRecord, type VisibleSubscription } from '../subscriptions/record/subscription.ts';
import { subscriptionView } from '../subscriptions/record/subscription-view.ts';
import type { ListSubscriptionsQuery } from './parameters.ts';

export const getSubscription = async (
  deps: StoreDeps,
  { record, canWrite }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  const open = canWrite ? await findOpenPayment(deps, record) : undefined;
  const ofChange = canWrite ? await findChangePayment(deps, record) : undefined;
  return {
    data: {
      ...subscriptionView(record),
      ...(open && { open_payment: openPaymentView(open, deps.now()) }),
      ...(ofChange && { pending_change: pendingChangeView(record, openPaymentView(ofChange, deps.now())) }),
    },
  };
};

export const listSubscriptions = async (
  { table }: StoreDeps,
  { caller, owner, query, csvPage }: ApiRequest<unknown, ListSubscriptionsQuery>,
): Promise<Reply> => {
  if (!owner) throw new DomainError('AUTHENTICATION_REQUIRED');
  const { scope, clauses } = scopeOf(owner, query);
  return runList(table, {
    findPage: () => {
      const filter = [...clauses, ...(query.status ? [{ oneOf: ['f.s', query.status] } as const] : [])];
      const list = { ...scope, descending: true, filter };
      // A CSV page shows no total, so the list is not counted.
      return csvPage
        ? listRows(table, { ...list, offset: 0, limit: csvPage.limit, cursor: rowOf(csvPage, scope.partition) })
        : listCounted(table, { ...list, offset: query.offset, limit: query.limit });
    },
    recordOf: subscriptionRecord.parse,
    viewsOf: async (subscriptions) => {
      if (csvPage) return subscriptions.map(subscriptionView);
      const beside = await showBeside({ table, caller }, subscriptions, includedIn(query));
      return subscriptions.map((subscription, index) => ({ ...subscriptionView(subscription), ...beside[index] }));
    },
    replyOf: (views, listed, total) => ({
      ...offsetReply(views, { listed, page: query, total }),
      ...(listed.next && { more: { cursor: encodeCursor(listed.next, scope.partition) } }),
    }),
  });
};

const rowOf = ({ cursor }: CsvPage, list: string): Cursor | undefined =>
  cursor === undefined ? undefined : decodeCursor(cursor, { list });

interface Scope {
  readonly scope: Pick<ListQuery, 'index' | 'partition'>;
  readonly clauses: readonly Clause[];
}

const scopeOf = (owner: Owner, { project_id, organization_id }: ListSubscriptionsQuery): Scope => {
  if (project_id === undefined) {
    return { scope: { index: 'owner', partition: ownerPartition(owner, 'SUB') }, clauses: [] };
  }
  return {
    scope: { index: 'project', partition: projectPartition(project_id, 'SUB') },
    clauses: organization_id ? [{ equals: ['f.o', organization_id] }] : [],
  };
};

const BESIDE: Readonly<Record<'project' | 'payment_method', Include<VisibleSubscription>>> = {
  project: { showing: projectBeside, idOf: ({ projectId }) => projectId },
  payment_method: { showing: methodBeside, idOf: ({ paymentMethodId }) => paymentMethodId },
};

const includedIn = ({ include_projects, include_pm }: ListSubscriptionsQuery) => ({
  ...(include_projects && { project: BESIDE.project }),
  ...(include_pm && { payment_method: BESIDE.payment_method }),
});
