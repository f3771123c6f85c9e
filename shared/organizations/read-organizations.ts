/** @module Reads one organization, lists the caller's organizations, and lists the members of an organization. */

import type { Identity } from '../access/identity.ts';
import { ROLES, type Role } from '../access/permissions.ts';
import { MAX_OFFSET, runList, totalHeader } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { memberPartition, membershipPartition, organizationKey } from '../platform/keys.ts';
import { allRows, type IndexRow, type ListQuery } from '../platform/listing.ts';
import type { StoreDeps, Table } from '../platform/table.ts';
import { exactly, listCounted, type Total } from '../platform/totals.ts';
import {
  listedMemberView,
  memberSchema,
  type Organization,
  organizationAsRead,
  organizationOf,
  organizationView,
  userIdOf,
} from './organization.ts';
import type { ListMembersQuery, PageQuery } from './organization-requests.ts';

export const getOrganization = async (
  _: unknown,
  { record, role }: ApiRequest<unknown, unknown, unknown, Organization>,
): Promise<Reply> => ({ data: organizationAsRead(record, role) });

/** Maximum number of a user's organizations that one request reads together. */
const ONE_READ = 100;

/** Lists the caller's organizations, most recently joined first. */
export const listOrganizations = async (
  { table }: Pick<StoreDeps, 'table'>,
  { caller, query }: ApiRequest<unknown, PageQuery>,
): Promise<Reply> => {
  const offset = offsetOf(query);
  const end = offset + query.limit;
  return runList(table, {
    findPage: async () => {
      const all = await membershipsOf(table, userIdOf(caller));
      const isWhole = all.length <= ONE_READ;
      return { rows: isWhole ? all : all.slice(offset, end), isWhole, total: exactly(all.length) };
    },
    keyOf: ({ fields }) => organizationKey(String(fields['o'])),
    // Skip a deleted organization, because its memberships are removed shortly afterwards.
    recordOf: (item, { fields }) => {
      const organization = organizationOf(item);
      return organization && { organization, role: fields['r'] };
    },
    viewsOf: (found) => found.map(({ organization, role }) => ({ ...organizationView(organization), role })),
    replyOf: (views, { isWhole }, total) => pageReply(isWhole ? views.slice(offset, end) : views, total, query),
  });
};

const membershipsOf = async (table: Table, userId: string): Promise<readonly IndexRow[]> => {
  const rows = await allRows(
    table,
    { index: 'owner', partition: membershipPartition(userId), from: undefined, to: undefined, filter: [] },
    MAX_OFFSET,
  );
  return rows.toReversed();
};

/** One page of members, ordered by the time they joined. One call to the identity service returns all their names. */
export const listMembers = async (
  { table, identity }: Pick<StoreDeps, 'table'> & { readonly identity: Pick<Identity, 'users' | 'looksUp'> },
  { record, query }: ApiRequest<unknown, ListMembersQuery, unknown, Organization>,
): Promise<Reply> => {
  const roles: readonly Role[] = query.role ? [query.role] : ROLES;
  const counters = async () => roles.reduce((sum, role) => sum + record.members[role], 0);
  const list: ListQuery = {
    index: 'project',
    partition: memberPartition(record.id),
    descending: false,
    filter: query.role ? [{ equals: ['f.r', query.role] }] : [],
    offset: offsetOf(query),
    limit: query.limit,
  };
  return runList(table, {
    findPage: () => listCounted(table, list, counters),
    recordOf: (item) => memberSchema.parse(item),
    viewsOf: async (members) => {
      const users = await identity.users(members.map(({ userId }) => userId));
      const byId = new Map(users.map((user) => [user.id, user]));
      return members.map((member) => listedMemberView(member, byId.get(member.userId), identity.looksUp ? '' : null));
    },
    replyOf: (views, _, total) => pageReply(views, total, query),
  });
};

const offsetOf = ({ page, limit }: PageQuery): number => (page - 1) * limit;

const pageReply = (data: readonly unknown[], total: Total, { page, limit }: PageQuery): Reply => ({
  data,
  meta: {
    pagination: {
      total: total.count,
      ...(!total.isExact && { total_is_exact: false }),
      page,
      pageSize: limit,
      totalPages: Math.ceil(total.count / limit),
    },
  },
  ...totalHeader(total),
});
