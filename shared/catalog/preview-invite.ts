import { DomainError } from '../core/errors.ts';
import { instant, type Now } from '../core/time.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { organizationRecord } from '../organizations/organization.ts';
import { referenceKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import { type Invite, inviteSchema, projectRecord } from './records.ts';
import { buyersProjectView } from './view.ts';

interface PreviewDeps {
  readonly table: Table;
  readonly now: Now;
}

/** What whoever holds an invite's token may know of it before signing in. */
export const previewInvite = async (
  { table, now }: PreviewDeps,
  { params }: ApiRequest<{ readonly token: string }>,
): Promise<Reply> => {
  const item = await table.get(referenceKey('invites', params.token));
  if (!item) throw new DomainError('INVITE_NOT_FOUND');
  const invite = inviteSchema.parse(item);
  if (invite.status !== 'pending' || instant(invite.expires_at) <= now()) throw new DomainError('INVITE_EXPIRED');
  const { project, organization } = await placesOf(table, invite);
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

const placesOf = async (table: Table, { project_id, organization_id }: Invite) => {
  const [projectItem, organizationItem] = await table.getMany([
    projectRecord.key(project_id),
    ...(organization_id ? [organizationRecord.key(organization_id)] : []),
  ]);
  return {
    project: projectItem && projectRecord.parse(projectItem),
    organization: organizationItem && organizationRecord.parse(organizationItem),
  };
};

/** `a***@example.com`; nothing of a name of one letter. */
const maskedEmail = (email: string): string => {
  const at = email.lastIndexOf('@');
  return `${at > 1 ? email.slice(0, 1) : ''}***${email.slice(at)}`;
};
