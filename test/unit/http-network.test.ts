import { createHash } from 'node:crypto';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { clientAddress, networkOf, type TrustedEdge } from '../../shared/http/client-address.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
])('the address %s is counted in the network %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('two IPv6 addresses share a counter exactly if their first 64 bits are equal', () => {
  const half = fc.array(fc.integer({ min: 1, max: 65_535 }), { minLength: 4, maxLength: 4 });
  const text = (...halves: readonly (readonly number[])[]): string =>
    halves.flatMap((parts) => parts.map((part) => part.toString(16))).join(':');
  fc.assert(
    fc.property(half, half, half, half, (...[one, other, host, otherHost]) => {
      expect(networkOf(text(one, host))).toBe(networkOf(text(one, otherHost)));
      const isSame = text(one) === text(other);
      expect(networkOf(text(one, host)) === networkOf(text(other, host))).toBe(isSame);
    }),
  );
});

test('every socket address is counted in the network that ipaddr.js reads', () => {
  const read = (address: string): string => {
    const parsed = ipaddr.process(address);
    if (!('parts' in parsed)) return parsed.toString();
    return `${parsed.parts
      .slice(0, 4)
      .map((part) => part.toString(16))
      .join(':')}::/64`;
  };
  // The library also reads the retired form ::192.0.2.1 as IPv4. No socket has such an address.
  const address6 = fc.ipV6().filter((address) => !/^::\d+\./.test(address));
  const mapped = fc.ipV4().map((address) => `::ffff:${address}`);
  fc.assert(
    fc.property(fc.oneof(fc.ipV4(), address6, mapped), (address) => {
      expect(networkOf(address)).toBe(read(address));
    }),
    { numRuns: 1_000 },
  );
});

const SECRET = 'the secret of the edge';
const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('hex');
const edgeAt = (header: string, ...secrets: readonly string[]): TrustedEdge => ({
  header,
  secretHashes: (secrets.length > 0 ? secrets : [SECRET]).map(hashOf),
});
const CLOUDFRONT = 'cloudfront-viewer-address';
const SOCKET = '192.0.2.1';

test.each<[string, { readonly edge?: TrustedEdge; readonly headers: Record<string, string> }, string]>([
  ['from the connection without an edge', { headers: { [CLOUDFRONT]: '203.0.113.7:4711' } }, SOCKET],
  [
    'from the connection without an edge, although a secret is sent',
    { headers: { [CLOUDFRONT]: '203.0.113.7:4711', 'x-trusted-edge-secret': SECRET } },
    SOCKET,
  ],
  [
    'from the connection without the secret',
    { edge: edgeAt(CLOUDFRONT), headers: { [CLOUDFRONT]: '203.0.113.7:4711' } },
    SOCKET,
  ],
  [
    'from the connection with another secret',
    { edge: edgeAt(CLOUDFRONT), headers: { [CLOUDFRONT]: '203.0.113.7:4711', 'x-trusted-edge-secret': `${SECRET}!` } },
    SOCKET,
  ],
  [
    'from the connection with the hash in place of the secret',
    {
      edge: edgeAt(CLOUDFRONT),
      headers: { [CLOUDFRONT]: '203.0.113.7:4711', 'x-trusted-edge-secret': hashOf(SECRET) },
    },
    SOCKET,
  ],
  [
    'from CloudFront’s header with the secret',
    { edge: edgeAt(CLOUDFRONT), headers: { [CLOUDFRONT]: '203.0.113.7:4711', 'x-trusted-edge-secret': SECRET } },
    '203.0.113.7',
  ],
  [
    'from CloudFront’s header with the secret, also if the address is an IPv6 address',
    {
      edge: edgeAt(CLOUDFRONT),
      headers: { [CLOUDFRONT]: '2001:db8:0:0:0:0:0:7:4711', 'x-trusted-edge-secret': SECRET },
    },
    '2001:db8:0:0:0:0:0:7',
  ],
  [
    'from another header with the secret, also if the address has no port',
    { edge: edgeAt('x-client-ip'), headers: { 'x-client-ip': ' 2001:db8::7 ', 'x-trusted-edge-secret': SECRET } },
    '2001:db8::7',
  ],
  [
    'from the header with either of two secrets',
    {
      edge: edgeAt('x-client-ip', 'the next secret', SECRET),
      headers: { 'x-client-ip': '203.0.113.7', 'x-trusted-edge-secret': SECRET },
    },
    '203.0.113.7',
  ],
  [
    'from the connection without the header',
    { edge: edgeAt('x-client-ip'), headers: { 'x-trusted-edge-secret': SECRET } },
    SOCKET,
  ],
  [
    'from the connection if the header does not hold exactly one address',
    {
      edge: edgeAt('x-client-ip'),
      headers: { 'x-client-ip': '203.0.113.7, 203.0.113.8', 'x-trusted-edge-secret': SECRET },
    },
    SOCKET,
  ],
])('the client address comes %s', (_, { edge, headers }, address) => {
  expect(clientAddress({ sourceIp: SOCKET, headers }, edge)).toBe(address);
});
