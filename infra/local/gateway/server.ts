/** @module The host's only listener, for the service's routes, the stand-ins under /_local, and the reference page. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { json, type LocalRequest, type LocalResponse, problem } from '../machine/answer.ts';
import { StartError } from '../machine/start-error.ts';
import type { ClientDownload } from './client-download.ts';
import { providerCors } from './cors.ts';
import type { Door } from './door.ts';
import type { Gateway } from './gateway.ts';
import { type GatewayAnswer, INTERNAL_ERROR, plainAnswer } from './gateway-answer.ts';
import { type Reach, requestRefusal } from './guard.ts';
import type { Reference } from './reference-page.ts';

export interface Sites {
  readonly gateway: Gateway;
  /** Serves /_local, by the rest of the path. If it returns undefined, the connection is dropped without a response. */
  readonly local: (ask: LocalRequest) => Promise<LocalResponse | undefined>;
  /** The reference page. */
  readonly reference: Reference;
  readonly client: ClientDownload;
  readonly basePath: string;
  /** The target of `/`. Undefined if the host has no pages. */
  readonly home: string | undefined;
  readonly log: (line: string) => void;
}

export interface Listener {
  readonly baseUrl: string;
  /** Starts serving. Until then, every request gets a 503. */
  open(sites: Sites): void;
  /** Refuses new requests to the service. The stand-ins still serve running requests. */
  refuse(): void;
  close(): Promise<void>;
}

/** The body limit of an HTTP API. */
const MAX_BODY_BYTES = 10 * 1_024 * 1_024;
const LOCAL = '/_local';
const HEALTH = '/health';
const KEEP_ALIVE_MS = 65_000;

interface Place extends Reach {
  readonly port: number;
}

/**
 * @param door holds outside requests until it opens
 * @throws StartError if the port is in use.
 */
export const listen = async (place: Place, door?: Door): Promise<Listener> => {
  let sites: Sites | undefined;
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (message, response) => {
    const refusal = requestRefusal(message, isControl(message.url ?? '/'), place);
    if (refusal !== undefined) write(response, textAnswer(problem(403, refusal)));
    else if (sites) void enter({ message, response });
    else write(response, textAnswer(json(503, { status: 'starting' })));
  });
  const enter = async ({ message, response }: Omit<Exchange, 'body'>): Promise<void> => {
    await door?.enter(message);
    if (sites) await serve(sites, message, response);
  };
  const taken = await bind(server, place);
  return {
    baseUrl: `http://${ownName(place.address)}:${taken}`,
    open: (opened) => {
      sites = opened;
    },
    refuse: () => {
      if (sites) sites = { ...sites, gateway: async () => plainAnswer(503, 'Service Unavailable') };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

/**
 * True for a control route under /_local. A simulated provider is no control route, because it checks keys and a shop's
 * pages call it. The sign-in issuer is no control route either, because pages call it like any issuer.
 */
const isControl = (url: string): boolean => url.startsWith(`${LOCAL}/`) && !isProvider(url);
const isProvider = (url: string): boolean => /^\/_local\/(?:providers|identity-service)\//.test(url);

/** If the host listens on every address, its own URLs use loopback. */
const ownName = (address: string): string => {
  if (address === '0.0.0.0' || address === '::') return '127.0.0.1';
  return address.includes(':') ? `[${address}]` : address;
};

const bind = (server: Server, { port, address: host }: Place): Promise<number> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const inUse = error.code === 'EADDRINUSE';
      const line = inUse
        ? `port ${port} is in use; set another PORT`
        : `cannot listen on port ${port} of ${host}: ${error.message}`;
      reject(new StartError(line, error));
    });
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : port);
    });
  });

const serve = async (sites: Sites, message: IncomingMessage, response: ServerResponse): Promise<void> => {
  try {
    const body = await readBody(message);
    const answer =
      body === undefined ? plainAnswer(413, 'Request Too Long') : await dispatch(sites, { message, response, body });
    if (answer === undefined) message.socket.destroy();
    else write(response, answer);
  } catch (error) {
    if (message.errored) return;
    sites.log(
      `${message.method} ${message.url?.split('?')[0]} failed: ${error instanceof Error ? error.stack : error}`,
    );
    write(response, INTERNAL_ERROR);
  }
};

interface Exchange {
  readonly message: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: Buffer;
}

const dispatch = async (sites: Sites, exchange: Exchange): Promise<GatewayAnswer | undefined> => {
  const { message, body } = exchange;
  const url = message.url ?? '/';
  if (url.startsWith(`${LOCAL}/`)) {
    const cors = isProvider(url) ? providerCors(message) : undefined;
    if (cors?.isPreflight) return { status: 204, headers: cors.headers, body: Buffer.alloc(0) };
    const answer = await sites.local(askOf(exchange, url.slice(LOCAL.length)));
    return answer && textAnswer({ ...answer, headers: { ...answer.headers, ...cors?.headers } });
  }
  const path = url.split('?')[0];
  // /health works without the base path.
  if (path === HEALTH) message.url = `${sites.basePath}${HEALTH}`;
  const isHome = path === '/' || path === `${sites.basePath}/` || path === `${sites.home}/`;
  if (message.method === 'GET' && sites.home !== undefined && isHome) {
    return { status: 302, headers: { location: sites.home }, body: Buffer.alloc(0) };
  }
  const file = message.method === 'GET' ? await fileOf(sites, path ?? '/') : undefined;
  return file ?? sites.gateway(message, body);
};

const fileOf = async ({ reference, client }: Sites, path: string): Promise<GatewayAnswer | undefined> =>
  (await reference(path)) ?? client(path);

/** @returns undefined if the body is too long; the rest of the body is then discarded. */
const readBody = async (message: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of message) {
    bytes += chunk.length;
    if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  return bytes > MAX_BODY_BYTES ? undefined : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
};

const askOf = ({ message, response, body }: Exchange, url: string): LocalRequest => {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const [path = '', query = ''] = url.split('?', 2);
  const headers = Object.entries(message.headers).map(([name, value]) => [name, [value].flat().join(',')]);
  return {
    method: message.method ?? 'GET',
    path,
    query: new URLSearchParams(query),
    headers: Object.fromEntries(headers),
    body,
    signal: gone.signal,
  };
};

const textAnswer = ({ status, headers = {}, body }: LocalResponse): GatewayAnswer => ({
  status,
  headers,
  body: Buffer.from(body),
});

const write = (response: ServerResponse, { status, headers, body }: GatewayAnswer): void => {
  if (response.destroyed || response.headersSent) return;
  const bodiless = status === 204 || status === 304;
  response.writeHead(status, bodiless ? headers : { ...headers, 'content-length': body.length });
  response.end(bodiless ? undefined : body);
};
