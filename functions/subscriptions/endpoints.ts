/**
 * @module The HTTP endpoints for subscriptions, with the schemas, access rule and limits of each route. The API
 * document is generated from them.
 */

import * as z from 'zod';
import type { NamedRecord } from '../../shared/access/record-kind.ts';
import { projectNamed } from '../../shared/catalog/catalog-kinds.ts';
import { productRecord, projectRecord } from '../../shared/catalog/catalog-records.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { addressRecord } from '../../shared/customers/address.ts';
import { billingAddressBody } from '../../shared/customers/address-requests.ts';
import { customerRecord } from '../../shared/customers/customer.ts';
import { refusedCodes } from '../../shared/discounts/check-limits.ts';
import { codeKeysOf } from '../../shared/discounts/redemption.ts';
import { CREATE_TIMEOUT_SECONDS, endpoint } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { declineLimits, emailParams, guestCreateLimits, guestListLimits } from '../../shared/http/windows.ts';
import { methodsUsedBy } from '../../shared/payments/named-records.ts';
import { guestSubscriptionsQuery, listSubscriptionsQuery } from '../../shared/queries/parameters.ts';
import { subscriptionTimelineSchema } from '../../shared/queries/subscription-timeline.ts';
import { timelineMeta, timelineQuery } from '../../shared/queries/timeline.ts';
import { SUBSCRIPTION_STATUSES, subscriptionRecord } from '../../shared/subscriptions/record/subscription.ts';
import {
  type CreateSubscriptionBody,
  cancelBody,
  createSubscriptionBody,
  pauseBody,
  updateSubscriptionBody,
} from '../../shared/subscriptions/record/subscription-requests.ts';
import {
  createdSubscriptionSchema,
  guestSubscriptionSchema,
  SUBSCRIPTION_COLUMNS,
  shownSubscriptionSchema,
  subscriptionViewSchema,
} from '../../shared/subscriptions/record/subscription-view.ts';

const none = z.object({});
const byId = z.object({ id: idSchema.describe('Id of the subscription, `subs_…`.') });

const addressNamed = ({
  billing_address_id: id,
}: {
  readonly billing_address_id?: string | null | undefined;
}): readonly NamedRecord[] => (id ? [{ kind: addressRecord, id }] : []);

const namedBy = (body: CreateSubscriptionBody): readonly NamedRecord[] => [
  { kind: customerRecord, id: body.customer_id },
  ...(body.product_id ? [{ kind: productRecord, id: body.product_id }] : []),
  ...(body.project_id ? [{ kind: projectRecord, id: body.project_id }] : []),
  ...addressNamed(body),
];

export const createSubscriptionEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'subscriptions.create',
  method: 'POST',
  path: '/subscriptions',
  summary: 'Create a subscription',
  description: `Charges a saved payment method every period, from now or from the end of a trial. Price and interval come from the
    product or from the request. Months count from the start date: 31 January, 28 February, 31 March.

    - 201 \`active\`: the first period is paid, or costs nothing.
    - 201 \`trialing\`: nothing is charged until \`trial_end\`.
    - 201 \`past_due\` with \`billing_status\` \`pending\`: the payer must authenticate; continue in the browser with \`client_secret\`
      within 23 hours, else the subscription is canceled.
    - 402 \`PAYMENT_DECLINED\`: the first charge was declined, and there is no subscription. The same \`Idempotency-Key\` returns this
      response again; try another method under a new key.

    If the product names a membership tier, the membership becomes active with the first payment, or immediately if the
    product costs nothing.`,
  auth: 'session-or-guest',
  access: {
    action: 'canManageSubscriptions',
    organization: 'session by default',
    references: namedBy,
    uses: methodsUsedBy,
    createdUnder: { kind: 'subscription', key: subscriptionRecord.key },
    alongside: (owner, { discount_code: code }) => codeKeysOf(owner, code),
  },
  params: none,
  query: none,
  body: createSubscriptionBody,
  response: createdSubscriptionSchema,
  status: 201,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'PRICING_MISMATCH',
    'AMOUNT_TOO_SMALL',
    'QUANTITY_INVALID',
    'UNSUPPORTED_CURRENCY',
    'DISCOUNT_INVALID',
    'UNSUPPORTED_PROVIDER',
    'PROVIDER_MISMATCH',
    'PRODUCT_INACTIVE',
    'PAYMENT_DECLINED',
    'RESOURCE_NOT_FOUND',
    'INSUFFICIENT_PERMISSIONS',
    'INVALID_STATE',
    'PROVIDER_TIMEOUT',
    'PROVIDER_UNAVAILABLE',
    'STORAGE_UNAVAILABLE',
    'RATE_LIMITED',
  ],
  idempotent: 'create',
  limits: [...guestCreateLimits, ...declineLimits, refusedCodes],
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:guest-tokens', 'secrets:ids'],
  timeoutSeconds: CREATE_TIMEOUT_SECONDS.subscription,
  paymentPath: true,
}));

