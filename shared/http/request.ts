import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import type { Caller } from '../access/caller.ts';
import type { Role } from '../access/permissions.ts';
import type { RecordKind } from '../access/record-kind.ts';
import type { CallerRight } from '../access/right.ts';
import type { Owner } from '../platform/keys.ts';
import type { Item } from '../platform/table.ts';
import type { CsvPage, More } from './csv.ts';

/** A request as the chain hands it to the use case: authenticated, parsed and allowed. */
export interface ApiRequest<Params = unknown, Query = unknown, Body = unknown, R = unknown> {
  readonly requestId: string;
  readonly caller: Caller;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The record of the path, if the endpoint declares one: loaded, and allowed for this caller. */
  readonly record: R;
  /** The caller's role in the organization that the path names. */
  readonly role: Role | undefined;
  /** The caller may also change that record. */
  readonly canWrite: boolean;
  /** The caller reads or acts as a platform admin: the record or list is another's, or the action is for admins only. */
  readonly asAdmin: boolean;
  /**
   * What allowed the caller to act. A write that claims a charge, an update or a save is made under its conditions; if one of them
   * fails, the use case throws VERSION_CONFLICT, and the chain answers with the refusal of a caller who has lost the right.
   */
  readonly right: CallerRight;
  /** The owner of the list or of the new record, if the endpoint declares `organization`. */
  readonly owner: Owner | undefined;
  /** A record that the body names: loaded, and allowed for this caller. */
  readonly named: <T>(kind: RecordKind<T>) => T | undefined;
  /** The items that the endpoint declares as `alongside`, in that order. */
  readonly alongside: readonly (Item | undefined)[];
  /** Set if the caller asked for CSV: the page to read, in place of `limit` and `cursor` of the query. */
  readonly csvPage?: CsvPage | undefined;
  readonly rawBody: Buffer;
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** The subject of limits by address: an IPv4 address, or the /64 network of an IPv6 address. */
  readonly sourceNetwork: string;
  readonly method: string;
  readonly path: string;
  /** Hash of principal, method, full path and Idempotency-Key, if the request sends one. */
  readonly idempotency: { readonly scope: string; readonly requestHash: string } | undefined;
}

/** The answer of a use case. The chain renders it in the form that the endpoint declares or the caller chooses. */
export interface Reply {
  readonly data: unknown;
  readonly status?: number;
  readonly message?: string;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Further members of the envelope in addition to `data` (`user_context`). */
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** A charge was declined, though the request succeeds: it counts in the windows of declines. */
  readonly isDecline?: boolean;
  /** Query parameters of the next page: becomes a Link header. */
  readonly next?: Readonly<Record<string, string>>;
  /** Sent as it is, with its own headers, in place of `data`. */
  readonly file?: FileContent;
  /** Set if rows follow the page: becomes the Link header of a CSV page. */
  readonly more?: More;
}

export interface FileContent {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The network that limits count as one address. A subscriber holds at least a /64 of IPv6 (RFC 6177) and may send each
 * request from another address in it. An IPv4 address written as IPv6 counts as the IPv4 address.
 */
export const networkOf = (address: string): string => {
  // Node compiles a large pattern at the first call of isIPv6, longer than the rest of the parsing of a request.
  if (!address.includes(':') || !isIPv6(address)) return address;
  const [text = ''] = address.split('%');
  const groups = groupsOf(text);
  const isIPv4 = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xff_ff;
  if (isIPv4) return groups.slice(6).flatMap(bytesOf).join('.');
  const prefix = groups.slice(0, 4).map((group) => group.toString(16));
  return `${prefix.join(':')}::/64`;
};

const GROUPS = 8;

/** The eight groups of 16 bits of an IPv6 address. */
const groupsOf = (address: string): readonly number[] => {
  const [head = [], tail = []] = address.split('::').map((part) => part.split(':').filter(Boolean).flatMap(groupsIn));
  return [...head, ...Array<number>(GROUPS - head.length - tail.length).fill(0), ...tail];
};

/** One group in hex; two groups for the IPv4 address that may end an IPv6 address. */
const groupsIn = (text: string): readonly number[] => {
  if (!text.includes('.')) return [Number.parseInt(text, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = text.split('.').map(Number);
  return [a * 256 + b, c * 256 + d];
};

const bytesOf = (group: number): readonly number[] => [Math.floor(group / 256), group % 256];

/** A proxy before the API that sends the client's address in a header and proves itself by a secret. */
export interface TrustedEdge {
  /** Lower-cased name of the header with the client's address. */
  readonly header: string;
  /** SHA-256 of each accepted secret in hex: the service does not hold the secret itself. */
  readonly secretHashes: readonly string[];
}

const EDGE_SECRET = 'x-trusted-edge-secret';
/** CloudFront appends the client's port to this header. */
const WITH_PORT = 'cloudfront-viewer-address';

interface Arrival {
  /** Of the connection to the API. */
  readonly sourceIp: string;
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** The client's address: the one that a trusted edge names, else the address of the connection. */
export const clientAddress = ({ sourceIp, headers }: Arrival, edge: TrustedEdge | undefined): string => {
  if (!edge || !isFromEdge(edge, headers[EDGE_SECRET])) return sourceIp;
  const named = headers[edge.header]?.trim() ?? '';
  const address = edge.header === WITH_PORT ? named.replace(/:\d+$/, '') : named;
  return isIP(address) !== 0 ? address : sourceIp;
};

/** Compares hashes of equal length in constant time, and all of them. */
const isFromEdge = ({ secretHashes }: TrustedEdge, secret: string | undefined): boolean => {
  if (secret === undefined) return false;
  const sent = createHash('sha256').update(secret).digest();
  return secretHashes.map((hash) => timingSafeEqual(sent, Buffer.from(hash, 'hex'))).includes(true);
};
