/**
 * @module Rate limits in sliding windows. A full window refuses requests with RATE_LIMITED, and refused requests do not
 * count. One item stores all counts of a subject, so a check is one request.
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

/** Outcomes that a limit may count instead of requests. */
export type CountedOutcome = 'declines' | 'refused codes';

export interface RateLimit {
  readonly name: string;
  /** A number, or the number's setting; 0 turns the limit off. */
  readonly max: number | 'KEY_DECLINES_PER_HOUR';
  readonly windowSeconds: number;
  /** The counted subject; undefined if the limit does not apply to the request. */
  readonly by: (request: ApiRequest) => string | undefined;
  /**
   * `requests` (the default) counts every request. If the path names a record, it counts only requests that may act on
   * the record. `allowed requests` counts only requests that the access rule allows, so strangers cannot fill a window.
   * `declines` counts declined payments and declined methods, and `refused codes` counts refused discount codes. A full
   * window of declines or refused codes refuses all further requests of the subject that the access rule allows.
   */
  readonly counts?: 'requests' | 'allowed requests' | CountedOutcome;
  /** The log message for each refused request, which includes the id of its service key. */
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
  /** The names of the attributes that count the current and the previous window. */
  readonly current: string;
  readonly previous: string;
  /** Index of the current window since 1970. */
  readonly number: number;
  /** Epoch seconds. The counts are needed until the next window ends. */
  readonly ttl: number;
}

/** A request's counts while another window may still refuse it. */
export interface Reservation {
  /** Subtracts the request from its windows. */
  readonly release: () => Promise<void>;
}

/**
 * Counts a request in its windows. Windows of outcomes are only read, because the outcome is not yet known.
 * @throws DomainError RATE_LIMITED if a window is full; the request then counts in no window
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

/** Counts a decline or a refused code. Concurrent requests may exceed the maximum. */
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
 * Counts a refused request by its subject. A write conflict leaves the request uncounted, because it is refused anyway.
 * @throws DomainError RATE_LIMITED if the window is full
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

/** Limits without a subject in this request have no window. */
const windowsOf = (deps: LimitDeps, limits: readonly RateLimit[], request: ApiRequest): readonly Window[] =>
  limits.flatMap((limit) => {
    const subject = limit.by(request);
    return subject === undefined ? [] : windowOf(deps, limit, subject);
  });

/** The current window of a subject; empty if the limit is off. */
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
  /** 0 if the request was counted, else the time until the window has room. */
  readonly waitMs: number;
}

/**
 * Counts with a condition, so concurrent requests cannot exceed the maximum. The first condition may refuse counts that
 * still fit; a second write then uses the exact bounds.
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

/** An item with more windows than this loses its outdated windows. */
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
