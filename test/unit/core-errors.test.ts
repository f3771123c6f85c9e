import { describe, expect, test } from 'vitest';
import { DomainError, ERRORS, type ErrorCode, invalid, notFound } from '../../shared/core/errors.ts';

/** The documented status of each code. */
const PROMISED: Readonly<Record<number, readonly string[]>> = {
  400: [
    'VALIDATION_ERROR',
    'INVALID_JSON',
    'PRICING_MISMATCH',
    'REFUND_EXCEEDS_PAYMENT',
    'CAPTURE_EXCEEDS_AUTHORIZATION',
    'AMOUNT_TOO_SMALL',
    'UNSUPPORTED_CURRENCY',
    'UNSUPPORTED_PROVIDER',
    'UNSUPPORTED_FILTER',
    'PROVIDER_MISMATCH',
    'REFUND_EXCEEDS_PAYMENT',
    'QUANTITY_INVALID',
    'DISCOUNT_INVALID',
    'PAYMENT_METHOD_REQUIRED',
    'PRODUCT_INACTIVE',
    'ALREADY_MEMBER',
    'INVALID_ROLE',
    'OWNER_IMMUTABLE',
    'CANNOT_CHANGE_SELF',
    'OWNER_CANNOT_LEAVE',
    'UNKNOWN_EVENT',
    'UNKNOWN_CACHE_TYPE',
    'ACTING_REQUIRED',
    'IDEMPOTENCY_KEY_INVALID',
  ],
  401: [
    'AUTHENTICATION_REQUIRED',
    'SESSION_INVALID',
    'API_KEY_INVALID',
    'SESSION_EXPIRED',
    'GUEST_NOT_ALLOWED',
    'INVALID_WEBHOOK_SIGNATURE',
  ],
  402: ['PAYMENT_DECLINED'],
  403: ['INSUFFICIENT_PERMISSIONS', 'ORGANIZATION_ACCESS_DENIED', 'ADMIN_REQUIRED', 'RAW_CARD_DISABLED'],
  404: ['RESOURCE_NOT_FOUND', 'USER_NOT_FOUND', 'INVITE_NOT_FOUND', 'ROUTE_NOT_FOUND'],
  405: ['METHOD_NOT_ALLOWED'],
  409: [
    'INVALID_STATE',
    'PAYMENT_NOT_UPDATABLE',
    'PAYMENT_IN_PROGRESS',
    'PAYMENT_DISPUTED',
    'PRICE_CHANGED',
    'SUBSCRIPTION_NOT_CANCELED',
    'LINK_SPENT',
    'PAYMENT_METHOD_IN_USE',
    'VERSION_CONFLICT',
    'IDEMPOTENCY_IN_PROGRESS',
  ],
  410: ['INVITE_EXPIRED'],
  413: ['PAYLOAD_TOO_LARGE'],
  415: ['UNSUPPORTED_MEDIA_TYPE'],
  422: ['IDEMPOTENCY_KEY_REUSED'],
  429: ['RATE_LIMITED'],
  500: ['INTERNAL_ERROR'],
  502: ['PROVIDER_ERROR'],
  // STORAGE_UNAVAILABLE makes a provider resend its event.
  503: ['PROVIDER_UNAVAILABLE', 'IDENTITY_UNAVAILABLE', 'STORAGE_UNAVAILABLE'],
  504: ['PROVIDER_TIMEOUT'],
};
const promised = Object.entries(PROMISED).flatMap(([status, codes]) => codes.map((code) => [code, Number(status)]));

describe('the catalogue of errors', () => {
  test('contains the documented codes with their statuses, and no other code', () => {
    const held = Object.entries(ERRORS).map(([code, [status]]) => [code, status]);
    expect(Object.fromEntries(held)).toEqual(Object.fromEntries(promised));
  });

  test.each(Object.keys(ERRORS) as readonly ErrorCode[])('%s has a short message without internals', (code) => {
    const { message, status } = new DomainError(code);
    expect(message).toMatch(/^[A-Z][^\n]{2,80}$/);
    expect(message).not.toMatch(/dynamo|\btable\b|lambda|arn:|stripe|stack/i);
    expect(status).toBe(ERRORS[code][0]);
  });
});

describe('an error', () => {
  test('names the missing record', () => {
    expect(notFound('payment_method')).toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
      message: 'No such payment method',
      details: { resource: 'payment_method' },
    });
  });

  test('lists every problem of a request', () => {
    const problems = [
      { path: 'a', rule: 'required', message: 'is required' },
      { path: 'b', rule: 'too_big', message: 'is too big' },
    ];
    expect(invalid(problems)).toMatchObject({ code: 'VALIDATION_ERROR', status: 400, details: problems });
  });

  test('keeps its cause for the log', () => {
    const cause = new Error('inside');
    expect(new DomainError('INTERNAL_ERROR', { cause }).cause).toBe(cause);
  });
});
