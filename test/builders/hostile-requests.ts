/**
 * @module Every input of every route, filled with a long text. Derived from the catalogue, so new routes are included.
 */
import * as z from 'zod';
import { endpoints } from '../../functions/api/catalogue.ts';
import type { Credentials } from '../../shared/access/authenticate.ts';
import { cacheEpoch } from '../../shared/access/cache-epoch.ts';
import type { Caller } from '../../shared/access/caller.ts';
import { standings } from '../../shared/access/standing.ts';
import { csvRenderer } from '../../shared/http/csv.ts';
import type { Endpoint } from '../../shared/http/endpoint.ts';
import type { ChainDeps } from '../../shared/http/exchange.ts';
import { lambda } from '../../shared/http/lambda.ts';
import { apiContext, apiEvent } from './api-event.ts';
import { session } from './api-request.ts';
import type { HostileText } from './hostile-text.ts';
import { noLinks, testIds } from './ids.ts';
import { memoryTable } from './memory-table.ts';
import { NOON } from './payment.ts';

type Sent = NonNullable<Parameters<typeof apiEvent>[0]>;

/** A part of a route's request that accepts a caller's text. */
export interface HostilePlace {
  readonly endpoint: Endpoint;
  readonly name: string;
  readonly filled: (hostile: HostileText) => Sent;
}

const SESSION = { 'x-session-id': 'admin' };

export const fieldsOf = (schema: unknown): readonly string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape) : [];

/** Headers that every route reads, even if the API document does not list them for the route. */
const HEADERS = [
  'x-session-id',
  'authorization',
  'x-guest-token',
  'idempotency-key',
  'x-api-version',
  'x-response-form',
  'content-type',
  'accept',
  'cookie',
  'stripe-signature',
  'x-square-hmacsha256-signature',
  'paypal-auth-algo',
  'paypal-cert-url',
  'paypal-transmission-id',
  'paypal-transmission-sig',
  'paypal-transmission-time',
];

const bodyPlaces = ({ body, bodyForm }: Endpoint): readonly (readonly [string, (json: string) => string])[] => {
  if (body === null) return [];
  const whole = ['the body', (json: string) => json] as const;
  if (bodyForm === 'raw') return [whole];
  const names = [...new Set([...fieldsOf(body), 'guest_data', 'unknown'])];
  const fields = names.map((name) => [`body ${name}`, (json: string) => `{"${name}":${json}}`] as const);
  const guest = ['email', 'name', 'phone'].map(
    (name) => [`guest_data.${name}`, (json: string) => `{"guest_data":{"${name}":${json}}}`] as const,
  );
  const metadata = [['a value of metadata', (json: string) => `{"metadata":{"a":${json}}}`] as const];
  return [whole, ...fields, ...guest, ...metadata];
};

const placesOf = (endpoint: Endpoint): readonly HostilePlace[] => {
  const base = { method: endpoint.method, path: endpoint.path.replaceAll(/\{\w+\+?\}/g, 'x'), headers: SESSION };
  const params = Object.fromEntries(fieldsOf(endpoint.params).map((name) => [name, 'x']));
  const isGuests = endpoint.auth === 'session-or-guest';
  const right = { ...base, params, ...(endpoint.body !== null && { body: {} }) };
  const place = (name: string, filled: HostilePlace['filled']): HostilePlace => ({ endpoint, name, filled });
  return [
    ...HEADERS.map((name) =>
      place(`header ${name}`, ({ text }) => ({ ...right, headers: { ...SESSION, [name]: text } })),
    ),
    ...fieldsOf(endpoint.params).map((name) =>
      place(`path ${name}`, ({ text }) => ({ ...right, params: { ...params, [name]: text } })),
    ),
    ...[...fieldsOf(endpoint.query), 'unknown'].map((name) =>
      place(`query ${name}`, ({ text }) => ({ ...right, query: `${name}=${encodeURIComponent(text.toWellFormed())}` })),
    ),
    ...bodyPlaces(endpoint).flatMap(([name, filled]) => [
      place(name, ({ json }) => ({ ...right, body: filled(json) })),
      ...(isGuests
        ? [place(`${name}, by a guest`, ({ json }: HostileText) => ({ ...right, headers: {}, body: filled(json) }))]
        : []),
    ]),
  ];
};

export const HOSTILE_PLACES: readonly HostilePlace[] = endpoints.flatMap(placesOf);

const authenticate = async ({ sessionId, authorization }: Credentials): Promise<Caller> =>
  sessionId === undefined && authorization === undefined ? { kind: 'anonymous' } : session({ isAdmin: true });

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };

/** An endpoint's chain with an empty table and a no-op use case, to measure refused requests. */
export const chainOf = (endpoint: Endpoint): ((sent: Sent) => Promise<number>) => {
  const now = () => NOON;
  const { table } = memoryTable({ now });
  const epoch = cacheEpoch({ table, now });
  const chain: ChainDeps = {
    table,
    standings: standings({ table, now, epoch }),
    callers: { looksUp: true, authenticate, actFor: async () => session() },
    rateLimits: false,
    log: silent,
    now,
    newId: (kind) => `${kind}_fresh`,
    ids: testIds,
    linkTokens: noLinks,
    guestContinueSeconds: 3_600,
  };
  const handler = lambda(endpoint, () => ({ chain }), {
    csv: csvRenderer,
    run: async () => ({ data: [] }),
    checkRepeat: async () => undefined,
    ...(endpoint.sentBack && { shows: () => ({}) }),
  });
  return async (sent) => (await handler(apiEvent(sent), apiContext())).statusCode;
};
