/**
 * @module The catalogue of public errors. The edge turns each `DomainError` into its response, and any other error into
 * a 500.
 */

import { cutText } from './text.ts';

export const ERRORS = {
  VALIDATION_ERROR: [400, 'The request is not valid'],
  INVALID_JSON: [400, 'The body is not valid JSON'],
  PRICING_MISMATCH: [400, 'The prices do not add up'],
  REFUND_EXCEEDS_PAYMENT: [400, 'The amount exceeds what can still be refunded'],
  CAPTURE_EXCEEDS_AUTHORIZATION: [400, 'The amount exceeds what is held'],
  AMOUNT_TOO_SMALL: [400, 'The total must be at least 1'],
  UNSUPPORTED_CURRENCY: [400, 'The currency is not supported'],
  UNSUPPORTED_PROVIDER: [400, 'The provider does not support this'],
  UNSUPPORTED_FILTER: [400, 'The filter is not supported here'],
  PROVIDER_MISMATCH: [400, 'The provider does not match'],
  QUANTITY_INVALID: [400, 'The quantity is not allowed'],
  DISCOUNT_INVALID: [400, 'The discount code cannot be used'],
  PAYMENT_METHOD_REQUIRED: [400, 'A payment method is required'],
  PRODUCT_INACTIVE: [400, 'The product is not active'],
  ALREADY_MEMBER: [400, 'The user is already a member of the organization'],
  INVALID_ROLE: [400, 'The role cannot be assigned'],
  OWNER_IMMUTABLE: [400, 'The owner cannot be changed or removed'],
  CANNOT_CHANGE_SELF: [400, 'Members cannot change or remove themselves'],
  OWNER_CANNOT_LEAVE: [400, 'The owner cannot leave; delete the organization instead'],
  UNKNOWN_EVENT: [400, 'The event is not known'],
  UNKNOWN_CACHE_TYPE: [400, 'The cache type is not known'],
  ACTING_REQUIRED: [400, 'Name the payer in X-Act-For, as user:<id>, organization:<id> or guest:<guest_id>'],
  IDEMPOTENCY_KEY_INVALID: [400, 'Idempotency-Key must be 1 to 255 printable characters'],
  AUTHENTICATION_REQUIRED: [401, 'Authentication is required; send X-Session-ID or Authorization: Bearer <token>'],
  SESSION_INVALID: [401, 'The credential is not valid'],
  API_KEY_INVALID: [401, 'The service key is not valid'],
  SESSION_EXPIRED: [401, 'The session has expired'],
  GUEST_NOT_ALLOWED: [401, 'Guests cannot do this; a session is required'],
  INVALID_WEBHOOK_SIGNATURE: [401, 'The webhook signature is not valid'],
  PAYMENT_DECLINED: [402, 'The payment was declined'],
  INSUFFICIENT_PERMISSIONS: [403, 'The role does not allow this'],
  ORGANIZATION_ACCESS_DENIED: [403, 'No access to this organization'],
  ADMIN_REQUIRED: [403, 'A platform admin is required'],
  RAW_CARD_DISABLED: [403, 'Raw card data is not accepted here'],
  RESOURCE_NOT_FOUND: [404, 'Not found'],
  USER_NOT_FOUND: [404, 'No such user'],
  INVITE_NOT_FOUND: [404, 'The invite does not exist'],
  ROUTE_NOT_FOUND: [404, 'No such route'],
  METHOD_NOT_ALLOWED: [405, 'The route does not accept this method'],
  INVALID_STATE: [409, 'The state of the record does not allow this'],
  PAYMENT_NOT_UPDATABLE: [409, 'The payment can no longer be updated'],
  PAYMENT_DISPUTED: [409, 'The payment is disputed; send despite_dispute: true to refund it anyway'],
  PRICE_CHANGED: [409, 'The change does not cost expected_cents; preview it again'],
  PAYMENT_IN_PROGRESS: [409, 'The payment is in progress'],
  LINK_SPENT: [409, 'All payments of the payment link are made or under way'],
  SUBSCRIPTION_NOT_CANCELED: [409, 'The subscription is not canceled'],
  PAYMENT_METHOD_IN_USE: [409, 'The payment method is in use'],
  VERSION_CONFLICT: [409, 'Another request changed the record at the same time; try again'],
  IDEMPOTENCY_IN_PROGRESS: [409, 'A request with this Idempotency-Key is still running'],
  INVITE_EXPIRED: [410, 'The invite has expired'],
  PAYLOAD_TOO_LARGE: [413, 'The body is too large'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The body must be application/json'],
  IDEMPOTENCY_KEY_REUSED: [422, 'The Idempotency-Key was used for another request'],
  RATE_LIMITED: [429, 'Too many requests'],
  INTERNAL_ERROR: [500, 'Internal error'],
  PROVIDER_ERROR: [502, 'The provider returned an error'],
  PROVIDER_UNAVAILABLE: [503, 'The provider cannot be reached'],
  IDENTITY_UNAVAILABLE: [503, 'The identity service cannot be reached'],
  STORAGE_UNAVAILABLE: [503, 'The request could not be stored; try again'],
  PROVIDER_TIMEOUT: [504, 'The provider did not respond in time'],
} as const satisfies Record<string, readonly [number, string]>;

export type ErrorCode = keyof typeof ERRORS;

export type ErrorDetails = Readonly<Record<string, unknown>> | readonly Problem[];

/** One problem of a request: a dotted path, the broken rule, and a message. */
export interface Problem {
  readonly path: string;
  readonly rule: string;
  readonly message: string;
}

export class DomainError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
  /** Seconds to wait before a retry; sent as Retry-After. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: ErrorCode,
    options: { message?: string; details?: ErrorDetails; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(options.message ?? ERRORS[code][1], options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'DomainError';
    this.code = code;
    this.details = options.details;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  get status(): number {
    return ERRORS[this.code][0];
  }
}

/** @param advice a full sentence that says what the caller can do */
export const notFound = (resource: string, advice?: string): DomainError => {
  const message = [`No such ${resource.replaceAll('_', ' ')}`, ...(advice === undefined ? [] : [advice])].join('. ');
  return new DomainError('RESOURCE_NOT_FOUND', { message, details: { resource } });
};

/** The maximum number of problems in a response, so a small request cannot cause a huge response. */
export const MAX_PROBLEMS = 100;
const MAX_PATH = 200;

export const invalid = (problems: readonly Problem[]): DomainError =>
  new DomainError('VALIDATION_ERROR', {
    details: problems.slice(0, MAX_PROBLEMS).map((problem) => ({ ...problem, path: cutText(problem.path, MAX_PATH) })),
  });

/** For branches excluded by the types. A call is a bug. */
export const assertNever = (value: never): never => {
  throw new Error(`unexpected value: ${String(value)}`);
};
