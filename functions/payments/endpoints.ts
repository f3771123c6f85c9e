import * as z from 'zod';
import { principalOf } from '../../shared/access/caller.ts';
import { projectNamed } from '../../shared/catalog/kinds.ts';
import type { ErrorCode } from '../../shared/core/errors.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { customerPointerKey } from '../../shared/customers/owner-customer.ts';
import { CREATE_TIMEOUT_SECONDS, type Endpoint, endpoint, type RateLimit } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import {
  emailParams,
  guestCreateLimits,
  guestDeclineLimits,
  guestListLimits,
  networkWithoutSession,
} from '../../shared/http/guests.ts';
import type { ApiRequest } from '../../shared/http/request.ts';
import {
  confirmBody,
  createIntentBody,
  methodsUsedBy,
  recordsNamedBy,
  updateIntentBody,
} from '../../shared/payments/commands/requests.ts';
import { paymentByProviderId, paymentRecord } from '../../shared/payments/record/payment.ts';
import {
  confirmationSchema,
  createdPaymentSchema,
  guestPaymentSchema,
  PAYMENT_COLUMNS,
  paymentViewSchema,
} from '../../shared/payments/record/view.ts';
import { getPaymentQuery, guestPaymentsQuery, listPaymentsQuery } from '../../shared/queries/parameters.ts';
import { ownerSummaryQuery, SUMMARY_COLUMNS, summaryRows } from '../../shared/queries/payment-summary.ts';
import { timelineSchema } from '../../shared/queries/payment-timeline.ts';

const MINUTE = 60;
const HOUR = 3_600;
const none = z.object({});
const byId = z.object({ id: idSchema });

const CREATE_ERRORS: readonly ErrorCode[] = [
  'VALIDATION_ERROR',
  'INVALID_JSON',
  'PRICING_MISMATCH',
  'AMOUNT_TOO_SMALL',
  'UNSUPPORTED_CURRENCY',
  'UNSUPPORTED_PROVIDER',
  'RESOURCE_NOT_FOUND',
  'INSUFFICIENT_PERMISSIONS',
  'INVALID_STATE',
  'VERSION_CONFLICT',
  'PROVIDER_ERROR',
  'PROVIDER_TIMEOUT',
  'PROVIDER_UNAVAILABLE',
  'RATE_LIMITED',
];

const create = {
  method: 'POST',
  auth: 'session-or-guest',
  access: {
    action: 'canManagePayments',
    organization: 'session by default',
    references: recordsNamedBy,
    uses: methodsUsedBy,
    alongside: (owner, body) => [customerPointerKey(owner, body.provider_id ?? 'provider_a')],
  },
  params: none,
  query: none,
  body: createIntentBody,
  response: createdPaymentSchema,
  status: 201,
  form: 'bare',
  errors: CREATE_ERRORS,
  idempotent: 'create',
  limits: guestCreateLimits,
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:guest-tokens'],
  timeoutSeconds: CREATE_TIMEOUT_SECONDS.payment,
  paymentPath: true,
} as const satisfies Partial<Endpoint<typeof none, typeof none, typeof createIntentBody>>;

export const createIntentEndpoint = endpoint({
  ...create,
  id: 'payments.create-intent',
  path: '/payments/intents',
  summary: 'Create a payment intent',
});

export const createPaymentEndpoint = endpoint({
  ...create,
  id: 'payments.create',
  path: '/payments',
  summary: 'Create a payment',
});

export const updateIntentEndpoint = endpoint({
  id: 'payments.update-intent',
  method: 'PUT',
  path: '/payments/intents/{id}',
  summary: 'Update a payment intent before its confirmation',
  auth: 'session',
  access: { action: 'canManagePayments', record: paymentRecord, references: recordsNamedBy, uses: methodsUsedBy },
  params: byId,
  query: none,
  body: updateIntentBody,
  response: paymentViewSchema,
  status: 200,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'PRICING_MISMATCH',
    'PAYMENT_METHOD_REQUIRED',
    'AMOUNT_TOO_SMALL',
    'UNSUPPORTED_CURRENCY',
    'INSUFFICIENT_PERMISSIONS',
    'RESOURCE_NOT_FOUND',
    'INVALID_STATE',
    'PAYMENT_NOT_UPDATABLE',
    'PAYMENT_IN_PROGRESS',
    'VERSION_CONFLICT',
    'PROVIDER_UNAVAILABLE',
  ],
  uses: ['table:read', 'table:put', ...PAYMENT_SECRETS],
  timeoutSeconds: 20,
});

export const cancelIntentEndpoint = endpoint({
  id: 'payments.cancel-intent',
  method: 'POST',
  path: '/payments/intents/{id}/cancel',
  summary: 'Cancel an unconfirmed payment',
  auth: 'session',
  access: { action: 'canManagePayments', platformAdmins: 'may act', record: paymentRecord },
  params: byId,
  query: none,
  body: none,
  response: paymentViewSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'INVALID_STATE', 'PAYMENT_IN_PROGRESS'],
  idempotent: 'stored',
  uses: ['table:read', 'table:put', ...PAYMENT_SECRETS],
  timeoutSeconds: 25,
});

