/**
 * @module The HTTP endpoints for payments, with the schemas, access rule and limits of each route. The API document is
 * generated from them.
 */

import * as z from 'zod';
import { projectNamed } from '../../shared/catalog/catalog-kinds.ts';
import type { ErrorCode } from '../../shared/core/errors.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { refusedCodes } from '../../shared/discounts/check-limits.ts';
import { CREATE_TIMEOUT_SECONDS, type Endpoint, endpoint } from '../../shared/http/endpoint.ts';
import { boundedText, idSchema } from '../../shared/http/fields.ts';
import { emailParams, guestCreateLimits, guestListLimits } from '../../shared/http/windows.ts';
import { confirmLimits } from '../../shared/payments/confirm-limits.ts';
import { confirmBody } from '../../shared/payments/confirm-request.ts';
import { alongsideCreate, methodsUsedBy, recordsNamedBy } from '../../shared/payments/named-records.ts';
import { PAYMENT_STATUSES, paymentByProviderId, paymentRecord } from '../../shared/payments/payment.ts';
import { createIntentBody, updateIntentBody } from '../../shared/payments/payment-requests.ts';
import {
  confirmationSchema,
  createdPaymentSchema,
  guestPaymentSchema,
  paymentViewSchema,
} from '../../shared/payments/payment-view.ts';
import { getPaymentQuery, PAYMENT_SENT_BACK } from '../../shared/queries/includes.ts';
import { paymentsMeta, summaryMeta, userContextSchema } from '../../shared/queries/list-meta.ts';
import { guestPaymentsQuery, listPaymentsQuery } from '../../shared/queries/parameters.ts';
import { PAYMENT_CSV_COLUMNS } from '../../shared/queries/payment-csv.ts';
import { ownerSummaryQuery, SUMMARY_COLUMNS, summaryRow } from '../../shared/queries/payment-summary.ts';
import { timelineSchema } from '../../shared/queries/payment-timeline.ts';
import { timelineMeta, timelineQuery } from '../../shared/queries/timeline.ts';
import { cancelIntentEndpoint } from './hold-endpoints.ts';

const MINUTE_SECONDS = 60;
const none = z.object({});
const byId = z.object({ id: idSchema.describe('Id of the payment, `pay_…`.') });

const CREATE_ERRORS: readonly ErrorCode[] = [
  'VALIDATION_ERROR',
  'INVALID_JSON',
  'PRICING_MISMATCH',
  'AMOUNT_TOO_SMALL',
  'UNSUPPORTED_CURRENCY',
  'DISCOUNT_INVALID',
  'UNSUPPORTED_PROVIDER',
  'PROVIDER_MISMATCH',
  'RESOURCE_NOT_FOUND',
  'INSUFFICIENT_PERMISSIONS',
  'INVALID_STATE',
  'VERSION_CONFLICT',
  'PROVIDER_ERROR',
  'PROVIDER_TIMEOUT',
  'PROVIDER_UNAVAILABLE',
  'STORAGE_UNAVAILABLE',
  'RATE_LIMITED',
];

const create = () =>
  ({
    method: 'POST',
    auth: 'session-or-guest',
    access: {
      action: 'canManagePayments',
      organization: 'session by default',
      references: recordsNamedBy,
      uses: methodsUsedBy,
      createdUnder: { kind: 'payment', key: paymentRecord.key },
      alongside: alongsideCreate,
    },
    params: none,
    query: none,
    body: createIntentBody,
    status: 201,
    form: 'bare',
    errors: CREATE_ERRORS,
    idempotent: 'create',
    limits: [...guestCreateLimits, refusedCodes],
    uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:guest-tokens', 'secrets:ids'],
    timeoutSeconds: CREATE_TIMEOUT_SECONDS.payment,
    paymentPath: true,
  }) as const satisfies Partial<Endpoint<typeof none, typeof none, typeof createIntentBody>>;

export const createIntentEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...create(),
  id: 'payments.create-intent',
  path: '/payments/intents',
  response: createdPaymentSchema,
  summary: 'Create a payment intent',
  description: `Creates a payment and its intent at the provider. No money moves yet: the payer confirms the payment in the browser with
    the \`client_secret\`, or your server confirms it with \`POST /payments/confirm/{id}\`.

    The status is \`created\` if the payment has a method, else \`requires_payment_method\`. A payment that is not confirmed within 24
    hours is canceled. A guest gets a \`guest_token\`, which reads and confirms the payment later. An amount must be a
    multiple of the provider's smallest unit, else it gets 400: PayPal accepts no fraction of a HUF or TWD.

    Send an \`Idempotency-Key\`. After 504 \`PROVIDER_TIMEOUT\` the payment may exist at the provider. Repeat the request with the same
    key to get that payment.`,
}));

