import type * as z from 'zod';
import type { ErrorCode } from '../core/errors.ts';
import type { Right } from '../core/rights.ts';
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
}

export interface Endpoint<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> {
  /** `payments.create-intent` is the entry functions/payments/create-intent.ts, export `handler`. */
  readonly id: string;
  readonly method: Method;
  readonly path: `/${string}`;
  readonly summary: string;
  readonly auth: Auth;
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
  /** Lambda time-out. */
  readonly timeoutSeconds: number;
  readonly memoryMb: 256 | 512;
}

type Optional = 'idempotent' | 'limits' | 'bodyForm' | 'timeoutSeconds' | 'memoryMb' | 'errors';

/** Declares one endpoint; every host, the API document and the generated tests read it from the catalogue. */
export const endpoint = <P extends z.ZodType, Q extends z.ZodType, B extends z.ZodType>(
  spec: Omit<Endpoint<P, Q, B>, Optional> & Partial<Pick<Endpoint<P, Q, B>, Optional>>,
): Endpoint<P, Q, B> => ({
  idempotent: 'natural',
  limits: [],
  bodyForm: 'json',
  timeoutSeconds: 10,
  memoryMb: 512,
  errors: [],
  ...spec,
});
