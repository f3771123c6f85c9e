/** @module One request in the middleware chain, and the chain's dependencies. Each step fills in its part. */

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

/** What the dependencies of every use case hold for the chain. */
export interface WebDeps {
  readonly chain: ChainDeps;
  /** Opens the providers of these slots while the function starts, so that the first request does not need to. */
  readonly prepare?: ((slots: readonly ProviderSlot[]) => Promise<void>) | undefined;
}

export interface ChainDeps extends StoreDeps, IdDeps {
  readonly standings: Standings;
  readonly callers: Authenticate;
  readonly linkTokens: LinkTokens;
  readonly rateLimits: boolean;
  /** Declines behind one service key within an hour; 0 or undefined: no limit. */
  readonly keyDeclinesPerHour?: number | undefined;
  /** True if texts and metadata may contain card numbers. A token field never may. */
  readonly allowsCardNumbers?: boolean | undefined;
  /** How long a guest without a token continues the guest_id of a record after its creation. */
  readonly guestContinueSeconds: number;
  /** undefined if clients connect to the API directly. */
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
  /** What the token of a hosted page opens. */
  opened: LinkTarget | undefined;
  /** The network of the payer whose address a service key names in X-Payer-Address. */
  payerNetwork: string | undefined;
  request: ApiRequest | undefined;
  kept: KeptAnswer | undefined;
  claimed: boolean;
  /** Where the request has counted so far. */
  readonly counted: Reservation[];
  reply: Reply | undefined;
}

/** Names the request in the log, in responses and in the records that it changes. */
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

/** The form that X-Response-Form or the query's `envelope` requests, else the form that the endpoint declares. */
const formOf = (spec: Endpoint, event: APIGatewayProxyEventV2): ResponseForm => {
  const sent = event.headers['x-response-form'];
  const header = sent !== undefined && sent.length <= 'envelope'.length ? sent.toLowerCase() : undefined;
  if (header === 'bare' || header === 'envelope') return header;
  const envelope = flagOf(event.queryStringParameters?.['envelope'] ?? '');
  if (envelope === undefined) return spec.form;
  return envelope ? 'envelope' : 'bare';
};
