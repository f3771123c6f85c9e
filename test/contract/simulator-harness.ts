import { setImmediate as nextTurn } from 'node:timers/promises';
import Stripe from 'stripe';
import { expect } from 'vitest';
import { createSimulator } from '../../infra/local/host/simulator.ts';
import type { Clock, TimedWork } from '../../infra/local/machine/clock.ts';
import type { Simulator, SlotOptions } from '../../infra/simulator/state/options.ts';
import { vendorProblems, type WireExchange } from './vendor-files.ts';

/** A clock that only the test moves. */
export interface FakeClock extends Clock {
  advance(ms: number): Promise<void>;
}

const START = Date.UTC(2030, 0, 1);
export const WEBHOOK_SECRET = 'whsec_local_provider_a';

export const fakeClock = (): FakeClock => {
  let now = START;
  const works: TimedWork[] = [];
  const quiet = async (): Promise<void> => {
    for (const work of works) {
      await work.runDue();
      while (!(await work.idle())) await nextTurn();
    }
  };
  const moveTo = async (target: number): Promise<void> => {
    await quiet();
    for (;;) {
      const dues = await Promise.all(works.map((work) => work.nextDueAt()));
      const due = Math.min(...dues.filter((at) => at !== undefined), target);
      now = Math.max(now, due);
      await quiet();
      if (due >= target) return;
    }
  };
  return {
    now: () => now,
    frozen: () => true,
    freeze: () => undefined,
    register: (work) => works.push(work),
    moveTo,
    advance: (ms) => moveTo(now + ms),
    settle: async () => {
      await quiet();
      return { quiet: true, waitedMs: 0 };
    },
    wake: () => undefined,
  };
};

export interface SimulatorDelivery {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly at: number;
}

export interface Rig {
  readonly clock: FakeClock;
  readonly simulator: Simulator;
  readonly stripe: Stripe;
  /** All requests that the service received, oldest first. */
  readonly delivered: SimulatorDelivery[];
  /** Sets the status with which the service responds to webhooks from now on. */
  answerWith(status: number): void;
  /** The events delivered so far, after all due work. */
  events(): Promise<Stripe.Event[]>;
  control(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  raw(path: string, init?: RequestInit): Promise<Response>;
  /** Calls like a browser page, with the publishable key, a form and no SDK. Without fields, the call is a GET. */
  browser(path: string, fields?: Record<string, string>): Promise<{ status: number; body: Record<string, unknown> }>;
  close(): void;
}

const slot = (adapter: SlotOptions['adapter'], letter: string): SlotOptions => ({
  adapter,
  webhookUrl: `http://127.0.0.1:3000/webhooks/provider_${letter}`,
  webhookSecret: adapter === '' ? '' : WEBHOOK_SECRET,
  apiKey: adapter === '' ? '' : 'sk_test_local_provider_a',
});

export const SLOTS = {
  provider_a: slot('stripe', 'a'),
  provider_b: slot('', 'b'),
  provider_c: slot('', 'c'),
  provider_d: slot('', 'd'),
};

interface RigOptions {
  readonly file?: string;
  readonly clock?: FakeClock;
  /** A client's timeout in ms of real time. */
  readonly timeoutMs?: number;
}

export const createRig = ({ file = ':memory:', clock = fakeClock(), timeoutMs = 1_000 }: RigOptions = {}): Rig => {
  const delivered: SimulatorDelivery[] = [];
  let status = 200;
  const simulator = createSimulator({
    clock,
    file,
    slots: SLOTS,
    deliver: async (url, init) => {
      delivered.push({ url, ...init, at: clock.now() });
      await nextTurn();
      return { status, body: JSON.stringify({ received: status < 300 }) };
    },
  });
  clock.register(simulator);
  const exchanges: WireExchange[] = [];
  const callProvider = async (request: Request): Promise<Response> => {
    const sent = await request.clone().text();
    const response = await simulator.provider(request);
    const { pathname: path, search } = new URL(request.url);
    const { status } = response;
    // A browser's call is not compared with Stripe's description, which covers server calls. It uses a public key, and
    // its response has fewer fields.
    if (request.headers.get('authorization')?.startsWith('Bearer pk_')) return response;
    exchanges.push({ method: request.method, path, search, sent, status, answered: await response.clone().text() });
    return response;
  };
  const fetchSimulator: typeof fetch = (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    return callProvider(new Request(`http://localhost/stripe${url.pathname}${url.search}`, init));
  };
  const stripe = new Stripe('sk_test_local_provider_a', {
    httpClient: Stripe.createFetchHttpClient(fetchSimulator),
    maxNetworkRetries: 0,
    timeout: timeoutMs,
    telemetry: false,
  });
  return {
    clock,
    simulator,
    stripe,
    delivered,
    answerWith: (next) => {
      status = next;
    },
    events: async () => {
      await nextTurn();
      await clock.settle(0);
      return delivered.map(({ body }) => JSON.parse(body) as Stripe.Event);
    },
    control: async (method, path, body) => {
      const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
      const response = await simulator.control(new Request(`http://localhost${path}`, init));
      const text = await response.text();
      return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
    },
    raw: (path, init) => callProvider(new Request(`http://localhost/stripe${path}`, init)),
    browser: async (path, fields) => {
      const init = fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) };
      const headers = { authorization: 'Bearer pk_test_local_provider_a' };
      const response = await callProvider(new Request(`http://localhost/stripe${path}`, { ...init, headers }));
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    },
    close: () => {
      simulator.close();
      expect(vendorProblems('stripe', exchanges)).toEqual([]);
    },
  };
};

/** The error of a failed call. */
export const errorOf = async (call: Promise<unknown>): Promise<Stripe.errors.StripeError> => {
  const error: unknown = await call.then(
    () => new Error('it was expected to fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof Stripe.errors.StripeError) return error;
  throw error;
};
