/** @module Rate limits in fixed windows, with a counter each. A full window refuses with RATE_LIMITED. */

import { DomainError } from '../core/errors.ts';
import { epochSeconds } from '../core/time.ts';
import { type Key, rateKey } from '../platform/keys.ts';
import type { StoreDeps } from '../platform/table.ts';
import type { ApiRequest } from './request.ts';

export interface RateLimit {
  readonly name: string;
  readonly max: number;
  readonly windowSeconds: number;
  /** The subject to count by; undefined if the request is not counted. */
  readonly by: (request: ApiRequest) => string | undefined;
  /**
   * `requests`, the default, counts every request or, with a record in the path, every request that may act on it.
   * `allowed requests` counts only those that passed the access rule, so that strangers cannot fill a window.
   * `declines` counts declines of a payment or of a method to save; a full window refuses every allowed request.
   */
  readonly counts?: 'requests' | 'allowed requests' | 'declines';
}

/** The current window of one subject. Windows are fixed, by the service's clock, with one counter each. */
interface Window {
  readonly key: Key;
  readonly max: number;
  readonly secondsLeft: number;
  readonly ttl: number;
}

/**
 * Counts a request in its windows. Only reads windows of declines, because the outcome is not yet known.
 * @throws DomainError RATE_LIMITED if a window is full
 */
export const enforceLimits = async (
  deps: StoreDeps,
  limits: readonly RateLimit[],
  request: ApiRequest,
): Promise<void> => {
  const [ofDeclines, ofRequests] = [limits.filter(countsDeclines), limits.filter((limit) => !countsDeclines(limit))];
  const full = await Promise.all([
    fullWindows(deps, windowsOf(deps, ofDeclines, request)),
    ...windowsOf(deps, ofRequests, request).map((window) => countIn(deps, window)),
  ]);
  requireNone(full.flat());
};

/** Counts a declined payment. Payments under way at the same time may exceed the maximum. */
export const countDecline = async (
  deps: StoreDeps,
  limits: readonly RateLimit[],
  request: ApiRequest,
): Promise<void> => {
  const windows = windowsOf(deps, limits.filter(countsDeclines), request);
  await Promise.all(windows.map(({ key, ttl }) => deps.table.update(key, { add: { n: 1 }, set: { ttl } })));
};

/** A reserved count in a window, taken before it is known whether the limit applies to the request. */
export interface Reservation {
  readonly release: () => Promise<void>;
}

/** One conditional write, so concurrent requests cannot exceed the maximum. @throws DomainError RATE_LIMITED if full */
export const reserve = async (deps: StoreDeps, limit: RateLimit, request: ApiRequest): Promise<Reservation> => {
  const windows = windowsOf(deps, [limit], request);
  requireNone((await Promise.all(windows.map((window) => countIn(deps, window)))).flat());
  return {
    release: async () => {
      await Promise.all(windows.map(({ key }) => deps.table.update(key, { add: { n: -1 } }, [{ has: 'n' }])));
    },
  };
};

/**
 * Counts a refused request, which is known by its subject alone. A conflict leaves it uncounted, because the refusal is
 * decided already. @throws DomainError RATE_LIMITED if the window is full
 */
export const countSubject = async (deps: StoreDeps, limit: RateLimit, subject: string): Promise<void> => {
  requireNone(await countIn(deps, windowOf(deps, limit, subject)).catch(noneIfConflict));
};

const noneIfConflict = (error: unknown): readonly Window[] => {
  if (error instanceof DomainError && error.code === 'VERSION_CONFLICT') return [];
  throw error;
};

const countsDeclines = ({ counts }: RateLimit): boolean => counts === 'declines';

const requireNone = (full: readonly Window[]): void => {
  if (full.length === 0) return;
  const waits = full.map(({ secondsLeft }) => secondsLeft);
  throw new DomainError('RATE_LIMITED', { retryAfterSeconds: Math.max(...waits) });
};

/** A limit without a subject in this request has no window. */
const windowsOf = (deps: StoreDeps, limits: readonly RateLimit[], request: ApiRequest): readonly Window[] =>
  limits.flatMap((limit) => {
    const subject = limit.by(request);
    return subject === undefined ? [] : windowOf(deps, limit, subject);
  });

const windowOf = ({ now }: StoreDeps, { name, max, windowSeconds }: RateLimit, subject: string): Window => {
  const seconds = epochSeconds(now());
  const window = Math.floor(seconds / windowSeconds);
  const endsAt = (window + 1) * windowSeconds;
  return { key: rateKey(name, subject, window), max, secondsLeft: endsAt - seconds, ttl: endsAt + windowSeconds };
};

/** @returns the window if it is full. */
const countIn = async ({ table }: StoreDeps, window: Window): Promise<readonly Window[]> => {
  const { key, max, ttl } = window;
  const notFull = { any: [{ lacks: 'n' }, { below: ['n', max] }] } as const;
  const counted = await table.update(key, { add: { n: 1 }, set: { ttl } }, [notFull]);
  return counted.ok ? [] : [window];
};

const fullWindows = async ({ table }: StoreDeps, windows: readonly Window[]): Promise<readonly Window[]> => {
  if (windows.length === 0) return [];
  const items = await table.getMany(
    windows.map(({ key }) => key),
    { consistent: true },
  );
  return windows.filter(({ max }, at) => Number(items[at]?.['n'] ?? 0) >= max);
};
