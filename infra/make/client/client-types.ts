/** @module Handwritten declarations of the client package, in addition to the types generated from the API document. */

/**
 * @param names the schemas that the package exports under their own names
 * @param events the entries of `names` for outbound webhook bodies
 */
export const clientTypes = (names: readonly string[], events: readonly string[]): string => `\
import type { Client, ClientOptions, ClientPathsWithMethod, FetchOptions, FetchResponse, ParseAs } from 'openapi-fetch';
import type { components, paths } from './schema.d.ts';

export type { components, operations, paths } from './schema.d.ts';

type Fetch = Client<paths, 'application/json'>;
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type Path<M extends Method> = ClientPathsWithMethod<Fetch, M> & keyof paths;
type Operation<P extends keyof paths, M extends Method> = Extract<paths[P][M & keyof paths[P]], Record<string | number, any>>;
type Init<T, Parse> = FetchOptions<T> & { parseAs?: Parse };
type Inits<P extends keyof paths, M extends Method, Parse> = {} extends FetchOptions<Operation<P, M>>
  ? [init?: Init<Operation<P, M>, Parse>]
  : [init: Init<Operation<P, M>, Parse>];
type Call<M extends Method> = <P extends Path<M>, Parse extends ParseAs = 'json'>(url: P, ...init: Inits<P, M, Parse>) => Promise<FetchResponse<Operation<P, M>, { parseAs: Parse }, 'application/json'>>;

type Success<R> = Extract<R, { error?: never }> extends { data: infer D } ? D : never;
type Read<P extends keyof paths> = Success<FetchResponse<Operation<P, 'get'>, { parseAs: 'json' }, 'application/json'>>;
type Entry<P extends keyof paths> =
  Read<P> extends readonly (infer E)[] ? E : Read<P> extends { data: readonly (infer E)[] } ? E : never;
type Query<P extends keyof paths> = Operation<P, 'get'> extends { parameters: { query?: infer Q } } ? keyof NonNullable<Q> : never;
type ListPath = {
  [P in Path<'get'>]: [Query<P> & ('cursor' | 'offset' | 'page')] extends [never] ? never : [Entry<P>] extends [never] ? never : P;
}[Path<'get'>];

/**
 * A function per method, as client.POST('/payments/confirm/{id}', { params, body }). Parameters and responses are typed.
 * A field or query parameter that the route does not know does not compile.
 */
export interface PaymentsClient extends Pick<Fetch, 'use' | 'eject'> {
  readonly GET: Call<'get'>;
  readonly POST: Call<'post'>;
  readonly PUT: Call<'put'>;
  readonly PATCH: Call<'patch'>;
  readonly DELETE: Call<'delete'>;
  /** The records of a list, one by one; each further page is read when its records are wanted. Throws a PaymentsError. */
  readonly paginate: <P extends ListPath>(url: P, ...init: Inits<P, 'get', 'json'>) => AsyncGenerator<Entry<P>, void, undefined>;
}

/** The payer for whom a service key acts. */
export type ActFor = \`user:\${string}\` | \`organization:\${string}\` | \`guest:\${string}\`;

export interface PaymentsClientOptions extends ClientOptions {
  baseUrl: string;
  /** A service key, psk_…, for a backend only. Sent as Authorization. */
  key?: string | undefined;
  /** The payer of every request, as X-Act-For. The header of a request wins over it. */
  actFor?: ActFor | undefined;
  /** How often a failed request is repeated, 2 if absent; 0 repeats nothing. */
  retries?: number | undefined;
}

export declare const createPaymentsClient: (options: PaymentsClientOptions) => PaymentsClient;

/** A failed request, as \`unwrap\` and \`paginate\` throw it. \`body\` is a text if a proxy answered. */
export declare class PaymentsError extends Error {
  readonly name: 'PaymentsError';
  readonly status: number;
  readonly code: ApiError['code'] | undefined;
  readonly requestId: string | undefined;
  readonly body: ApiError | string | undefined;
}

/** The body of a success. Throws a PaymentsError for a failure. */
export declare const unwrap: <R extends { data?: unknown; error?: unknown; response: Response }>(
  result: R | Promise<R>,
) => Promise<Success<R>>;

/** An event of a provider in a target that gets raw events; \`data\` is the body as the provider sent it. */
export interface RawEvent {
  readonly event: \`\${string}:\${string}\`;
  readonly data: unknown;
}

/**
 * Verifies the signature and the time of a webhook and returns its event. Compare \`event\` to narrow \`data\`. Pass the raw
 * body. Throws if the signature or the time is wrong.
 */
export declare const constructEvent: (
  body: string | Uint8Array,
  headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>,
  secret: string,
) => WebhookEvent | RawEvent;

/** The body of an outbound webhook. Compare \`event\` to narrow \`data\`. */
export type WebhookEvent = ${events.join(' | ')};

${names.map((name) => `export type ${name} = components['schemas']['${name}'];`).join('\n')}
`;
