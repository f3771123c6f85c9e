/**
 * @module Every HTTP call of the run. Functions call providers, AWS, the identity service and webhook targets;
 * providers and clients call the gateway. Nothing leaves the process.
 */
import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { HostParts } from '../../../infra/local/host/assemble.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { EPOCH } from '../kernel/platform.ts';
import {
  carriedOutTwice,
  type Fault,
  lostWith,
  type Place,
  refusedWith,
  silentAfter,
  silentBefore,
} from '../kernel/step.ts';
import type { HistoryProviderCall } from '../model/history.ts';

export interface Sent {
  readonly method: string;
  readonly url: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The address of the sender, if relevant. */
  readonly from?: string;
}

export interface Received {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly body: string;
}

export type Send = (sent: Sent) => Promise<Received>;

/** The error of a failed socket. */
export class NetworkError extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.name = 'Error';
    this.code = code;
  }
}

/** The addresses of the service and of its host's stand-ins. */
export const BASE_URL = 'http://127.0.0.1:3000';
const LOCAL = '/_local';

interface Network {
  readonly send: Send;
  /** The calls that have arrived at providers. */
  readonly providerCalls: readonly HistoryProviderCall[];
}

export const createNetwork = (kernel: Kernel, parts: () => HostParts): Network => {
  const local = localSender(parts);
  const calls = noteProviderCalls(kernel.now);
  const bus = failingBus(kernel, local);
  const webhooks = losableWebhooks();
  const send: Send = (sent) => {
    const url = new URL(sent.url);
    const { place, call, faults } = targetOf(sent, url, { local, bus, webhooks });
    const isAway = (): boolean => place === 'provider' && isInOutage(kernel, url);
    // A refused connection fails immediately, so the call is neither lost nor late.
    if (isAway()) {
      kernel.note(`${call}: connection refused, the provider is out of reach`);
      return Promise.reject(new NetworkError('ECONNREFUSED'));
    }
    if (place === 'webhook' && webhooks.isLost(sent)) return Promise.reject(new NetworkError('ECONNREFUSED'));
    const run = async (): Promise<Received> => {
      if (isAway()) throw new NetworkError('ECONNREFUSED');
      if (place === 'bus' && bus.refuses()) return bus.takeAllButLast(sent);
      return place === 'gateway' || place === 'webhook' ? toGateway(parts(), sent, url) : local(sent, url);
    };
    const step = (carryOut: () => Promise<Received>): Promise<Received> =>
      kernel.step<Received>({
        ...{ place, call, about: url.pathname, faults },
        run: carryOut,
        outcome: ({ status }) => `answered ${status}`,
      });
    return place === 'provider' ? calls.noting({ method: sent.method, path: url.pathname }, run, step) : step(run);
  };
  return { send, providerCalls: calls.all };
};

/** Records each call executed by a provider, and whether its response arrives. */
const noteProviderCalls = (now: () => number) => {
  const all: (HistoryProviderCall & { isAnswered: boolean })[] = [];
  return {
    all,
    noting: async (
      call: Pick<HistoryProviderCall, 'method' | 'path'>,
      run: () => Promise<Received>,
      step: (carryOut: () => Promise<Received>) => Promise<Received>,
    ): Promise<Received> => {
      let noted: (typeof all)[number] | undefined;
      const received = await step(async () => {
        const got = await run();
        noted = { ...call, at: now(), status: got.status, isAnswered: false };
        all.push(noted);
        return got;
      });
      if (noted) noted.isAnswered = isWhole(received);
      return received;
    },
  };
};

const isWhole = ({ body }: Received): boolean => {
  try {
    return body === '' || JSON.parse(body) !== undefined;
  } catch {
    return false;
  }
};

const isInOutage = (kernel: Kernel, { pathname }: URL): boolean => {
  const { outage } = kernel.weather();
  const elapsed = kernel.now() - EPOCH;
  if (!outage || elapsed < outage.from || elapsed > outage.until) return false;
  return pathname.startsWith(`${LOCAL}/providers/${outage.adapter}/`);
};

interface Target {
  readonly place: Place;
  readonly call: string;
  readonly faults: readonly Fault<Received>[];
}

type LocalSender = (sent: Sent, url: URL) => Promise<Received>;

interface Places {
  readonly local: LocalSender;
  readonly bus: FailingBus;
  readonly webhooks: LosableWebhooks;
}

