import type { Caller } from '../access/caller.ts';
import type { Role } from '../access/permissions.ts';
import type { RecordKind } from '../access/record-kind.ts';
import type { Owner } from '../table/keys.ts';
import type { Item } from '../table/table.ts';

/** A request as the chain hands it to the use case: who calls, and what is asked, both checked. */
export interface ApiRequest<Params = unknown, Query = unknown, Body = unknown, R = unknown> {
  readonly requestId: string;
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The record of the path, where the endpoint declares one: read, and allowed to this caller. */
  readonly record: R;
  /** The caller's role in the organization that the path names. */
  readonly role: Role | undefined;
  /** Could the caller change that record too? */
  readonly mayChange: boolean;
  /** Whose list is meant, and whose a new record is, where the endpoint asks for it. */
  readonly owner: Owner | undefined;
  /** A record that the body named: read, and allowed to this caller. */
  readonly named: <T>(kind: RecordKind<T>) => T | undefined;
  /** What the endpoint asked for `alongside`, in that order. */
  readonly alongside: readonly (Item | undefined)[];
  readonly rawBody: Buffer;
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Where the request came from, as limits count it: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly sourceNetwork: string;
  readonly method: string;
  readonly path: string;
  /** Stands for principal + method + full path + Idempotency-Key, where one was sent. */
  readonly idempotency: { readonly scope: string; readonly requestHash: string } | undefined;
}