export const createPaymentEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...create(),
  id: 'payments.create',
  path: '/payments',
  response: createdPaymentSchema,
  summary: 'Create a payment',
  description: `An alias of \`POST /payments/intents\`.`,
}));

export const updateIntentEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payments.update-intent',
  method: 'PUT',
  path: '/payments/intents/{id}',
  summary: 'Update a payment intent before its confirmation',
  description: `Changes amount, method or details of a payment that is \`created\` or \`requires_payment_method\`; fields that are not sent
    stay as they are. A new amount or method is sent to the provider first, and stored once the provider has accepted it.

    A payment that is confirmed, settled or part of a subscription gets 409 \`PAYMENT_NOT_UPDATABLE\`. If the provider does not respond,
    repeat the same request; the repeat completes the first request. A different update or a confirmation also completes
    the first request, and a cancellation drops it unless the provider has applied it.`,
  auth: 'session',
  access: { action: 'canManagePayments', record: paymentRecord, references: recordsNamedBy, uses: methodsUsedBy },
  params: byId,
  query: none,
  body: updateIntentBody,
  sentBack: {
    ...PAYMENT_SENT_BACK,
    changedBy: { status: 'POST /payments/confirm/{id} or POST /payments/intents/{id}/cancel' },
  },
  response: paymentViewSchema,
  status: 200,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'PRICING_MISMATCH',
    'PAYMENT_METHOD_REQUIRED',
    'PROVIDER_MISMATCH',
    'AMOUNT_TOO_SMALL',
    'UNSUPPORTED_CURRENCY',
    'DISCOUNT_INVALID',
    'INSUFFICIENT_PERMISSIONS',
    'RESOURCE_NOT_FOUND',
    'INVALID_STATE',
    'PAYMENT_NOT_UPDATABLE',
    'PAYMENT_IN_PROGRESS',
    'VERSION_CONFLICT',
    'PROVIDER_UNAVAILABLE',
  ],
  limits: [refusedCodes],
  uses: ['table:read', 'table:put', ...PAYMENT_SECRETS],
  timeoutSeconds: 20,
}));

export const confirmPaymentEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payments.confirm',
  method: 'POST',
  path: '/payments/confirm/{id}',
  summary: 'Confirm a payment from the server',
  description: `Charges the payment method. Use it for saved methods, for one-time tokens, and to capture an order that the payer has
    approved at PayPal. If the payer confirms in the browser with the \`client_secret\`, do not call this route.

    - 200 \`succeeded\`: the money is collected. A payment that has already succeeded gets the same response and is not charged again.
    - 200 \`requires_capture\`: the amount is held, because the payment has \`capture_method: "manual"\`. It is held once.
    - 200 \`pending\`: the payer must act; \`next_action\` says how. The outcome follows as an event.
    - 202 \`processing\`: the provider has not responded. Do not confirm again; the outcome follows as an event.
    - 402 \`PAYMENT_DECLINED\`: the payment is \`failed\`. Confirm it again with another method.
    - 409 \`PAYMENT_IN_PROGRESS\`: an attempt is under way.

    A guest confirms a payment with its guest token.`,
  auth: 'session-or-token',
  access: { action: 'canManagePayments', record: paymentRecord, uses: methodsUsedBy },
  params: byId,
  query: none,
  body: confirmBody,
  response: confirmationSchema,
  status: 200,
  accepted:
    'The provider has not responded. The payment is `processing`, and the service looks it up until its outcome is known.',
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'PAYMENT_METHOD_REQUIRED',
    'PROVIDER_MISMATCH',
    'PAYMENT_DECLINED',
    'INSUFFICIENT_PERMISSIONS',
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

const byProviderPaymentId = z.object({
  provider_payment_id: boundedText(255)
    .min(1)
    .describe('The id of the payment or of its intent at the provider, as in `provider_payment_id` of the payment.'),
});

export const syncPaymentEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payments.sync',
  method: 'POST',
  path: '/payments/sync/{provider_payment_id}',
  summary: 'Pull the status of a payment from its provider',
  description: `Reads the payment at the provider and stores the status that the provider reports; for a succeeded payment also
    its refunds and disputes. Use it if an event seems lost. The service does this itself for payments whose outcome is unknown, so you
    do not need to poll.`,
  auth: 'session',
  access: { action: 'canManagePayments', record: paymentByProviderId },
  params: byProviderPaymentId,
  query: none,
  body: none,
  response: paymentViewSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'PROVIDER_ERROR', 'PROVIDER_TIMEOUT', 'RATE_LIMITED'],
  idempotent: 'stored',
  limits: [
    {
      name: 'sync-payment',
      max: 10,
      windowSeconds: MINUTE_SECONDS,
      by: ({ params }) => byProviderPaymentId.parse(params).provider_payment_id,
    },
  ],
  uses: ['table:read', 'table:put', ...PAYMENT_SECRETS],
  timeoutSeconds: 20,
}));

