/** @module Classifies a failed provider call as refused, certainly not done, or unknown. */

import { setTimeout as delay } from 'node:timers/promises';
import type { NotDone, Outcome, Unknown } from '../core/outcome.ts';
import type { Fetch, FetchInit, FetchResponse } from '../platform/fetch.ts';
import { retryAfterSeconds } from '../platform/retry-after.ts';

export type StatusMeaning = 'refused' | 'not_done' | 'unknown';

const STATUSES: Readonly<Partial<Record<number, StatusMeaning>>> = {
  408: 'unknown',
  // The key or the object is in use, perhaps by an earlier try of this call.
  409: 'unknown',
  425: 'unknown',
  // Too many requests, or a locked object at Stripe. The provider did nothing.
  429: 'not_done',
};

/** A 4xx is a refusal, and any other failure has an unknown outcome, except for the statuses above. */
export const meaningOf = (status: number): StatusMeaning =>
  STATUSES[status] ?? (status >= 400 && status < 500 ? 'refused' : 'unknown');

/** Errors that occur before the first byte of a request is sent. After any other error, the provider may have acted. */
const NOTHING_WAS_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export const isUnsent = (code: string | undefined): boolean => code !== undefined && NOTHING_WAS_SENT.has(code);

/** The outcome of a fetch error, by the network code in its cause. */
export const networkFailure = (error: unknown): NotDone | Unknown =>
  isUnsent(networkCode(error))
    ? { kind: 'not_done', reason: 'unreachable' }
    : { kind: 'unknown', reason: 'unreachable' };

const MAX_CAUSES = 5;

const networkCode = (error: unknown): string | undefined => {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth += 1) {
    if ('code' in current && typeof current.code === 'string') return current.code;
    current = current.cause;
  }
  return undefined;
};

/** The outcome of a step after an earlier change. If the step fails, the outcome of the whole call is unknown. */
export const afterChange = <T>(outcome: Outcome<T>): Outcome<T> =>
  outcome.kind === 'done' || outcome.kind === 'unknown' ? outcome : { kind: 'unknown', reason: 'error' };

const MOST_WAIT_MS = 2_000;
export const LEAST_WAIT_MS = 100;

/**
 * True if the wait is at most 2 s and ends in the first half of the deadline. A later retry could be cut off by the
 * deadline, which would turn "did nothing" into "may have acted".
 * @param startedAt start of the first try, by performance.now()
 */
export const leavesTime = (waitMs: number, startedAt: number, timeoutMs: number): boolean =>
  waitMs <= MOST_WAIT_MS && performance.now() - startedAt + waitMs <= timeoutMs / 2;

/**
 * A fetch with one retry, under the same idempotency key, if the provider certainly did nothing. The retry respects
 * Retry-After up to 2 s. The retry also respects Stripe-Should-Retry: `false` forbids the retry, and `true` requests a
 * retry even of a call that may have acted, if an idempotency key protects the call from acting twice.
 */
export const withOneRetry =
  (send: Fetch, timeoutMs: number): Fetch =>
  async (input, init) => {
    const startedAt = performance.now();
    let waitMs = LEAST_WAIT_MS;
    try {
      const response = await send(input, init);
      const isNotDone = didNothing(response);
      const wanted = isNotDone || isRepeatable(init) ? waitAfter(response, isNotDone) : undefined;
      if (wanted === undefined || !leavesTime(wanted, startedAt, timeoutMs)) return response;
      if (!isNotDone) {
        await delay(wanted);
        return unlessNothing(() => send(input, init), response);
      }
      await response.body?.cancel();
      waitMs = wanted;
    } catch (error) {
      if (!isUnsent(networkCode(error)) || !leavesTime(waitMs, startedAt, timeoutMs)) throw error;
    }
    await delay(waitMs);
    return send(input, init);
  };

const didNothing = ({ status }: FetchResponse): boolean => status >= 300 && meaningOf(status) === 'not_done';

/** True for a read, or for a write with an idempotency key in its header. */
const isRepeatable = (init: FetchInit | undefined): boolean =>
  (init?.method ?? 'GET') === 'GET' || namesOf(init?.headers).some((name) => name.toLowerCase() === 'idempotency-key');

const namesOf = (headers: FetchInit['headers'] = {}): readonly string[] =>
  Array.isArray(headers) ? headers.map(([name]) => name) : Object.keys(headers);

/**
 * Returns the response of the retry, or the first response if the retry did nothing, because the first call may have
 * acted.
 */
const unlessNothing = async (retry: () => Promise<FetchResponse>, first: FetchResponse): Promise<FetchResponse> => {
  try {
    const second = await retry();
    const [kept, dropped] = didNothing(second) ? [first, second] : [second, first];
    await dropped.body?.cancel();
    return kept;
  } catch (error) {
    if (isUnsent(networkCode(error))) return first;
    throw error;
  }
};

/** @returns undefined if the response allows no retry */
const waitAfter = ({ status, headers }: FetchResponse, isNotDone: boolean): number | undefined => {
  const advice = headers.get('stripe-should-retry');
  const isWanted = isNotDone ? advice !== 'false' : status >= 300 && advice === 'true';
  if (!isWanted) return undefined;
  return Math.max(LEAST_WAIT_MS, (retryAfterSeconds(headers.get('retry-after'), Date.now()) ?? 0) * 1_000);
};
