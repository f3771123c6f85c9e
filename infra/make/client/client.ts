/**
 * @module The code of the client package. It adds retries, pagination and thrown errors to openapi-fetch. It is
 * published as JavaScript, so it must not import from the service. The types for users are in `client-types.ts`.
 */
import createClient, { type ClientOptions, mergeHeaders } from 'openapi-fetch';

type Fetch = (request: Request) => Promise<Response>;

interface OpenOptions extends ClientOptions {
  readonly key?: string | undefined;
  readonly actFor?: string | undefined;
  readonly retries?: number | undefined;
}

interface Result {
  readonly data?: unknown;
  readonly error?: unknown;
  readonly response: Response;
}
interface Init {
  readonly params?: {
    readonly query?: Readonly<Record<string, unknown>>;
    readonly header?: Readonly<Record<string, unknown>>;
  };
}

/** @param keyedPosts the paths of the document whose POST takes an Idempotency-Key */
export const openPaymentsClient = (options: OpenOptions, keyedPosts: ReadonlySet<string>) => {
  const { key, actFor, headers, retries = RETRIES, fetch = globalThis.fetch, ...rest } = options;
  const client = createClient<Record<string, Record<string, never>>>({
    ...rest,
    fetch: withRetries((request) => fetch(request), retries),
    headers: mergeHeaders(headers, {
      ...(key && { Authorization: `Bearer ${key}` }),
      ...(actFor && { 'X-Act-For': actFor }),
    }),
  });
  client.use({
    onRequest: ({ request, schemaPath }) => {
      if (request.method === 'POST' && keyedPosts.has(schemaPath) && !request.headers.has(IDEMPOTENCY_KEY))
        request.headers.set(IDEMPOTENCY_KEY, newKey());
    },
  });
  const get = (path: string, init: Init): Promise<Result> => Reflect.apply(client.GET, undefined, [path, init]);
  return { ...client, paginate: (path: string, init: Init = {}) => itemsOf((next) => get(path, next), init) };
};

const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** Avoids `crypto.randomUUID`, which exists in secure contexts only. A page may use http. */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** Maximum retries after the first attempt. */
const RETRIES = 2;
/** The client does not wait for a longer Retry-After, so the caller decides. */
const LONGEST_WAIT_MS = 60_000;
const FIRST_WAIT_MS = 500;

const withRetries =
  (fetch: Fetch, retries: number): Fetch =>
  async (request) => {
    for (let tried = 0; ; tried += 1) {
      const isLast = tried >= retries;
      const outcome = await attempt(fetch, isLast ? request : request.clone());
      const waitMs = isLast ? undefined : waitAfter(outcome, request, tried);
      if (waitMs === undefined) return responseOf(outcome);
      if (outcome instanceof Response) await outcome.body?.cancel();
      await pause(waitMs, request.signal);
    }
  };

/** @throws the network error if there is no response */
const responseOf = (outcome: Outcome): Response => {
  if (outcome instanceof Response) return outcome;
  throw outcome.thrown;
};

type Outcome = Response | { readonly thrown: unknown };

const attempt = async (fetch: Fetch, request: Request): Promise<Outcome> => {
  try {
    return await fetch(request);
  } catch (thrown) {
    return { thrown };
  }
};

/**
 * The delay before a retry; undefined for no retry. A request without a key is retried only if the service refused it
 * temporarily. A request with a key has its effect once, so it is also retried after a lost response or a failure. A
 * retry may collide with the still running first attempt (409).
 */
const waitAfter = (outcome: Outcome, request: Request, tried: number): number | undefined => {
  const waitMs = request.signal.aborted ? undefined : wantedWait(outcome, request, tried);
  return waitMs !== undefined && waitMs <= LONGEST_WAIT_MS ? waitMs : undefined;
};

const wantedWait = (outcome: Outcome, request: Request, tried: number): number | undefined => {
  const isKeyed = request.headers.has(IDEMPOTENCY_KEY);
  const backoffMs = FIRST_WAIT_MS * 2 ** tried * (0.5 + Math.random() / 2);
  if (!(outcome instanceof Response)) return isKeyed ? backoffMs : undefined;
  const askedMs = retryAfterMs(outcome.headers.get('Retry-After'));
  if (outcome.status === 429 || outcome.status === 503) return askedMs ?? (isKeyed ? backoffMs : undefined);
  if (outcome.status === 409) return isKeyed && tried > 0 ? askedMs : undefined;
  return isKeyed && outcome.status >= 500 ? (askedMs ?? backoffMs) : undefined;
};

/** Parses the header's seconds or date. */
const retryAfterMs = (header: string | null): number | undefined => {
  if (header === null) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now();
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
};

/** @throws the signal's reason if the caller aborts during the wait */
const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });

/** Requests each page only when its items are read. @throws PaymentsError */
async function* itemsOf(get: (init: Init) => Promise<Result>, init: Init): AsyncGenerator<unknown> {
  const header = { ...init.params?.header, ...ENVELOPE };
  for (let next: Init | undefined = { ...init, params: { ...init.params, header } }; next !== undefined; ) {
    const result: Result = await get(next);
    const body = await unwrap(result);
    yield* entriesOf(body);
    const query = nextQuery(result.response.headers.get('Link'), body);
    next = query && { ...init, params: { ...init.params, header, query: { ...init.params?.query, ...query } } };
  }
}

/** Requests envelopes, because some lists name their next page only in the envelope. */
const ENVELOPE = { 'X-Response-Form': 'envelope' };

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const entriesOf = (body: unknown): readonly unknown[] => {
  const entries = isRecord(body) && !Array.isArray(body) ? body['data'] : body;
  return Array.isArray(entries) ? entries : [];
};

/**
 * The query of the next page; undefined after the last page. Most lists link the next page in the Link header. Lists of
 * organizations and members use page numbers.
 */
const nextQuery = (link: string | null, body: unknown): Readonly<Record<string, unknown>> | undefined => {
  const [, address] = /<([^>]*)>;\s*rel="next"/.exec(link ?? '') ?? [];
  if (address !== undefined) return Object.fromEntries(new URL(address, 'http://host').searchParams);
  const meta = isRecord(body) && isRecord(body['meta']) ? body['meta'] : {};
  const { page, totalPages } = isRecord(meta['pagination']) ? meta['pagination'] : {};
  return typeof page === 'number' && typeof totalPages === 'number' && page < totalPages
    ? { page: page + 1 }
    : undefined;
};

/** A failed request, thrown by `unwrap` and `paginate`. `body` is the error that the service sent, if it sent one. */
export class PaymentsError extends Error {
  readonly status: number;
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    const said = isRecord(body) ? body : {};
    const [code, text, id] = [said['code'], said['error'], said['request_id']].map((value) =>
      typeof value === 'string' ? value : undefined,
    );
    super(`${code ?? `HTTP ${status}`}: ${text ?? 'no JSON error'}${id === undefined ? '' : ` (request ${id})`}`);
    this.name = 'PaymentsError';
    this.status = status;
    this.code = code;
    this.requestId = id;
    this.body = body;
  }
}

/** The body of a success. @throws PaymentsError */
export const unwrap = async (result: Result | Promise<Result>): Promise<unknown> => {
  const { data, error, response } = await result;
  if (!response.ok) throw new PaymentsError(response.status, error);
  return data;
};
