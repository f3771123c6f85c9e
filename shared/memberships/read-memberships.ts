/** @module Reads one membership, and lists the memberships of a user, an organization or a project. */

import * as z from 'zod';
import { mayReadUser } from '../access/access.ts';
import type { Caller } from '../access/caller.ts';
import type { NamedRecord } from '../access/record-kind.ts';
import { projectRecord } from '../catalog/catalog-records.ts';
import { invalid, notFound } from '../core/errors.ts';
import { idParameter } from '../http/fields.ts';
import { offsetQuery, offsetReply, runList } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { organizationRecord } from '../organizations/organization.ts';
import { ENTITY_TYPES, entityPartition } from '../platform/keys.ts';
import type { Table } from '../platform/table.ts';
import { listCounted } from '../platform/totals.ts';
import { type Membership, membershipRecord, membershipView } from './membership.ts';

export const getMembership = async (
  _deps: unknown,
  { record }: ApiRequest<unknown, unknown, unknown, Membership>,
): Promise<Reply> => ({ data: membershipView(record) });

const entityQuery = z.looseObject({ entity_type: z.enum(['organization', 'project']), entity_id: z.string() });
const ENTITY_RECORDS = { organization: organizationRecord, project: projectRecord } as const;

/** The project or organization that the query names; the access rule applies to it. */
export const entityNamed = (query: unknown): readonly NamedRecord[] => {
  const parsed = entityQuery.safeParse(query);
  return parsed.success ? [{ kind: ENTITY_RECORDS[parsed.data.entity_type], id: parsed.data.entity_id }] : [];
};

const ownEntity = (caller: Caller): string | undefined => (caller.kind === 'session' ? caller.userId : undefined);

/** Lists memberships, newest first. */
export const listMemberships = async (
  { table }: { readonly table: Table },
  { caller, query }: ApiRequest<unknown, ListMembershipsQuery>,
): Promise<Reply> => {
  const { entity_type: type, entity_id: id = ownEntity(caller) } = query;
  // A key that acts for an organization has no user.
  if (id === undefined) throw invalid([{ path: 'entity_id', rule: 'required', message: 'is required' }]);
  if (type === 'user' && !mayReadUser(caller, id, 'subscriptions:read')) throw notFound('user');
  return runList(table, {
    findPage: () =>
      listCounted(table, {
        index: 'owner',
        partition: entityPartition(type, id),
        descending: true,
        filter: [],
        offset: query.offset,
        limit: query.limit,
      }),
    recordOf: membershipRecord.parse,
    viewsOf: (memberships) => memberships.map(membershipView),
    replyOf: (views, listed, total) => offsetReply(views, { listed, page: query, total }),
  });
};

/** Without an entity, the list shows the user's own memberships. */
export const listMembershipsQuery = z
  .object({
    ...offsetQuery,
    entity_type: z
      .enum(ENTITY_TYPES)
      .default('user')
      .describe('The kind of owner: a user, an organization or a project.'),
    entity_id: idParameter.describe(
      'The user, organization or project; the caller if absent. Required unless `entity_type` is `user`, and for a key that acts for an organization.',
    ),
  })
  .refine(({ entity_type, entity_id }) => entity_type === 'user' || entity_id !== undefined, {
    path: ['entity_id'],
    message: 'is required',
    params: { rule: 'required' },
  });

export type ListMembershipsQuery = z.output<typeof listMembershipsQuery>;