const targetOf = (sent: Sent, { pathname }: URL, { local, bus, webhooks }: Places): Target => {
  const call = `${sent.method} ${withoutIds(pathname.replace(/^\/_local\/(?:providers|identity-service|sink)/, ''))}`;
  if (pathname.startsWith(`${LOCAL}/providers/`))
    return { place: 'provider', call, faults: providerFaults(sent, local) };
  if (pathname.startsWith(`${LOCAL}/identity-service`)) return { place: 'identity', call, faults: IDENTITY_FAULTS };
  if (pathname.startsWith(`${LOCAL}/sink/`)) return { place: 'target', call, faults: TARGET_FAULTS };
  if (pathname.startsWith(`${LOCAL}/aws`)) return awsTarget(sent, { local, bus });
  if (webhooks.isLosable(sent)) return { place: 'webhook', call, faults: [webhooks.loss(sent)] };
  return { place: 'gateway', call, faults: GATEWAY_FAULTS };
};

/** Path segments with a digit are ids instead of words of the route. */
const withoutIds = (path: string): string =>
  path.replaceAll(/\/(?=[^/]*\d)(?!v\d+(?:\/|$))(?!provider_)[^/]+/g, '/:id');

const answer = (status: number, body: unknown): Received => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

const answeredWith = (kind: string, received: Received): Fault<Received> => ({
  kind,
  weight: 1,
  carryOut: async () => received,
});

const unsent = refusedWith<Received>('connection refused', () => new NetworkError('ECONNREFUSED'));
const reset = lostWith<Received>('answer lost', () => new NetworkError('ECONNRESET'), 2);

/** A failure with the vendor's own response. A fault rule of the simulator causes it at the next call. */
const vendorFault = (
  action: string,
  kind: string,
  { sent, local }: { sent: Sent; local: LocalSender },
): Fault<Received> => ({
  kind,
  weight: 1,
  carryOut: async (run) => {
    await control(local, 'POST', JSON.stringify({ action, method: sent.method, times: 1 }));
    try {
      return await run();
    } finally {
      await control(local, 'DELETE', '');
    }
  },
});

const control = (local: LocalSender, method: string, body: string): Promise<Received> => {
  const url = new URL(`${BASE_URL}${LOCAL}/simulator/faults`);
  return local({ method, url: url.href, headers: { 'content-type': 'application/json' }, body }, url);
};

const providerFaults = (sent: Sent, local: LocalSender): readonly Fault<Received>[] => [
  unsent,
  reset,
  silentBefore(),
  silentAfter(2),
  vendorFault('error_500', 'provider answers 500', { sent, local }),
  vendorFault('rate_limit', 'provider answers 429', { sent, local }),
  vendorFault('malformed', 'answer malformed after the effect', { sent, local }),
];

const IDENTITY_FAULTS: readonly Fault<Received>[] = [
  unsent,
  silentBefore(),
  answeredWith('identity service answers 503', answer(503, { error: 'unavailable' })),
];

const TARGET_FAULTS: readonly Fault<Received>[] = [
  unsent,
  reset,
  silentBefore(),
  silentAfter(),
  answeredWith('target answers 500', answer(500, { error: 'failed' })),
];

const GATEWAY_FAULTS: readonly Fault<Received>[] = [
  unsent,
  reset,
  answeredWith('gateway answers 503', answer(503, { message: 'Service Unavailable' })),
];

/**
 * Webhooks whose facts the service must also find without the webhooks. If a webhook is lost, all its later delivery
 * attempts are lost, too.
 */
interface LosableWebhooks {
  readonly isLosable: (sent: Sent) => boolean;
  readonly isLost: (sent: Sent) => boolean;
  readonly loss: (sent: Sent) => Fault<Received>;
}

const FOUND_BY_LOOKING = '"type":"customer.subscription.created"';

const losableWebhooks = (): LosableWebhooks => {
  const lost = new Set<string>();
  return {
    isLosable: ({ body }) => body.includes(FOUND_BY_LOOKING),
    isLost: ({ body }) => lost.has(body),
    loss: ({ body }) =>
      refusedWith('webhook lost for good', () => {
        lost.add(body);
        return new NetworkError('ECONNREFUSED');
      }),
  };
};

