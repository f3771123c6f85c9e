/**
 * @module The HTTP endpoints for saved payment methods, with the schemas, access rule and limits of each route. The
 * API document is generated from them.
 */

import * as z from 'zod';
import { isMemberCaller, subjectOf } from '../../shared/access/caller.ts';
import type { NamedRecord } from '../../shared/access/record-kind.ts';
import { FUNDINGS } from '../../shared/core/fact-words.ts';
import { PAYMENT_SECRETS } from '../../shared/core/rights.ts';
import { addressRecord } from '../../shared/customers/address.ts';
import { billingAddressBody } from '../../shared/customers/address-requests.ts';
import { customerPointerKey } from '../../shared/customers/customer.ts';
import { CREATE_TIMEOUT_SECONDS, endpoint } from '../../shared/http/endpoint.ts';
import { idSchema, nextActionSchema, timestamp } from '../../shared/http/fields.ts';
import { guestTokenView, tokenParameter } from '../../shared/http/guest-fields.ts';
import type { RateLimit } from '../../shared/http/rate-limit.ts';
import { declineLimits, guestCreateLimits, networkWithoutSession, provenCaller } from '../../shared/http/windows.ts';
import { createMethodBody, listMethodsQuery, updateMethodBody } from '../../shared/payment-methods/method-requests.ts';
import { SETUP_STATUSES } from '../../shared/payment-methods/method-setup.ts';
import { paymentMethodRecord } from '../../shared/payment-methods/payment-method.ts';
import { ownerPartition } from '../../shared/platform/keys.ts';

const none = z.object({});
const byId = z.object({ id: idSchema.describe('Id of the payment method, `pmt_…`.') });
const tokenQuery = z.object({ token: tokenParameter });

const text = z.string().nullable();

const methodSchema = z
  .looseObject({
    id: z.string().meta({
      description: 'Id of the payment method: `pmt_` and 24 characters.',
      examples: ['pmt_ff1f7d6ee53651bba2808e45'],
    }),
    provider_id: z.string().meta({ description: 'The provider slot that keeps the method.', examples: ['provider_a'] }),
    provider_payment_method_id: z.string().describe('The id of the method at the provider, such as `pm_…` at Stripe.'),
    type: z.enum(['card', 'bank_account']).describe('Whether the method is a card or a bank account.'),
    wallet_type: text
      .optional()
      .describe('The wallet behind the method, as the provider names it, such as `paypal`; null without a wallet.'),
    card_brand: text.meta({
      description: 'The brand of the card; null if the provider names no brand.',
      examples: ['visa'],
    }),
    card_last_four: text.meta({
      description: 'The last four digits of the card or account; null if unknown.',
      examples: ['4242'],
    }),
    card_exp_month: text.meta({
      description: 'The month in which the card expires, as MM; null if the method has none.',
      examples: ['12'],
    }),
    card_exp_year: text.meta({
      description: 'The year in which the card expires, as YYYY; null if the method has none.',
      examples: ['2030'],
    }),
    funding: z
      .enum(FUNDINGS)
      .nullable()
      .meta({
        description: 'Whether the card is a credit, debit or prepaid card; null if unknown.',
        examples: ['credit'],
      }),
    country: text.meta({
      description: 'The country of the issuer (ISO 3166-1 alpha-2); null if unknown.',
      examples: ['US'],
    }),
    fingerprint: text.meta({
      description:
        'Equal for equal cards of one provider slot: `fp_` and 24 characters; null if the provider gives no fingerprint, as PayPal, or if fingerprints are off.',
      examples: ['fp_5f0c2d1e8a7b4c3d9e6f0a1b'],
    }),
    billing_address_id: text.describe('The billing address of the method, `addr_…`; null if it has none.'),
    customer_id: text.optional().describe('The customer for whom the provider keeps the method, `cust_…`.'),
    is_default: z.boolean().describe('True for the one default method of its owner.'),
    alias: text.describe('The name that the owner gave to the method; null if it has none.'),
    is_guest_method: z.boolean().describe('True if a guest without a session saved the method.'),
    setup_status: z
      .enum(SETUP_STATUSES)
      .describe(
        '`succeeded`: ready to be charged. `requires_action`: the payer must authenticate within 24 hours (`next_action`). `failed`: the authentication failed, and may be tried again within those 24 hours.',
      ),
    next_action: nextActionSchema
      .optional()
      .describe('What the payer must do before the method can be charged; absent otherwise.'),
    client_secret: z
      .string()
      .optional()
      .describe(
        "For the provider's library in the browser while the set-up is open; only for callers who may change the method.",
      ),
    organization_id: z
      .string()
      .optional()
      .describe('The organization that owns the method; absent for a personal method.'),
    created_at: timestamp.describe('When the method was saved.'),
    updated_at: timestamp.optional().describe('When the method last changed.'),
  })
  .meta({ id: 'PaymentMethod', description: 'A card or bank account that the provider keeps for later charges.' });

