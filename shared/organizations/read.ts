import { ROLES, type Role } from '../access/permissions.ts';
import { MAX_OFFSET } from '../http/paging.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import type { Identity } from '../identity/identity.ts';
import { memberPartition, membershipPartition, organizationKey } from '../table/keys.ts';
import { allRows, type IndexRow, listRows } from '../table/listing.ts';
import type { Table } from '../table/table.ts';
import {
  listedMemberView,
  memberSchema,
  type Organization,
  organizationOf,
  organizationView,
  userIdOf,
} from './organization.ts';
import type { ListMembersQuery, PageQuery } from './requests.ts';
import type { StoreDeps } from './store.ts';

export const getOrganization = async (
  _: unknown,
  { record, role }: ApiRequest<unknown, unknown, unknown, Organization>,
): Promise<Reply> => ({ data: { ...organizationView(record), your_role: role } });

/** Up to this many organizations of a user are all read, so that the total is exact. */
const ONE_READ = 100;

/** The caller's organizations, the last joined first. */
export const listOrganizations = async (
  { table }: Pick<StoreDeps, 'table'>,
  { caller, query }: ApiRequest<unknown, PageQuery>,
): Promise<Reply> => {
  const rows = await membershipsOf(table, userIdOf(caller));
  const offset = offsetOf(query);
  const end = offset + query.limit;
  if (rows.length > ONE_READ) {
    const page = await organizationsOf(table, rows.slice(offset, end));
    return pageReply(page, rows.length, query);
  }
  const all = await organizationsOf(table, rows);
  return pageReply(all.slice(offset, end), all.length, query);
};

const membershipsOf = async (table: Table, userId: string): Promise<readonly IndexRow[]> => {
  const partition = membershipPartition(userId);
  const rows = await allRows(
    table,
    { index: 'owner', partition, from: undefined, to: undefined, filter: [] },
    MAX_OFFSET,
  );
  return rows.toReversed();
};

/** A membership may remain for moments after its organization is deleted; the list leaves it out. */
const organizationsOf = async (table: Table, rows: readonly IndexRow[]) => {
  const items = await table.getMany(rows.map(({ fields }) => organizationKey(String(fields['o']))));
  return items.flatMap((item, index) => {
    const organization = item && organizationOf(item);
    return organization ? [{ ...organizationView(organization), role: rows[index]?.fields['r'] }] : [];
  });
};

/** One page of members in order of joining, with the users' details from one call to the identity service. */
export const listMembers = async (
  { table, identity }: Pick<StoreDeps, 'table'> & { readonly identity: Pick<Identity, 'users'> },
  { record, query }: ApiRequest<unknown, ListMembersQuery, unknown, Organization>,
): Promise<Reply> => {
  const { rows } = await listRows(table, {
    index: 'project',
    partition: memberPartition(record.id),
    descending: false,
    filter: query.role ? [{ equals: ['f.r', query.role] }] : [],
    offset: offsetOf(query),
    limit: query.limit,
  });
  const items = await table.getMany(rows);
  const members = items.flatMap((item) => (item ? [memberSchema.parse(item)] : []));
  const users = await identity.users(members.map(({ userId }) => userId));
  const byId = new Map(users.map((user) => [user.id, user]));
  const roles: readonly Role[] = query.role ? [query.role] : ROLES;
  const total = roles.reduce((sum, role) => sum + record.members[role], 0);
  return pageReply(
    members.map((member) => listedMemberView(member, byId.get(member.userId))),
    total,
    query,
  );
};

const offsetOf = ({ page, limit }: PageQuery): number => (page - 1) * limit;

/** One numbered page, with the total of all pages. */
const pageReply = (data: readonly unknown[], total: number, { page, limit }: PageQuery): Reply => ({
  data,
  meta: { pagination: { total, page, pageSize: limit, totalPages: Math.ceil(total / limit) } },
});
