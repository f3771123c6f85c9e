import { projectRecord, projectView } from '../catalog/reference-records.ts';
import { DomainError } from '../core/errors.ts';
import { offsetReply } from '../http/paging.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { includedMethodView, paymentMethodRecord } from '../payment-methods/payment-method.ts';
import type { Clause } from '../table/expression.ts';
import { type Owner, ownerPartition, projectPartition } from '../table/keys.ts';
import { type ListQuery, listRows } from '../table/listing.ts';
import type { Item, Table } from '../table/table.ts';
import type { ListSubscriptionsQuery } from './requests.ts';
import { subscriptionRecord, type VisibleSubscription } from './subscription.ts';
import { subscriptionView } from './view.ts';

interface ReadDeps {
  readonly table: Table;
}

export const getSubscription = async (
  _deps: ReadDeps,
  { record }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => ({ data: subscriptionView(record) });

/** One's own, an organization's or a project's, newest first. */
export const listSubscriptions = async (
  { table }: ReadDeps,
  { owner, query }: ApiRequest<unknown, ListSubscriptionsQuery>,
): Promise<Reply> => {
  if (!owner) throw new DomainError('AUTHENTICATION_REQUIRED');
  const { scope, clauses } = scopeOf(owner, query);
  const listed = await listRows(table, {
    ...scope,
    descending: true,
    filter: [...clauses, ...(query.status ? [{ oneOf: ['f.s', query.status] } as const] : [])],
    offset: query.offset,
    limit: query.limit,
  });
  const items = await table.getMany(listed.rows);
  const subscriptions = items.flatMap((item) => (item && subscriptionRecord.parse(item)) ?? []);
  return offsetReply(await views(table, subscriptions, query), listed, query);
};

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

/** With what was asked for beside them, in one BatchGet; null where there is none. */
const views = async (
  table: Table,
  subscriptions: readonly VisibleSubscription[],
  { include_projects: withProjects, include_pm: withMethods }: ListSubscriptionsQuery,
): Promise<readonly unknown[]> => {
  const keys = subscriptions.flatMap(({ projectId, paymentMethodId }) => [
    ...(withProjects && projectId ? [projectRecord.key(projectId)] : []),
    ...(withMethods && paymentMethodId ? [paymentMethodRecord.key(paymentMethodId)] : []),
  ]);
  const items = keys.length === 0 ? [] : await table.getMany(keys);
  const found = new Map(items.flatMap((item): [string, Item][] => (item ? [[String(item['pk']), item]] : [])));
  const projectOf = (id: string | undefined) => {
    const item = found.get(projectRecord.key(id ?? '').pk);
    const project = item && projectRecord.parse(item);
    return project ? projectView(project) : null;
  };
  const methodOf = (id: string | undefined) => {
    const item = found.get(paymentMethodRecord.key(id ?? '').pk);
    const method = item && paymentMethodRecord.parse(item);
    return method ? includedMethodView(method) : null;
  };
  return subscriptions.map((subscription) => ({
    ...subscriptionView(subscription),
    ...(withProjects && { project: projectOf(subscription.projectId) }),
    ...(withMethods && { payment_method: methodOf(subscription.paymentMethodId) }),
  }));
};
