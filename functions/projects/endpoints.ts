import * as z from 'zod';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';

const MINUTE = 60;
const none = z.object({});
const named = z.looseObject({ id: z.string(), name: z.string() });

export const previewInviteEndpoint = endpoint({
  id: 'projects.preview-invite',
  method: 'GET',
  path: '/projects/invites/{token}',
  summary: 'Preview an invite to a project',
  auth: 'public',
  params: z.object({ token: idSchema }),
  query: none,
  body: null,
  response: z.looseObject({
    project: named.extend({ slug: z.string() }),
    organization: named.nullable(),
    inviter_name: z.string(),
    role: z.string(),
    email_masked: z.string(),
    status: z.literal('pending'),
    expires_at: z.string(),
  }),
  status: 200,
  form: 'envelope',
  errors: ['INVITE_NOT_FOUND', 'INVITE_EXPIRED', 'RATE_LIMITED'],
  limits: [{ name: 'invite-preview-ip', max: 30, windowSeconds: MINUTE, by: ({ sourceNetwork }) => sourceNetwork }],
  uses: ['table:read', 'table:put'],
});

export const projectEndpoints = [previewInviteEndpoint];
