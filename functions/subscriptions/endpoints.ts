import * as z from 'zod';
import type { NamedRecord } from '../../shared/access/record-kind.ts';
import { addressRecord } from '../../shared/addresses/address.ts';
import { billingAddressBody } from '../../shared/addresses/requests.ts';
import { projectNamed } from '../../shared/catalog/kinds.ts';
import { productRecord, projectRecord } from '../../shared/catalog/records.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { customerRecord } from '../../shared/customers/customer.ts';
import { CREATE_TIMEOUT_SECONDS, endpoint } from '../../shared/http/endpoint.ts';
import { idSchema, jsonValue, nextActionSchema } from '../../shared/http/fields.ts';
import { emailParams, guestCreateLimits, guestListLimits } from '../../shared/http/guests.ts';
import { methodsUsedBy } from '../../shared/payments/commands/requests.ts';
import { PAYMENT_STATUSES } from '../../shared/payments/record/payment.ts';
import { guestSubscriptionsQuery, listSubscriptionsQuery } from '../../shared/queries/subscription-parameters.ts';
import { subscriptionTimelineSchema } from '../../shared/queries/subscription-timeline.ts';
import {
  type CreateSubscriptionBody,
  cancelBody,
  createSubscriptionBody,
  updateSubscriptionBody,
} from '../../shared/subscriptions/commands/requests.ts';
import { SUBSCRIPTION_STATUSES, subscriptionRecord } from '../../shared/subscriptions/record/subscription.ts';
import { SUBSCRIPTION_COLUMNS } from '../../shared/subscriptions/record/view.ts';

const none = z.object({});
const byId = z.object({ id: idSchema });

const guestSubscriptionSchema = z.looseObject({
  id: z.string(),
  status: z.enum(SUBSCRIPTION_STATUSES),
  currency: z.string(),
  total_cents: z.int().nonnegative(),
  billing_interval: z.string(),
  current_period_end: z.string(),
  cancel_at_period_end: z.boolean(),
  is_guest_subscription: z.boolean(),
  created_at: z.string(),
});

const subscriptionSchema = guestSubscriptionSchema.extend({
  customer_id: z.string(),
  product_id: z.string().nullable(),
  payment_method_id: z.string().nullable(),
  provider_id: z.string(),
  provider_subscription_id: z.string().nullable(),
  billing_status: z.string(),
  current_period_start: z.string(),
  next_billing_date: z.string().nullable(),
  trial_end: z.string().nullable(),
  subtotal_cents: z.int().nonnegative(),
  tax_cents: z.int().nonnegative(),
  discount_cents: z.int().nonnegative(),
  interval_multiplier: z.int().positive(),
  project_id: z.string().nullable(),
  organization_id: z.string().nullable(),
  user_id: z.string().nullable(),
  billing_address_id: z.string().nullable(),
  metadata: z.record(z.string(), jsonValue),
});

/** Of a first charge that waits for its payer to authenticate. */
const createdSubscriptionSchema = subscriptionSchema.extend({
  next_action: nextActionSchema.optional(),
  client_secret: z.string().optional(),
});

/** `open_payment` for callers who may pay: what a past-due subscription waits for. */
const shownSubscriptionSchema = subscriptionSchema.extend({
  open_payment: z
    .object({
      id: z.string(),
      status: z.enum(PAYMENT_STATUSES),
      next_action: nextActionSchema.nullable(),
      client_secret: z.string().nullable(),
    })
    .optional(),
});

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

export const createSubscriptionEndpoint = endpoint({
  id: 'subscriptions.create',
  method: 'POST',
  path: '/subscriptions',
  summary: 'Create a subscription',
  auth: 'session-or-guest',
  access: {
    action: 'canManageSubscriptions',
    organization: 'session by default',
    references: namedBy,
    uses: methodsUsedBy,
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
    'UNSUPPORTED_CURRENCY',
    'UNSUPPORTED_PROVIDER',
    'PROVIDER_MISMATCH',
    'PRODUCT_INACTIVE',
    'PAYMENT_DECLINED',
    'RESOURCE_NOT_FOUND',
    'INSUFFICIENT_PERMISSIONS',
    'INVALID_STATE',
    'PROVIDER_TIMEOUT',
    'PROVIDER_UNAVAILABLE',
    'RATE_LIMITED',
  ],
  idempotent: 'create',
  limits: guestCreateLimits,
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:guest-tokens'],
  timeoutSeconds: CREATE_TIMEOUT_SECONDS.subscription,
  paymentPath: true,
});

export const getSubscriptionEndpoint = endpoint({
  id: 'subscriptions.get',
  method: 'GET',
  path: '/subscriptions/{id}',
  summary: 'Get a subscription',
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
});

