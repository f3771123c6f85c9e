/**
 * @module A small HTTP client for vendors whose SDK is too large. A call has one deadline, and one retry if the vendor
 * certainly did nothing. A 2xx counts only after its body has been parsed.
 */

import type * as z from 'zod';
import type { NotDone, Outcome, Unknown } from '../core/outcome.ts';
import type { Fetch, FetchInit, FetchResponse } from '../platform/fetch.ts';
import { retryAfterSeconds } from '../platform/retry-after.ts';
import type { AdapterOptions } from './adapter.ts';
import { meaningOf, networkFailure, withOneRetry } from './vendor-failures.ts';

export interface HttpRequest<T> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path after the base URL, with encoded ids. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** A string is sent unchanged, with its content type in `headers`; any other value is sent as JSON. */
  readonly body?: unknown;
  /** The schema of a successful response. */
  readonly answer: z.ZodType<T>;
}

export type Exchanged<T> =
  | { readonly kind: 'done'; readonly value: T }
  /** The vendor refused the call. `body` is the parsed JSON; undefined for other bodies. */
  | { readonly kind: 'answered no'; readonly status: number; readonly body: unknown }
  | NotDone
  | Unknown;

export type Failed = Exclude<Outcome<never>, { kind: 'done' }>;

/** Turns a vendor's refusal into an outcome. */
export type ReadRefusal = (status: number, body: unknown) => Failed;

export interface HttpClientOptions extends Omit<AdapterOptions, 'settings'> {
  readonly baseUrl: string;
}

export type HttpClient = ReturnType<typeof httpClient>;

export const httpClient = (options: HttpClientOptions) => {
  const { slot, log } = options;
  const sending = { ...options, fetch: withOneRetry(options.fetch, options.timeoutMs) };

  /** Makes a call for a caller that handles refusals itself, such as the refusal of an expired token. */
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
  readonly fetch: Fetch;
}

const send = async <T>(options: Sending, request: HttpRequest<T>): Promise<Exchanged<T>> => {
  let response: FetchResponse;
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
  switch (meaningOf(status)) {
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

/** Redirects are not followed, so that a charge goes only to the configured URL. */
const init = ({ timeoutMs }: Sending, { method, headers, body }: HttpRequest<unknown>): FetchInit => ({
  method,
  redirect: 'error',
  signal: AbortSignal.timeout(timeoutMs),
  headers: { accept: 'application/json', ...(isJson(body) && { 'content-type': 'application/json' }), ...headers },
  ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
});

const isJson = (body: unknown): boolean => body !== undefined && typeof body !== 'string';

const isTimeout = (error: unknown): boolean => error instanceof DOMException && error.name === 'TimeoutError';

/** An empty body, such as that of a 204, is read as undefined. */
const parsed = (text: string): unknown => {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};
