/** @module The preview of an invite and the list of active tiers. Both are public. */

import { DomainError } from '../core/errors.ts';
import { cutText } from '../core/text.ts';
import { instant } from '../core/time.ts';
import { runList } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { organizationRecord } from '../organizations/organization.ts';
import { referenceKey, referencePartition } from '../platform/keys.ts';
import { listRows } from '../platform/listing.ts';
import type { StoreDeps, Table } from '../platform/table.ts';
import { type Invite, inviteSchema, projectRecord, tierSchema } from './catalog-records.ts';
import { buyersProjectView, tierView } from './catalog-view.ts';

/** Fields shown to an invite holder before sign-in. */
export const previewInvite = async (
  { table, now }: StoreDeps,
  { params }: ApiRequest<{ readonly token: string }>,
): Promise<Reply> => {
  const item = await table.get(referenceKey('invites', params.token));
  if (!item) throw new DomainError('INVITE_NOT_FOUND');
  const invite = inviteSchema.parse(item);
  if (invite.status !== 'pending' || instant(invite.expires_at) <= now()) throw new DomainError('INVITE_EXPIRED');
  const { project, organization } = await loadRecords(table, invite);
  if (!project) throw new DomainError('INVITE_NOT_FOUND');
  return {
    data: {
      project: buyersProjectView(project),
      organization: organization ? { id: organization.id, name: organization.name } : null,
      inviter_name: invite.inviter_name,
      role: invite.role,
      email_masked: maskedEmail(invite.email),
      status: invite.status,
      expires_at: invite.expires_at,
    },
  };
};

const loadRecords = async (table: Table, { project_id, organization_id }: Invite) => {
  const [projectItem, organizationItem] = await table.getMany([
    projectRecord.key(project_id),
    ...(organization_id ? [organizationRecord.key(organization_id)] : []),
  ]);
  return {
    project: projectItem && projectRecord.parse(projectItem),
    organization: organizationItem && organizationRecord.parse(organizationItem),
  };
};

/** Masks the local part of an address, such as `a***@example.com`. A single letter is masked too. */
const maskedEmail = (email: string): string => {
  const at = email.lastIndexOf('@');
  return `${at > 1 ? cutText(email, 1) : ''}***${email.slice(at)}`;
};

/** The maximum number of tiers in the list. It is above the number of tiers on any price page. */
const MAX_TIERS = 500;

/** The active tiers by rank; public. */
export const listTiers = async ({ table }: { readonly table: Table }): Promise<Reply> =>
  runList(table, {
    findPage: () =>
      listRows(table, {
        index: 'owner',
        partition: referencePartition('tiers'),
        descending: false,
        filter: [{ equals: ['f.a', true] }],
        offset: 0,
        limit: MAX_TIERS,
      }),
    recordOf: (item) => {
      const tier = tierSchema.parse(item);
      return tier.is_active ? tier : undefined;
    },
    viewsOf: (tiers) => tiers.toSorted((one, other) => one.rank - other.rank).map(tierView),
    replyOf: (views) => ({ data: views }),
  });