export const getSubscriptionEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'subscriptions.get',
  method: 'GET',
  path: '/subscriptions/{id}',
  summary: 'Get a subscription',
  description: `Shows one subscription. While it is past due, a caller who may pay also sees \`open_payment\`: confirm that payment to
    end the dunning immediately.`,
  auth: 'session',
  access: { action: 'read', record: subscriptionRecord },
  params: byId,
  query: none,
  body: null,
  response: shownSubscriptionSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
}));

export const getSubscriptionTimelineEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'subscriptions.timeline',
  method: 'GET',
  path: '/subscriptions/{id}/timeline',
  summary: 'Show what happened to a subscription, in order',
  description: `Lists the versions of the subscription with their causes and actors, oldest first, and the payment of each period that was
    charged. Callers who may read the webhook log also see the events of the provider and the deliveries to targets of the last 90 days.
    Use it to explain a subscription to a customer, or to find who canceled it. A longer timeline comes in pages, from the newest versions
    back to the first: follow \`next_cursor\`.`,
  meta: () =>
    timelineMeta
      .extend({
        subscription_id: z.string().describe('The subscription that the entries are about, `subs_…`.'),
        status: z.enum(SUBSCRIPTION_STATUSES).describe('The current status of the subscription.'),
      })
      .describe('The subscription, and the position of the page in its timeline.'),
  auth: 'session',
  access: { action: 'read', record: subscriptionRecord },
  params: byId,
  query: timelineQuery,
  body: null,
  response: () => subscriptionTimelineSchema,
  status: 200,
  form: 'envelope',
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
}));

export const listSubscriptionsEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'subscriptions.list',
  method: 'GET',
  path: '/subscriptions',
  summary: 'List subscriptions',
  description: `Lists the subscriptions of the caller, of an organization or of a project, newest first, by \`limit\` and \`offset\`. With
    \`Accept: text/csv\` the list comes as CSV.`,
  auth: 'session',
  access: { action: 'read', organization: 'session by default', references: projectNamed },
  params: none,
  query: listSubscriptionsQuery,
  body: null,
  response: () => z.array(subscriptionViewSchema()),
  status: 200,
  form: 'bare',
  csv: { name: 'subscriptions', columns: SUBSCRIPTION_COLUMNS },
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
}));

const change = {
  auth: 'session',
  params: byId,
  query: none,
  response: subscriptionViewSchema,
  status: 200,
  form: 'bare',
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS],
  timeoutSeconds: 29,
} as const;

const CHANGE_ERRORS = [
  'VALIDATION_ERROR',
  'RESOURCE_NOT_FOUND',
  'INSUFFICIENT_PERMISSIONS',
  'INVALID_STATE',
  'PAYMENT_IN_PROGRESS',
  'VERSION_CONFLICT',
  'PROVIDER_TIMEOUT',
] as const;

const PLAN_ROUTE = 'POST /subscriptions/{id}/change';
const STATUS_ROUTES =
  'POST /subscriptions/{id}/cancel, POST /subscriptions/{id}/pause, POST /subscriptions/{id}/resume or POST /subscriptions/{id}/reactivate';
const planFields = [
  ...['product_id', 'quantity', 'subtotal_cents', 'tax_cents', 'discount_cents', 'total_cents'],
  ...['billing_interval', 'interval_multiplier', 'pending_change', 'scheduled_change'],
];

/** The fields that PUT and PATCH accept only unchanged, with the routes that change them. */
const sentBack = {
  expanded: ['open_payment', 'payment_method', 'project'],
  changedBy: {
    ...Object.fromEntries(planFields.map((field) => [field, PLAN_ROUTE])),
    status: STATUS_ROUTES,
    cancel_at_period_end: 'POST /subscriptions/{id}/cancel or POST /subscriptions/{id}/reactivate',
    payment_method_id: 'PATCH /subscriptions/{id}',
    metadata: 'PATCH /subscriptions/{id}',
    billing_address_id: 'PATCH /subscriptions/{id}/billing-address',
  },
};

export const updateSubscriptionEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...change,
  id: 'subscriptions.update',
  method: 'PATCH',
  path: '/subscriptions/{id}',
  summary: 'Change the payment method or metadata of a subscription',
  description: `Sets another payment method, metadata, or both. Price and interval change with
    \`POST /subscriptions/{id}/change\`. A new method on a past-due subscription is charged immediately.

    The method must belong to the caller and to the subscription's provider (400 \`PROVIDER_MISMATCH\`).`,
  access: {
    action: 'canManageSubscriptions',
    record: subscriptionRecord,
    uses: methodsUsedBy,
  },
  body: updateSubscriptionBody,
  sentBack,
  errors: [...CHANGE_ERRORS, 'PROVIDER_MISMATCH', 'PAYMENT_DECLINED'],
  limits: declineLimits,
}));

export const linkSubscriptionAddressEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...change,
  id: 'subscriptions.link-address',
  method: 'PATCH',
  path: '/subscriptions/{id}/billing-address',
  summary: 'Link or unlink the billing address of a subscription',
  description: `Sets the billing address, or removes it with null. The address must have the same owner as the subscription.`,
  access: { action: 'canManageSubscriptions', record: subscriptionRecord, references: addressNamed },
  body: billingAddressBody,
  sentBack,
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'table:delete'],
  timeoutSeconds: 10,
}));

