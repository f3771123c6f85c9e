import fc from 'fast-check';
import { expect, test } from 'vitest';
import { networkOf } from '../../shared/http/request.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['unknown', 'unknown'],
])('%s is counted as %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});

test('two IPv6 addresses are counted as one exactly where their first 64 bits are the same', () => {
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
