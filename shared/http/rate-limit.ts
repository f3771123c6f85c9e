/**
 * @module Rate limits in sliding windows. A full window refuses with RATE_LIMITED, and a refused request does not count.
 * The counts of a subject's windows are attributes of one item, so a check is one request.
 */

import { type Caller, keyOfCaller } from '../access/caller.ts';
import { DomainError } from '../core/errors.ts';
import type { LogFields, LogMessage } from '../core/log-line.ts';
import type { Log } from '../core/logger.ts';
import { SECOND_MS } from '../core/time.ts';
import type { Clause } from '../platform/expression.ts';
import { type Key, rateKey } from '../platform/keys.ts';
import type { Item, StoreDeps } from '../platform/table.ts';
import type { ApiRequest } from './request.ts';
import {
  type Bounds,
  boundsAfter,
  boundsOfRoom,
  hasRoom,
  untilRoomMs,
  type WindowCounts,
  type WindowSpan,
} from './sliding-window.ts';

/** What a limit counts once the outcome of the request is known. */
export type CountedOutcome = 'declines' | 'refused codes';

export interface RateLimit {
  readonly name: string;
  /** A number, or the name of the setting that holds it; 0 there turns the limit off. */
  readonly max: number | 'KEY_DECLINES_PER_HOUR';
  readonly windowSeconds: number;
  /** The subject to count by; undefined if the request is not counted. */
  readonly by: (request: ApiRequest) => string | undefined;
  /**
   * `requests`, the default, counts every request or, with a record in the path, every request that may act on it.
   * `allowed requests` counts only those that passed the access rule, so that strangers cannot fill a window.
   * `declines` counts declines of a payment or of a method to save, and `refused codes` counts refused discount codes; a
   * full window refuses every allowed request with a subject.
   */
  readonly counts?: 'requests' | 'allowed requests' | CountedOutcome;
  /** Logged for each request that the limit refuses, with the id of its service key. */
  readonly logs?: LogMessage;
}

export interface LimitDeps extends StoreDeps {
  readonly log: Log;
  readonly keyDeclinesPerHour?: number | undefined;
}

/** The current window of one subject, by the service's clock. */
interface Window extends WindowSpan {
  readonly limit: RateLimit;
  readonly key: Key;
  /** The attributes that count the current and the previous window. */
  readonly current: string;
  readonly previous: string;
  /** Number of the current window since 1970. */
  readonly number: number;
  /** Seconds. The counts matter until the next window ends. */
  readonly ttl: number;
}

/** Requests that have counted, until it is known that the request goes on. */
export interface Reservation {
  /** Takes the counts back. */
  readonly release: () => Promise<void>;
}

/**
 * Counts a request in its windows. Only reads windows of outcomes, because the outcome is not yet known.
 * @throws DomainError RATE_LIMITED if a window is full; then the request counts in none
 */
export const enforceLimits = async (
  deps: LimitDeps,
  limits: readonly RateLimit[],
  request: ApiRequest,
): Promise<Reservation> => {
  const [ofOutcomes, ofRequests] = [limits.filter(countsOutcomes), limits.filter((limit) => !countsOutcomes(limit))];
  const [read, ...counted] = await Promise.all([
    readWaits(deps, windowsOf(deps, ofOutcomes, request)),
    ...windowsOf(deps, ofRequests, request).map((window) => countIn(deps, window)),
  ]);
  const full = [...read, ...counted].filter(({ waitMs }) => waitMs > 0);
  const windows = counted.flatMap(({ waitMs, window }) => (waitMs > 0 ? [] : window));
  const release = () => releaseAll(deps, windows);
  if (full.length > 0) await release();
  for (const { limit } of full.map(({ window }) => window)) {
    const { caller, http } = request;
    if (limit.logs) deps.log.warn(limit.logs, { request_id: http.requestId, ...keyField(caller) });
  }
  requireNoWait(full);
  return { release };
};

const keyField = (caller: Caller): LogFields => {
  const key = keyOfCaller(caller);
  return key ? { key_id: key.id } : {};
};

/** Counts a decline or a refused code. Requests under way at the same time may exceed the maximum. */
export const countOutcome = async (
  deps: LimitDeps,
  { limits, outcome }: { readonly limits: readonly RateLimit[]; readonly outcome: CountedOutcome },
  request: ApiRequest,
): Promise<void> => {
  const windows = windowsOf(
    deps,
    limits.filter(({ counts }) => counts === outcome),
    request,
  );
  await Promise.all(windows.map((window) => addTo(deps, window, [])));
};

/**
 * Counts a refused request, which is known by its subject alone. A conflict leaves it uncounted, because the refusal is
 * decided already. @throws DomainError RATE_LIMITED if the window is full
 */
export const countSubject = async (deps: LimitDeps, limit: RateLimit, subject: string): Promise<void> => {
  const windows = windowOf(deps, limit, subject);
  requireNoWait(await Promise.all(windows.map((window) => countIn(deps, window).catch(noneIfConflict))));
};

