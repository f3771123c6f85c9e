import type { NotDone, Outcome, Unknown } from '../../core/outcome.ts';

/**
 * The meaning of a failed call to a provider: it refused the call, it certainly did nothing, or it may have acted. Each
 * adapter has one table of HTTP statuses; all adapters share one table of network errors.
 */
export type StatusMeaning = 'refused' | 'not_done' | 'unknown';

/** The statuses that differ from the rule of `meaningOf`. */
export type StatusTable = Readonly<Partial<Record<number, StatusMeaning>>>;

/** A 4xx is a refusal, any other failure is unknown; the adapter's table has the exceptions. */
export const meaningOf = (table: StatusTable, status: number): StatusMeaning =>
  table[status] ?? (status >= 400 && status < 500 ? 'refused' : 'unknown');

/** Errors that occur before the first byte of a request has been sent; after any other, the provider may have acted. */
const NOTHING_WAS_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
]);

export const isUnsent = (code: string | undefined): boolean => code !== undefined && NOTHING_WAS_SENT.has(code);

/** The outcome of a fetch error; its cause holds the code of the network error. */
export const networkFailure = (error: unknown): NotDone | Unknown =>
  isUnsent(networkCode(error))
    ? { kind: 'not_done', reason: 'unreachable' }
    : { kind: 'unknown', reason: 'unreachable' };

const MAX_CAUSES = 5;

export const networkCode = (error: unknown): string | undefined => {
  let current = error;
  for (let depth = 0; depth < MAX_CAUSES && current instanceof Error; depth += 1) {
    if ('code' in current && typeof current.code === 'string') return current.code;
    current = current.cause;
  }
  return undefined;
};

/** Retry-After in seconds, rounded up: the header holds seconds or a date. @param now epoch milliseconds */
export const retryAfterSeconds = (header: string | null | undefined, now: number): number | undefined => {
  if (!header) return undefined;
  if (/^\d{1,6}$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - now) / 1_000));
};

/**
 * The outcome of a later step, after an earlier step has changed something at the provider: if the later step fails, the
 * outcome of the whole call is unknown.
 */
export const afterChange = <T>(outcome: Outcome<T>): Outcome<T> =>
  outcome.kind === 'done' || outcome.kind === 'unknown' ? outcome : { kind: 'unknown', reason: 'error' };
