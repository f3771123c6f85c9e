import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll } from 'vitest';
import type { Catalogue } from '../../infra/local/host/assemble.ts';
import { type Host, type HostOptions, startHost } from '../../infra/local/host/host.ts';
import type { Env } from '../../infra/local/machine/environment.ts';
import type { JournalEntry } from '../../infra/simulator/protocol/journal.ts';
import type { BodyAt, LedgerBody, ParsedJson, ReceivedEvent, Shown } from './routes.ts';

/**
 * The local host in the test's own process, on a free port and without stored data, with an HTTP client. Tests move the
 * clock and never sleep.
 */
export interface TestHostOptions {
  /** By default, rate limits and outbound webhooks are off, providers have 5 s, and functions log nothing. */
  readonly env?: Env;
  /** Freezes the clock from the start. */
  readonly frozen?: boolean;
  readonly dataDir?: string;
  /** Starts the host in the past to create demo data. Requests from outside wait. */
  readonly daysAgo?: number;
  /** The time that `daysAgo` counts from, epoch ms; real time by default. */
  readonly present?: number;
  /** A free port by default. Set a port if the settings must contain it before the start. */
  readonly port?: number;
  readonly catalogue?: Catalogue;
  readonly between?: HostOptions['between'];
  readonly openDatabase?: HostOptions['openDatabase'];
  /** Receives the host's own messages. */
  readonly log?: (line: string) => void;
}

export interface TestAnswer<Body = ParsedJson> {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed body; the text if it is not JSON; undefined if there is no body. */
  readonly body: Body;
}

export interface RequestOptions {
  readonly session?: string;
  readonly guestToken?: string;
  readonly bearer?: string;
  readonly idempotencyKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller's own address, one of the loopback addresses. */
  readonly address?: string;
  /** An object is sent as JSON, a text or bytes as they are. */
  readonly body?: unknown;
}

export interface TestProviderEvent {
  readonly provider?: string;
  readonly type: string;
  readonly object: unknown;
  readonly id?: string;
  readonly created?: number;
  readonly vocabulary?: 'contract' | 'native';
  readonly signature?: 'valid' | 'invalid' | 'missing' | 'stale';
  readonly times?: number;
}

export interface NewTestSession {
  readonly user_id?: string;
  readonly email?: string;
  readonly organization_id?: string;
  readonly is_admin?: boolean;
  readonly staff_role?: string;
  readonly expires_in?: number;
}

export interface SinkRequest {
  readonly received_at: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body in the target's own format. */
  readonly body: ParsedJson;
  readonly raw: string;
}

declare module 'vitest' {
  interface ProvidedContext {
    /** The factor by which tests multiply their usual load. */
    scale: number;
  }
}

export type TestHost = ReturnType<typeof clientOf>;

/** Starts one host for all tests of a `describe` or a file. Its functions may be called only while the tests run. */
export const withHost = (options: TestHostOptions = {}): TestHost => {
  let running: Host | undefined;
  beforeAll(async () => {
    running = await startQuietly(options);
  });
  afterAll(async () => {
    await running?.stop();
  });
  return clientOf(() => {
    if (!running) throw new Error('the host runs within tests only');
    return running;
  });
};

/** Starts a host that the test itself stops. */
export const startTestHost = async (options: TestHostOptions = {}): Promise<TestHost> => {
  const host = await startQuietly(options);
  return clientOf(() => host);
};

/** The default settings of test hosts. The time-outs are long enough for a busy machine. */
const QUIET: Env = {
  RATE_LIMITS: 'off',
  LOG_LEVEL: 'silent',
  EXTERNAL_WEBHOOKS_ENABLED: 'false',
  PROVIDER_TIMEOUT_MS: '5000',
  IDENTITY_TIMEOUT_MS: '4000',
};

const startQuietly = async ({
  env = {},
  frozen = false,
  dataDir = ':memory:',
  daysAgo,
  present,
  port = 0,
  catalogue,
  between,
  openDatabase,
  log,
}: TestHostOptions): Promise<Host> => {
  const host = await startHost({
    dataDir,
    port,
    ...(daysAgo !== undefined && { daysAgo }),
    ...(present !== undefined && { present }),
    env: { ...QUIET, ...env },
    ...(catalogue && { catalogue }),
    ...(between && { between }),
    ...(openDatabase && { openDatabase }),
    ...(log && { log }),
  });
  if (frozen) host.clock.freeze(true);
  return host;
};

