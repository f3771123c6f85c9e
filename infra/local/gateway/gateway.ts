import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '../machine/clock.ts';
import type { Invoke } from '../machine/invoke.ts';
import type { Cors } from './cors.ts';
import { type GatewayAnswer, gatewayAnswer, INTERNAL_ERROR, plainAnswer } from './gateway-answer.ts';
import { gatewayEvent, MalformedPath } from './gateway-event.ts';
import { compileRoutes, type Route } from './gateway-routes.ts';

/** A local API Gateway HTTP API. Sends each request to its route's function. */
export type Gateway = (message: IncomingMessage, body: Buffer) => Promise<GatewayAnswer>;

export interface LocalGatewayOptions {
  readonly routes: readonly Route[];
  /** Prefix of every route, without a trailing slash. */
  readonly basePath: string;
  readonly cors: Cors;
  readonly clock: Pick<Clock, 'now'>;
  readonly invoke: Invoke;
  readonly log: (line: string) => void;
}

/** The function that serves requests without a matching route. */
const DEFAULT_ROUTE = 'api.default';
const DEFAULT_TIMEOUT_SECONDS = 10;
/**
 * Maximum concurrent requests; further requests wait. All functions share one thread here. With hundreds of requests,
 * calls between functions would miss deadlines, unlike on AWS.
 */
const RUNNING_AT_ONCE = 32;

export const createGateway = ({ routes, basePath, cors, clock, invoke, log }: LocalGatewayOptions): Gateway => {
  const find = compileRoutes(routes);
  const inTurn = createTurns(RUNNING_AT_ONCE);
  return async (message, body) => {
    const preflight = cors.preflight(message);
    if (preflight) return { status: 204, headers: preflight, body: Buffer.alloc(0) };
    const [path = '/', rawQuery = ''] = splitUrl(message.url ?? '/');
    const within = path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : undefined;
    const match = within === undefined ? undefined : find(message.method ?? 'GET', within);
    const id = match?.route.id ?? DEFAULT_ROUTE;
    const requestId = randomUUID();
    const call = () => {
      const event = gatewayEvent({ message, body, requestId, now: clock.now(), path, rawQuery, match });
      return invoke(id, event, match?.route.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS);
    };
    const answer = await run(id, requestId, () => inTurn(call));
    return { ...answer, headers: { 'apigw-requestid': requestId, ...answer.headers, ...cors.headers(message) } };
  };

  async function run(id: string, requestId: string, call: () => Promise<unknown>): Promise<GatewayAnswer> {
    try {
      return gatewayAnswer(await call());
    } catch (error) {
      if (error instanceof MalformedPath) return plainAnswer(400, 'Bad Request');
      log(`${id} failed (request ${requestId}): ${error instanceof Error ? error.stack : String(error)}`);
      return INTERNAL_ERROR;
    }
  }
};

/** Runs at most `limit` tasks at the same time. Further tasks wait in order of arrival. */
const createTurns = (limit: number) => {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      // Pass the place to the next task, or free it.
      if (next) next();
      else running -= 1;
    }
  };
};

const splitUrl = (url: string): readonly string[] => {
  const at = url.indexOf('?');
  return at < 0 ? [url] : [url.slice(0, at), url.slice(at + 1)];
};
