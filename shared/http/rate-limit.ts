import { DomainError } from '../core/errors.ts';
import { epochSeconds, type Now } from '../core/time.ts';
import { type Key, rateKey } from '../table/keys.ts';
import type { Table } from '../table/table.ts';
import type { RateLimit } from './endpoint.ts';
import type { ApiRequest } from './request.ts';

/** Fixed windows by the service's clock, one counter each. */
interface LimitDeps {
  readonly table: Table;
  readonly now: Now;
}

/** The window of one subject that a request falls into. */
interface Window {
  readonly key: Key;
  readonly max: number;
  readonly secondsLeft: number;
  readonly ttl: number;
}

/**
 * Counts a request in all of its windows at once. Windows of declined payments are read beside: the payment that fills
 * one is not known yet. @throws DomainError RATE_LIMITED where any window is full.
 */
export const enforceLimits = async (
  deps: LimitDeps,
  limits: readonly RateLimit[],
  request: ApiRequest,
): Promise<void> => {
  const [ofDeclines, ofRequests] = [limits.filter(countsDeclines), limits.filter((limit) => !countsDeclines(limit))];
  const full = await Promise.all([
    fullWindows(deps, windowsOf(deps, ofDeclines, request)),
    ...windowsOf(deps, ofRequests, request).map((window) => countedIn(deps, window)),
  ]);
  refuseBy(full.flat());
};

/** Counts a payment that was declined. More than its number may be declined where several were under way at once. */
export const countDecline = async (
  deps: LimitDeps,
  limits: readonly RateLimit[],
  request: ApiRequest,
): Promise<void> => {
  const windows = windowsOf(deps, limits.filter(countsDeclines), request);
  await Promise.all(windows.map(({ key, ttl }) => deps.table.update(key, { add: { n: 1 }, set: { ttl } })));
};

/** A place in a window, taken before it is known whether the request is one that the limit is about. */
export interface Place {
  readonly giveBack: () => Promise<void>;
}

/** @throws DomainError RATE_LIMITED where all places are taken, however many are asked for at once. */
export const takePlace = async (deps: LimitDeps, limit: RateLimit, request: ApiRequest): Promise<Place> => {
  const windows = windowsOf(deps, [limit], request);
  refuseBy((await Promise.all(windows.map((window) => countedIn(deps, window)))).flat());
  return {
    giveBack: async () => {
      await Promise.all(windows.map(({ key }) => deps.table.update(key, { add: { n: -1 } }, [{ has: 'n' }])));
    },
  };
};

const countsDeclines = ({ counts }: RateLimit): boolean => counts === 'declined payments';

const refuseBy = (full: readonly Window[]): void => {
  if (full.length === 0) return;
  const waits = full.map(({ secondsLeft }) => secondsLeft);
  throw new DomainError('RATE_LIMITED', { retryAfterSeconds: Math.max(...waits) });
};

/** A limit that the request has no subject for has no window. */
const windowsOf = ({ now }: LimitDeps, limits: readonly RateLimit[], request: ApiRequest): readonly Window[] =>
  limits.flatMap(({ name, max, windowSeconds, by }) => {
    const subject = by(request);
    if (subject === undefined) return [];
    const seconds = epochSeconds(now());
    const window = Math.floor(seconds / windowSeconds);
    const endsAt = (window + 1) * windowSeconds;
    return { key: rateKey(name, subject, window), max, secondsLeft: endsAt - seconds, ttl: endsAt + windowSeconds };
  });

/** @returns the window where it is full. */
const countedIn = async ({ table }: LimitDeps, window: Window): Promise<readonly Window[]> => {
  const { key, max, ttl } = window;
  const notFull = { any: [{ lacks: 'n' }, { below: ['n', max] }] } as const;
  const counted = await table.update(key, { add: { n: 1 }, set: { ttl } }, [notFull]);
  return counted.ok ? [] : [window];
};

const fullWindows = async ({ table }: LimitDeps, windows: readonly Window[]): Promise<readonly Window[]> => {
  if (windows.length === 0) return [];
  const items = await table.getMany(
    windows.map(({ key }) => key),
    { consistent: true },
  );
  return windows.filter(({ max }, at) => Number(items[at]?.['n'] ?? 0) >= max);
};
