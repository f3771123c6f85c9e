/** @module Classifies the outcome of a Stripe call as done, declined, refused, certainly not done, or unknown. */

import Stripe from 'stripe';
import type { Log } from '../../core/logger.ts';
import type { Outcome } from '../../core/outcome.ts';
import type { ProviderSlot } from '../../core/settings.ts';
import { retryAfterSeconds } from '../../platform/retry-after.ts';
import type { FingerprintOf } from '../card-fingerprint.ts';
import { meaningOf, networkFailure } from '../vendor-failures.ts';
import { failureFacts } from './charge-facts.ts';
import { stripeDeclineCode } from './decline-codes.ts';
import { failedAttempt } from './report.ts';

/** Runs one call. The outcome is a refusal only if Stripe certainly did nothing. */
export type StripeCall = <A, T>(call: () => Promise<A>, read: (answer: A) => T) => Promise<Outcome<T>>;

interface StripeContext {
  readonly slot: ProviderSlot;
  readonly log: Log;
  readonly fingerprintOf: FingerprintOf;
}

export const stripeCalls =
  (context: StripeContext): StripeCall =>
  async (call, read) => {
    const startedAt = Date.now();
    const outcome = await attempt(call, read, context);
    context.log.info('provider called', {
      provider: context.slot,
      outcome: outcome.kind,
      duration_ms: Date.now() - startedAt,
      ...((outcome.kind === 'unknown' || outcome.kind === 'not_done') && { reason: outcome.reason }),
    });
    return outcome;
  };

const attempt = async <A, T>(
  call: () => Promise<A>,
  read: (answer: A) => T,
  context: StripeContext,
): Promise<Outcome<T>> => {
  try {
    return { kind: 'done', value: read(await call()) };
  } catch (error) {
    return failureOf(error, context);
  }
};

const failureOf = (error: unknown, context: StripeContext): Outcome<never> => {
  if (error instanceof Stripe.errors.StripeCardError) return declined(error, context);
  if (error instanceof Stripe.errors.StripeConnectionError) {
    const isTimeout = /timeout|timed out/i.test(error.message);
    return isTimeout ? { kind: 'unknown', reason: 'timeout' } : networkFailure(error.detail);
  }
  if (!(error instanceof Stripe.errors.StripeError)) return ERROR;
  switch (meaningOf(error.statusCode ?? 0)) {
    case 'refused':
      return isRefusal(error) ? { kind: 'refused', reason: reasonOf(error), parameter: parameterOf(error) } : ERROR;
    case 'not_done': {
      const seconds = retryAfterSeconds(error.headers?.['retry-after'], Date.now());
      return { kind: 'not_done', reason: 'rate_limited', retryAfterSeconds: seconds };
    }
    case 'unknown':
      return isInProgress(error) ? { kind: 'unknown', reason: 'in_progress' } : ERROR;
  }
};

/** Our reason if a refund exceeds the unrefunded amount, because Stripe's refusal has no code. */
export const EXCEEDS_UNREFUNDED = 'amount_exceeds_unrefunded';

/** Our reason for a refused parameter or object if Stripe's refusal has no code. */
export const INVALID_REQUEST = 'invalid_request';

const reasonOf = (error: Stripe.errors.StripeError): string => {
  if (error.code !== undefined) return error.code;
  if (error instanceof Stripe.errors.StripeAuthenticationError) return 'authentication_failed';
  if (error instanceof Stripe.errors.StripePermissionError) return 'permission_denied';
  return /greater than unrefunded amount/i.test(error.message) ? EXCEEDS_UNREFUNDED : INVALID_REQUEST;
};

/**
 * The refused parameter. Stripe names no parameter if a payment method belongs to another customer or was detached, so
 * the error's message decides.
 */
const parameterOf = ({ param, code, message }: Stripe.errors.StripeError): string | undefined =>
  param ?? (code === undefined && /payment ?method/i.test(message) ? 'payment_method' : undefined);

const ERROR: Outcome<never> = { kind: 'unknown', reason: 'error' };

const declined = (
  error: Stripe.errors.StripeCardError,
  { fingerprintOf }: StripeContext,
): Extract<Outcome<never>, { kind: 'declined' }> => ({
  kind: 'declined',
  code: stripeDeclineCode(error),
  attemptRef: failedAttempt(error.payment_intent ?? {}, error),
  facts: failureFacts(error, fingerprintOf),
});

/** Stripe runs one call per idempotency key at a time, and responds 409 to the same call during that time. */
const isInProgress = ({ code }: Stripe.errors.StripeError): boolean => code === 'idempotency_key_in_use';

const isRefusal = (error: unknown): error is Stripe.errors.StripeError =>
  error instanceof Stripe.errors.StripeInvalidRequestError ||
  error instanceof Stripe.errors.StripeAuthenticationError ||
  error instanceof Stripe.errors.StripePermissionError;
