import type * as z from 'zod';
import type { Action } from '../access/access.ts';
import type { NamedRecord, RecordKind } from '../access/record-kind.ts';
import type { ErrorCode } from '../core/errors.ts';
import type { Right } from '../core/rights.ts';
import { PROVIDER_FUNCTION_SECONDS } from '../core/settings.ts';
import type { Key, Owner } from '../table/keys.ts';
import type { ApiRequest } from './request.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * Who may call: `session` a signed-in user; `session-or-guest` also guest_data or a guest token; `session-or-token`
 * also a guest token; `public` nobody in particular; `platform-admin`; `provider-signature` a provider's webhook.
 */
export type Auth =
  | 'session'
  | 'session-or-guest'
  | 'session-or-token'
  | 'public'
  | 'platform-admin'
  | 'provider-signature';

/**
 * How a repeated request has one effect. `create`: the record's id is derived from the Idempotency-Key.
 * `stored`: the answer is kept under the key. `natural`: the operation is idempotent by itself (every GET, PUT, PATCH,
 * DELETE, and a POST that dedupes by its content).
 */
export type Idempotency = 'create' | 'stored' | 'natural';

export interface RateLimit {
  readonly name: string;
  readonly max: number;
  readonly windowSeconds: number;
  /** The key to count by; undefined: this request is not counted. */
  readonly by: (request: ApiRequest) => string | undefined;
  /**
   * `requests`, the default: every request; where the path names a record, every request that may act on it.
   * `allowed requests`: every request that has passed the access rule, so that nobody uses up an owner's window.
   * `declined payments`: requests that have passed the access rule are refused while the window is full, and counted once
   * the payment, or the method that is to be saved, is declined.
   */
  readonly counts?: 'requests' | 'allowed requests' | 'declined payments';
}

/**
 * What the access rule is asked before the use case runs. The chain reads the record of the path, the caller's standing in
 * the organization meant, and every record that the body names, in one BatchGet; the use case gets what has passed.
 */
export interface AccessRule<Body extends z.ZodType = z.ZodType, R = unknown> {
  readonly action: Action;
  /** The record that the path's `id` names. */
  readonly record?: RecordKind<R>;
  /**
   * Whether body or query may name an `organization_id`: where absent, the session's is meant, or none.
   * It decides whose list is shown and whose the new record is.
   */
  readonly organization?: 'session by default' | 'personal by default';
  /** The request itself ends the caller's access: an answer kept under its Idempotency-Key is given again all the same. */
  readonly endsAccess?: true;
  /** Other records that the body or the query only names: linked, shown or filtered by. */
  references?(input: z.output<Body>): readonly NamedRecord[];
  /**
   * Records that the request uses: charged, or sent to a provider. Each may be named by our id or by its provider's;
   * an id that leads to no record here is left to the use case (a provider's one-time token).
   */
  uses?(input: z.output<Body>): readonly NamedRecord[];
  /** Further items of the owner that the use case needs, read beside the rest. */
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
  readonly method: Method;
  readonly path: `/${string}`;
  readonly summary: string;
  readonly auth: Auth;
  readonly access: AccessRule<Body, R> | undefined;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body | null;
  /** What a success answers (the data, in bare form); null: no body (204). */
  readonly response: z.ZodType | null;
  readonly status: 200 | 201 | 204;
  readonly form: 'bare' | 'envelope';
  readonly errors: readonly ErrorCode[];
  readonly idempotent: Idempotency;
  readonly uses: readonly Right[];
  readonly limits: readonly RateLimit[];
  /** `raw`: the body reaches the handler as received (inbound webhooks). */
  readonly bodyForm: 'json' | 'raw';
  /** Lambda time-out; by default 10 s, or 20 s where a provider may be called. */
  readonly timeoutSeconds: number;
  readonly memoryMb: 256 | 512;
}

type Optional = 'access' | 'idempotent' | 'limits' | 'bodyForm' | 'timeoutSeconds' | 'memoryMb' | 'errors';

/** Declares one endpoint; every host, the API document and the generated tests read it from the catalogue. */
export const endpoint = <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType, R = undefined>(
  spec: Omit<Endpoint<P, Q, B, R>, Optional> & Partial<Pick<Endpoint<P, Q, B, R>, Optional>>,
): Endpoint<P, Q, B, R> => ({
  access: undefined,
  idempotent: 'natural',
  limits: [],
  bodyForm: 'json',
  timeoutSeconds: spec.uses.includes('secrets:providers') ? PROVIDER_FUNCTION_SECONDS : 10,
  memoryMb: 512,
  errors: [],
  ...spec,
});
