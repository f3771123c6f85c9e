import * as z from 'zod';
import { principalOf } from '../../shared/access/caller.ts';
import type { NamedRecord } from '../../shared/access/record-kind.ts';
import { addressRecord } from '../../shared/addresses/address.ts';
import { billingAddressBody } from '../../shared/addresses/requests.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { customerPointerKey } from '../../shared/customers/owner-customer.ts';
import { CREATE_TIMEOUT_SECONDS, endpoint, type RateLimit } from '../../shared/http/endpoint.ts';
import { idSchema } from '../../shared/http/fields.ts';
import { guestCreateLimits, guestDeclineLimits, networkWithoutSession } from '../../shared/http/guests.ts';
import { paymentMethodRecord } from '../../shared/payment-methods/payment-method.ts';
import { createMethodBody, listMethodsQuery, updateMethodBody } from '../../shared/payment-methods/requests.ts';
import { SETUP_STATUSES } from '../../shared/payment-methods/setup.ts';
import { ownerPartition } from '../../shared/table/keys.ts';

const none = z.object({});
const byId = z.object({ id: idSchema });
const tokenQuery = z.object({ token: z.string().max(2048).optional() });

const methodSchema = z.looseObject({
  id: z.string(),
  provider_id: z.string(),
  provider_payment_method_id: z.string(),
  type: z.enum(['card', 'bank_account']),
  card_brand: z.string().nullable(),
  card_last_four: z.string().nullable(),
  card_exp_month: z.string().nullable(),
  card_exp_year: z.string().nullable(),
  billing_address_id: z.string().nullable(),
  is_default: z.boolean(),
  alias: z.string().nullable(),
  is_guest_method: z.boolean(),
  setup_status: z.enum(SETUP_STATUSES),
  next_action: z
    .object({ type: z.enum(['use_provider_sdk', 'redirect_to_url']), url: z.string().optional() })
    .optional(),
  client_secret: z.string().optional(),
  created_at: z.string(),
});

const addressNamed = ({
  billing_address_id: id,
}: {
  readonly billing_address_id?: string | null | undefined;
}): readonly NamedRecord[] => (id ? [{ kind: addressRecord, id }] : []);

/**
 * The provider checks each saved method, so an owner may save 20 per hour. Owners are free to create, so all saves of a user
 * for any owner, and all saves of an address without a session, share a window of three times that size. Users and
 * organizations are counted after the access rule.
 */
const HOUR = 3_600;
const SAVING = { max: 20, windowSeconds: HOUR } as const;
const SAVING_FOR_MANY = { max: 60, windowSeconds: HOUR } as const;
const savingLimits: readonly RateLimit[] = [
  {
    name: 'save-method-guest',
    ...SAVING,
    by: ({ caller }) => (caller.kind === 'guest' ? caller.email : undefined),
  },
  {
    name: 'save-method',
    ...SAVING,
    counts: 'allowed requests',
    by: ({ caller, owner }) => (caller.kind === 'session' && owner ? ownerPartition(owner, 'PM') : undefined),
  },
  {
    name: 'save-method-user',
    ...SAVING_FOR_MANY,
    counts: 'allowed requests',
    by: ({ caller, owner }) => (owner?.kind === 'organization' ? principalOf(caller) : undefined),
  },
  { name: 'save-method-ip', ...SAVING_FOR_MANY, by: networkWithoutSession },
  {
    name: 'declined-method-user',
    max: 10,
    windowSeconds: HOUR,
    counts: 'declined payments',
    by: ({ caller }) => (caller.kind === 'session' ? principalOf(caller) : undefined),
  },
  ...guestDeclineLimits,
];

