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
  summary: 'Make a link to the page of a payment',
  description: `Makes the URL of a page on which the payer pays this payment, without a session. Send it to the payer only, because everyone who has it can pay.
    The payment waits for its payer at least until the link ends. Nothing of the link is stored, so you may make another.

    - 409 \`INVALID_STATE\`: the payment can no longer be paid, or its subscription no longer waits for it.
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
