import ipaddr from 'ipaddr.js';

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
