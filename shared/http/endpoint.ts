/** @module The declaration of an endpoint. `endpoint` fills in the defaults of optional fields. */

import type * as z from 'zod';
import type { Action } from '../access/access.ts';
import type { LinkKind } from '../access/link-token.ts';
import type { NamedRecord, RecordKind } from '../access/record-kind.ts';
import { scopesOfRoute } from '../access/scopes.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { IdKind } from '../core/ids.ts';
import { once } from '../core/once.ts';
import { callsProviders, MEMORY_MB, type MemoryMb, type Right } from '../core/rights.ts';
import { PROVIDER_FUNCTION_SECONDS } from '../core/settings.ts';
import type { KeyedCommand } from '../platform/command-end.ts';
import type { Key, Owner } from '../platform/keys.ts';
import type { CsvForm } from './csv.ts';
import type { RateLimit } from './rate-limit.ts';
import type { SentBack } from './sent-back.ts';
import { keyRequests, writeLimits } from './windows.ts';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * The accepted callers. `session` allows signed-in users, `session-or-token` also a guest token, `session-or-guest`
 * also a guest token or guest_data, `public` everyone, `platform-admin` admins, `provider-signature` a provider's
 * webhook, `link-token` the holder of a hosted page's token.
 */
export type Auth =
  | 'session'
  | 'session-or-guest'
  | 'session-or-token'
  | 'public'
  | 'platform-admin'
  | 'provider-signature'
  | 'link-token';

/**
 * How a repeated request takes effect only once. With `create`, the record's id derives from the Idempotency-Key.
 * `stored` keeps the response under the key. With `noted`, the record stores the key, because the response contains a
 * secret that must not be stored. `natural` operations are idempotent without a key (every GET, PUT, PATCH, DELETE, and
 * a POST that recognizes a repeat by its content).
 */
export type Idempotency = 'create' | 'stored' | 'noted' | 'natural';

/**
 * The access check before the use case. The use case gets only allowed records. One BatchGet reads the record of the
 * path, the caller's standing, and every record named in the body.
 */
export interface AccessRule<Body extends z.ZodType = z.ZodType, R = unknown> {
  /** `merchant` allows only the merchant, on every record. The endpoint's `auth` is then `platform-admin`. */
  readonly action: Action;
  readonly record?: RecordKind<R>;
  /**
   * The body or query may name an `organization_id` as the owner of the list or of the new record. Otherwise the owner
   * is the session's organization or the caller.
   */
  readonly organization?: 'session by default' | 'personal by default';
  /** The request itself ends the caller's access, so a repeat gets the stored response without an access check. */
  readonly endsAccess?: true;
  /** Records that the request links, shows or filters by, without using them. */
  references?(input: z.output<Body>): readonly NamedRecord[];
  /**
   * Records charged by the request or sent to a provider, named by our id or by the provider's id. The use case handles
   * an id without a record (a provider's one-time token).
   */
  uses?(input: z.output<Body>): readonly NamedRecord[];
  /**
   * The record created under an Idempotency-Key. A guest's repeated create is checked as of the record's creation, so
   * it returns the record even if the guest would now need a token.
   */
  readonly createdUnder?: { readonly kind: IdKind; readonly key: (id: string) => Key };
  /** Further items of the owner that the use case needs, read in the same BatchGet. */
  alongside?(owner: Owner, input: z.output<Body>): readonly Key[];
}

export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  R = unknown,
> {
  /** `payments.create-intent` is the entry functions/payments/create-intent.ts, export `handler`. */
  readonly id: string;
  readonly method: HttpMethod;
  readonly path: `/${string}`;
  /** A few words. Only the API document and the tools read `summary` and `description`. */
  readonly summary: string;
  /** Markdown: what happens, when to use it, what can go wrong. The document adds the response form and the callers. */
  readonly description: string;
  readonly auth: Auth;
  /** True if platform admins may also call without a role in the organization; only the API document reads it. */
  readonly alsoPlatformAdmins: boolean;
  readonly access: AccessRule<Body, R> | undefined;
  /** The kinds of records that a hosted page's token may open on this route. `access` checks the opened record. */
  readonly opens: Readonly<Partial<Record<LinkKind, RecordKind<R>>>> | undefined;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body | null;
  /** Set on every PUT and PATCH, because clients may read a record and send it back. */
  readonly sentBack: SentBack | undefined;
  /**
   * The data of a success, in bare form; null without a body (204). The schema is built for the API document, for
   * tests, and for an update with a field unknown to its body schema.
   */
  readonly response: (() => z.ZodType) | null;
  readonly status: 200 | 201 | 202 | 204;
  /** What a 202 means, if the endpoint always or sometimes returns 202. Its body has the same form. */
  readonly accepted: string | undefined;
  readonly form: 'bare' | 'envelope';
  /**
   * `console` and `pages` serve files for browsers, outside the API document. The settings CONSOLE and HOSTED_PAGES
   * install them.
   */
  readonly serves: 'data' | 'console' | 'pages';
  /** The schema of `meta` in the envelope; only the API document reads it. */
  readonly meta: (() => z.ZodType) | undefined;
  /** Further members of the envelope; only the API document reads their schemas. */
  readonly beside: (() => z.ZodRawShape) | undefined;
  /** Set for a list also available as CSV. */
  readonly csv: CsvForm | undefined;
  readonly errors: readonly ErrorCode[];
  readonly idempotent: Idempotency;
  /**
   * Set for a command that may finish after its response. A response without the outcome is not stored under the key.
   */
  readonly command: KeyedCommand | undefined;
  readonly uses: readonly Right[];
  readonly limits: readonly RateLimit[];
  /** With `raw`, the handler gets the body as received (inbound webhooks). */
  readonly bodyForm: 'json' | 'raw';
  /** Lambda time-out; by default 10 s, or 20 s if the function may call a provider. */
  readonly timeoutSeconds: number;
  readonly memoryMb: MemoryMb;
  /**
   * True if a payer waits for a charge. The function has more memory and, if the stage has them, reserved concurrency
   * and a canary.
   */
  readonly paymentPath: boolean;
  /**
   * `money` selects the gateway's rate for captures and refunds; by default the rate depends on the accepted callers.
   */
  readonly rateClass: 'by caller' | 'money';
}

