/** @module Errors in the API document. Each code has its cause, the caller's remedy, and a rendered example. */

import * as z from 'zod';
import { scopesOfRoute } from '../access/scopes.ts';
import { DomainError, ERRORS, type ErrorCode, type ErrorDetails, invalid, notFound } from '../core/errors.ts';
import { callsProviders } from '../core/rights.ts';
import { keysOf } from '../core/rows.ts';
import type { Endpoint } from '../http/endpoint.ts';

export const ERROR_CODES = keysOf(ERRORS);

interface Guide {
  /** The cause of the error and the caller's remedy. */
  readonly when: string;
  /** The example's message and details; absent if the default message suffices. */
  readonly example?: DomainError;
}

const because = (code: ErrorCode, message: string | undefined, details?: ErrorDetails): DomainError =>
  new DomainError(code, { ...(message !== undefined && { message }), ...(details !== undefined && { details }) });

const PAYMENT = 'pay_814fd0524add4278431c499b';

const GUIDE: Readonly<Record<ErrorCode, Guide>> = {
  VALIDATION_ERROR: {
    when: 'A parameter, header or field is missing or breaks a rule. `details` lists every problem, at most 100 of them; correct them all and send the request again.',
    example: invalid([{ path: 'currency', rule: 'required', message: 'is required' }]),
  },
  INVALID_JSON: {
    when: 'The body cannot be parsed as JSON. `details` has the line and column of the mistake, except in a body with too many values.',
    example: because('INVALID_JSON', 'The body is not valid JSON at line 3, column 16', { line: 3, column: 16 }),
  },
  PRICING_MISMATCH: {
    when: "The prices do not add up (total = subtotal + tax − discount), or differ from the product's prices. `error` names the expected value.",
    example: because('PRICING_MISMATCH', 'total_cents must be 2975: total = subtotal + tax - discount', {
      path: 'total_cents',
      expected: 2975,
      given: 3000,
    }),
  },
  REFUND_EXCEEDS_PAYMENT: {
    when: 'The amount exceeds what can still be refunded; `details.refundable_cents` says how much is left.',
    example: because('REFUND_EXCEEDS_PAYMENT', undefined, { payment_id: PAYMENT, refundable_cents: 1500 }),
  },
  CAPTURE_EXCEEDS_AUTHORIZATION: {
    when: 'The amount exceeds what is held; `details.capturable_cents` says how much can be captured.',
    example: because('CAPTURE_EXCEEDS_AUTHORIZATION', undefined, { capturable_cents: 2500 }),
  },
  AMOUNT_TOO_SMALL: {
    when: "The total is 0, or below the provider's minimum charge in this currency.",
    example: because('AMOUNT_TOO_SMALL', 'The total must be at least 1, not 0'),
  },
  UNSUPPORTED_CURRENCY: {
    when: 'The currency is not an ISO 4217 code, or the provider does not accept it.',
    example: because('UNSUPPORTED_CURRENCY', 'currency must be an ISO 4217 code such as USD', [
      { path: 'currency', rule: 'iso_4217', message: 'must be an ISO 4217 code such as USD' },
    ]),
  },
  DISCOUNT_INVALID: {
    when: 'The discount code cannot be used; `details.reason` is unknown, not_started, ended, exhausted, used, wrong_product, wrong_currency or no_effect. Nothing is stored.',
    example: because('DISCOUNT_INVALID', 'The discount code cannot be used: ended', { reason: 'ended' }),
  },
  UNSUPPORTED_PROVIDER: {
    when: 'The provider is switched off in this installation, or does not support the request.',
    example: because('UNSUPPORTED_PROVIDER', 'provider_d does not support payments here', {
      provider_id: 'provider_d',
    }),
  },
  UNSUPPORTED_FILTER: {
    when: 'This list does not support the filter or order, or would have to read too many records for it. `error` says what to change.',
    example: because('UNSUPPORTED_FILTER', 'cursor goes with orderBy=created_at; use page'),
  },
  PROVIDER_MISMATCH: {
    when: 'The request names a record, or a token, of another provider.',
    example: because('PROVIDER_MISMATCH', 'customer_id belongs to provider_b, not provider_a', {
      path: 'customer_id',
      expected: 'provider_a',
      given: 'provider_b',
    }),
  },
  PAYMENT_METHOD_REQUIRED: {
    when: 'Neither the request nor the record names a payment method that still exists. Name one and send the request again.',
  },
  PRODUCT_INACTIVE: {
    when: 'The product can no longer be bought.',
    example: because('PRODUCT_INACTIVE', undefined, { product_id: 'prod_notebook' }),
  },
  QUANTITY_INVALID: {
    when: 'The quantity is outside `min_quantity` and `max_quantity` of the product, or it is not 1 without a product.',
    example: because('QUANTITY_INVALID', 'The quantity must be from 2 to 50, not 1', { minimum: 2, maximum: 50 }),
  },
  ALREADY_MEMBER: { when: 'The user already has a role in the organization; change the role instead.' },
  INVALID_ROLE: {
    when: 'The role does not exist, or it is `owner`, which cannot be assigned.',
    example: because('INVALID_ROLE', undefined, { role: 'owner', roles: ['admin', 'billing', 'member'] }),
  },
  OWNER_IMMUTABLE: { when: 'The request would change the role of the owner or remove the owner.' },
  CANNOT_CHANGE_SELF: {
    when: 'Members cannot change their own role or remove themselves. To end your membership, leave the organization.',
  },
  OWNER_CANNOT_LEAVE: { when: 'The owner cannot leave. Delete the organization instead.' },
  UNKNOWN_EVENT: {
    when: 'No event has this name.',
    example: because('UNKNOWN_EVENT', undefined, { event: 'payment.paid' }),
  },
  UNKNOWN_CACHE_TYPE: {
    when: 'No cache has this name; `details.cache_types` lists the names.',
    example: because('UNKNOWN_CACHE_TYPE', undefined, { cache_types: ['organization_membership', 'session', 'all'] }),
  },
  ACTING_REQUIRED: {
    when: 'A service key sent a request that only a payer can make. Name the payer in `X-Act-For`, or send `guest_data` if the route accepts it. For a list of all owners, `error` names the route.',
  },
  IDEMPOTENCY_KEY_INVALID: {
    when: 'The key is empty, too long or not printable ASCII, or has fewer than 20 characters in a request without a credential.',
  },
  AUTHENTICATION_REQUIRED: { when: 'The request has no credential, and the route needs one.' },
  SESSION_INVALID: {
    when: 'The session, bearer token or guest token does not exist or is forged, or the guest token has expired.',
  },
  API_KEY_INVALID: {
    when: 'The service key is unknown, malformed, expired or revoked, or the request comes from an address that the key does not allow. The response is the same in each case.',
  },
  SESSION_EXPIRED: { when: 'The session or bearer token was valid and has expired; sign in again.' },
  GUEST_NOT_ALLOWED: { when: 'The request has only `guest_data` or a guest token, and the route does not accept it.' },
  INVALID_WEBHOOK_SIGNATURE: {
    when: 'The signature of the event does not match its body. The event is not processed.',
  },
  PAYMENT_DECLINED: {
    when: `The provider or the payer's bank declined the charge; \`details.decline_code\` says why. Ask the payer for another
      payment method, or to authenticate if the code is \`authentication_required\`.`,
    example: because('PAYMENT_DECLINED', undefined, { decline_code: 'insufficient_funds' }),
  },
  INSUFFICIENT_PERMISSIONS: {
    when: "The caller's role in the organization does not allow the action, the record may not be used this way, a scope is missing (`details.required_scope`), the caller would decide on their own payment (`details.reason: own_payment`), or another member lent the payment method (`lent_method`). A caller without a service key also gets it for `X-Act-For`.",
    example: because('INSUFFICIENT_PERMISSIONS', undefined, { role: 'member', permission: 'canManagePayments' }),
  },
  ORGANIZATION_ACCESS_DENIED: { when: 'The record belongs to an organization, and the caller is not a member of it.' },
  ADMIN_REQUIRED: {
    when: 'The route is for the merchant only: platform admins, and staff or service keys with its scope.',
  },
  RAW_CARD_DISABLED: {
    when: 'The installation or the provider does not accept card numbers; send a token of the provider instead.',
  },
  RESOURCE_NOT_FOUND: {
    when: 'No such record, or a personal record of another user; `details.resource` names its kind.',
    example: notFound('payment'),
  },
  USER_NOT_FOUND: {
    when: 'The identity service knows no user with this e-mail address, or with the id in `X-Act-For`.',
  },
  INVITE_NOT_FOUND: { when: 'No invite has this token.' },
  ROUTE_NOT_FOUND: { when: 'No route has this path, or the installation has switched it off.' },
  METHOD_NOT_ALLOWED: {
    when: 'The path exists, but not for this method; the header `Allow` lists the methods.',
    example: because('METHOD_NOT_ALLOWED', undefined, { allowed: ['GET', 'POST'] }),
  },
  INVALID_STATE: {
    when: 'The status of the record does not allow the action. `error` says which status; read the record before you decide what to do.',
    example: because('INVALID_STATE', 'The payment is canceled'),
  },
  PAYMENT_NOT_UPDATABLE: {
    when: 'The payment is confirmed, settled or part of a subscription, so its amount and method are fixed.',
    example: because('PAYMENT_NOT_UPDATABLE', undefined, { status: 'succeeded' }),
  },
  PAYMENT_DISPUTED: {
    when: 'A dispute of the payment is open, so a refund could give the money back twice. `details` names the dispute. Send `despite_dispute: true` to refund anyway. The provider may still refuse; `details` then also names the refund. With `details.status: lost`, the bank has given the money back already, and the flag does not help.',
    example: because('PAYMENT_DISPUTED', undefined, {
      dispute_id: 'dsp_0123456789abcdef01234567',
      status: 'needs_response',
    }),
  },
  PAYMENT_IN_PROGRESS: {
    when: 'A charge or an update is under way. Wait for the event with the outcome, or read the record again later (after `Retry-After`, if the response has this header).',
  },
  LINK_SPENT: { when: 'All `max_payments` of the payment link are paid or under way.' },
  SUBSCRIPTION_NOT_CANCELED: { when: 'The subscription is not canceled, and no cancellation is scheduled.' },
  PAYMENT_METHOD_IN_USE: {
    when: 'Live subscriptions charge this payment method, and no other method can replace it. Set another method on these subscriptions first.',
    example: because('PAYMENT_METHOD_IN_USE', undefined, { subscription_ids: ['subs_0123456789abcdef01234567'] }),
  },
  PRICE_CHANGED: {
    when: 'The change of the plan does not cost `expected_cents`. Preview it again, and ask the payer.',
    example: because('PRICE_CHANGED', undefined, { due_now_cents: 1_000 }),
  },
  VERSION_CONFLICT: { when: 'Another request changed the record at the same time. Retry the request.' },
  IDEMPOTENCY_IN_PROGRESS: {
    when: 'The first request with this `Idempotency-Key` is still running. Send the request again after `Retry-After`.',
  },
  INVITE_EXPIRED: { when: 'The invite has expired, or was accepted or revoked.' },
  PAYLOAD_TOO_LARGE: {
    when: 'The body is larger than 256 KB.',
    example: because('PAYLOAD_TOO_LARGE', undefined, { limit_bytes: 262144 }),
  },
  UNSUPPORTED_MEDIA_TYPE: { when: 'The `Content-Type` is not JSON in UTF-8, or the body is compressed.' },
  IDEMPOTENCY_KEY_REUSED: {
    when: 'The same `Idempotency-Key` was sent with another body, or with a session of another organization, within 24 hours. Use a new key for a new request.',
  },
  RATE_LIMITED: { when: 'Too many requests in a time window. Retry after `Retry-After`.' },
  INTERNAL_ERROR: {
    when: 'A fault of the service. Quote `request_id` to support; a POST with the same `Idempotency-Key` is safe to repeat.',
  },
  PROVIDER_ERROR: {
    when: "The provider returned an error, or a response that contradicts the record. `details` names the record or the provider's code.",
    example: because('PROVIDER_ERROR', undefined, { payment_id: PAYMENT }),
  },
  PROVIDER_UNAVAILABLE: {
    when: 'The provider cannot be reached now. Retry the request; for a POST, use the same `Idempotency-Key`.',
  },
  IDENTITY_UNAVAILABLE: {
    when: 'The identity service did not respond, so the credential could not be checked. The request is safe to retry.',
  },
  STORAGE_UNAVAILABLE: { when: 'The event could not be stored; the provider will send it again.' },
  PROVIDER_TIMEOUT: {
    when: 'The provider did not respond in time, so the outcome is unknown. The service looks the outcome up in the background; a POST with the same `Idempotency-Key` returns the result.',
    example: because('PROVIDER_TIMEOUT', undefined, { payment_id: PAYMENT }),
  },
};

