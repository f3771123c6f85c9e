/** @module The parts of fetch used by the service, built on Node's HTTP client, because Node's fetch loads slowly. */

import { type IncomingMessage, Agent as PlainAgent, request as plainRequest } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import type { Socket } from 'node:net';

export interface FetchInit {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>> | [string, string][];
  readonly body?: string;
  /** On abort, the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * With `error`, a redirect fails the call. Otherwise the call follows a redirect of a GET, and a 307 or 308 of any
   * method.
   */
  readonly redirect?: 'error';
}

export interface FetchHeaders extends Iterable<[string, string]> {
  /** @param name in lower case */
  get(name: string): string | null | undefined;
}

export interface FetchResponse {
  readonly status: number;
  readonly ok: boolean;
  readonly headers: FetchHeaders;
  readonly body: { cancel(): Promise<void> } | null;
  text(): Promise<string>;
  json(): Promise<unknown>;
  arrayBuffer(): Promise<ArrayBuffer>;
}

export type Fetch = (url: string, init?: FetchInit) => Promise<FetchResponse>;

const MOST_REDIRECTS = 5;
const REPEATED: ReadonlySet<number> = new Set([307, 308]);

/** @throws the signal's reason, or an error with the connection's error (and its `code`) as `cause` */
export const fetchOverHttp: Fetch = async (url, init = {}) => {
  let address = new URL(url);
  for (let redirects = 0; ; redirects += 1) {
    const { message, bytes } = await exchange(address, init);
    const { statusCode: status = 0 } = message;
    const next = redirectOf(message, init);
    if (next === undefined) return responseOf(status, message, bytes);
    if (init.redirect === 'error' || redirects === MOST_REDIRECTS) throw new Error(`redirected by status ${status}`);
    address = new URL(next, address);
  }
};

const redirectOf = (
  { statusCode = 0, headers }: IncomingMessage,
  { method = 'GET' }: FetchInit,
): string | undefined => {
  const isRedirect = REPEATED.has(statusCode) || (method === 'GET' && statusCode >= 301 && statusCode <= 303);
  return isRedirect ? headers.location : undefined;
};

/** Connections idle for longer are not reused, because the other side may have closed them while Lambda was paused. */
const MOST_IDLE_MS = 4_000;
const idleSince = new WeakMap<Socket, number>();

const kept = <A extends PlainAgent>(agent: A): A => {
  agent.on('free', (socket: Socket) => {
    idleSince.set(socket, Date.now());
  });
  return agent;
};

const PLAIN = { send: plainRequest, agent: kept(new PlainAgent({ keepAlive: true })) };
const SECURE = { send: secureRequest, agent: kept(new SecureAgent({ keepAlive: true })) };

const closeIdle = ({ freeSockets }: PlainAgent): void => {
  const now = Date.now();
  for (const socket of Object.values(freeSockets).flatMap((sockets) => sockets ?? [])) {
    if (now - (idleSince.get(socket) ?? now) > MOST_IDLE_MS) socket.destroy();
  }
};

interface Exchange {
  readonly message: IncomingMessage;
  readonly bytes: Promise<Buffer>;
}

const exchange = (url: URL, { method = 'GET', headers, body, signal }: FetchInit): Promise<Exchange> => {
  signal?.throwIfAborted();
  const { send, agent } = url.protocol === 'https:' ? SECURE : PLAIN;
  closeIdle(agent);
  const given = Array.isArray(headers) ? Object.fromEntries(headers) : headers;
  // Only `cause` has the code. With a code on the error itself, Stripe's SDK would retry the call.
  const failure = (cause: Error): unknown =>
    signal?.aborted ? signal.reason : new TypeError('the call failed', { cause });
  return new Promise((resolve, reject) => {
    const options = {
      method,
      agent,
      headers: { accept: '*/*', 'user-agent': 'node', ...given },
      ...(signal && { signal }),
    };
    const request = send(url, options, (message) => {
      const bytes = new Promise<Buffer>((done, fail) => {
        const parts: Buffer[] = [];
        message.on('data', (part: Buffer) => parts.push(part));
        message.on('end', () => done(Buffer.concat(parts)));
        message.on('error', (error) => fail(failure(error)));
      });
      // Prevents an unhandled rejection if the caller ignores the body.
      bytes.catch(() => undefined);
      resolve({ message, bytes });
    });
    request.on('error', (error) => reject(failure(error)));
    request.end(body);
  });
};

const responseOf = (status: number, { headers }: IncomingMessage, bytes: Promise<Buffer>): FetchResponse => {
  const text = async (): Promise<string> => (await bytes).toString('utf8');
  return {
    status,
    ok: status >= 200 && status < 300,
    headers: new Map(Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')])),
    // Nothing to cancel. The body is always read to its end so that the connection can be reused.
    body: { cancel: async () => undefined },
    text,
    json: async () => JSON.parse(await text()),
    arrayBuffer: async () => Uint8Array.from(await bytes).buffer,
  };
};