/** The types of one route and its success, for typed clients. The property `route` exists only as a type. */
export interface RouteTypes<
  Method extends HttpMethod = HttpMethod,
  Path extends string = string,
  Success extends Answer = Answer,
> {
  readonly route?: { readonly method: Method; readonly path: Path; readonly success: Success };
}

/** The data of a success and the further members of its envelope, as their schemas describe them. */
interface Answer<
  Form extends Endpoint['form'] = Endpoint['form'],
  Data extends z.ZodType = z.ZodType,
  Meta extends z.ZodType = z.ZodType,
  Beside extends z.ZodRawShape = z.ZodRawShape,
> {
  readonly form: Form;
  readonly data: z.output<Data>;
  readonly meta: z.output<Meta>;
  readonly beside: z.output<z.ZodObject<Beside>>;
}

type Optional =
  | 'alsoPlatformAdmins'
  | 'accepted'
  | 'sentBack'
  | 'serves'
  | 'meta'
  | 'beside'
  | 'csv'
  | 'access'
  | 'opens'
  | 'idempotent'
  | 'command'
  | 'limits'
  | 'bodyForm'
  | 'timeoutSeconds'
  | 'memoryMb'
  | 'paymentPath'
  | 'rateClass'
  | 'errors';

/** Maximum seconds of a create. A retry under the same key waits for this time plus 5 s. */
export const CREATE_TIMEOUT_SECONDS = {
  payment: 20,
  customer: 20,
  payment_method: 29,
  subscription: 29,
} as const;

/**
 * Declares one endpoint. Every host, the API document and the generated tests read the declarations from the catalogue.
 * @param declare a function, so a build can omit endpoints and schemas unused by a deployed function
 */
export const endpoint = <
  P extends z.ZodType,
  Q extends z.ZodType,
  B extends z.ZodType,
  Method extends HttpMethod,
  Path extends `/${string}`,
  Form extends Endpoint['form'],
  Data extends z.ZodType = z.ZodUndefined,
  Meta extends z.ZodType = z.ZodUndefined,
  Beside extends z.ZodRawShape = Record<never, never>,
  R = undefined,
>(
  declare: () => Omit<Endpoint<P, Q, B, R>, Optional> &
    Partial<Pick<Endpoint<P, Q, B, R>, Optional>> & {
      readonly method: Method;
      readonly path: Path;
      readonly form: Form;
      readonly response: (() => Data) | null;
      readonly meta?: (() => Meta) | undefined;
      readonly beside?: (() => Beside) | undefined;
    },
): Endpoint<P, Q, B, R> & RouteTypes<Method, Path, Answer<Form, Data, Meta, Beside>> => {
  const spec = declare();
  return {
    alsoPlatformAdmins: false,
    access: undefined,
    opens: undefined,
    accepted: undefined,
    sentBack: undefined,
    serves: 'data',
    meta: undefined,
    beside: undefined,
    csv: undefined,
    idempotent: 'natural',
    command: undefined,
    bodyForm: 'json',
    timeoutSeconds: callsProviders(spec.uses) ? PROVIDER_FUNCTION_SECONDS : 10,
    paymentPath: false,
    rateClass: 'by caller',
    memoryMb: spec.paymentPath ? MEMORY_MB.payment : MEMORY_MB.request,
    errors: [],
    ...spec,
    response: spec.response && once(spec.response),
    uses: takesCredentials(spec) ? [...spec.uses, 'table:count'] : spec.uses,
    limits: [...(scopesOfRoute(spec.id) ? [keyRequests] : []), ...writeLimits(spec), ...(spec.limits ?? [])],
  };
};

/** True if callers may send credentials. The route then counts invalid service keys, even if it accepts no key. */
const takesCredentials = ({ auth }: Pick<Endpoint, 'auth'>): boolean =>
  auth !== 'public' && auth !== 'provider-signature';

/** The endpoints that these settings install. */
export const installedEndpoints = <E extends Partial<Pick<Endpoint, 'serves'>>>(
  endpoints: readonly E[],
  settings: { readonly CONSOLE: boolean; readonly HOSTED_PAGES: boolean },
): readonly E[] => {
  const isInstalled = { data: true, console: settings.CONSOLE, pages: settings.HOSTED_PAGES } as const;
  return endpoints.filter(({ serves = 'data' }) => isInstalled[serves]);
};