const createdMethodSchema = methodSchema
  .extend(guestTokenView)
  .meta({ id: 'CreatedPaymentMethod', description: 'The saved payment method and, for a guest, a guest token.' });

const linkedMethodSchema = methodSchema
  .extend({
    provider_synced: z
      .boolean()
      .optional()
      .describe(
        'True if the provider has accepted the billing details; absent if it was not called, because it stores no billing details or the request unlinked the address.',
      ),
  })
  .meta({
    id: 'LinkedPaymentMethod',
    description: 'The payment method after its billing address was linked or unlinked.',
  });

const addressNamed = ({
  billing_address_id: id,
}: {
  readonly billing_address_id?: string | null | undefined;
}): readonly NamedRecord[] => (id ? [{ kind: addressRecord, id }] : []);

/**
 * Limits on saving, because the provider checks each saved method. An owner may save 20 methods per hour. All of a
 * user's saves for organizations share a limit of 60, and so do all saves from an IP address without a session. In the
 * limits of users and organizations, a request denied by the access rule does not count.
 */
const HOUR_SECONDS = 3_600;
const SAVING = { max: 20, windowSeconds: HOUR_SECONDS } as const;
const SAVING_FOR_MANY = { max: 60, windowSeconds: HOUR_SECONDS } as const;
const savingLimits: readonly RateLimit[] = [
  {
    name: 'save-method-guest',
    ...SAVING,
    by: ({ caller }) => (caller.kind === 'guest' ? provenCaller(caller) : undefined),
  },
  {
    name: 'save-method',
    ...SAVING,
    counts: 'allowed requests',
    by: ({ caller, owner }) => (isMemberCaller(caller) && owner ? ownerPartition(owner, 'PM') : undefined),
  },
  {
    name: 'save-method-user',
    ...SAVING_FOR_MANY,
    counts: 'allowed requests',
    by: ({ caller, owner }) => (owner?.kind === 'organization' ? subjectOf(caller) : undefined),
  },
  { name: 'save-method-ip', ...SAVING_FOR_MANY, by: networkWithoutSession },
  ...declineLimits,
];

export const createMethodEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payment-methods.create',
  method: 'POST',
  path: '/payment-methods',
  summary: 'Save a payment method',
  description: `Attaches the token of a card or bank account to the owner's customer at the provider, and stores the
    method. The first method of an owner creates the customer. Save a method that later payments or a subscription will charge; for a single payment, send the token with the payment.

    If the bank asks the payer to authenticate, the response has \`setup_status: requires_action\`, a \`next_action\` and a
    \`client_secret\`. Before authentication the method cannot be charged or become the default, and after 24 hours without authentication it is removed.

    402 \`PAYMENT_DECLINED\` means that the bank refused the card. After 403 \`RAW_CARD_DISABLED\`, send a token in place of card data.`,
  auth: 'session-or-guest',
  access: {
    action: 'canManagePaymentMethods',
    organization: 'session by default',
    references: addressNamed,
    uses: ({ provider_payment_method_token: id }) => (id ? [{ kind: paymentMethodRecord, id }] : []),
    createdUnder: { kind: 'payment_method', key: paymentMethodRecord.key },
    alongside: (owner, body) => [customerPointerKey(owner, body.provider_id)],
  },
  params: none,
  query: none,
  body: createMethodBody,
  response: () => createdMethodSchema,
  status: 201,
  form: 'bare',
  errors: [
    'VALIDATION_ERROR',
    'UNSUPPORTED_PROVIDER',
    'PROVIDER_MISMATCH',
    'RAW_CARD_DISABLED',
    'PAYMENT_DECLINED',
    'RESOURCE_NOT_FOUND',
    'VERSION_CONFLICT',
    'RATE_LIMITED',
  ],
  idempotent: 'create',
  limits: [...guestCreateLimits, ...savingLimits],
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS, 'secrets:guest-tokens', 'secrets:ids'],
  timeoutSeconds: CREATE_TIMEOUT_SECONDS.payment_method,
}));