export const createMethodEndpoint = endpoint({
  id: 'payment-methods.create',
  method: 'POST',
  path: '/payment-methods',
  summary: 'Save a payment method',
  auth: 'session-or-guest',
  access: {
    action: 'canManagePaymentMethods',
    organization: 'session by default',
    references: addressNamed,
    uses: ({ provider_payment_method_token: id }) => (id ? [{ kind: paymentMethodRecord, id }] : []),
    alongside: (owner, body) => [customerPointerKey(owner, body.provider_id)],
  },
  params: none,
  query: none,
  body: createMethodBody,
  response: methodSchema,
  status: 201,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'UNSUPPORTED_PROVIDER',
    'RAW_CARD_DISABLED',
    'PAYMENT_DECLINED',
    'RESOURCE_NOT_FOUND',
    'VERSION_CONFLICT',
    'RATE_LIMITED',
  ],
  idempotent: 'create',
  limits: [...guestCreateLimits, ...savingLimits],
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:guest-tokens'],
  timeoutSeconds: CREATE_TIMEOUT_SECONDS.payment_method,
});

export const getMethodEndpoint = endpoint({
  id: 'payment-methods.get',
  method: 'GET',
  path: '/payment-methods/{id}',
  summary: 'Get a payment method',
  auth: 'session-or-token',
  access: { action: 'read', record: paymentMethodRecord },
  params: byId,
  query: tokenQuery,
  body: null,
  response: methodSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'secrets:guest-tokens'],
});

export const listMethodsEndpoint = endpoint({
  id: 'payment-methods.list',
  method: 'GET',
  path: '/payment-methods',
  summary: 'List payment methods',
  auth: 'session-or-token',
  access: { action: 'read', organization: 'personal by default' },
  params: none,
  query: listMethodsQuery,
  body: null,
  response: z.array(methodSchema),
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_FILTER', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'table:put', 'secrets:guest-tokens'],
});

const change = {
  auth: 'session',
  params: byId,
  query: none,
  response: methodSchema,
  status: 200,
  form: 'bare',
} as const;

export const updateMethodEndpoint = endpoint({
  ...change,
  id: 'payment-methods.update',
  method: 'PUT',
  path: '/payment-methods/{id}',
  summary: 'Update a payment method',
  access: { action: 'canManagePaymentMethods', record: paymentMethodRecord, references: addressNamed },
  body: updateMethodBody,
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'INVALID_STATE', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'table:delete'],
});

export const linkMethodAddressEndpoint = endpoint({
  ...change,
  id: 'payment-methods.link-address',
  method: 'PATCH',
  path: '/payment-methods/{id}/billing-address',
  summary: 'Link or unlink the billing address of a payment method',
  access: { action: 'canManagePaymentMethods', record: paymentMethodRecord, references: addressNamed },
  body: billingAddressBody,
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS],
  timeoutSeconds: 20,
});

export const setDefaultMethodEndpoint = endpoint({
  ...change,
  id: 'payment-methods.set-default',
  method: 'POST',
  path: '/payment-methods/{id}/set-default',
  summary: 'Make a payment method the default',
  access: { action: 'canManagePaymentMethods', record: paymentMethodRecord },
  body: none,
  errors: ['RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'INVALID_STATE'],
  idempotent: 'stored',
  uses: ['table:read', 'table:put'],
});

export const deleteMethodEndpoint = endpoint({
  id: 'payment-methods.remove',
  method: 'DELETE',
  path: '/payment-methods/{id}',
  summary: 'Delete a payment method',
  auth: 'session',
  access: { action: 'canManagePaymentMethods', record: paymentMethodRecord },
  params: byId,
  query: none,
  body: null,
  response: null,
  status: 204,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'PAYMENT_METHOD_IN_USE', 'PROVIDER_TIMEOUT'],
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS],
  timeoutSeconds: 20,
});

export const methodEndpoints = [
  createMethodEndpoint,
  getMethodEndpoint,
  listMethodsEndpoint,
  updateMethodEndpoint,
  linkMethodAddressEndpoint,
  setDefaultMethodEndpoint,
  deleteMethodEndpoint,
];
