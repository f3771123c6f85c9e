/** @module The HTTP endpoints that a hosted page calls with the token of its link. */

import * as z from 'zod';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { confirmPageBody } from '../../shared/hosted-pages/confirm-page.ts';
import { pageStateSchema } from '../../shared/hosted-pages/page-state.ts';
import { endpoint } from '../../shared/http/endpoint.ts';
import { confirmLimits } from '../../shared/payments/confirm-limits.ts';
import { paymentRecord } from '../../shared/payments/payment.ts';

const none = z.object({});

export const showPageEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'pay.state',
  method: 'GET',
  path: '/pay/state',
  summary: 'Read what a hosted page shows',
  description: `Shows the payment, payment link or subscription that the token opens. A page reads it again to learn the outcome of a payment.

    After 24 hours the \`client_secret\` of a payment is read from the provider, at most once a minute; it is null in between.`,
  auth: 'link-token',
  access: { action: 'read' },
  opens: { payment: paymentRecord },
  params: none,
  query: none,
  body: null,
  response: pageStateSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND'],
  uses: ['table:read', ...PAYMENT_SECRETS, 'secrets:guest-tokens'],
}));

export const confirmPageEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'pay.confirm',
  method: 'POST',
  path: '/pay/confirm',
  summary: 'Pay on a hosted page',
  description: `Charges a one-time token, or the method that the payment names, as \`POST /payments/confirm/{id}\` does for its payer. The response
    is what the page shows then.

    - 402 \`PAYMENT_DECLINED\`: \`details\` has \`decline_code\` and \`advice\`. The payer may try again.
    - 409 \`PAYMENT_IN_PROGRESS\`: an attempt is under way. Read \`GET /pay/state\`.`,
  auth: 'link-token',
  access: { action: 'canManagePayments' },
  opens: { payment: paymentRecord },
  params: none,
  query: none,
  body: confirmPageBody,
  response: pageStateSchema,
  status: 200,
  accepted: 'The provider has not responded. The payment is `processing`, and the service looks it up.',
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'PAYMENT_METHOD_REQUIRED',
    'PROVIDER_MISMATCH',
    'PAYMENT_DECLINED',
    'RESOURCE_NOT_FOUND',
    'INVALID_STATE',
    'PAYMENT_IN_PROGRESS',
    'RATE_LIMITED',
  ],
  idempotent: 'stored',
  command: 'confirm',
  limits: confirmLimits,
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:guest-tokens', 'secrets:ids'],
  timeoutSeconds: 25,
  paymentPath: true,
}));

export const pageEndpoints = [showPageEndpoint, confirmPageEndpoint];
