/**
 * @module The host's own control routes, for tests and developers; never deployed. The simulator has separate control
 * routes.
 */

import * as z from 'zod';
import { emailSchema } from '../../../shared/http/fields.ts';
import type { Failures, StreamFailure } from '../dynamodb/failures.ts';
import type { LocalIdentity } from '../identity/identity.ts';
import {
  bodyOf,
  ControlRequestError,
  json,
  type LocalRequest,
  type LocalResponse,
  problem,
} from '../machine/answer.ts';
import { type HostClock, NotQuietError } from '../machine/clock.ts';
import { PARTIAL_CALLS, type Throttling } from '../machine/throttling.ts';
import type { LocalQueues } from '../messaging/queues.ts';
import type { StartReport } from './start-report.ts';
import type { Sink } from './webhook-sink.ts';

export interface Controls {
  readonly clock: HostClock;
  readonly queues: LocalQueues;
  readonly failures: Failures;
  readonly identity: LocalIdentity;
  readonly sink: Sink;
  readonly throttling: Throttling;
  /** The base path of the service, and the endpoint of its DynamoDB engine. */
  readonly addresses: { readonly basePath: string; readonly dynamoEndpoint: string };
  /** How the host was started. */
  readonly startReport: () => Promise<StartReport>;
}

type Run = (ask: LocalRequest, parameter: string) => Promise<LocalResponse> | LocalResponse;
interface ControlRoute {
  readonly method: 'GET' | 'POST' | 'DELETE' | 'ANY';
  readonly path: RegExp;
  readonly run: Run;
}

const SETTLE_TIMEOUT_MS = 30_000;
const YEAR_SECONDS = 366 * 86_400;
const MILLISECONDS = 1_000;

const sessionSchema = z.object({
  user_id: z.string().min(1).max(64).optional(),
  email: emailSchema,
  name: z.string().max(200).optional(),
  last_name: z.string().max(200).optional(),
  picture: z.string().max(2_048).optional(),
  organization_id: z
    .string()
    .max(64)
    .nullish()
    .transform((value) => value || undefined),
  is_admin: z.boolean().optional(),
  staff_role: z.string().max(64).optional(),
  expires_in: z.int().min(1).max(YEAR_SECONDS).optional(),
});
const clockSchema = z
  .strictObject({
    set: z.union([z.iso.datetime({ offset: true }), z.iso.date()], 'must be an ISO time').optional(),
    advance: z.number().min(0).optional(),
    freeze: z.boolean().optional(),
  })
  .refine((asked) => Object.keys(asked).length > 0, 'give one of set, advance and freeze')
  .refine((asked) => asked.set === undefined || asked.advance === undefined, 'give set or advance, not both');
const identitySchema = z.object({
  available: z.boolean().default(true),
  delay_ms: z.int().min(0).max(60_000).default(0),
});
const throttlingSchema = z.object({
  call: z.enum(PARTIAL_CALLS),
  times: z.int().min(1).max(1_000_000).default(1),
});

/** Serves requests under /_local. Returns undefined if no control route matches. */
export const createControl = (controls: Controls): ((ask: LocalRequest) => Promise<LocalResponse | undefined>) => {
  const routes = controlRoutes(controls);
  return async (ask) => {
    const route = routes.find(({ method, path }) => (method === 'ANY' || method === ask.method) && path.test(ask.path));
    if (!route) return undefined;
    try {
      return await route.run(ask, decodeURIComponent(route.path.exec(ask.path)?.[1] ?? ''));
    } catch (error) {
      return refusalOf(error);
    }
  };
};

/** @throws the error itself if it has no defined response. */
const refusalOf = (error: unknown): LocalResponse => {
  if (error instanceof ControlRequestError) return problem(error.status, error.message);
  if (error instanceof RangeError) return problem(400, error.message);
  if (error instanceof URIError) return problem(400, 'the path is not valid percent-encoding');
  if (error instanceof NotQuietError) return problem(504, error.message);
  throw error;
};