export const getPaymentEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payments.get',
  method: 'GET',
  path: '/payments/{id}',
  summary: 'Get a payment',
  description: `Shows one payment, and with \`include\` the records that it names. The scope parameters are guards: if the payment does not
    belong to that organization, project or product, the response is 404.`,
  auth: 'session-or-token',
  access: { action: 'read', record: paymentRecord },
  params: byId,
  query: getPaymentQuery,
  body: null,
  response: paymentViewSchema,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'secrets:guest-tokens'],
}));

export const getTimelineEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payments.timeline',
  method: 'GET',
  path: '/payments/{id}/timeline',
  summary: 'Show what happened to a payment, in order',
  description: `Lists the versions of the payment with their causes, oldest first. Callers who may read the webhook log also see the events
    of the provider and the deliveries to targets of the last 90 days. Use it to explain a payment to a customer or to find a fault. A
    longer timeline comes in pages, from the newest versions back to the first: follow \`next_cursor\`.`,
  meta: () =>
    timelineMeta
      .extend({
        payment_id: z.string().describe('The payment that the entries are about, `pay_…`.'),
        status: z.enum(PAYMENT_STATUSES).describe('The current status of the payment.'),
      })
      .describe('The payment, and the position of the page in its timeline.'),
  auth: 'session-or-token',
  access: { action: 'read', record: paymentRecord },
  params: byId,
  query: timelineQuery,
  body: null,
  response: () => timelineSchema,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'secrets:guest-tokens'],
}));

export const listPaymentsEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payments.list',
  method: 'GET',
  path: '/payments',
  summary: 'List payments',
  description: `Lists the payments of the caller, of an organization or of a project, newest first unless \`orderBy\` says otherwise. A guest
    token lists the payments of that guest. Follow \`next_cursor\` for deep pages. With \`Accept: text/csv\` the list comes as CSV.`,
  meta: () =>
    paymentsMeta
      .extend({
        orderBy: z.string().describe('The field that the list is sorted by.'),
        orderDir: z.enum(['asc', 'desc']).describe('`desc`: newest or largest first.'),
      })
      .describe('The position of the page in the list, and the order.'),
  beside: () => ({ user_context: userContextSchema }),
  auth: 'session-or-token',
  access: { action: 'read', organization: 'session by default', references: projectNamed },
  params: none,
  query: listPaymentsQuery,
  body: null,
  response: () => z.array(paymentViewSchema()),
  status: 200,
  form: 'envelope',
  csv: { name: 'payments', columns: PAYMENT_CSV_COLUMNS },
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_FILTER', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'secrets:guest-tokens'],
}));

export const paymentSummaryEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payments.summary',
  method: 'GET',
  path: '/payments/summary',
  summary: "Sum up an owner's payments and refunds by day, week or month",
  description: `Counts and sums payments and refunds per period and currency, for the caller or an organization. The
    sums follow changes of payments within moments. Periods without payments have no row. More than 10,000 rows get 400. With
    \`Accept: text/csv\` the rows come as CSV.`,
  meta: () => summaryMeta,
  auth: 'session',
  access: { action: 'read', organization: 'session by default' },
  params: none,
  query: ownerSummaryQuery,
  body: null,
  response: () => z.array(summaryRow),
  status: 200,
  form: 'envelope',
  csv: { name: 'payments-summary', columns: SUMMARY_COLUMNS },
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_FILTER', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
}));

export const listGuestPaymentsEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payments.list-guest',
  method: 'GET',
  path: '/payments/guest/{email}',
  summary: "List a guest's payments by e-mail",
  description: `Lists the guest payments made with an e-mail address, newest first. Without a guest token each payment shows only a few fields, and
    an unknown address gets an empty list; with the token the guest's own payments show all fields. An operator can open or close the list
    with the setting \`GUEST_EMAIL_LIST\`.`,
  meta: () => paymentsMeta,
  auth: 'public',
  params: emailParams,
  query: guestPaymentsQuery,
  body: null,
  response: () => z.array(guestPaymentSchema()),
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'SESSION_INVALID', 'RATE_LIMITED'],
  limits: guestListLimits('guest-payments'),
  uses: ['table:read', 'table:count', 'secrets:guest-tokens'],
}));

export const paymentEndpoints = [
  createIntentEndpoint,
  createPaymentEndpoint,
  updateIntentEndpoint,
  cancelIntentEndpoint,
  confirmPaymentEndpoint,
  syncPaymentEndpoint,
  getPaymentEndpoint,
  getTimelineEndpoint,
  listPaymentsEndpoint,
  paymentSummaryEndpoint,
  listGuestPaymentsEndpoint,
];
