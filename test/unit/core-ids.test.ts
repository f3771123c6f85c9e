import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  drawnId,
  fingerprint,
  ID_PREFIX,
  type IdKind,
  isIdOf,
  isPlainKind,
  keyedHash,
  keyedId,
  plainId,
  randomId,
  subscriptionPaymentId,
} from '../../shared/core/ids.ts';

const kinds = Object.keys(ID_PREFIX) as readonly IdKind[];
const kind = fc.constantFrom(...kinds);
/** Bytes whose hexadecimal form begins with a letter, so that the id is not drawn again. */
const bytes = fc.uint8Array({ minLength: 12, maxLength: 12 }).map((all) => all.with(0, (all[0] ?? 0) | 0xa0));
const parts = fc.array(fc.string(), { minLength: 1, maxLength: 4 });

describe('an id', () => {
  test('has a prefix that is unique to its kind', () => {
    expect(new Set(Object.values(ID_PREFIX)).size).toBe(kinds.length);
  });

  test('is valid only for its own kind', () => {
    fc.assert(
      fc.property(kind, bytes, (of, random) => {
        const id = randomId(of, () => random);
        expect(kinds.filter((candidate) => isIdOf(candidate, id))).toEqual([of]);
      }),
    );
  });

  test('contains all of its random bytes', () => {
    fc.assert(
      fc.property(bytes, bytes, (one, other) => {
        const same = Buffer.from(one).equals(Buffer.from(other));
        expect(randomId('payment', () => one) === randomId('payment', () => other)).toBe(same);
      }),
    );
  });

  test('is drawn again if it begins with 13 digits or more', () => {
    const drawn: number[] = [];
    const draws = ['4242424242424242abcdef01', '1234567890123abcdef01234', '123456789012abcdef012345'];
    const draw = (number: number): string => {
      drawn.push(number);
      return draws[number] ?? '';
    };
    expect(drawnId('payment', draw)).toBe('pay_123456789012abcdef012345');
    expect(drawn).toEqual([0, 1, 2]);
    const random = () => Buffer.from(draws.shift() ?? '', 'hex');
    expect(randomId('payment', random)).toBe('pay_123456789012abcdef012345');
  });

  test('is the same for the same parts, and different for other parts', () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        const same = JSON.stringify(one) === JSON.stringify(other);
        expect(plainId('order', ...one) === plainId('order', ...other)).toBe(same);
        expect(isIdOf('order', plainId('order', ...one))).toBe(true);
      }),
    );
  });

  test('differs for different parts, even if they are equal when concatenated', () => {
    expect(plainId('order', 'a', 'bc')).not.toBe(plainId('order', 'ab', 'c'));
    expect(plainId('order', 'abc')).not.toBe(plainId('order', 'abc', ''));
    expect(fingerprint('1:a', 'b')).not.toBe(fingerprint('1', 'ab'));
  });

  test('is the same as in earlier releases, so later work finds the same record', () => {
    expect(plainId('refund', 'scope')).toBe('ref_cb6661ce57de74778c26ab0c');
    expect(subscriptionPaymentId('scope')).toBe('pay_cb6661ce57de74778c26ab0c');
    expect(keyedId('a secret', 'payment', 'scope')).toBe('pay_93c0f911cc4f7745757daa16');
  });

  test('may be an unkeyed hash only for kinds whose ids give no access', () => {
    expect(kinds.filter(isPlainKind).toSorted()).toEqual(
      ['dispute', 'log', 'member', 'membership', 'message', 'order', 'refund'].toSorted(),
    );
  });

  test.each([
    '',
    'pay_',
    'pm_000000000000000000000000',
    'pay_00000000000000000000000',
    'pay_0000000000000000000000000',
    'pay_00000000000000000000000G',
    'pay_00000000000000000000000A',
    'PAY_000000000000000000000000',
    ' pay_00000000000000000000000',
    'pay_00000000000000000000000\n',
    'pmt_000000000000000000000000',
  ])('is refused for a payment: %j', (value) => {
    expect(isIdOf('payment', value)).toBe(false);
  });
});

describe('a keyed id', () => {
  const secret = fc.string({ minLength: 1 });

  test('is the same for the same secret, kind and parts, and differs for any other secret, kind or parts', () => {
    fc.assert(
      fc.property(fc.tuple(secret, kind, parts), fc.tuple(secret, kind, parts), (one, other) => {
        const idOf = ([key, of, list]: typeof one) => keyedId(key, of, ...list);
        expect(idOf(one)).toBe(idOf(one));
        expect(isIdOf(one[1], idOf(one))).toBe(true);
        expect(idOf(one) === idOf(other)).toBe(JSON.stringify(one) === JSON.stringify(other));
      }),
    );
  });

  test('reveals no id of another kind with the same parts, nor another hash under the secret', () => {
    fc.assert(
      fc.property(secret, parts, (key, list) => {
        const digits = new Set(kinds.map((of) => keyedId(key, of, ...list).split('_')[1]));
        expect(digits.size).toBe(kinds.length);
        expect(digits).not.toContain(keyedHash(key, ...list).slice(0, 24));
        expect(digits).not.toContain(fingerprint(...list).slice(0, 24));
      }),
    );
  });

  test('never begins with 13 decimal digits, which could look like a card number', () => {
    const ids = Array.from({ length: 5_000 }, (_, number) => keyedId('a secret', 'payment', String(number)));
    expect(ids.filter((id) => /^pay_\d{13}/.test(id))).toEqual([]);
    expect(ids.filter((id) => /^pay_\d{12}/.test(id)).length).toBeGreaterThan(0);
  });
});
