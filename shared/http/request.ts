/** @module The request passed by the chain to a use case, and the use case's reply. */

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
  /** The record of the path, loaded and allowed for this caller; undefined if the endpoint declares no record. */
  readonly record: R;
  /** The caller's role in the path's organization. */
  readonly role: Role | undefined;
  /** True if the caller may also change the path's record. */
  readonly canWrite: boolean;
  /** True if the caller acts for the merchant, on another owner's record or list or in a merchant-only action. */
  readonly asAdmin: boolean;
  /**
   * The caller's right. The conditions of the right are part of every write that claims a charge, an update or a save.
   * If a condition fails, the use case throws VERSION_CONFLICT, and the chain refuses a caller who has lost the right.
   */
  readonly right: CallerRight;
  /** The owner of the list or of the new record, if the endpoint declares `organization`. */
  readonly owner: Owner | undefined;
  /** True if the body contains read-only fields, because the client sends back a record after reading it. */
  readonly sendsBack: boolean;
  /** A record named in the body, loaded and allowed for this caller; undefined if the body names none of this kind. */
  readonly named: <T>(kind: RecordKind<T>) => T | undefined;
  /** The items declared by the endpoint as `alongside`, in the same order. */
  readonly alongside: readonly (Item | undefined)[];
  /** Set if the caller requested CSV. Replaces `limit` and `cursor` of the query. */
  readonly csvPage?: CsvPage | undefined;
  /** Hash of principal, method, full path and Idempotency-Key; undefined without a key. */
  readonly idempotency: IdempotentRequest | undefined;
  /** The raw request, for the chain, its limits, and a few use cases. */
  readonly http: ArrivedRequest;
}

/** A request as it arrived. */
export interface ArrivedRequest {
  readonly requestId: string;
  /** The id of the endpoint in the table of scopes. */
  readonly endpointId: string;
  readonly rawBody: Buffer;
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The IPv4 address, or the /64 network of the IPv6 address, for limits by address. */
  readonly sourceNetwork: string;
  /** The record of a hosted page's token. */
  readonly opened?: LinkTarget | undefined;
  /** The network of the address in X-Payer-Address. */
  readonly payerNetwork?: string | undefined;
}

/** The reply of a use case. The chain renders it in the form declared by the endpoint or requested by the caller. */
export interface Reply {
  readonly data: unknown;
  /** Stored under the Idempotency-Key instead of `data`, if `data` contains a secret. */
  readonly keptData?: unknown;
  readonly status?: number;
  readonly message?: string;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Further members of the envelope in addition to `data` (`user_context`). */
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** True if the command's outcome is open, as with every 202. The record will show the outcome. */
  readonly isOpen?: boolean;
  /** True if a charge was declined although the request succeeds. Counts in the decline windows. */
  readonly isDecline?: boolean;
  /** Query parameters of the next page, for the Link header. */
  readonly next?: Readonly<Record<string, string>>;
  /** A file that replaces `data`, with its own headers. */
  readonly file?: FileContent;
  /** Set if rows follow the page, for the Link header of a CSV page. */
  readonly more?: More;
}

export interface FileContent {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}
