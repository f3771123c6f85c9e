import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { derivedId, drawnId, fingerprint, ID_PREFIX, type IdKind, isIdOf, randomId } from '../../shared/core/ids.ts';

const kinds = Object.keys(ID_PREFIX) as readonly IdKind[];
const kind = fc.constantFrom(...kinds);
/** Bytes whose hex begins with a letter, so that they are not drawn again. */
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

  test('never begins with 13 digits or more, and is drawn again instead', () => {
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
        expect(derivedId('order', ...one) === derivedId('order', ...other)).toBe(same);
        expect(isIdOf('order', derivedId('order', ...one))).toBe(true);
      }),
    );
  });

  test('differs for different parts, even if they are equal when concatenated', () => {
    expect(derivedId('payment', 'a', 'bc')).not.toBe(derivedId('payment', 'ab', 'c'));
    expect(derivedId('payment', 'abc')).not.toBe(derivedId('payment', 'abc', ''));
    expect(fingerprint('1:a', 'b')).not.toBe(fingerprint('1', 'ab'));
  });

  test('is the same as in earlier releases, so that a repeated command finds the same record', () => {
    expect(derivedId('payment', 'scope')).toBe('pay_cb6661ce57de74778c26ab0c');
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
