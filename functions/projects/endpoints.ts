import * as z from 'zod';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema, timestamp } from '../../shared/http/fields.ts';

const MINUTE_SECONDS = 60;
const none = z.object({});
const project = z
  .looseObject({
    id: z.string().describe('Names the project in the reference records.'),
    name: z.string().describe('The name to show to people.'),
    slug: z.string().describe('A short name for URLs.'),
  })
  .meta({ id: 'InvitedProject', description: 'The fields of the project in an invite.' });
const organization = z
  .looseObject({
    id: z.string().describe('Id of the organization, `org_…`.'),
    name: z.string().describe('The name to show to people.'),
  })
  .meta({ id: 'InvitedOrganization', description: 'The fields of the organization in an invite.' });

export const previewInviteEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'projects.preview-invite',
  method: 'GET',
  path: '/projects/invites/{token}',
  summary: 'Preview an invite to a project',
  description: `Shows the project, sender and role of an invite before its holder signs in. It needs no credential: the token in the path is the secret. An invite
    that was accepted or revoked, or has expired, gets 410 \`INVITE_EXPIRED\`.`,
  auth: 'public',
  params: z.object({ token: idSchema.describe('The token from the link of the invite.') }),
  query: none,
  body: null,
  response: () =>
    z
      .looseObject({
        project,
        organization: organization.nullable().describe("The project's organization; null if it has none."),
        inviter_name: z.string().describe('Who sent the invite.'),
        role: z.string().describe('The role that the invite offers in the project.'),
        email_masked: z.string().meta({
          description: 'The invited e-mail address, with most of its letters hidden.',
          examples: ['a***@example.com'],
        }),
        status: z.literal('pending').describe('Always `pending`: other invites are not shown.'),
        expires_at: timestamp.describe('The time until which the invite can be accepted.'),
      })
      .meta({ id: 'InvitePreview', description: 'The fields that the holder of an invite sees before sign-in.' }),
  status: 200,
  form: 'envelope',
  errors: ['INVITE_NOT_FOUND', 'INVITE_EXPIRED', 'RATE_LIMITED'],
  limits: [{ name: 'invite-preview-ip', max: 30, windowSeconds: MINUTE_SECONDS, by: ({ http }) => http.sourceNetwork }],
  uses: ['table:read', 'table:count'],
}));

export const projectEndpoints = [previewInviteEndpoint];
