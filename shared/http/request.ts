import ipaddr from 'ipaddr.js';
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

/**
 * What limits count as one address. A subscriber holds at least a /64 of IPv6 (RFC 6177) and may send each request from
 * another of its addresses. An IPv4 address written as IPv6 is the IPv4 address.
 */
export const networkOf = (address: string): string => {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (!('parts' in parsed)) return parsed.toString();
  const prefix = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${prefix.join(':')}::/64`;
};
