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
  summary: 'Make a link to the page of a subscription',
  description: `Makes the URL of a page on which the payer pays an open payment, changes the card, cancels or keeps this subscription, without a
    session. Send it to the payer only, for example after a renewal has failed. Nothing of the link is stored, so you may make another.

    - 409 \`INVALID_STATE\`: the subscription is canceled.
    - 404 \`RESOURCE_NOT_FOUND\`, also if hosted pages are off (\`HOSTED_PAGES\`).`,
  auth: 'platform-admin',
  access: { action: 'merchant', record: subscriptionRecord },
  params: z.object({ id: idSchema.describe('Names the subscription, `subs_…`.') }),
  query: z.object({}),
  body: pageLinkBody,
  response: pageLinkSchema,
  status: 201,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'INSUFFICIENT_PERMISSIONS', 'RESOURCE_NOT_FOUND', 'INVALID_STATE', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'secrets:guest-tokens'],
}));
