import type * as z from 'zod/mini';
import type { Outcome } from '../core/outcome.ts';
import type { AdapterOptions } from './adapter.ts';

/**
 * A small client for vendors whose SDK weighs too much. One call, one deadline, no retry: a repeat is the caller's to
 * decide, under the same key. A 2xx counts only once its body has been read and parsed; before that, and whenever the
 * vendor itself does not know (408, 425, 429, 5xx), the outcome is unknown.
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
  | Unknown;

export type Unknown = Extract<Outcome<never>, { kind: 'unknown' }>;
export type NotDone = Exclude<Outcome<never>, { kind: 'done' }>;

/** What a vendor's refusal comes to. */
export type ReadRefusal = (status: number, body: unknown) => NotDone;

export type HttpClient = ReturnType<typeof httpClient>;

export const httpClient = (options: Omit<AdapterOptions, 'settings'> & { readonly baseUrl: string }) => {
  const { slot, log } = options;

  /** For those who have something to do about a refusal: renew a token, say. */
  const exchange = async <T>(request: HttpRequest<T>): Promise<Exchanged<T>> => {
    const startedAt = Date.now();
    const exchanged = await send(options, request);
    log.info('provider called', {
      provider: slot,
      outcome: exchanged.kind,
      duration_ms: Date.now() - startedAt,
      ...(exchanged.kind === 'unknown' && { reason: exchanged.reason }),
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
}

const send = async <T>(options: Sending, request: HttpRequest<T>): Promise<Exchanged<T>> => {
  let status: number;
  let text: string;
  try {
    const response = await options.fetch(
      `${options.baseUrl.replace(/\/$/, '')}${request.path}`,
      init(options, request),
    );
    status = response.status;
    text = await response.text();
  } catch (error) {
    return { kind: 'unknown', reason: isTimeout(error) ? 'timeout' : 'unreachable' };
  }
  if (status >= 500 || UNDECIDED.includes(status)) return ERROR;
  const body = parsed(text);
  if (status >= 400) return { kind: 'answered no', status, body };
  const answer = request.answer.safeParse(body);
  return answer.success && status >= 200 && status < 300 ? { kind: 'done', value: answer.data } : ERROR;
};

const ERROR: Unknown = { kind: 'unknown', reason: 'error' };
const UNDECIDED: readonly number[] = [408, 425, 429];

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
