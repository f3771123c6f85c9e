import { describe, expect, test } from 'vitest';
import { Problem } from '../../functions/console/web/api/problem.ts';
import { isOutcomeUnknown, isRepeatable } from '../../functions/console/web/pages/refund-draft.ts';
import { ERRORS, type ErrorCode } from '../../shared/core/errors.ts';
import { HOUR_MS } from '../../shared/core/time.ts';
import { ERROR_CODES } from '../../shared/openapi/error-responses.ts';
import { NOON } from '../builders/payment.ts';

const problemWith = (code: ErrorCode): Problem => new Problem('Refused', { status: ERRORS[code][0], code });
const isUnknown = (code: ErrorCode, wasUnknown: boolean): boolean => isOutcomeUnknown(problemWith(code), wasUnknown);

/** Whether a refund's outcome is unknown after this response to the first and to the repeated request. */
const RESPONSES: readonly (readonly [ErrorCode, first: boolean, again: boolean])[] = [
  ['VALIDATION_ERROR', false, false],
  ['REFUND_EXCEEDS_PAYMENT', false, false],
  ['INVALID_STATE', false, false],
  ['PAYMENT_DISPUTED', false, false],
  ['SESSION_EXPIRED', false, true],
  ['ADMIN_REQUIRED', false, true],
  ['INSUFFICIENT_PERMISSIONS', false, true],
  ['RATE_LIMITED', false, true],
  ['RESOURCE_NOT_FOUND', false, true],
  ['ROUTE_NOT_FOUND', false, true],
  ['UNSUPPORTED_PROVIDER', false, true],
  ['VERSION_CONFLICT', false, true],
  ['IDEMPOTENCY_IN_PROGRESS', true, true],
  ['IDEMPOTENCY_KEY_REUSED', true, true],
  ['INTERNAL_ERROR', true, true],
  ['PROVIDER_ERROR', true, true],
  ['PROVIDER_UNAVAILABLE', true, true],
  ['PROVIDER_TIMEOUT', true, true],
];

describe('the unknown outcome of a refund', () => {
  test.each(RESPONSES)('remains after the error %s on a first request: %s, on a repeated request: %s', (...row) => {
    const [code, first, again] = row;
    expect([isUnknown(code, false), isUnknown(code, true)]).toEqual([first, again]);
  });

  test.each([false, true])('remains after a request without a response (already unknown: %s)', (wasUnknown) => {
    expect(isOutcomeUnknown(new Problem('unreachable', { status: 0 }), wasUnknown)).toBe(true);
  });

  test('is resolved by a provider’s refusal that names the failed refund', () => {
    const refused = new Problem('The provider refused the refund', {
      status: 502,
      code: 'PROVIDER_ERROR',
      details: { refund_id: 'ref_1', reason: 'refused' },
    });
    expect([isOutcomeUnknown(refused, false), isOutcomeUnknown(refused, true)]).toEqual([false, false]);
  });

  test.each([
    [22, true],
    [24, false],
  ])('allows the same request %i hours after the first one: %s', (hours, isAllowed) => {
    const sent = { amount: '10.00', reason: '', key: 'key_1', despiteDispute: false, sentAt: NOON } as const;
    expect(isRepeatable(sent, NOON + hours * HOUR_MS)).toBe(isAllowed);
  });

  test('is resolved only by errors that the service returns after it has looked up the idempotency key', () => {
    const decided = ERROR_CODES.filter((code) => !isUnknown(code, true));
    expect(decided).toEqual(['VALIDATION_ERROR', 'REFUND_EXCEEDS_PAYMENT', 'INVALID_STATE', 'PAYMENT_DISPUTED']);
  });
});