export const getMethodEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payment-methods.get',
  method: 'GET',
  path: '/payment-methods/{id}',
  summary: 'Get a payment method',
  description: `Shows one payment method. \`setup_status\` says whether its set-up is complete.`,
  auth: 'session-or-token',
  access: { action: 'read', record: paymentMethodRecord },
  params: byId,
  query: tokenQuery,
  body: null,
  response: () => methodSchema,
  status: 200,
  form: 'bare',
  errors: ['RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'secrets:guest-tokens'],
}));

export const listMethodsEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payment-methods.list',
  method: 'GET',
  path: '/payment-methods',
  summary: 'List payment methods',
  description: `Lists the personal methods of the caller, or those of an organization or of a guest with a token, newest first unless \`orderBy\` says
    otherwise.`,
  auth: 'session-or-token',
  access: { action: 'read', organization: 'personal by default' },
  params: none,
  query: listMethodsQuery,
  body: null,
  response: () => z.array(methodSchema),
  status: 200,
  form: 'bare',
  errors: ['VALIDATION_ERROR', 'UNSUPPORTED_FILTER', 'RESOURCE_NOT_FOUND', 'ORGANIZATION_ACCESS_DENIED'],
  uses: ['table:read', 'table:put', 'secrets:guest-tokens'],
}));

const change = {
  auth: 'session',
  params: byId,
  query: none,
  response: () => methodSchema,
  status: 200,
  form: 'bare',
} as const;

export const updateMethodEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...change,
  id: 'payment-methods.update',
  method: 'PUT',
  path: '/payment-methods/{id}',
  summary: 'Update a payment method',
  description: `Changes alias, billing address and default. The card itself cannot change, so save another method and delete this method. A
    method with an unfinished set-up cannot become the default; the request gets 409 \`INVALID_STATE\`.`,
  access: { action: 'canManagePaymentMethods', record: paymentMethodRecord, references: addressNamed },
  body: updateMethodBody,
  sentBack: { changedBy: {} },
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'INVALID_STATE', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'table:delete'],
}));

export const linkMethodAddressEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...change,
  id: 'payment-methods.link-address',
  method: 'PATCH',
  path: '/payment-methods/{id}/billing-address',
  summary: 'Link or unlink the billing address of a payment method',
  description: `Changes only the billing address, and sends the billing details to the provider if the provider stores them. If the provider
    refuses them, the address stays linked here and \`provider_synced\` is false.`,
  access: { action: 'canManagePaymentMethods', record: paymentMethodRecord, references: addressNamed },
  body: billingAddressBody,
  sentBack: {
    moving: ['provider_synced'],
    changedBy: { alias: 'PUT /payment-methods/{id}', is_default: 'PUT /payment-methods/{id}' },
  },
  response: () => linkedMethodSchema,
  errors: ['VALIDATION_ERROR', 'RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'VERSION_CONFLICT'],
  uses: ['table:read', 'table:put', 'table:delete', ...PAYMENT_SECRETS],
  timeoutSeconds: 20,
}));

export const setDefaultMethodEndpoint = /* @__PURE__ */ endpoint(() => ({
  ...change,
  id: 'payment-methods.set-default',
  method: 'POST',
  path: '/payment-methods/{id}/set-default',
  summary: 'Make a payment method the default',
  description: `Marks the method as the default of its owner, in place of the previous default. A method with an
    unfinished set-up cannot become the default; the request gets 409 \`INVALID_STATE\`.`,
  access: { action: 'canManagePaymentMethods', record: paymentMethodRecord },
  body: none,
  errors: ['RESOURCE_NOT_FOUND', 'INSUFFICIENT_PERMISSIONS', 'INVALID_STATE'],
  idempotent: 'stored',
  uses: ['table:read', 'table:put'],
}));

export const deleteMethodEndpoint = /* @__PURE__ */ endpoint(() => ({
  id: 'payment-methods.remove',
  method: 'DELETE',
  path: '/payment-methods/{id}',
  summary: 'Delete a payment method',
  description: `Detaches the method at the provider and removes it here. Live subscriptions that charge it change to the owner's default
    method of the same provider. Without such a default the response is 409 \`PAYMENT_METHOD_IN_USE\`, and nothing changes. When the
    default itself is deleted, the newest remaining method becomes the default.`,
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
}));

export const methodEndpoints = [
  createMethodEndpoint,
  getMethodEndpoint,
  listMethodsEndpoint,
  updateMethodEndpoint,
  linkMethodAddressEndpoint,
  setDefaultMethodEndpoint,
  deleteMethodEndpoint,
];
