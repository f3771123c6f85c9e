import type * as z from 'zod/mini';
import type { NotDone, Outcome, Unknown } from '../../core/outcome.ts';
import type { AdapterOptions } from './adapter.ts';
import { meaningOf, networkFailure, retryAfterSeconds, type StatusTable } from './failures.ts';
import { withOneRetry } from './one-retry.ts';

/**
 * A small client for vendors whose SDK weighs too much. One call has one deadline, and one retry where the vendor
 * certainly did nothing; any other repeat is the caller's to decide, under the same key. A 2xx counts only once its body
 * has been read and parsed; what any other status means, the vendor's table says.
 */
export interface HttpRequest<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From the base URL on; its ids encoded by whoever builds it. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A text is sent as it is, with the content type among `headers`; anything else as JSON. */
  readonly body?: unknown;
  /** What an answer that is a success has to hold. */
  readonly answer: z.ZodMiniType<T>;
}

export type Exchanged<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** The vendor says no; `body` is parsed JSON, undefined where it is none. */
  | { readonly kind: 'answered no'; readonly status: number; readonly body: unknown }
  | NotDone
  | Unknown;

export type Failed = Exclude<Outcome<never>, { kind: 'done' }>;

/** What a vendor's refusal comes to. */
export type ReadRefusal = (status: number, body: unknown) => Failed;

export interface HttpClientOptions extends Omit<AdapterOptions, 'settings'> {
  readonly baseUrl: string;
  readonly statuses: StatusTable;
}

export type HttpClient = ReturnType<typeof httpClient>;

export const httpClient = (options: HttpClientOptions) => {
  const { slot, log } = options;
  const sending = { ...options, fetch: withOneRetry(options.fetch, options) };

  /** For those who have something to do about a refusal: renew a token, say. */
  const exchange = async <T>(request: HttpRequest<T>): Promise<Exchanged<T>> => {
    const startedAt = Date.now();
    const exchanged = await send(sending, request);
    log.info('provider called', {
      provider: slot,
      outcome: exchanged.kind,
      duration_ms: Date.now() - startedAt,
      ...('reason' in exchanged && { reason: exchanged.reason }),
      ...(exchanged.kind === 'answered no' && { status: exchanged.status }),
    });
    return exchanged;
  };

  const call = async <T>(request: HttpRequest<T>, readRefusal: ReadRefusal): Promise<Outcome<T>> => {
    const exchanged = await exchange(request);
    return exchanged.kind === 'answered no' ? readRefusal(exchanged.status, exchanged.body) : exchanged;
  };

  return { exchange, call };
};

interface Sending {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly fetch: typeof fetch;
  readonly statuses: StatusTable;
}

const send = async <T>(options: Sending, request: HttpRequest<T>): Promise<Exchanged<T>> => {
  let response: Response;
  let text: string;
  try {
    response = await options.fetch(`${options.baseUrl.replace(/\/$/, '')}${request.path}`, init(options, request));
    text = await response.text();
  } catch (error) {
    return isTimeout(error) ? { kind: 'unknown', reason: 'timeout' } : networkFailure(error);
  }
  const { status } = response;
  const body = parsed(text);
  if (response.ok) {
    const answer = request.answer.safeParse(body);
    return answer.success ? { kind: 'done', value: answer.data } : ERROR;
  }
  switch (meaningOf(options.statuses, status)) {
    case 'refused':
      return { kind: 'answered no', status, body };
    case 'not_done': {
      const seconds = retryAfterSeconds(response.headers.get('retry-after'), Date.now());
      return { kind: 'not_done', reason: 'rate_limited', retryAfterSeconds: seconds };
    }
    case 'unknown':
      return ERROR;
  }
};

const ERROR: Unknown = { kind: 'unknown', reason: 'error' };

/** A redirect is not followed: a charge goes where the operator said, or nowhere. */
const init = ({ timeoutMs }: Sending, { method, headers, body }: HttpRequest<unknown>): RequestInit => ({
  method,
  redirect: 'error',
  signal: AbortSignal.timeout(timeoutMs),
  headers: { accept: 'application/json', ...(isJson(body) && { 'content-type': 'application/json' }), ...headers },
  ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
});

const isJson = (body: unknown): boolean => body !== undefined && typeof body !== 'string';

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';

/** An empty body, as a 204 has, reads as undefined. */
const parsed = (text: string): unknown => {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};
