import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * Addresses that a target may have: global unicast alone. Everything that leads into a network of one's own is refused,
 * however it is written: private, loopback, link-local (metadata services), carrier-grade NAT, multicast, documentation,
 * IPv4 within IPv6 (mapped, NAT64, 6to4, Teredo) and whatever is reserved.
 */
export const isPublicAddress = (address: string): boolean => {
  if (isIP(address) === 0) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  return parsed.kind() === 'ipv4' || isGlobalUnicast(parsed.toByteArray());
};

/** 2000::/3: the rest of IPv6 is given to nobody. */
const isGlobalUnicast = ([first = 0]: readonly number[]): boolean => first >> 5 === 0b001;

/** The address that a URL's host is written as; undefined where it is a name. */
export const literalAddress = ({ hostname }: URL): string | undefined => {
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(bare) === 0 ? undefined : bare;
};