const controlRoutes = ({
  clock,
  queues,
  failures,
  identity,
  sink,
  throttling,
  addresses,
  startReport,
}: Controls): readonly ControlRoute[] => [
  {
    method: 'POST',
    path: /^\/sessions$/,
    run: async (ask) => json(201, await identity.createSession(bodyOf(ask, sessionSchema))),
  },
  { method: 'GET', path: /^\/clock$/, run: () => json(200, clockView(clock)) },
  {
    method: 'POST',
    path: /^\/clock$/,
    run: async (ask) => {
      await moveClock(clock, bodyOf(ask, clockSchema));
      return json(200, clockView(clock));
    },
  },
  {
    method: 'POST',
    path: /^\/identity$/,
    run: (ask) => {
      const { available, delay_ms } = bodyOf(ask, identitySchema);
      identity.behave({ available, delayMs: delay_ms });
      return json(200, { available, delay_ms });
    },
  },
  {
    method: 'POST',
    path: /^\/throttling$/,
    run: (ask) => {
      const { call, times } = bodyOf(ask, throttlingSchema);
      throttling.throttle(call, times);
      return json(200, throttling.left());
    },
  },
  { method: 'GET', path: /^\/throttling$/, run: () => json(200, throttling.left()) },
  {
    method: 'DELETE',
    path: /^\/throttling$/,
    run: () => {
      throttling.clear();
      return json(200, throttling.left());
    },
  },
  {
    method: 'POST',
    path: /^\/settle$/,
    run: async () => {
      const { quiet, waitedMs } = await clock.settle(SETTLE_TIMEOUT_MS);
      return json(quiet ? 200 : 504, { quiet, waited_ms: waitedMs });
    },
  },
  {
    method: 'GET',
    path: /^\/host$/,
    run: async () =>
      json(200, {
        base_path: addresses.basePath,
        issuer: identity.issuer,
        dynamodb_endpoint: addresses.dynamoEndpoint,
        queues: queues.all.filter(({ trigger }) => trigger !== undefined).map(({ name }) => name),
        ...(await startReport()),
      }),
  },
  { method: 'GET', path: /^\/queues$/, run: () => json(200, queues.counts()) },
  {
    method: 'POST',
    path: /^\/queues\/([^/]+)\/redrive$/,
    run: (_ask, name) => {
      const queue = queues.find(name);
      if (!queue || queue.deadLetter) throw new ControlRequestError(404, `no dead-letter queue ${name}`);
      return json(200, { moved: queues.redrive(name) });
    },
  },
  {
    method: 'GET',
    path: /^\/failures$/,
    run: async () => json(200, (await failures.list()).map(failureView)),
  },
  {
    method: 'POST',
    path: /^\/failures\/([^/]+)\/redo$/,
    run: async (_ask, id) => json(200, { reason: (await failures.redo(id)) ?? null }),
  },
  { method: 'POST', path: /^\/sink\/([^/]+)\/behaviour$/, run: (ask, name) => sink.behave(name, ask) },
  { method: 'ANY', path: /^\/sink\/([^/]+)$/, run: (ask, name) => sink.answer(name, ask) },
];

const failureView = ({ record, ...rest }: StreamFailure) => ({ ...rest, about: [record.dynamodb.Keys.pk.S] });

const clockView = (clock: HostClock) => ({ now: new Date(clock.now()).toISOString(), frozen: clock.frozen() });

/**
 * With `freeze: true`, freezes the clock before the move, so that it stops exactly at the target. With `freeze: false`,
 * unfreezes the clock after the move.
 */
const moveClock = async (clock: HostClock, { set, advance, freeze }: z.infer<typeof clockSchema>): Promise<void> => {
  if (freeze === true) clock.freeze(true);
  if (set !== undefined) await clock.moveTo(Date.parse(set));
  else await clock.moveBy((advance ?? 0) * MILLISECONDS);
  if (freeze === false) clock.freeze(false);
};