const clientOf = (host: () => Host) => {
  const request = <const Method extends string, const Path extends string>(
    method: Method,
    path: Path,
    options: RequestOptions = {},
  ): Promise<TestAnswer<BodyAt<Method, Path>>> => send(`${host().baseUrl}${path}`, method, options);
  /** Calls a control route. @throws unless the call succeeds */
  const control = async (method: string, path: string, body?: unknown): Promise<ParsedJson> => {
    const answer = await request(method, `/_local${path}`, body === undefined ? {} : { body });
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} /_local${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  };
  const settle = (): Promise<{ quiet: boolean; waited_ms: number }> => control('POST', '/settle');
  let people = 0;

  return {
    host,
    request,
    control,
    get: <const Path extends string>(path: Path, options?: RequestOptions) => request('GET', path, options),
    post: <const Path extends string>(path: Path, body?: unknown, options?: RequestOptions) =>
      request('POST', path, { ...options, body }),
    put: <const Path extends string>(path: Path, body?: unknown, options?: RequestOptions) =>
      request('PUT', path, { ...options, body }),

    /** A new session, by default of a new user. */
    session: (session: NewTestSession = {}): Promise<{ session_id: string; user_id: string; token: string }> => {
      people += 1;
      return control('POST', '/sessions', { email: session.email ?? `person.${people}@example.com`, ...session });
    },

    now: (): number => host().clock.now(),
    advance: (seconds: number): Promise<{ now: string }> => control('POST', '/clock', { advance: seconds }),
    moveTo: (iso: string): Promise<{ now: string }> => control('POST', '/clock', { set: iso }),
    freeze: (freeze = true): Promise<{ now: string }> => control('POST', '/clock', { freeze }),
    settle,

    identity: (behaviour: { available?: boolean; delay_ms?: number }) => control('POST', '/identity', behaviour),
    queues: (): Promise<Record<string, { visible: number; delayed: number; in_flight: number }>> =>
      control('GET', '/queues'),
    redrive: (deadLetterQueue: string) => control('POST', `/queues/${deadLetterQueue}/redrive`),
    /** The requests that the target has received, oldest first. */
    sink: (name = 'default'): Promise<SinkRequest[]> => control('GET', `/sink/${name}`),

    /** The simulator's ledger of all payments, or of one payment. */
    ledger: (paymentId?: string): Promise<LedgerBody> =>
      control('GET', `/simulator/ledger${paymentId === undefined ? '' : `?payment_id=${paymentId}`}`),
    /** The calls that adapters made. */
    providerRequests: (): Promise<Shown<JournalEntry>[]> => control('GET', '/simulator/requests'),
    clearProviderRequests: () => control('DELETE', '/simulator/requests'),
    /** Sends one event of the provider to the service's webhook route, by default of provider_a and signed. */
    sendEvent: (event: TestProviderEvent): Promise<{ status: number; body: ParsedJson }> =>
      control('POST', '/simulator/events', { provider: 'provider_a', ...event }),
    authenticate: (paymentId: string, outcome: 'success' | 'failure' = 'success') =>
      control('POST', `/simulator/payments/${paymentId}/authenticate`, { outcome }),
    authenticateMethod: (methodId: string, outcome: 'success' | 'failure' = 'success') =>
      control('POST', `/simulator/payment-methods/${methodId}/authenticate`, { outcome }),
    fault: (fault: Readonly<Record<string, unknown>>) => control('POST', '/simulator/faults', fault),
    clearFaults: () => control('DELETE', '/simulator/faults'),
    webhookMode: (mode: 'normal' | 'duplicate' | 'reorder' | 'delay' | 'drop', seed?: number) =>
      control('POST', '/simulator/webhooks', { mode, seed }),

    /** The events on the bus after the service has settled, oldest first. With a detail type, only its events. */
    busEvents: async (detailType?: string) => {
      await settle();
      return host()
        .observed.busEvents()
        .filter((event): event is ReceivedEvent => detailType === undefined || event['detail-type'] === detailType);
    },
    stop: (): Promise<void> => host().stop(),
  };
};

const send = async (url: string, method: string, options: RequestOptions): Promise<TestAnswer> => {
  const { body, address } = options;
  const init = {
    method,
    headers: headersOf(options),
    ...(body !== undefined && { body: isRaw(body) ? body : JSON.stringify(body) }),
  };
  const response = await (address === undefined ? fetch(url, init) : fetchFrom(address, url, init));
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: parsed(text) };
};

/**
 * A caller with another address than the test itself. 203.0.113.7 calls as 127.0.113.7, because the host listens on
 * loopback.
 */
export const from = (ip: string): RequestOptions => ({ address: ip.replace(/^\d+/, '127') });

interface Init {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

const fetchFrom = (localAddress: string, url: string, { method, headers, body }: Init): Promise<Response> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest(url, { method, headers, localAddress, agent: false }, async (message) => {
      const received = Object.entries(message.headers).map(([name, value]): [string, string] => [
        name,
        [value].flat().join(),
      ]);
      const text = Buffer.concat(await message.toArray());
      const status = message.statusCode ?? 0;
      resolve(new Response(status === 204 ? null : text, { status, headers: received }));
    });
    sent.on('error', reject);
    sent.end(body);
  });

const isRaw = (body: unknown): body is string | Uint8Array<ArrayBuffer> =>
  typeof body === 'string' || body instanceof Uint8Array;

const headersOf = ({
  session,
  guestToken,
  bearer,
  idempotencyKey,
  headers,
  body,
}: RequestOptions): Record<string, string> => ({
  ...(body !== undefined && { 'content-type': 'application/json' }),
  ...(session !== undefined && { 'x-session-id': session }),
  ...(guestToken !== undefined && { 'x-guest-token': guestToken }),
  ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
  ...headers,
});

const parsed = (text: string): ParsedJson => {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};
