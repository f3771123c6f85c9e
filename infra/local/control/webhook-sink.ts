import { Webhook } from 'standardwebhooks';
import * as z from 'zod';
import {
  bodyOf,
  ControlRequestError,
  json,
  type LocalRequest,
  type LocalResponse,
  problem,
} from '../machine/answer.ts';
import type { Clock } from '../machine/clock.ts';
import { LOCAL_SECRETS } from '../machine/environment.ts';
import type { State } from '../machine/sqlite.ts';

/**
 * Targets for outbound webhooks. Each target keeps its requests, oldest first. Tests can make a target fail or respond
 * slowly.
 */
export interface Sink {
  answer(name: string, ask: LocalRequest): Promise<LocalResponse>;
  behave(name: string, ask: LocalRequest): LocalResponse;
}

const behaviourSchema = z.object({
  status: z.int().min(200).max(599).default(200),
  delay_ms: z.int().min(0).max(600_000).default(0),
  /** Headers of the target's response, such as Retry-After. */
  headers: z.record(z.string().regex(/^[\w-]{1,100}$/), z.string().regex(/^[ -~]{0,1000}$/)).default({}),
  /** Number of requests with this behavior. If absent, the behavior stays. */
  times: z.int().min(1).optional(),
  /** A receiver under development on this machine. It gets every request, and its status becomes the response. */
  forward_to: z.url({ protocol: /^http$/, hostname: /^(?:127\.0\.0\.1|localhost|\[::1\])$/ }).optional(),
});
type Behaviour = z.infer<typeof behaviourSchema>;

const receivedSchema = z.object({ received_at: z.string(), headers: z.string(), raw: z.string() });

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS sink (seq INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, received_at TEXT NOT NULL,
    headers TEXT NOT NULL, raw TEXT NOT NULL);
  CREATE INDEX IF NOT EXISTS sink_by_name ON sink (name, seq);`;

export const createSink = (state: State, clock: Pick<Clock, 'now'>): Sink => {
  state.define(SCHEMA);
  const keep = state.write('INSERT INTO sink (name, received_at, headers, raw) VALUES (?, ?, ?, ?)');
  const clear = state.write('DELETE FROM sink WHERE name = ?');
  const all = state.read('SELECT received_at, headers, raw FROM sink WHERE name = ? ORDER BY seq', receivedSchema);
  const behaviours = new Map<string, Behaviour>();

  const nextBehaviour = (name: string): Behaviour | undefined => {
    const behaviour = behaviours.get(name);
    if (behaviour?.times === undefined) return behaviour;
    if (behaviour.times > 1) behaviours.set(name, { ...behaviour, times: behaviour.times - 1 });
    else behaviours.delete(name);
    return behaviour;
  };
  const receive = async (name: string, ask: LocalRequest): Promise<LocalResponse> => {
    keep(name, new Date(clock.now()).toISOString(), JSON.stringify(ask.headers), ask.body.toString('utf8'));
    const { status = 200, delay_ms = 0, headers = {}, forward_to } = nextBehaviour(name) ?? {};
    if (delay_ms > 0) await new Promise((resolve) => setTimeout(resolve, delay_ms));
    const answered = forward_to === undefined ? status : await forward(forward_to, ask);
    const response = json(answered, { received: answered < 300 });
    return { ...response, headers: { ...response.headers, ...headers } };
  };

  return {
    answer: async (name, ask) => {
      if (ask.method === 'POST') return receive(name, ask);
      if (ask.method === 'DELETE') {
        clear(name);
        return { status: 204, body: '' };
      }
      if (ask.method !== 'GET') return problem(404, 'a sink accepts GET, POST and DELETE');
      return json(
        200,
        all.all(name).map(({ received_at, headers, raw }) => ({
          received_at,
          headers: JSON.parse(headers),
          body: parsedOrNull(raw),
          raw,
        })),
      );
    },
    behave: (name, ask) => {
      const behaviour = bodyOf(ask, behaviourSchema);
      requireOtherHost(behaviour, ask);
      behaviours.set(name, behaviour);
      return json(200, behaviour);
    },
  };
};

/** @throws ControlRequestError if the target would forward to its own host in an endless loop. */
const requireOtherHost = ({ forward_to }: Behaviour, { headers }: LocalRequest): void => {
  const port = /:(\d+)$/.exec(headers['host'] ?? '')?.[1] ?? '80';
  if (forward_to === undefined || (new URL(forward_to).port || '80') !== port) return;
  throw new ControlRequestError(400, 'forward_to: must not be the local host itself');
};

/** The status if the receiver does not respond. */
const BAD_GATEWAY = 502;

const TRACE_HEADERS: readonly string[] = ['traceparent', 'tracestate'];

/**
 * Forwards a request, signed again under the same id at the current real time. The receiver compares the timestamp with
 * its own clock, but the host's clock may be days ahead. The secret is the local secret of WEBHOOK_1.
 */
const forward = async (url: string, { headers, body, signal }: LocalRequest): Promise<number> => {
  const id = headers['webhook-id'] ?? '';
  const text = body.toString('utf8');
  const sentAt = new Date();
  const own = Object.entries(headers).filter(([name]) => name.startsWith('webhook-') || TRACE_HEADERS.includes(name));
  try {
    const { status } = await fetch(url, {
      method: 'POST',
      headers: {
        ...Object.fromEntries(own),
        'content-type': headers['content-type'] ?? 'application/json',
        'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
        'webhook-signature': new Webhook(LOCAL_SECRETS.WEBHOOK_1_SECRET).sign(id, sentAt, text),
      },
      body: text,
      redirect: 'manual',
      signal: signal ?? null,
    });
    return status;
  } catch {
    return BAD_GATEWAY;
  }
};

const parsedOrNull = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
