/** @module Classifies the outcome of an SDK call. The SDK hides HTTP statuses, so its error names decide. */

import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import type { Outcome } from '../../core/outcome.ts';
import { type AdapterOptions, wordTable } from '../adapter.ts';
import { isUnsent, LEAST_WAIT_MS, leavesTime, type StatusMeaning } from '../vendor-failures.ts';

/** Runs one call of the SDK. The outcome is a refusal only if Braintree certainly did nothing. */
export type BraintreeCall = (call: () => Promise<unknown>) => Promise<Outcome<unknown>>;

export const braintreeCalls =
  ({ slot, log, timeoutMs }: Pick<AdapterOptions, 'slot' | 'log' | 'timeoutMs'>): BraintreeCall =>
  async (call) => {
    const startedAt = Date.now();
    const outcome = await withinDeadline(attemptTwice(call, timeoutMs), timeoutMs);
    log.info('provider called', {
      provider: slot,
      outcome: outcome.kind,
      duration_ms: Date.now() - startedAt,
      ...((outcome.kind === 'unknown' || outcome.kind === 'not_done') && { reason: outcome.reason }),
    });
    return outcome;
  };

/** Retries a call once if it certainly did nothing. */
const attemptTwice = async (call: () => Promise<unknown>, timeoutMs: number): Promise<Outcome<unknown>> => {
  const startedAt = performance.now();
  const first = await attempt(call);
  if (first.kind !== 'not_done' || !leavesTime(LEAST_WAIT_MS, startedAt, timeoutMs)) return first;
  await delay(LEAST_WAIT_MS);
  return attempt(call);
};

/** The SDK's timeout covers only silence, so a slow response needs its own deadline. */
const withinDeadline = async (call: Promise<Outcome<unknown>>, timeoutMs: number): Promise<Outcome<unknown>> => {
  const late = Promise.withResolvers<Outcome<unknown>>();
  const timer = setTimeout(() => late.resolve({ kind: 'unknown', reason: 'timeout' }), timeoutMs);
  try {
    return await Promise.race([call, late.promise]);
  } finally {
    clearTimeout(timer);
  }
};

/** The SDK returns this object, instead of throwing, if Braintree refused the fields. */
const refusedAnswer = z.looseObject({ success: z.literal(false) });
const collection = z.looseObject({ deepErrors: z.function({ input: [], output: z.unknown() }) });
const problems = z.array(z.looseObject({ code: z.string(), attribute: z.optional(z.string()) }));

const attempt = async (call: () => Promise<unknown>): Promise<Outcome<unknown>> => {
  try {
    const answer = await call();
    const refused = refusedAnswer.safeParse(answer);
    return refused.success ? refusalOf(refused.data['errors']) : { kind: 'done', value: answer };
  } catch (error) {
    return failureOf(error);
  }
};

const refusalOf = (errors: unknown): Outcome<never> => {
  const parsed = collection.safeParse(errors);
  const [problem] = z.catch(problems, []).parse(parsed.success ? parsed.data.deepErrors() : []);
  return { kind: 'refused', reason: problem?.code ?? 'unprocessable', parameter: problem?.attribute };
};

/**
 * Error names for the statuses 401, 403, 404, 426 and 429, which the SDK hides, and for fields that the SDK itself
 * refuses. After any other error, only the text of a network error may show that nothing was sent.
 */
const BY_NAME = wordTable<StatusMeaning>({
  authenticationError: 'refused',
  authorizationError: 'refused',
  notFoundError: 'refused',
  upgradeRequired: 'refused',
  invalidKeysError: 'refused',
  tooManyRequestsError: 'not_done',
});

export const BRAINTREE_NOT_FOUND = 'not_found';
/** Our reasons for the refusals that the SDK names. */
const REASONS = wordTable<string>({
  authenticationError: 'authentication_failed',
  authorizationError: 'authorization_failed',
  notFoundError: BRAINTREE_NOT_FOUND,
  upgradeRequired: 'upgrade_required',
  invalidKeysError: 'invalid_request',
});

const failureOf = (error: unknown): Outcome<never> => {
  if (!(error instanceof Error)) return ERROR;
  switch (BY_NAME.get(error.name) ?? 'unknown') {
    case 'refused':
      return { kind: 'refused', reason: REASONS.get(error.name) ?? 'refused' };
    case 'not_done':
      return { kind: 'not_done', reason: 'rate_limited' };
    case 'unknown':
      return connectionFailure(error.message);
  }
};

const ERROR: Outcome<never> = { kind: 'unknown', reason: 'error' };
const REQUEST_FAILED = 'Unexpected request error';

/** The SDK returns the text of a network error. An AggregateError means that no connection was established. */
const connectionFailure = (message: string): Outcome<never> => {
  if (message === 'Request timed out') return { kind: 'unknown', reason: 'timeout' };
  if (!message.startsWith(REQUEST_FAILED)) return ERROR;
  const words = message.slice(REQUEST_FAILED.length).split(/\W+/);
  const isNotSent = words.some((word) => isUnsent(word) || word === 'AggregateError');
  return { kind: isNotSent ? 'not_done' : 'unknown', reason: 'unreachable' };
};
