import { ROLES, type Role } from '../access/permissions.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import type { Identity } from '../identity/identity.ts';
import { memberPartition } from '../table/keys.ts';
import { listRows } from '../table/listing.ts';
import { memberSchema, type Organization } from './organization.ts';
import { offsetOf, pageReply } from './page.ts';
import type { ListMembersQuery } from './requests.ts';
import type { StoreDeps } from './store.ts';
import { listedMemberView } from './view.ts';

/** One page of members in order of joining; who they are comes from the identity service, in one call. */
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