const noneIfConflict = (error: unknown): { readonly waitMs: number } => {
  if (error instanceof DomainError && error.code === 'VERSION_CONFLICT') return { waitMs: 0 };
  throw error;
};

const countsOutcomes = ({ counts }: RateLimit): boolean => counts === 'declines' || counts === 'refused codes';

const requireNoWait = (tried: readonly { readonly waitMs: number }[]): void => {
  const longestMs = Math.max(0, ...tried.map(({ waitMs }) => waitMs));
  if (longestMs > 0) throw new DomainError('RATE_LIMITED', { retryAfterSeconds: Math.ceil(longestMs / SECOND_MS) });
};

/** A limit without a subject in this request has no window. */
const windowsOf = (deps: LimitDeps, limits: readonly RateLimit[], request: ApiRequest): readonly Window[] =>
  limits.flatMap((limit) => {
    const subject = limit.by(request);
    return subject === undefined ? [] : windowOf(deps, limit, subject);
  });

/** No window if the limit is off. */
const windowOf = (
  { now, keyDeclinesPerHour = 0 }: LimitDeps,
  limit: RateLimit,
  subject: string,
): readonly [] | readonly [Window] => {
  const { name, windowSeconds } = limit;
  const max = limit.max === 'KEY_DECLINES_PER_HOUR' ? keyDeclinesPerHour : limit.max;
  if (max === 0) return [];
  const [at, lengthMs] = [now(), windowSeconds * SECOND_MS];
  const number = Math.floor(at / lengthMs);
  return [
    {
      ...{ limit, key: rateKey(name, subject) },
      ...{ max, lengthMs, elapsedMs: at - number * lengthMs, number },
      ...{ current: attributeOf(number), previous: attributeOf(number - 1) },
      ttl: (number + 2) * windowSeconds,
    },
  ];
};

const attributeOf = (window: number): string => `w${window}`;

interface Tried {
  readonly window: Window;
  /** 0 if the request has counted, else the time until there is room. */
  readonly waitMs: number;
}

/**
 * Conditional, so concurrent requests cannot exceed the maximum. If the condition leaves out counts that fit, a second
 * write names them exactly.
 */
const countIn = async (deps: StoreDeps, window: Window): Promise<Tried> => {
  let counted = await addTo(deps, window, [roomIn(window, boundsOfRoom(window))]);
  if (counted.ok) return { window, waitMs: 0 };
  const counts = countsOf(window, counted.found);
  if (hasRoom(counts, window)) {
    counted = await addTo(deps, window, [roomIn(window, [boundsAfter(counts.previous, window)])]);
    if (counted.ok) return { window, waitMs: 0 };
  }
  return { window, waitMs: Math.max(1, untilRoomMs(countsOf(window, counted.found), window)) };
};

const addTo = async ({ table }: StoreDeps, window: Window, clauses: readonly Clause[]) => {
  const { key, current, ttl } = window;
  const written = await table.update(key, { add: { [current]: 1 }, set: { ttl } }, clauses);
  if (written.ok) await forget(table, window, written.item);
  return written;
};

/** More windows than these are removed from an item. */
const MOST_WINDOWS = 10;

/** Removes the outdated windows of a subject. */
const forget = async (table: StoreDeps['table'], { key, number }: Window, item: Item): Promise<void> => {
  const windows = Object.keys(item).filter((name) => /^w\d+$/.test(name));
  if (windows.length <= MOST_WINDOWS) return;
  await table.update(key, { remove: windows.filter((name) => Number(name.slice(1)) < number - 1) });
};

const roomIn = ({ max, current, previous }: Window, bounds: readonly Bounds[]): Clause => ({
  any: [
    { every: [{ lacks: previous }, { any: [{ lacks: current }, { below: [current, max] }] }] },
    ...bounds.map(({ previousAtMost, currentBelow }) => ({
      every: [
        { atMost: [previous, previousAtMost] as const },
        { any: [{ lacks: current }, { below: [current, currentBelow] as const }] },
      ],
    })),
  ],
});

const countsOf = ({ current, previous }: Window, item: Item | undefined): WindowCounts => ({
  current: Number(item?.[current] ?? 0),
  previous: Number(item?.[previous] ?? 0),
});

const releaseAll = async ({ table }: StoreDeps, windows: readonly Window[]): Promise<void> => {
  await Promise.all(
    windows.map(({ key, current }) => table.update(key, { add: { [current]: -1 } }, [{ has: current }])),
  );
};

const readWaits = async ({ table }: StoreDeps, windows: readonly Window[]): Promise<readonly Tried[]> => {
  if (windows.length === 0) return [];
  const keys = windows.map(({ key }) => key);
  const items = await table.getMany(keys, { consistent: true });
  return windows.map((window, at) => ({ window, waitMs: untilRoomMs(countsOf(window, items[at]), window) }));
};