const awsTarget = (sent: Sent, { local, bus }: Pick<Places, 'local' | 'bus'>): Target => {
  const [service = '', operation = ''] = (sent.headers['x-amz-target'] ?? '').split('.');
  const common = [
    unsent,
    reset,
    carriedOutTwice<Received>('carried out twice'),
    answeredWith('AWS answers 500', answer(500, { __type: 'InternalFailure', message: 'internal failure' })),
    answeredWith('throttled', answer(400, { __type: 'ThrottlingException', message: 'Rate exceeded' })),
  ];
  if (service === 'AWSEvents') return { place: 'bus', call: operation, faults: [...common, bus.fault(sent)] };
  const queue = queueOf(sent);
  const faults = operation === 'SendMessageBatch' ? [...common, partOfMessages(sent, local)] : common;
  return { place: 'queue', call: `${operation} ${queue}`, faults };
};

const queueOf = ({ body }: Sent): string =>
  String(JSON.parse(body).QueueUrl ?? '')
    .split('/')
    .at(-1) ?? '';

/** Sends all entries except the last, and reports the last as refused. */
const allButLast = async <T>(
  { sent, local }: { readonly sent: Sent; readonly local: LocalSender },
  { entries, body }: { readonly entries: readonly T[]; readonly body: object },
): Promise<Received> => {
  if (entries.length <= 1) return answer(200, {});
  return local({ ...sent, body: JSON.stringify(body) }, new URL(sent.url));
};

/** After a refusal the bus refuses one event per request for some time, so immediate retries fail, too. */
interface FailingBus {
  readonly fault: (sent: Sent) => Fault<Received>;
  readonly refuses: () => boolean;
  readonly takeAllButLast: (sent: Sent) => Promise<Received>;
}

const BUS_FAILS_FOR_MS = 500;

const failingBus = (kernel: Kernel, local: LocalSender): FailingBus => {
  let until = 0;
  const takeAllButLast = async (sent: Sent): Promise<Received> => {
    const request = JSON.parse(sent.body);
    const entries: unknown[] = request.Entries;
    const body = { ...request, Entries: entries.slice(0, -1) };
    const received = await allButLast({ sent, local }, { entries, body });
    const { Entries: taken = [] }: { Entries?: unknown[] } = JSON.parse(received.body);
    const refused = { ErrorCode: 'InternalFailure', ErrorMessage: 'internal failure' };
    return answer(200, { FailedEntryCount: 1, Entries: [...taken, refused] });
  };
  return {
    takeAllButLast,
    refuses: () => kernel.now() < until,
    fault: (sent) => ({
      kind: 'bus refuses a part',
      weight: 1,
      carryOut: async () => {
        until = kernel.now() + BUS_FAILS_FOR_MS;
        return takeAllButLast(sent);
      },
    }),
  };
};

const partOfMessages = (sent: Sent, local: LocalSender): Fault<Received> => ({
  kind: 'queue refuses a part',
  weight: 1,
  carryOut: async () => {
    const request = JSON.parse(sent.body);
    const entries: { readonly Id: string }[] = request.Entries;
    const body = { ...request, Entries: entries.slice(0, -1) };
    const received = await allButLast({ sent, local }, { entries, body });
    const { Successful = [] }: { Successful?: unknown[] } = JSON.parse(received.body);
    const failed = { SenderFault: false, Code: 'InternalError', Message: 'internal error' };
    return answer(200, { Successful, Failed: [{ Id: entries.at(-1)?.Id, ...failed }] });
  },
});

const localSender =
  (parts: () => HostParts): LocalSender =>
  async (sent, url) => {
    const received = await parts().local({
      method: sent.method,
      path: url.pathname.slice(LOCAL.length),
      query: url.searchParams,
      headers: sent.headers,
      body: Buffer.from(sent.body),
      signal: undefined,
    });
    if (!received) throw new NetworkError('ECONNRESET');
    return { status: received.status, headers: received.headers ?? {}, body: received.body };
  };

const toGateway = async ({ gateway }: HostParts, sent: Sent, { pathname, search, host }: URL): Promise<Received> => {
  const headers: Record<string, string> = { host, ...sent.headers };
  const message = {
    method: sent.method,
    url: `${pathname}${search}`,
    httpVersion: '1.1',
    headers,
    rawHeaders: Object.entries(headers).flat(),
    socket: { remoteAddress: sent.from ?? '127.0.0.1', localPort: 3000 },
  } as unknown as IncomingMessage;
  const answered = await gateway(message, Buffer.from(sent.body));
  return { status: answered.status, headers: answered.headers, body: answered.body.toString('utf8') };
};