export const meaningOfCode = (code: ErrorCode): string => GUIDE[code].when;

const REQUEST_ID = 'JKJaXmPLvHcESHA=';

/** The rendered body of an error with this code. */
const bodyOf = (code: ErrorCode) => {
  const { message, details } = GUIDE[code].example ?? new DomainError(code);
  return { success: false, error: message, code, ...(details !== undefined && { details }), request_id: REQUEST_ID };
};

/** One example per code; the responses of the routes refer to them. */
export const errorExamples = () =>
  Object.fromEntries(
    ERROR_CODES.map((code) => [
      code,
      { summary: ERRORS[code][1], description: meaningOfCode(code), value: bodyOf(code) },
    ]),
  );

export const errorSchema = z
  .object({
    success: z.literal(false).describe('Always `false` in an error.'),
    error: z.string().describe('A message for developers, in English. Its text may change, so do not compare it.'),
    code: z
      .enum(ERROR_CODES)
      .meta({ id: 'ErrorCode', description: 'A stable name for the error. Base decisions on this field.' }),
    details: z
      .unknown()
      .optional()
      .describe(
        'Facts about the error. For `VALIDATION_ERROR` a list of `{path, rule, message}`, else an object; each code has an example.',
      ),
    request_id: z
      .string()
      .describe("Id of the request in the service's log, as in the header `X-Request-Id`. Quote it to support."),
  })
  .meta({ id: 'Error', description: 'The form of every error.', examples: [bodyOf('RESOURCE_NOT_FOUND')] });

