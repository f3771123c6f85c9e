import { MAX_OFFSET } from '../http/paging.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { membershipPartition, organizationKey } from '../table/keys.ts';
import { allRows, type Row } from '../table/listing.ts';
import type { Table } from '../table/table.ts';
import { type Organization, organizationOf, organizationView, userIdOf } from './organization.ts';
import { offsetOf, pageReply } from './page.ts';
import type { PageQuery } from './requests.ts';
import type { StoreDeps } from './store.ts';

export const getOrganization = async (
  _: unknown,
  { record, role }: ApiRequest<unknown, unknown, unknown, Organization>,
): Promise<Reply> => ({ data: { ...organizationView(record), your_role: role } });

/** Where a user has no more organizations than one read takes, they are all read, and the total is exact. */
const ONE_READ = 100;

/** The caller's organizations, the one last joined first. */
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

const membershipsOf = async (table: Table, userId: string): Promise<readonly Row[]> => {
  const partition = membershipPartition(userId);
  const rows = await allRows(
    table,
    { index: 'owner', partition, from: undefined, to: undefined, filter: [] },
    MAX_OFFSET,
  );
  return rows.toReversed();
};

/** A membership outlives its deleted organization by moments, but does not show it. */
const organizationsOf = async (table: Table, rows: readonly Row[]) => {
  const items = await table.getMany(rows.map(({ fields }) => organizationKey(String(fields['o']))));
  return items.flatMap((item, index) => {
    const organization = item && organizationOf(item);
    return organization ? [{ ...organizationView(organization), role: rows[index]?.fields['r'] }] : [];
  });
};
