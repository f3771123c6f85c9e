/** @module `fetch`, `node:http`, and the transport of the AWS SDK, by which libraries reach the network. */
import { Buffer } from 'node:buffer';
import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import type { AwsSend } from '../../../infra/local/machine/aws-transport.ts';
import { NetworkError, type Received, type Send } from './network.ts';

export const simulatedFetch =
  (send: Send) =>
  async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    const request = input instanceof Request ? input : undefined;
    const body = init.body ?? (request?.body ? await request.text() : '');
    const { signal } = init;
    signal?.throwIfAborted();
    const sent = send({
      method: init.method ?? request?.method ?? 'GET',
      url: request?.url ?? String(input),
      headers: Object.fromEntries(new Headers(init.headers ?? request?.headers ?? {})),
      body: textOf(body),
    });
    const received = await aborting(sent, signal).catch((error: unknown) => {
      throw error instanceof NetworkError ? new TypeError('fetch failed', { cause: error }) : error;
    });
    const bodiless = received.status === 204 || received.status === 304;
    return new Response(bodiless ? null : received.body, { status: received.status, headers: pairsOf(received) });
  };

const textOf = (body: unknown): string => {
  if (typeof body === 'string') return body;
  if (body instanceof Uint8Array) return Buffer.from(body).toString('utf8');
  if (body instanceof URLSearchParams) return body.toString();
  throw new TypeError('the simulation sends texts only');
};

const pairsOf = ({ headers }: Received): [string, string][] =>
  Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]);

/** Rejects when the signal aborts. The caller then stops waiting, but the call continues. */
const aborting = <T>(work: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> => {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort);
    const end = (): void => signal.removeEventListener('abort', abort);
    work.then(resolve, reject).finally(end);
  });
};

interface HttpOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
  readonly host?: string;
  readonly hostname?: string;
  readonly port?: string | number;
  readonly path?: string;
}

/** `request` of `node:http` with a single chunk for the body and for the response. */
export const simulatedHttpRequest =
  (send: Send) =>
  (...call: readonly unknown[]): EventEmitter => {
    const url = call.find((part) => typeof part === 'string' || part instanceof URL);
    const options = (call.find((part) => isOptions(part)) ?? {}) as HttpOptions;
    const onResponse = call.find((part) => typeof part === 'function') as ((message: Readable) => void) | undefined;
    const address = url ?? `http://${options.hostname ?? options.host}:${options.port ?? 80}${options.path ?? '/'}`;
    return new SimulatedRequest({ send, url: String(address), options, onResponse });
  };

const isOptions = (part: unknown): boolean => typeof part === 'object' && part !== null && !(part instanceof URL);

interface RequestParts {
  readonly send: Send;
  readonly url: string;
  readonly options: HttpOptions;
  readonly onResponse: ((message: Readable) => void) | undefined;
}

class SimulatedRequest extends EventEmitter {
  readonly #parts: RequestParts;
  readonly #chunks: Buffer[] = [];
  #ended = false;

  constructor(parts: RequestParts) {
    super();
    this.#parts = parts;
    if (parts.onResponse) this.once('response', parts.onResponse);
    parts.options.signal?.addEventListener('abort', () => this.#fail(parts.options.signal?.reason));
  }
  write(chunk: string | Uint8Array): boolean {
    this.#chunks.push(Buffer.from(chunk));
    return true;
  }
  end(chunk?: string | Uint8Array): this {
    if (chunk !== undefined) this.write(chunk);
    const { send, url, options } = this.#parts;
    const headers = Object.entries(options.headers ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]);
    const body = Buffer.concat(this.#chunks).toString('utf8');
    send({ method: options.method ?? 'GET', url, headers: Object.fromEntries(headers), body }).then(
      (received) => this.#answer(received),
      (error: unknown) => this.#fail(error),
    );
    return this;
  }
  setTimeout(): this {
    return this;
  }
  destroy(error?: unknown): this {
    this.#fail(error ?? new NetworkError('ECONNRESET'));
    return this;
  }
  abort(): void {
    this.destroy();
  }
  #answer(received: Received): void {
    if (this.#ended) return;
    this.#ended = true;
    const message = Readable.from([Buffer.from(received.body)]);
    this.emit('response', Object.assign(message, { statusCode: received.status, headers: received.headers }));
  }
  #fail(error: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    this.emit('error', error);
  }
}

/** Each attempt of the AWS SDK is a step, because the SDK itself retries failures. */
export const simulatedAwsSend =
  (send: Send): AwsSend =>
  async (request) => {
    const received = await send({ method: 'POST', ...request });
    return { ...received, headers: Object.fromEntries(pairsOf(received)) };
  };
