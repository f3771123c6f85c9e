/** @module The HTTP endpoint that makes a link to the hosted page of a payment. */

import * as z from 'zod';
import { pageLinkBody, pageLinkSchema } from '../../shared/hosted-pages/link-requests.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { paymentRecord } from '../../shared/payments/payment.ts';
import { byPaymentId } from '../../shared/payments/payment-requests.ts';

export const linkPaymentEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payments.link',
  method: 'POST',
  path: '/payments/{id}/link',
  summary: 'Create a link to the page of a payment',
  description: `Creates the URL of a hosted page for this payment; the payer needs no session. Send the URL to the payer
    only, because everyone who has it can pay. The payment stays open at least until the link expires. The link is not
    stored, so you may create another.

    - 409 \`INVALID_STATE\`: the payment can no longer be paid, or it is no longer the open payment of its subscription.
    - 404 \`RESOURCE_NOT_FOUND\`, also if hosted pages are off (\`HOSTED_PAGES\`).`,
  auth: 'platform-admin',
  access: { action: 'merchant', record: paymentRecord },
  params: byPaymentId,
  query: z.object({}),
  body: pageLinkBody,
  response: pageLinkSchema,
  status: 201,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'INSUFFICIENT_PERMISSIONS', 'RESOURCE_NOT_FOUND', 'INVALID_STATE', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'secrets:guest-tokens'],
}));
