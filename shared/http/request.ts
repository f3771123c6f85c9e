import type { Caller } from '../access/caller.ts';

/** A request as the chain hands it to the use case: who calls, and what is asked, both checked. */
export interface ApiRequest<Params = unknown, Query = unknown, Body = unknown> {
  readonly requestId: string;
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly rawBody: Buffer;
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly sourceIp: string;
  readonly method: string;
  readonly path: string;
  /** Stands for principal + method + full path + Idempotency-Key, where one was sent. */
  readonly idempotency: { readonly scope: string; readonly requestHash: string } | undefined;
}
