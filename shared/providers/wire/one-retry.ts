import { setTimeout as delay } from 'node:timers/promises';
import { isUnsent, meaningOf, networkCode, retryAfterSeconds, type StatusTable } from './failures.ts';

/**
 * A fetch with one retry, under the same key, if the provider certainly did nothing. It respects Retry-After up to 2 s, and
 * Stripe-Should-Retry. There is no retry after half of the deadline: a retry that the deadline cuts off would turn "did
 * nothing" into "may have acted".
 */
const MOST_WAIT_MS = 2_000;
export const LEAST_WAIT_MS = 100;

/** @param startedAt of the first try, by performance.now() */
export const leavesTime = (waitMs: number, startedAt: number, timeoutMs: number): boolean =>
  waitMs <= MOST_WAIT_MS && performance.now() - startedAt + waitMs <= timeoutMs / 2;

export interface RetryOptions {
  readonly statuses: StatusTable;
  readonly timeoutMs: number;
}

export const withOneRetry =
  (send: typeof fetch, { statuses, timeoutMs }: RetryOptions): typeof fetch =>
  async (input, init) => {
    const startedAt = performance.now();
    let waitMs = LEAST_WAIT_MS;
    try {
      const response = await send(input, init);
      const wanted = waitAfter(response, statuses);
      if (wanted === undefined || !leavesTime(wanted, startedAt, timeoutMs)) return response;
      await response.body?.cancel();
      waitMs = wanted;
    } catch (error) {
      if (!isUnsent(networkCode(error)) || !leavesTime(waitMs, startedAt, timeoutMs)) throw error;
    }
    await delay(waitMs);
    return send(input, init);
  };

/** @returns undefined if the answer allows no retry. */
const waitAfter = ({ status, headers }: Response, statuses: StatusTable): number | undefined => {
  if (status < 300 || meaningOf(statuses, status) !== 'not_done') return undefined;
  if (headers.get('stripe-should-retry') === 'false') return undefined;
  return Math.max(LEAST_WAIT_MS, (retryAfterSeconds(headers.get('retry-after'), Date.now()) ?? 0) * 1_000);
};