export const getSubscriptionTimelineEndpoint = endpoint({
  id: 'subscriptions.timeline',
  method: 'GET',
  path: '/subscriptions/{id}/timeline',
  summary: 'Show what happened to a subscription, in order',
  description: `Lists the versions of the subscription with their causes and actors, oldest first, and the payment of each period that was
    charged. Callers who may read the webhook log also see the events of the provider and the deliveries to targets of the last 90 days.
    Use it to explain a subscription to a customer, or to find who canceled it.`,
  meta: z
    .object({
      subscription_id: z.string().describe('The subscription that the entries are about, `subs_…`.'),
      status: z.enum(SUBSCRIPTION_STATUSES).describe('The present status of the subscription.'),
      is_complete: z
        .boolean()
        .describe('False if some deliveries are left out, or versions older than the newest 500.'),
    })
    .describe('About the whole timeline.'),
  auth: 'session',
  access: { action: 'read', record: subscriptionRecord },
  params: z.object({ id: idSchema.describe('Names the subscription, `subs_…`.') }),
  query: none,
  body: null,
  response: subscriptionTimelineSchema,
  status: 200,
  form: 'envelope',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
});

export const listSubscriptionsEndpoint = endpoint({
  id: 'subscriptions.list',
  method: 'GET',
  path: '/subscriptions',
  summary: 'List subscriptions',
  auth: 'session',
  access: { action: 'read', organization: 'session by default', references: projectNamed },
  params: none,
  query: listSubscriptionsQuery,
  body: null,
  response: z.array(subscriptionSchema),
  status: 200,
  form: 'bare',
  csv: { name: 'subscriptions', columns: SUBSCRIPTION_COLUMNS },
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read'],
});

const change = {
  auth: 'session',
  params: byId,
  query: none,
  response: subscriptionSchema,
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

export const updateSubscriptionEndpoint = endpoint({
  ...change,
  id: 'subscriptions.update',
  method: 'PATCH',
  path: '/subscriptions/{id}',
  summary: 'Change the payment method or metadata of a subscription',
  access: {
    action: 'canManageSubscriptions',
    record: subscriptionRecord,
    uses: methodsUsedBy,
  },
  body: updateSubscriptionBody,
  errors: [...CHANGE_ERRORS, 'PROVIDER_MISMATCH'],
});

export const linkSubscriptionAddressEndpoint = endpoint({
  ...change,
  id: 'subscriptions.link-address',
  method: 'PATCH',
  path: '/subscriptions/{id}/billing-address',
  summary: 'Link or unlink the billing address of a subscription',
  access: { action: 'canManageSubscriptions', record: subscriptionRecord, references: addressNamed },
  body: billingAddressBody,
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'table:delete'],
  timeoutSeconds: 10,
});

const command = { ...change, method: 'POST', idempotent: 'stored' } as const;
const access = { action: 'canManageSubscriptions', record: subscriptionRecord } as const;

export const cancelSubscriptionEndpoint = endpoint({
  ...command,
  id: 'subscriptions.cancel',
  path: '/subscriptions/{id}/cancel',
  summary: 'Cancel a subscription, at the end of its period or now',
  access: { ...access, platformAdmins: 'may act' },
  body: cancelBody,
  errors: CHANGE_ERRORS,
});

export const reactivateSubscriptionEndpoint = endpoint({
  ...command,
  id: 'subscriptions.reactivate',
  path: '/subscriptions/{id}/reactivate',
  summary: 'Take back a cancelation, or start a canceled subscription again',
  access,
  body: none,
  errors: [...CHANGE_ERRORS, 'SUBSCRIPTION_NOT_CANCELED', 'PAYMENT_METHOD_REQUIRED', 'PAYMENT_DECLINED'],
});

export const pauseSubscriptionEndpoint = endpoint({
  ...command,
  id: 'subscriptions.pause',
  path: '/subscriptions/{id}/pause',
  summary: 'Pause a subscription: nothing is charged until it is resumed',
  access,
  body: none,
  errors: CHANGE_ERRORS,
});

export const resumeSubscriptionEndpoint = endpoint({
  ...command,
  id: 'subscriptions.resume',
  path: '/subscriptions/{id}/resume',
  summary: 'Resume a paused subscription',
  access,
  body: none,
  errors: [...CHANGE_ERRORS, 'PAYMENT_METHOD_REQUIRED', 'PAYMENT_DECLINED'],
});

export const listGuestSubscriptionsEndpoint = endpoint({
  id: 'subscriptions.list-guest',
  method: 'GET',
  path: '/subscriptions/guest/{email}',
  summary: "List a guest's subscriptions by e-mail",
  auth: 'public',
  params: emailParams,
  query: guestSubscriptionsQuery,
  body: null,
  response: z.array(guestSubscriptionSchema),
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'SESSION_INVALID', 'RATE_LIMITED'],
  limits: guestListLimits('guest-subscriptions'),
  uses: ['table:read', 'table:put', 'secrets:guest-tokens'],
});

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
