/**
 * @module The middleware chain from API Gateway to a use case, in the order caller, parsing, rate limits, idempotency,
 * access, limits of allowed requests, use case. Errors, headers and one summary line apply to every response.
 */

import middy, { type MiddlewareObj } from '@middy/core';
import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type * as z from 'zod';
import { actorOfCaller, keyOfCaller } from '../access/caller.ts';
import { underRight } from '../access/right.ts';
import { runAs } from '../core/actor.ts';
import { DomainError, type ErrorCode } from '../core/errors.ts';
import { errorFields } from '../core/logger.ts';
import { slotsOpenedBy } from '../core/rights.ts';
import { rowOf } from '../core/rows.ts';
import { traceContextOf } from '../core/trace.ts';
import { atDoor, newSpan } from '../platform/doors.ts';
import { actingCaller, refuseActing, requireMerchant } from './acting.ts';
import { credentialsOf, guestBeside, sendsGuest, sourceNetworkOf, withGuestNetwork } from './callers.ts';
import { checkAccess } from './check-access.ts';
import type { CsvPage, CsvRenderer } from './csv.ts';
import type { AccessRule, Endpoint } from './endpoint.ts';
import { type Exchange, openExchange, requestIdAt, type WebDeps } from './exchange.ts';
import { claimKey, keptAs, LEFT_OPEN, REPLAYED, settleKey } from './idempotency.ts';
import { jsonBodyOf } from './json-body.ts';
import { openedRule, openingCaller, opensBeside, withoutReason } from './link-caller.ts';
import { apiVersion, checkAll, queryOf, rawBodyOf, requireBoundedHeaders } from './parse.ts';
import { type CountedOutcome, countOutcome, countSubject, enforceLimits, type RateLimit } from './rate-limit.ts';
import { rendererOf, requestOf } from './read-request.ts';
import { type HttpResponse, render, renderError, renderFile, renderText, withoutPayerSecrets } from './reply.ts';
import type { ApiRequest, Reply } from './request.ts';
import { requireSentBack, type ShownRecord } from './sent-back.ts';
import { guestCreatesByAddress, invalidKeys, keyRequests } from './windows.ts';

type Step = MiddlewareObj<Exchange, HttpResponse>;

interface LambdaHandler {
  (event: APIGatewayProxyEventV2, context: Context): Promise<HttpResponse>;
  /** Called while the function starts (see `infra/deploy/build.ts`). */
  readonly prepare: () => Promise<void>;
}

type UseCase<D, Request> = (deps: D, request: Request) => Promise<Reply>;

type Request<P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R> = ApiRequest<
  z.output<P>,
  z.output<Q>,
  z.output<B>,
  R
>;

interface CheckedUseCase<D, Request> {
  readonly run: UseCase<D, Request>;
  /**
   * Runs before a stored response is returned, if the endpoint has no access rule.
   * @throws DomainError if the caller may no longer act
   */
  readonly checkRepeat?: (deps: D, request: Request) => Promise<unknown>;
  /** Set for a PUT or PATCH. Returns the record as the caller would read it; undefined if it does not exist. */
  readonly shows?: (deps: D, request: Request) => ShownRecord | Promise<ShownRecord | undefined>;
  /** Set for an endpoint with `csv`. */
  readonly csv?: CsvRenderer;
}