const paymentNamed = ({ params }: ApiRequest): string => byId.parse(params).id;

/** Declined payments have their own windows, because most tries with stolen cards are declined. */
const confirmLimits: readonly RateLimit[] = [
  { name: 'confirm-user', max: 20, windowSeconds: MINUTE, by: ({ caller }) => principalOf(caller) },
  { name: 'confirm-ip', max: 20, windowSeconds: MINUTE, by: networkWithoutSession },
  { name: 'confirm-payment', max: 10, windowSeconds: HOUR, by: paymentNamed },
  { name: 'declined-payment', max: 5, windowSeconds: HOUR, counts: 'declined payments', by: paymentNamed },
  ...guestDeclineLimits,
];

export const confirmPaymentEndpoint = endpoint({
  id: 'payments.confirm',
  method: 'POST',
  path: '/payments/confirm/{id}',
  summary: 'Confirm a payment from the server',
  auth: 'session-or-token',
  access: { action: 'canManagePayments', record: paymentRecord, uses: methodsUsedBy },
  params: byId,
  query: none,
  body: confirmBody,
  response: confirmationSchema,
  status: 200,
  accepted:
    'The provider has not answered: the payment is processing, and the service looks it up until its outcome is known',
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'PAYMENT_METHOD_REQUIRED',
    'PAYMENT_DECLINED',
    'INSUFFICIENT_PERMISSIONS',
    'RESOURCE_NOT_FOUND',
    'INVALID_STATE',
    'PAYMENT_IN_PROGRESS',
    'RATE_LIMITED',
  ],
  idempotent: 'stored',
  limits: confirmLimits,
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:guest-tokens'],
  timeoutSeconds: 25,
  paymentPath: true,
});

const byProviderPaymentId = z.object({ provider_payment_id: z.string().min(1).max(255) });

export const syncPaymentEndpoint = endpoint({
  id: 'payments.sync',
  method: 'POST',
  path: '/payments/sync/{provider_payment_id}',
  summary: 'Pull the status of a payment from its provider',
  auth: 'session',
  access: { action: 'canManagePayments', platformAdmins: 'may act', record: paymentByProviderId },
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
      windowSeconds: MINUTE,
      by: ({ params }) => byProviderPaymentId.parse(params).provider_payment_id,
    },
  ],
  uses: ['table:read', 'table:put', ...PAYMENT_SECRETS],
  timeoutSeconds: 20,
});

export const getPaymentEndpoint = endpoint({
  id: 'payments.get',
  method: 'GET',
  path: '/payments/{id}',
  summary: 'Get a payment',
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
});

export const getTimelineEndpoint = endpoint({
  id: 'payments.timeline',
  method: 'GET',
  path: '/payments/{id}/timeline',
  summary: 'Show what happened to a payment, in order',
  auth: 'session-or-token',
  access: { action: 'read', record: paymentRecord },
  params: byId,
  query: none,
  body: null,
  response: timelineSchema,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'secrets:guest-tokens'],
});

export const listPaymentsEndpoint = endpoint({
  id: 'payments.list',
  method: 'GET',
  path: '/payments',
  summary: 'List payments',
  auth: 'session-or-token',
  access: { action: 'read', organization: 'session by default', references: projectNamed },
  params: none,
  query: listPaymentsQuery,
  body: null,
  response: z.array(paymentViewSchema),
  status: 200,
  form: 'envelope',
  csv: { name: 'payments', columns: PAYMENT_COLUMNS },
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_FILTER', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'secrets:guest-tokens'],
});

export const paymentSummaryEndpoint = endpoint({
  id: 'payments.summary',
  method: 'GET',
  path: '/payments/summary',
  summary: "Sum up an owner's payments and refunds by day, week or month",
  auth: 'session',
  access: { action: 'read', organization: 'session by default' },
  params: none,
  query: ownerSummaryQuery,
  body: null,
  response: summaryRows,
  status: 200,
  form: 'envelope',
  csv: { name: 'payments-summary', columns: SUMMARY_COLUMNS },
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_FILTER', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
});

export const listGuestPaymentsEndpoint = endpoint({
  id: 'payments.list-guest',
  method: 'GET',
  path: '/payments/guest/{email}',
  summary: "List a guest's payments by e-mail",
  auth: 'public',
  params: emailParams,
  query: guestPaymentsQuery,
  body: null,
  response: z.array(guestPaymentSchema),
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'SESSION_INVALID', 'RATE_LIMITED'],
  limits: guestListLimits('guest-payments'),
  uses: ['table:read', 'table:put', 'secrets:guest-tokens'],
});

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
