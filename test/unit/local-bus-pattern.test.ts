import { expect, test } from 'vitest';
import { matchesPattern } from '../../infra/local/messaging/bus-pattern.ts';

const event = {
  source: 'payments',
  'detail-type': 'payment.succeeded',
  detail: { amount: 2500, currency: 'USD', live: false, tags: ['a', 'b'], user: { id: 'u1' }, note: null },
};

test.each<[unknown, boolean]>([
  [{}, true],
  [{ source: ['payments'] }, true],
  [{ source: ['other'] }, false],
  [{ source: ['other', 'payments'] }, true],
  [{ source: ['payments'], 'detail-type': ['payment.failed'] }, false],
  [{ 'detail-type': [{ prefix: 'payment.' }] }, true],
  [{ 'detail-type': [{ prefix: 'subscription.' }] }, false],
  [{ 'detail-type': [{ suffix: '.succeeded' }] }, true],
  [{ 'detail-type': [{ 'anything-but': 'payment.failed' }] }, true],
  [{ 'detail-type': [{ 'anything-but': ['payment.succeeded', 'x'] }] }, false],
  [{ 'detail-type': [{ 'anything-but': { prefix: 'payment.' } }] }, false],
  [{ detail: { user: { id: ['u1'] } } }, true],
  [{ detail: { user: { id: ['u2'] } } }, false],
  [{ detail: { nothing: { id: ['u2'] } } }, false],
  [{ detail: { amount: [2500] } }, true],
  [{ detail: { amount: ['2500'] } }, false],
  [{ detail: { live: [false] } }, true],
  [{ detail: { note: [null] } }, true],
  [{ detail: { tags: ['b'] } }, true],
  [{ detail: { user: [{ exists: true }] } }, true],
  [{ detail: { nothing: [{ exists: true }] } }, false],
  [{ detail: { nothing: [{ exists: false }] } }, true],
  [{ detail: { nothing: [{ 'anything-but': 'x' }] } }, false],
])('the pattern %j matches the event: %s', (pattern, expected) => {
  expect(matchesPattern(pattern, event)).toBe(expected);
});

test('the pattern of a rule is refused with an unknown operator, instead of never matching', () => {
  expect(() => matchesPattern({ source: [{ wildcard: '*' }] }, event)).toThrow();
});