/** An endpoint's handler, with the middleware chain around its use case. */
export const lambda = <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R, D extends WebDeps>(
  spec: Endpoint<P, Q, B, R>,
  depsOf: () => D,
  useCase: UseCase<D, Request<P, Q, B, R>> | CheckedUseCase<D, Request<P, Q, B, R>>,
): LambdaHandler => {
  const { run, checkRepeat, shows, csv } = typeof useCase === 'function' ? { run: useCase } : useCase;
  if (spec.idempotent === 'stored' && !spec.access && !checkRepeat)
    throw new Error(`${spec.id} would return its stored response to a caller who may no longer act`);
  if ((spec.sentBack !== undefined) !== (shows !== undefined))
    throw new Error(`${spec.id} must declare both or neither of sentBack and shows`);
  const runUseCase = (exchange: Exchange): Promise<Reply> => {
    const request = parsedRequest<P, Q, B, R>(exchange);
    const work = { requestId: exchange.requestId, actor: actorOfCaller(request.caller, request.asAdmin) };
    return runAs(work, () => underRight(request.right, () => run(depsOf(), request)));
  };
  const chain = middy<Exchange, HttpResponse>()
    .use(summary)
    .use(headers)
    .use(errors)
    .use(callers)
    .use(parsing)
    .use(limiting)
    .use(idempotency)
    .use(access)
    .use(limitingOfAllowed)
    .handler(async (exchange) => {
      if (exchange.kept) await checkRepeat?.(depsOf(), parsedRequest(exchange));
      if (shows) await requireSentBack(spec, exchange.json, () => shows(depsOf(), parsedRequest(exchange)));
      exchange.reply = exchange.kept
        ? { data: exchange.kept.body, status: exchange.kept.status, headers: REPLAYED }
        : withoutSecrets(exchange, await runUseCase(exchange));
      if (exchange.reply.file) return renderFile(exchange.reply.file);
      const { csvPage } = exchange.request ?? {};
      if (csvPage) return renderCsv(exchange, exchange.reply, csvPage);
      const failed = (exchange.kept?.status ?? spec.status) >= 400;
      return render(withLink(exchange, exchange.reply), spec.status, failed ? 'bare' : exchange.form);
    });
  return Object.assign(
    (event: APIGatewayProxyEventV2, context: Context) =>
      atDoor(context, spanOf(event, context), () =>
        chain(openExchange({ spec, deps: depsOf().chain, csv }, event, context), context),
      ),
    { prepare: () => prepare(spec, depsOf) },
  );
};

const spanOf = (event: APIGatewayProxyEventV2, context: Context) => {
  const { traceparent, tracestate } = event.headers;
  return newSpan(traceContextOf(traceparent, tracestate), requestIdAt(event, context));
};

/** Of the list's own headers, a CSV page keeps only x-totals. */
const renderCsv = (exchange: Exchange, { data, more, headers: own }: Reply, page: CsvPage): HttpResponse => {
  const { name, columns } = exchange.spec.csv ?? { name: '', columns: [] };
  const { csvCursor, csvText } = rendererOf(exchange);
  const records: readonly unknown[] = Array.isArray(data) ? data : [];
  const cursor = csvCursor(page, records.length, more);
  const { headers } = withLink(exchange, {
    data: undefined,
    headers: {
      ...(own?.['x-totals'] !== undefined && { 'x-totals': own['x-totals'] }),
      ...{ 'content-type': 'text/csv; charset=utf-8', 'content-disposition': `attachment; filename="${name}.csv"` },
    },
    ...(cursor !== undefined && { next: { cursor } }),
  });
  return renderText(csvText(columns, records), headers ?? {});
};

const parsedRequest = <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R>(
  exchange: Exchange,
): ApiRequest<z.output<P>, z.output<Q>, z.output<B>, R> => {
  if (!exchange.request) throw new Error('the request was not parsed');
  // Sound, because `parsing` has run the schemas of these types.
  return exchange.request as ApiRequest<z.output<P>, z.output<Q>, z.output<B>, R>;
};

/** Removes payers' secrets from every response to a caller who acts for the merchant. */
const withoutSecrets = ({ request }: Exchange, reply: Reply): Reply =>
  request?.asAdmin ? { ...reply, data: withoutPayerSecrets(reply.data) } : reply;

/** Credentials in the query, which a Link header must not repeat. */
const CREDENTIALS = new Set(['session_id', 'token']);

const withLink = ({ event, query }: Exchange, reply: Reply): Reply => {
  if (!reply.next) return reply;
  const kept = Object.entries(query).filter(([name]) => !CREDENTIALS.has(name));
  const next = new URLSearchParams(Object.entries({ ...Object.fromEntries(kept), ...reply.next }));
  return { ...reply, headers: { ...reply.headers, link: `<${event.rawPath}?${next}>; rel="next"` } };
};

const summary: Step = {
  after: ({ event: exchange, response }) => {
    exchange.deps.log.info('request served', summaryOf(exchange, response?.statusCode ?? 500));
  },
  onError: ({ event: exchange, response, error }) => {
    const status = response?.statusCode ?? 500;
    const code = error instanceof DomainError ? error.code : 'INTERNAL_ERROR';
    const fields = { ...summaryOf(exchange, status), code };
    if (status < 500) exchange.deps.log.info('request served', fields);
    else exchange.deps.log.error('request failed', { ...fields, ...errorFields(causeOf(error)) });
  },
};

const causeOf = (error: unknown): unknown => (error instanceof DomainError && error.cause ? error.cause : error);

const summaryOf = (exchange: Exchange, status: number) => {
  const key = keyOfCaller(exchange.caller);
  return {
    request_id: exchange.requestId,
    endpoint: exchange.spec.id,
    status,
    caller: exchange.caller.kind,
    ...(key && { key_id: key.id }),
    duration_ms: Date.now() - exchange.startedAt,
  };
};