/** Every route can return these codes, because every route accepts X-API-Version. */
const ALWAYS: readonly ErrorCode[] = ['VALIDATION_ERROR', 'INTERNAL_ERROR'];
const WITH_A_BODY: readonly ErrorCode[] = ['INVALID_JSON', 'PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'];
const WITH_A_KEY: readonly ErrorCode[] = [
  'IDEMPOTENCY_KEY_INVALID',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_KEY_REUSED',
];
const WITH_A_CALLER: readonly ErrorCode[] = [
  'AUTHENTICATION_REQUIRED',
  'SESSION_INVALID',
  'SESSION_EXPIRED',
  'IDENTITY_UNAVAILABLE',
];

/** True if a service key may name the payer in X-Act-For. */
export const takesPayer = ({ id }: Endpoint): boolean => scopesOfRoute(id)?.payer !== undefined;

/** True if the endpoint reads the header Idempotency-Key. */
export const takesKey = ({ method, idempotent }: Endpoint): boolean => method === 'POST' && idempotent !== 'natural';

/** The endpoint's declared codes, and those implied by its declaration, by status. */
export const codesByStatus = (endpoint: Endpoint): ReadonlyMap<number, readonly ErrorCode[]> => {
  const byStatus = new Map<number, ErrorCode[]>();
  const codes: readonly ErrorCode[] = [
    ...endpoint.errors,
    ...callerErrors(endpoint),
    ...serviceKeyErrors(endpoint),
    ...(endpoint.body === null ? [] : WITH_A_BODY),
    ...(takesKey(endpoint) ? WITH_A_KEY : []),
    ...accessErrors(endpoint),
    ...providerErrors(endpoint),
    ...(endpoint.limits.length > 0 ? (['RATE_LIMITED'] as const) : []),
    ...ALWAYS,
  ];
  for (const code of new Set(codes)) {
    const [status] = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return byStatus;
};

const accessErrors = ({ access }: Endpoint): readonly ErrorCode[] => {
  if (!access) return [];
  const { action, record, organization } = access;
  const missing: readonly ErrorCode[] = record || organization ? ['RESOURCE_NOT_FOUND'] : [];
  if (action === 'merchant') return missing;
  const ofOrganization: readonly ErrorCode[] = record || organization ? ['ORGANIZATION_ACCESS_DENIED'] : [];
  const ofRole: readonly ErrorCode[] = action === 'read' || action === 'member' ? [] : ['INSUFFICIENT_PERMISSIONS'];
  return [...missing, ...ofOrganization, ...ofRole];
};

/**
 * The errors of an endpoint that calls providers. If the provider does not respond in time, an endpoint with a declared
 * 202 returns 202, and other endpoints return PROVIDER_TIMEOUT.
 */
const providerErrors = ({ uses, bodyForm, accepted }: Endpoint): readonly ErrorCode[] => {
  if (!callsProviders(uses) || bodyForm === 'raw') return [];
  return ['PROVIDER_ERROR', 'PROVIDER_UNAVAILABLE', ...(accepted === undefined ? (['PROVIDER_TIMEOUT'] as const) : [])];
};

/**
 * The errors of a request with a service key. Invalid keys count toward a rate limit. Every route with a caller refuses
 * X-Act-For from callers without a key.
 */
const WITH_A_SERVICE_KEY: readonly ErrorCode[] = ['API_KEY_INVALID', 'INSUFFICIENT_PERMISSIONS', 'RATE_LIMITED'];

const serviceKeyErrors = (endpoint: Endpoint): readonly ErrorCode[] => {
  const { auth, id } = endpoint;
  if (auth === 'public' || auth === 'provider-signature') return [];
  const { merchant, payer, ownersList } = scopesOfRoute(id) ?? {};
  const needsPayer = payer !== undefined && (merchant === undefined || ownersList !== undefined);
  return [
    ...WITH_A_SERVICE_KEY,
    ...(needsPayer ? (['ACTING_REQUIRED'] as const) : []),
    ...(takesPayer(endpoint) ? (['USER_NOT_FOUND'] as const) : []),
  ];
};

const callerErrors = ({ auth, body }: Endpoint): readonly ErrorCode[] => {
  switch (auth) {
    case 'public':
    case 'provider-signature':
    case 'link-token':
      return [];
    case 'platform-admin':
      return [...WITH_A_CALLER, 'GUEST_NOT_ALLOWED', 'ADMIN_REQUIRED'];
    case 'session':
      return [...WITH_A_CALLER, 'GUEST_NOT_ALLOWED'];
    case 'session-or-token':
      return body === null ? WITH_A_CALLER : [...WITH_A_CALLER, 'GUEST_NOT_ALLOWED'];
    case 'session-or-guest':
      return WITH_A_CALLER;
  }
};