const command = { ...change, method: 'POST', idempotent: 'stored' } as const;
const access = { action: 'canManageSubscriptions', record: subscriptionRecord } as const;

export const cancelSubscriptionEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...command,
  command: 'cancel',
  id: 'subscriptions.cancel',
  path: '/subscriptions/{id}/cancel',
  summary: 'Cancel a subscription, at the end of its period or now',
  description: `Ends the subscription with its current period (the default) or immediately. Nothing is refunded; use
    \`POST /payments/{id}/refunds\` for that. An immediate cancellation stops an open charge if that is still possible, and ends a linked
    membership. A repeat returns 200 again. After 504 the event of the cancellation follows, or \`subscription.updated\` with the reason
    \`cancel_failed\`.`,
  access: { ...access },
  body: cancelBody,
  errors: CHANGE_ERRORS,
}));

export const reactivateSubscriptionEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...command,
  command: 'reactivate',
  id: 'subscriptions.reactivate',
  path: '/subscriptions/{id}/reactivate',
  summary: 'Undo a cancellation, or start a canceled subscription again',
  description: `Does one of three things:

    - A scheduled cancellation is cleared; nothing is charged.
    - A canceled subscription whose period still runs continues that period. If the service bills, nothing is charged. If
      the provider bills, a new subscription there charges from the end of the paid time.
    - A canceled subscription whose period is over starts a new period now, and charges it. After a decline the response is 402, and the
      subscription stays canceled.

    After 504, and while \`billing_status\` is \`pending\`, the event of the reactivation follows, or \`subscription.updated\` with the reason
    \`reactivate_failed\`.

    While a charge from before the cancellation is under way (a direct debit takes days), the response is 409 \`PAYMENT_IN_PROGRESS\`.
    A subscription without a cancellation gets 409 \`SUBSCRIPTION_NOT_CANCELED\`.`,
  access,
  body: none,
  errors: [...CHANGE_ERRORS, 'SUBSCRIPTION_NOT_CANCELED', 'PAYMENT_METHOD_REQUIRED', 'PAYMENT_DECLINED'],
  limits: declineLimits,
}));

export const pauseSubscriptionEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...command,
  id: 'subscriptions.pause',
  path: '/subscriptions/{id}/pause',
  summary: 'Pause a subscription: nothing is charged until it is resumed',
  description: `Stops all charges of an active or past-due subscription until it is resumed. Paid time is not lost. A
    repeat returns 200 again; other states get 409 \`INVALID_STATE\`.

    With \`resume_at\` the subscription resumes automatically at that time, as after \`POST /subscriptions/{id}/resume\`, and charges its method. After a
    decline it stays paused, and \`subscription.updated\` with the reason \`resume_failed\` follows. A repeat with another \`resume_at\` moves
    the date; a resumption or a cancellation clears it.`,
  access,
  body: pauseBody,
  errors: CHANGE_ERRORS,
}));

export const resumeSubscriptionEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...command,
  command: 'resume',
  id: 'subscriptions.resume',
  path: '/subscriptions/{id}/resume',
  summary: 'Resume a paused subscription',
  description: `Continues the current period if it is still paid for; else starts a new period now and charges it. After a decline the response
    is 402 \`PAYMENT_DECLINED\`, and the subscription stays paused. After 504, and while \`billing_status\` is \`pending\`, the event of the
    resumption follows, or \`subscription.updated\` with the reason \`resume_failed\`.`,
  access,
  body: none,
  errors: [...CHANGE_ERRORS, 'PAYMENT_METHOD_REQUIRED', 'PAYMENT_DECLINED'],
  limits: declineLimits,
}));

export const listGuestSubscriptionsEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'subscriptions.list-guest',
  method: 'GET',
  path: '/subscriptions/guest/{email}',
  summary: "List a guest's subscriptions by e-mail",
  description: `Lists the guest subscriptions of an e-mail address, newest first. It needs no credential, so it shows only a few fields; with
    the guest token the entries have all fields. An operator may switch off the list without a token.`,
  auth: 'public',
  params: emailParams,
  query: guestSubscriptionsQuery,
  body: null,
  response: () => z.array(guestSubscriptionSchema()),
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'SESSION_INVALID', 'RATE_LIMITED'],
  limits: guestListLimits('guest-subscriptions'),
  uses: ['table:read', 'table:count', 'secrets:guest-tokens'],
}));

export const subscriptionEndpoints = [
  createSubscriptionEndpoint,
  getSubscriptionEndpoint,
  getSubscriptionTimelineEndpoint,
  listSubscriptionsEndpoint,
  updateSubscriptionEndpoint,
  linkSubscriptionAddressEndpoint,
  cancelSubscriptionEndpoint,
  reactivateSubscriptionEndpoint,
  pauseSubscriptionEndpoint,
  resumeSubscriptionEndpoint,
  listGuestSubscriptionsEndpoint,
];
