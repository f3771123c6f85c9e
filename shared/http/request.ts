/** @module The request that the chain passes to a use case, and the reply that the use case returns. */

import type { Caller } from '../access/caller.ts';
import type { LinkTarget } from '../access/link-token.ts';
import type { Role } from '../access/permissions.ts';
import type { RecordKind } from '../access/record-kind.ts';
import type { CallerRight } from '../access/right.ts';
import type { Owner } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import type { CsvPage, More } from './csv.ts';
import type { IdempotentRequest } from './idempotency.ts';

export interface ApiRequest<Params = unknown, Query = unknown, Body = unknown, R = unknown> {
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The record of the path, if the endpoint declares one, loaded and allowed for this caller. */
  readonly record: R;
  /** The caller's role in the organization that the path names. */
  readonly role: Role | undefined;
  /** True if the caller may also change that record. */
  readonly canWrite: boolean;
  /** True if the caller acts for the merchant, on another's record or list or in an action for the merchant only. */
  readonly asAdmin: boolean;
  /**
   * The caller's right. A write that claims a charge, an update or a save includes its conditions. If one fails, the
   * use case throws VERSION_CONFLICT, and the chain refuses a caller who has lost the right.
   */
  readonly right: CallerRight;
  /** The owner of the list or of the new record, if the endpoint declares `organization`. */
  readonly owner: Owner | undefined;
  /** True if the body also has read-only fields, so it is a record that the client has read and sends back. */
  readonly sendsBack: boolean;
  /** A record that the body names, loaded and allowed for this caller. */
  readonly named: <T>(kind: RecordKind<T>) => T | undefined;
  /** The items that the endpoint declares as `alongside`, in that order. */
  readonly alongside: readonly (Item | undefined)[];
  /** The page to read if the caller asked for CSV, instead of `limit` and `cursor` of the query. */
  readonly csvPage?: CsvPage | undefined;
  /** Hash of principal, method, full path and Idempotency-Key, if the request sends one. */
  readonly idempotency: IdempotentRequest | undefined;
  /** For the chain, its limits, and the few use cases that need more than the checked parts. */
  readonly http: ArrivedRequest;
}

/** A request as it arrived. */
export interface ArrivedRequest {
  readonly requestId: string;
  /** The id of the endpoint, which the table of scopes names. */
  readonly endpointId: string;
  readonly rawBody: Buffer;
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The subject of limits by address, which is an IPv4 address or the /64 network of an IPv6 address. */
  readonly sourceNetwork: string;
  /** What the token of a hosted page opens. */
  readonly opened?: LinkTarget | undefined;
  /** The network of the payer whom a service key names by X-Payer-Address. */
  readonly payerNetwork?: string | undefined;
}

/** The reply of a use case. The chain renders it in the form that the endpoint declares or the caller chooses. */
export interface Reply {
  readonly data: unknown;
  /** What is stored under the Idempotency-Key in place of `data`, if that holds a secret. */
  readonly keptData?: unknown;
  readonly status?: number;
  readonly message?: string;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Further members of the envelope in addition to `data` (`user_context`). */
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the outcome of the command is open, as with every 202. The record shows it later. */
  readonly isOpen?: boolean;
  /** True if a charge was declined although the request succeeds. The decline counts in the windows of declines. */
  readonly isDecline?: boolean;
  /** Query parameters of the next page, which become a Link header. */
  readonly next?: Readonly<Record<string, string>>;
  /** Sent as it is, with its own headers, in place of `data`. */
  readonly file?: FileContent;
  /** Set if rows follow the page, for the Link header of a CSV page. */
  readonly more?: More;
}

export interface FileContent {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}
