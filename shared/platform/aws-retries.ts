/**
 * Retries of AWS requests by the rules of the SDK's standard mode: a random wait whose bound doubles, and a budget of
 * retries per service, so that a service in trouble gets fewer.
 */
export interface TryLimits {
  /** All tries of one call, the first included. */
  readonly tries: number;
  /** Bound of the first wait after a transient failure. */
  readonly waitMs: number;
}

export type Retried = <Result>(attempt: () => Promise<Result>) => Promise<Result>;

const BUDGET = 500;
const COST = { throttled: 5, transient: 14 } as const;
const THROTTLED_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 20_000;
/** How much longer than its own wait a client waits where the service asks for it. */
const MOST_ADDED_MS = 5_000;

/** @throws the last failure, where it is not worth a retry, or the tries or the budget are used up */
export const openRetries = ({ tries, waitMs }: TryLimits): Retried => {
  let budget = BUDGET;
  return async (attempt) => {
    let paid = 1;
    for (let tried = 1; ; tried += 1) {
      try {
        const result = await attempt();
        budget = Math.min(BUDGET, budget + paid);
        return result;
      } catch (error) {
        const kind = retryKind(error);
        if (kind === undefined || tried === tries || budget < COST[kind]) throw error;
        paid = COST[kind];
        budget -= paid;
        const bound = (kind === 'throttled' ? THROTTLED_WAIT_MS : waitMs) * 2 ** (tried - 1);
        const own = Math.floor(Math.random() * Math.min(bound, LONGEST_WAIT_MS));
        const asked = Math.min(factsOf(error).retryAfterMs ?? 0, own + MOST_ADDED_MS);
        await new Promise((resolve) => setTimeout(resolve, Math.max(own, asked)));
      }
    }
  };
};

/** What an error tells about a retry. */
interface FailureFacts {
  readonly name: string;
  readonly message: string;
  /** Of the connection. */
  readonly code?: unknown;
  /** Of the answer. */
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** The next try is signed with the time of the service. */
  readonly isClockCorrected?: boolean;
}

const factsOf = (error: unknown): FailureFacts => (error instanceof Error ? error : new Error(String(error)));

const TOO_MANY_REQUESTS = 429;
const THROTTLED: ReadonlySet<string> = new Set([
  'LimitExceededException',
  'ProvisionedThroughputExceededException',
  'RequestLimitExceeded',
  'RequestThrottled',
  'ThrottlingException',
  'TooManyRequestsException',
  'TransactionInProgressException',
]);
/** Names, codes of the connection, and statuses. */
const TRANSIENT: ReadonlySet<unknown> = new Set([
  'TimeoutError',
  'RequestTimeout',
  'RequestTimeoutException',
  'DamagedAnswer',
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  500,
  502,
  503,
  504,
]);

const retryKind = (error: unknown): keyof typeof COST | undefined => {
  const { name, message, code, status, isClockCorrected } = factsOf(error);
  if (status === TOO_MANY_REQUESTS || THROTTLED.has(name)) return 'throttled';
  const isExpired = name === 'InvalidSignatureException' && message.includes('Signature expired');
  return isExpired || isClockCorrected || [name, status, code].some((fact) => TRANSIENT.has(fact))
    ? 'transient'
    : undefined;
};
