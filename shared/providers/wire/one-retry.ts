import { setTimeout as delay } from 'node:timers/promises';
import type { Fetch, FetchInit, FetchResponse } from '../../network/fetch.ts';
import { isUnsent, meaningOf, networkCode, retryAfterSeconds, type StatusTable } from './failures.ts';

/**
 * A fetch with one retry, under the same key, if the provider certainly did nothing. It respects Retry-After up to 2 s, and
 * Stripe-Should-Retry: `false` forbids the retry; `true` asks for one of a call that may have acted, too, if a key protects
 * it from acting twice. If the retry of such a call did nothing, the first answer stands. There is no retry after half of the deadline: a retry that the deadline cuts off would turn "did
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
  (send: Fetch, { statuses, timeoutMs }: RetryOptions): Fetch =>
  async (input, init) => {
    const startedAt = performance.now();
    let waitMs = LEAST_WAIT_MS;
    try {
      const response = await send(input, init);
      const isNotDone = didNothing(response, statuses);
      const wanted = isNotDone || isRepeatable(init) ? waitAfter(response, isNotDone) : undefined;
      if (wanted === undefined || !leavesTime(wanted, startedAt, timeoutMs)) return response;
      if (!isNotDone) {
        await delay(wanted);
        return unlessNothing(() => send(input, init), response, statuses);
      }
      await response.body?.cancel();
      waitMs = wanted;
    } catch (error) {
      if (!isUnsent(networkCode(error)) || !leavesTime(waitMs, startedAt, timeoutMs)) throw error;
    }
    await delay(waitMs);
    return send(input, init);
  };

const didNothing = ({ status }: FetchResponse, statuses: StatusTable): boolean =>
  status >= 300 && meaningOf(statuses, status) === 'not_done';

/** A read, or a write with an idempotency key in its header. */
const isRepeatable = (init: FetchInit | undefined): boolean =>
  (init?.method ?? 'GET') === 'GET' || namesOf(init?.headers).some((name) => name.toLowerCase() === 'idempotency-key');

const namesOf = (headers: FetchInit['headers'] = {}): readonly string[] =>
  Array.isArray(headers) ? headers.map(([name]) => name) : Object.keys(headers);

/** The answer of a retry; the first answer if the retry did nothing: the first call may have acted. */
const unlessNothing = async (
  retry: () => Promise<FetchResponse>,
  first: FetchResponse,
  statuses: StatusTable,
): Promise<FetchResponse> => {
  try {
    const second = await retry();
    const [kept, dropped] = didNothing(second, statuses) ? [first, second] : [second, first];
    await dropped.body?.cancel();
    return kept;
  } catch (error) {
    if (isUnsent(networkCode(error))) return first;
    throw error;
  }
};

/** @returns undefined if the answer allows no retry. */
const waitAfter = ({ status, headers }: FetchResponse, isNotDone: boolean): number | undefined => {
  const advice = headers.get('stripe-should-retry');
  const isWanted = isNotDone ? advice !== 'false' : status >= 300 && advice === 'true';
  if (!isWanted) return undefined;
  return Math.max(LEAST_WAIT_MS, (retryAfterSeconds(headers.get('retry-after'), Date.now()) ?? 0) * 1_000);
};
