/** @module The HTTP endpoint that makes a link to the hosted page of a subscription. */

import * as z from 'zod';
import { pageLinkBody, pageLinkSchema } from '../../shared/hosted-pages/link-requests.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { subscriptionRecord } from '../../shared/subscriptions/record/subscription.ts';

export const linkSubscriptionEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'subscriptions.link',
  method: 'POST',
  path: '/subscriptions/{id}/link',
  summary: 'Create a link to the page of a subscription',
  description: `Creates the URL of a hosted page for this subscription. Without a session, the payer can pay an open
    payment, change the card, cancel, or withdraw a cancellation. Send the URL to the payer only, for example after a
    failed renewal. The link is not stored, so you may create another.

    - 409 \`INVALID_STATE\`: the subscription is canceled.
    - 404 \`RESOURCE_NOT_FOUND\`, also if hosted pages are off (\`HOSTED_PAGES\`).`,
  auth: 'platform-admin',
  access: { action: 'merchant', record: subscriptionRecord },
  params: z.object({ id: idSchema.describe('Id of the subscription, `subs_…`.') }),
  query: z.object({}),
  body: pageLinkBody,
  response: pageLinkSchema,
  status: 201,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'INSUFFICIENT_PERMISSIONS', 'RESOURCE_NOT_FOUND', 'INVALID_STATE', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'secrets:guest-tokens'],
}));
