/** @module The state and dependencies of one request in the middleware chain. Each step fills in its part. */

import type { APIGatewayProxyEventV2, Context } from 'aws-lambda';
import type { Authenticate } from '../access/authenticate.ts';
import type { Caller } from '../access/caller.ts';
import type { LinkTarget, LinkTokens } from '../access/link-token.ts';
import type { Standings } from '../access/standing.ts';
import type { IdDeps } from '../core/keyed-ids.ts';
import type { Log } from '../core/logger.ts';
import type { ProviderSlot } from '../core/settings.ts';
import type { StoreDeps } from '../platform/table.ts';
import type { TrustedEdge } from './client-address.ts';
import type { CsvRenderer } from './csv.ts';
import type { Endpoint } from './endpoint.ts';
import { flagOf } from './fields.ts';
import type { KeptAnswer } from './idempotency.ts';
import { API_VERSIONS } from './parse.ts';
import type { Reservation } from './rate-limit.ts';
import type { ResponseForm } from './reply.ts';
import type { ApiRequest, Reply } from './request.ts';

/** The dependencies that every use case provides to the chain. */
export interface WebDeps {
  readonly chain: ChainDeps;
  /** Opens the providers of these slots while the function starts, which spares the first request that work. */
  readonly prepare?: ((slots: readonly ProviderSlot[]) => Promise<void>) | undefined;
}

export interface ChainDeps extends StoreDeps, IdDeps {
  readonly standings: Standings;
  readonly callers: Authenticate;
  readonly linkTokens: LinkTokens;
  readonly rateLimits: boolean;
  /** Maximum declines per hour behind one service key; unlimited if 0 or undefined. */
  readonly keyDeclinesPerHour?: number | undefined;
  /** True if texts and metadata may contain card numbers. Token fields never accept them. */
  readonly allowsCardNumbers?: boolean | undefined;
  /** How long after a record's creation a guest without a token may continue its guest_id. */
  readonly guestContinueSeconds: number;
  /** Undefined if clients connect directly to the API. */
  readonly edge?: TrustedEdge | undefined;
  readonly log: Log;
}

export interface Exchange {
  readonly spec: Endpoint;
  readonly deps: ChainDeps;
  readonly csv: CsvRenderer | undefined;
  readonly event: APIGatewayProxyEventV2;
  readonly requestId: string;
  readonly startedAt: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly form: ResponseForm;
  version: string;
  query: Readonly<Record<string, string>>;
  rawBody: Buffer;
  /** The JSON of the body, as sent; undefined on a route without a body. */
  json: unknown;
  caller: Caller;
  /** The record of a hosted page's token. */
  opened: LinkTarget | undefined;
  /** The network of the address in X-Payer-Address. */
  payerNetwork: string | undefined;
  request: ApiRequest | undefined;
  kept: KeptAnswer | undefined;
  claimed: boolean;
  /** The counts of this request in rate windows so far. */
  readonly counted: Reservation[];
  reply: Reply | undefined;
}

/** The request's id in the log, in responses and in changed records. */
export const requestIdAt = ({ requestContext }: APIGatewayProxyEventV2, { awsRequestId }: Context): string =>
  requestContext.requestId || awsRequestId;

export const openExchange = (
  { spec, deps, csv }: Pick<Exchange, 'spec' | 'deps' | 'csv'>,
  event: APIGatewayProxyEventV2,
  context: Context,
): Exchange => ({
  spec,
  deps,
  csv,
  event,
  requestId: requestIdAt(event, context),
  startedAt: Date.now(),
  headers: event.headers,
  form: formOf(spec, event),
  version: API_VERSIONS[0],
  query: {},
  rawBody: Buffer.alloc(0),
  json: undefined,
  caller: { kind: 'anonymous' },
  opened: undefined,
  payerNetwork: undefined,
  request: undefined,
  kept: undefined,
  claimed: false,
  counted: [],
  reply: undefined,
});

/** The form from X-Response-Form or the query's `envelope`, else the endpoint's own form. */
const formOf = (spec: Endpoint, event: APIGatewayProxyEventV2): ResponseForm => {
  const sent = event.headers['x-response-form'];
  const header = sent !== undefined && sent.length <= 'envelope'.length ? sent.toLowerCase() : undefined;
  if (header === 'bare' || header === 'envelope') return header;
  const envelope = flagOf(event.queryStringParameters?.['envelope'] ?? '');
  if (envelope === undefined) return spec.form;
  return envelope ? 'envelope' : 'bare';
};
