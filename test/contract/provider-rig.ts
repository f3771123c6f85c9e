/** @module Opens one adapter against the simulator over real sockets, so timeouts and resets are real. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'vitest';
import { createSimulator } from '../../infra/local/host/simulator.ts';
import type { SlotOptions } from '../../infra/simulator/state/options.ts';
import { type SecretPurpose, secretsFor } from '../../shared/core/capabilities.ts';
import { type AdapterName, type ProviderSlot, parseSettings, type SlotSettings } from '../../shared/core/settings.ts';
import type { AdapterOptions } from '../../shared/providers/adapter.ts';
import type { EventReceiver } from '../../shared/providers/event-port.ts';
import type { PaymentProvider } from '../../shared/providers/provider.ts';
import { type FakeClock, fakeClock, type SimulatorDelivery } from './simulator-harness.ts';
import { vendorProblems, type WireExchange } from './vendor-files.ts';

export interface Bound {
  readonly slot: ProviderSlot;
  readonly adapter: AdapterName;
  readonly open: (options: AdapterOptions) => PaymentProvider | undefined;
  readonly openReceiver?: (options: AdapterOptions) => EventReceiver | undefined;
  /** Settings of the slot, except its adapter and base URL. */
  readonly settings: Partial<SlotSettings>;
  readonly credentials: Pick<SlotOptions, 'apiKey' | 'webhookSecret'>;
}

export interface ProviderRig {
  readonly clock: FakeClock;
  readonly provider: PaymentProvider;
  /** Verifies webhooks, and does not have the secrets for calls to the provider. Undefined for Braintree. */
  readonly receiver: EventReceiver | undefined;
  /** Opens the receiver with other settings or another deadline. */
  reopenReceiver(settings: Partial<SlotSettings>, timeoutMs?: number): EventReceiver | undefined;
  /** The same adapter with a short deadline, for calls without a response. */
  readonly impatient: PaymentProvider;
  /** Opens the same adapter with other settings or another `fetch`. */
  reopen(settings: Partial<SlotSettings>, through?: typeof fetch): PaymentProvider | undefined;
  /** The URL of the simulated provider, for calls that bypass the adapter. */
  readonly url: string;
  readonly exchanges: WireExchange[];
  /** The logged lines. */
  readonly logged: string[];
  /** The webhooks sent so far, after all due work. */
  delivered(): Promise<readonly SimulatorDelivery[]>;
  control<T = unknown>(method: string, path: string, body?: unknown): Promise<T>;
  close(): Promise<void>;
}

export const WEBHOOK_URL = 'https://pay.example/webhooks';
const DEADLINE_MS = 10_000;
export const SHORT_DEADLINE_MS = 300;

export const openRig = async (bound: Bound): Promise<ProviderRig> => {
  const clock = fakeClock();
  const sent: SimulatorDelivery[] = [];
  const closed: SlotOptions = { adapter: '', webhookUrl: WEBHOOK_URL, webhookSecret: '', apiKey: '' };
  const simulator = createSimulator({
    clock,
    file: ':memory:',
    slots: {
      provider_a: closed,
      provider_b: closed,
      provider_c: closed,
      provider_d: closed,
      [bound.slot]: { adapter: bound.adapter, webhookUrl: WEBHOOK_URL, ...bound.credentials },
    },
    deliver: async (url, init) => {
      sent.push({ url, ...init, at: clock.now() });
      return { status: 200, body: '{}' };
    },
  });
  clock.register(simulator);
  const exchanges: WireExchange[] = [];
  const server = await listen(async (request, body) => {
    const response = await simulator.provider(request);
    const answered = await response.clone().text();
    const { pathname, search } = new URL(request.url);
    exchanges.push({ method: request.method, path: pathname, search, sent: body, status: response.status, answered });
    return response;
  });
  const logged: string[] = [];
  const write = (message: string, fields: object): number => logged.push(`${message} ${JSON.stringify(fields)}`);
  const optionsOf = (
    purpose: SecretPurpose,
    settings: Partial<SlotSettings>,
    { timeoutMs = DEADLINE_MS, through = fetch } = {},
  ): AdapterOptions => {
    const own = { ADAPTER: bound.adapter, BASE_URL: `${server.url}/${bound.adapter}` };
    return {
      slot: bound.slot,
      settings: secretsFor(purpose, { ...blankSlot(), ...own, ...settings }),
      timeoutMs,
      fetch: through,
      log: { info: write, warn: write, error: write },
    };
  };
  const open = (settings: Partial<SlotSettings>, more = {}): PaymentProvider | undefined =>
    bound.open(optionsOf('calls', settings, more));
  const openReceiver = (settings: Partial<SlotSettings>, more = {}): EventReceiver | undefined =>
    bound.openReceiver?.(optionsOf('events', settings, more));
  const provider = open(bound.settings);
  const impatient = open(bound.settings, { timeoutMs: SHORT_DEADLINE_MS });
  if (!provider || !impatient) throw new Error(`${bound.adapter} stays closed`);
  return {
    clock,
    provider,
    receiver: openReceiver(bound.settings),
    reopenReceiver: (settings, timeoutMs = DEADLINE_MS) => openReceiver(settings, { timeoutMs }),
    impatient,
    reopen: (settings, through = fetch) => open(settings, { through }),
    url: `${server.url}/${bound.adapter}`,
    exchanges,
    logged,
    delivered: async () => {
      await nextTurn();
      await clock.settle(0);
      return sent;
    },
    control: async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
      const response = await simulator.control(new Request(`http://localhost${path}`, init));
      const text = await response.text();
      if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return (text === '' ? undefined : JSON.parse(text)) as T;
    },
    close: async () => {
      await server.close();
      simulator.close();
      expect(vendorProblems(bound.adapter, exchanges)).toEqual([]);
    },
  };
};

const blankSlot = (): SlotSettings => parseSettings({}).slots.provider_a;

type Serve = (request: Request, body: string) => Promise<Response>;

const listen = async (serve: Serve) => {
  const server = createServer((message, response) => {
    answer(serve, message, response).catch(() => message.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const answer = async (serve: Serve, message: IncomingMessage, response: ServerResponse): Promise<void> => {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const request = new Request(`http://localhost${message.url}`, {
    method: message.method ?? 'GET',
    headers: Object.entries(message.headers).flatMap(([name, value]): [string, string][] =>
      name === 'connection' || value === undefined ? [] : [[name, String(value)]],
    ),
    signal: gone.signal,
    ...(body !== '' && { body }),
  });
  const answered = await serve(request, body);
  response.writeHead(answered.status, Object.fromEntries(answered.headers));
  response.end(await answered.text());
};
