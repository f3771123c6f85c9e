/** @module Decides which client address to trust, and which network counts as one address in limits. */

import { createHash, timingSafeEqual } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';

/**
 * The network that limits count as one address. An IPv6 subscriber has at least a /64 (RFC 6177) and may use another of
 * its addresses for each request. An IPv4 address in IPv6 form counts as IPv4.
 */
export const networkOf = (address: string): string => {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xff_ff;
  if (isMapped)
    return groups
      .slice(6)
      .flatMap((group) => [group >> 8, group & 0xff])
      .join('.');
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':')}::/64`;
};

/**
 * The eight numbers of a valid IPv6 address. URL writes an embedded IPv4 address in hexadecimal and accepts no zone.
 */
const groupsOf = (address: string): readonly number[] => {
  const { hostname } = new URL(`http://[${address.replace(/%.*/, '')}]`);
  const [first = [], last = []] = hostname
    .slice(1, -1)
    .split('::')
    .map((half) =>
      half
        .split(':')
        .filter((group) => group !== '')
        .map((group) => Number.parseInt(group, 16)),
    );
  return [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last];
};

/** A proxy in front of the API. It sends the client's address in a header and proves its identity with a secret. */
export interface TrustedEdge {
  /** Lower-cased name of the header with the client's address. */
  readonly header: string;
  /** SHA-256 of each accepted secret in hex, so the service stores no secret. */
  readonly secretHashes: readonly string[];
}

const EDGE_SECRET = 'x-trusted-edge-secret';
/** CloudFront appends the client's port to this header. */
const WITH_PORT = 'cloudfront-viewer-address';

interface Arrival {
  /** The address of the connection to the API. */
  readonly sourceIp: string;
  /** Lower-cased names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** The client's address from a trusted edge, else the address of the connection. */
export const clientAddress = ({ sourceIp, headers }: Arrival, edge: TrustedEdge | undefined): string => {
  if (!edge || !isFromEdge(edge, headers[EDGE_SECRET])) return sourceIp;
  const named = headers[edge.header]?.trim() ?? '';
  const address = edge.header === WITH_PORT ? named.replace(/:\d+$/, '') : named;
  return isAddress(address) ? address : sourceIp;
};

/** Compares with every hash, each in constant time. */
const isFromEdge = ({ secretHashes }: TrustedEdge, secret: string | undefined): boolean => {
  if (secret === undefined) return false;
  const sent = createHash('sha256').update(secret).digest();
  return secretHashes.map((hash) => timingSafeEqual(sent, Buffer.from(hash, 'hex'))).includes(true);
};

/** The network of a single address; undefined for any other text, such as a range or a list. */
export const networkIn = (text: string): string | undefined =>
  !text.includes('%') && isAddress(text) ? networkOf(text) : undefined;

/** The maximum length of an address, in characters. */
const LONGEST_ADDRESS = 45;

/** True if the text is a whole IPv4 or IPv6 address. */
const isAddress = (text: string): boolean => text.length <= LONGEST_ADDRESS && isIP(text) !== 0;