const headers: Step = {
  after: (step) => {
    if (step.response) step.response = withHeaders(step.event, step.response);
  },
  onError: (step) => {
    if (step.response) step.response = withHeaders(step.event, step.response);
  },
};

const withHeaders = (exchange: Exchange, response: HttpResponse): HttpResponse => ({
  ...response,
  headers: {
    ...response.headers,
    'x-request-id': exchange.requestId,
    'x-api-version': exchange.version,
    ...(exchange.spec.csv && { vary: 'Accept' }),
  },
});

const errors: Step = {
  onError: (step) => {
    const error = step.error instanceof DomainError ? step.error : new DomainError('INTERNAL_ERROR');
    step.response = renderError(withoutReason(step.event, error), step.event.requestId);
  },
};

const callers: Step = {
  before: async ({ event: exchange }) => {
    requireBoundedHeaders(exchange.headers);
    exchange.version = apiVersion(exchange.headers['x-api-version']);
    exchange.query = queryOf(exchange.event, exchange.spec.query);
    exchange.rawBody = rawBodyOf(exchange.event);
    if (exchange.spec.auth === 'link-token') exchange.caller = await openingCaller(exchange);
    const credentials = credentialsOf(exchange);
    if (credentials) exchange.caller = await exchange.deps.callers.authenticate(credentials).catch(counted(exchange));
    if (opensBeside(exchange)) exchange.caller = await openingCaller(exchange);
    exchange.caller = await actingCaller(exchange);
    requireMerchant(exchange);
  },
};

/** @throws DomainError RATE_LIMITED if the address has sent too many invalid keys, else rethrows the error */
const counted =
  (exchange: Exchange) =>
  async (error: unknown): Promise<never> => {
    const isKey = error instanceof DomainError && error.code === 'API_KEY_INVALID';
    if (isKey && exchange.deps.rateLimits) await countSubject(exchange.deps, invalidKeys, sourceNetworkOf(exchange));
    throw error;
  };

const parsing: Step = {
  before: async ({ event: exchange }) => {
    const { spec } = exchange;
    if (spec.body !== null && spec.bodyForm === 'json') exchange.json = jsonBodyOf(bodyOf(exchange));
    try {
      exchange.request = await withGuestNetwork(exchange, requestOf(exchange, exchange.json));
    } catch (error) {
      if (isInvalid(error) && sendsGuest(exchange, exchange.json)) await countInvalidGuest(exchange);
      throw error;
    }
    exchange.caller = exchange.request.caller;
    if (exchange.caller.kind === 'guest' && !exchange.caller.key) refuseActing(exchange);
  },
};

const bodyOf = ({ rawBody, event, headers }: Exchange) => ({
  raw: rawBody,
  isDecoded: !event.isBase64Encoded,
  headers,
});

const isInvalid = (error: unknown): boolean => error instanceof DomainError && error.code === 'VALIDATION_ERROR';

/** Counts an invalid guest request. @throws DomainError RATE_LIMITED if the address has sent too many guest requests */
const countInvalidGuest = async (exchange: Exchange): Promise<void> => {
  if (exchange.deps.rateLimits) await countSubject(exchange.deps, guestCreatesByAddress, sourceNetworkOf(exchange));
};

const limiting: Step = {
  before: async ({ event: exchange }) => {
    await limit(exchange, (one) => !countsAllowed(exchange.spec, one));
  },
};

/** Counts requests that passed the access rule, so strangers cannot fill the windows. Does not count repeats. */
const limitingOfAllowed: Step = {
  before: async ({ event: exchange }) => {
    if (!exchange.kept) await limit(exchange, (one) => countsAllowed(exchange.spec, one));
  },
  after: ({ event: exchange }) =>
    count(exchange, !exchange.kept && exchange.reply?.isDecline === true ? 'declines' : undefined),
  onError: ({ event: exchange, error }) =>
    count(exchange, error instanceof DomainError ? rowOf(OUTCOMES, error.code) : undefined),
};

const OUTCOMES: Readonly<Partial<Record<ErrorCode, CountedOutcome>>> = {
  PAYMENT_DECLINED: 'declines',
  DISCOUNT_INVALID: 'refused codes',
};

const count = async ({ deps, spec, request }: Exchange, outcome: CountedOutcome | undefined): Promise<void> => {
  if (outcome && deps.rateLimits && request) await countOutcome(deps, { limits: spec.limits, outcome }, request);
};

