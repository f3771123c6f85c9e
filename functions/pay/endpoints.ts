/** @module The HTTP endpoints that a hosted page calls with the token of its link. */

import * as z from 'zod';
import type { RecordKind } from '../../shared/access/record-kind.ts';
import { MEMORY_MB, PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { cancelPageBody } from '../../shared/hosted-pages/cancel-page.ts';
import { pageMethodBody } from '../../shared/hosted-pages/change-page-method.ts';
import { confirmPageBody } from '../../shared/hosted-pages/confirm-page.ts';
import { pageMethodLimits, startLimits } from '../../shared/hosted-pages/page-limits.ts';
import { pageStateSchema } from '../../shared/hosted-pages/page-state.ts';
import type { PageRecord } from '../../shared/hosted-pages/show-page.ts';
import { startedPageSchema, startPageBody } from '../../shared/hosted-pages/start-page.ts';
import { CREATE_TIMEOUT_SECONDS, endpoint } from '../../shared/http/endpoint.ts';
import { paymentLinkRecord } from '../../shared/payment-links/payment-link.ts';
import { confirmLimits } from '../../shared/payments/confirm-limits.ts';
import { paymentRecord } from '../../shared/payments/payment.ts';
import { subscriptionRecord } from '../../shared/subscriptions/record/subscription.ts';

const none = z.object({});

/** Widens the type, so one list can have the record kinds of all pages. */
const anyRecord = (kind: RecordKind<PageRecord>): RecordKind<PageRecord> => kind;

export const showPageEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'pay.state',
  method: 'GET',
  path: '/pay/state',
  summary: 'Read the state of a hosted page',
  description: `Shows the payment, payment link or subscription that the token opens. A page reads it again to learn the outcome of a payment.

    After 24 hours the \`client_secret\` of a payment is read from the provider, at most once a minute; it is null in between.`,
  auth: 'link-token',
  access: { action: 'read' },
  opens: {
    payment: anyRecord(paymentRecord),
    payment_link: anyRecord(paymentLinkRecord),
    subscription: anyRecord(subscriptionRecord),
  },
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
  description: `Charges a one-time token or the payment's own method, as \`POST /payments/confirm/{id}\` does for a
    payer. The response is the new state of the page.

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
  memoryMb: MEMORY_MB.payment,
}));

export const startPageEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'pay.start',
  method: 'POST',
  path: '/pay/start',
  summary: 'Start a payment of a payment link',
  description: `Creates a payment at the price of the link, as a guest's create request does, and returns the state of
    its page with a token for the page. Send an \`Idempotency-Key\` of at least 20 characters; a repeat returns the same payment. At most 10 starts per minute and network.

    - 409 \`LINK_SPENT\`: all \`max_payments\` are paid or under way. A place may become free later.
    - 400 \`QUANTITY_INVALID\`: \`details\` names the bounds of the link.`,
  auth: 'link-token',
  access: { action: 'canManagePayments' },
  opens: { payment_link: paymentLinkRecord },
  params: none,
  query: none,
  body: startPageBody,
  response: startedPageSchema,
  status: 201,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'RESOURCE_NOT_FOUND',
    'LINK_SPENT',
    'QUANTITY_INVALID',
    'PROVIDER_MISMATCH',
    'PRODUCT_INACTIVE',
    'DISCOUNT_INVALID',
    'PRICING_MISMATCH',
    'AMOUNT_TOO_SMALL',
    'UNSUPPORTED_CURRENCY',
    'IDEMPOTENCY_KEY_INVALID',
    'IDEMPOTENCY_KEY_REUSED',
    'PROVIDER_UNAVAILABLE',
    'RATE_LIMITED',
  ],
  idempotent: 'create',
  limits: startLimits,
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:guest-tokens', 'secrets:ids'],
  timeoutSeconds: CREATE_TIMEOUT_SECONDS.payment,
  memoryMb: MEMORY_MB.payment,
}));

const ofSubscription = {
  method: 'POST',
  auth: 'link-token',
  access: { action: 'canManageSubscriptions' },
  opens: { subscription: subscriptionRecord },
  params: none,
  query: none,
  response: pageStateSchema,
  status: 200,
  form: 'bare',
  idempotent: 'stored',
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:guest-tokens', 'secrets:ids'],
  timeoutSeconds: 29,
} as const;

const SUBSCRIPTION_ERRORS = [
  'VALIDATION_ERROR',
  'RESOURCE_NOT_FOUND',
  'INVALID_STATE',
  'PAYMENT_IN_PROGRESS',
  'VERSION_CONFLICT',
  'PROVIDER_TIMEOUT',
  'RATE_LIMITED',
] as const;

export const changePageMethodEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...ofSubscription,
  id: 'pay.method',
  path: '/pay/method',
  summary: 'Set the method of a subscription on its page',
  description: `Saves the token's method for the owner of the subscription, and sets it on the subscription. An open
    payment is charged with this method first.

    - 202: the payer must authenticate the method or the payment (\`next_action\` of the page or of \`open_payment\`),
      or the provider has not responded. The method is set after that succeeds. Read \`GET /pay/state\`.
    - 402 \`PAYMENT_DECLINED\`: the current method stays. \`details\` has \`decline_code\` and \`advice\`.

    Send an \`Idempotency-Key\`, because an earlier request without a key may have stored the token's method.`,
  body: pageMethodBody,
  accepted: 'The method is not set yet. The payer must act, or the provider has not responded.',
  command: 'confirm',
  errors: [...SUBSCRIPTION_ERRORS, 'PROVIDER_MISMATCH', 'PAYMENT_DECLINED'],
  limits: pageMethodLimits,
  memoryMb: MEMORY_MB.payment,
}));

export const cancelPageEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...ofSubscription,
  id: 'pay.cancel',
  path: '/pay/cancel',
  summary: 'Cancel a subscription on its page',
  description: `Ends the subscription with its current period. A past-due subscription has no paid period, so it ends immediately. Nothing is refunded.`,
  body: cancelPageBody,
  command: 'cancel',
  errors: SUBSCRIPTION_ERRORS,
}));

export const keepPageEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...ofSubscription,
  id: 'pay.keep',
  path: '/pay/keep',
  summary: 'Clear the scheduled cancellation of a subscription',
  description: `Clears the scheduled cancellation with its reason and comment. If none is scheduled, nothing changes and the response is also 200.`,
  body: none,
  command: 'reactivate',
  errors: [...SUBSCRIPTION_ERRORS, 'PAYMENT_METHOD_REQUIRED'],
}));

export const pageEndpoints = [
  startPageEndpoint,
  showPageEndpoint,
  confirmPageEndpoint,
  changePageMethodEndpoint,
  cancelPageEndpoint,
  keepPageEndpoint,
];