const countsAllowed = (spec: Endpoint, one: RateLimit): boolean => {
  // Strangers cannot fill a key's window, so this window counts before the access check.
  if (one === keyRequests) return false;
  return spec.access?.record !== undefined || (one.counts ?? 'requests') !== 'requests';
};

/** If one window is full, the request counts in no window. */
const limit = async (exchange: Exchange, counts: (one: RateLimit) => boolean): Promise<void> => {
  const { deps, spec, request } = exchange;
  const limits = spec.limits.filter(counts);
  if (!deps.rateLimits || !request || limits.length === 0) return;
  try {
    exchange.counted.push(await enforceLimits(deps, limits, request));
  } catch (error) {
    await Promise.all(exchange.counted.map(({ release }) => release()));
    throw error;
  }
};

const access: Step = {
  before: async ({ event: exchange }) => {
    const { deps, request, kept } = exchange;
    const declared = openedRule(exchange);
    const rule = kept ? replayRule(declared) : declared;
    if (rule && request) exchange.request = await checkAccess(deps, rule, request).catch(fallBack(exchange, rule));
  },
};

/** Tries the guest token if the session alone gets 404 for the record of the path. */
const fallBack =
  (exchange: Exchange, rule: AccessRule) =>
  async (error: unknown): Promise<ApiRequest | undefined> => {
    const { deps, request } = exchange;
    const isMissing = rule.record !== undefined && error instanceof DomainError && error.code === 'RESOURCE_NOT_FOUND';
    const guest = isMissing ? await guestBeside(exchange) : undefined;
    if (!guest || !request) throw error;
    const allowed = await checkAccess(deps, rule, { ...request, caller: guest });
    exchange.caller = guest;
    return allowed;
  };

/**
 * The access rule of a repeat. After losing access to the record, a caller does not get the stored response. The repeat
 * does not check records in the body, because those records may have been deleted since.
 */
const replayRule = (rule: Endpoint['access']): Endpoint['access'] => {
  if (!rule || rule.endsAccess) return undefined;
  const { action, record, organization } = rule;
  return {
    action,
    ...(record && { record }),
    ...(organization && { organization }),
  };
};

const idempotency: Step = {
  before: async ({ event: exchange }) => {
    const { spec, deps, request } = exchange;
    if (spec.idempotent !== 'stored' || !request?.idempotency) return;
    const kept = await claimKey(deps, request.idempotency, spec.timeoutSeconds);
    exchange.claimed = kept === undefined || kept === LEFT_OPEN;
    if (kept === LEFT_OPEN) exchange.request = { ...request, idempotency: { ...request.idempotency, isRepeat: true } };
    else exchange.kept = kept;
  },
  after: async ({ event: exchange, response }) => {
    const scope = exchange.request?.idempotency;
    if (!exchange.claimed || !scope || !response) return;
    try {
      const { keptData, data, isOpen } = exchange.reply ?? {};
      const answer = { status: response.statusCode, body: keptData ?? data };
      await settleKey(exchange.deps, scope, keptAs(exchange.spec.command, { ...answer, isOpen }));
    } catch (cause) {
      // The use case has succeeded. Throwing the conflict would tell the caller that nothing happened.
      throw new DomainError('INTERNAL_ERROR', { cause });
    }
  },
  onError: async ({ event: exchange, error }) => {
    const scope = exchange.request?.idempotency;
    if (!exchange.claimed || !scope) return;
    const { deps, spec, requestId } = exchange;
    const answer = error instanceof DomainError ? renderError(error, requestId) : { statusCode: 500, body: 'null' };
    await settleKey(deps, scope, keptAs(spec.command, { status: answer.statusCode, body: JSON.parse(answer.body) }));
  },
};

/**
 * Prepares a function during its start, when Lambda gives it a whole processor. Builds dependencies and schemas, loads
 * the providers' adapters and reads their secrets. Never rejects; the first request meets and reports the same failure.
 */
const prepare = async <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R, D extends WebDeps>(
  spec: Endpoint<P, Q, B, R>,
  depsOf: () => D,
): Promise<void> => {
  try {
    // Opens only slots with secrets readable by the function; reading other secrets would fail.
    const opened = depsOf().prepare?.(slotsOpenedBy(spec.uses));
    parseNothing(spec);
    await opened;
  } catch {}
};

const parseNothing = (spec: Parameters<typeof checkAll>[0]): void => {
  try {
    checkAll(spec, { params: {}, query: {}, body: {} });
  } catch {
    // Fails for most endpoints, because their required fields are missing.
  }
};
