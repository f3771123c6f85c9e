import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { endpoints } from '../../functions/api/catalogue.ts';
import { cardNumbersIn, holdsCardNumber, refuseCardNumbers } from '../../shared/core/card-number.ts';
import { ID_PREFIX } from '../../shared/core/ids.ts';
import { redact } from '../../shared/core/redaction.ts';
import { tokenFieldsOf } from '../../shared/http/fields.ts';
import { cardNumber } from '../builders/card-number.ts';
import { refusalOf } from '../builders/refusal.ts';

/** Spellings of one card number. A request with any spelling is refused, and a log redacts it. */
const SPELLINGS: readonly string[] = [
  '4242424242424242',
  '4242 4242 4242 4242',
  '4242-4242-4242-4242',
  '4242.4242.4242.4242',
  '4242  4242  4242  4242',
  '4242 - 4242 - 4242 - 4242',
  '4242\n4242\n4242\n4242',
  '4242\r\n4242\r\n4242\r\n4242',
  '4242\t4242\t4242\t4242',
  '4242\u00a04242\u00a04242\u00a04242',
  '4242\u20034242\u20034242\u20034242',
  '4242\u20114242\u20114242\u20114242',
  '4242\u20134242\u20134242\u20134242',
  '4242\u22124242\u22124242\u22124242',
  '4242\u200b4242\u200b4242\u200b4242',
  '４２４２４２４２４２４２４２４２',
  '４２４２　４２４２　４２４２　４２４２',
  '٤٢٤٢٤٢٤٢٤٢٤٢٤٢٤٢',
  '𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐𝟒𝟐',
  [...'4242424242424242'].join(' '),
  '424242 4242424242',
];

const AROUND: readonly (readonly [before: string, after: string])[] = [
  ['', ''],
  ['paid with ', '.'],
  ['card:', ' 12/30 123'],
  ['1 x 2026-11-01, ', ' 7'],
  ['(', ')'],
  ['pm_', ''],
  ['#', 'USD'],
  ['R-', ''],
];

describe('a card number', () => {
  test.each(SPELLINGS)('is found as %j next to any text', (written) => {
    expect(AROUND.filter(([before, after]) => !holdsCardNumber(`${before}${written}${after}`))).toEqual([]);
  });

  test.each(SPELLINGS)('written %j is redacted, also in the names of fields', (written) => {
    for (const [before, after] of AROUND) {
      expect(String(redact(`${before}${written}${after}`))).not.toContain(written);
      expect(JSON.stringify(redact({ [written]: [written] }))).not.toContain(JSON.stringify(written).slice(1, -1));
    }
  });

  test.each([
    ['4000000000000002', 'Visa'],
    ['5105105105105100', 'Mastercard 51'],
    ['5555555555554444', 'Mastercard 55'],
    ['2223003122003222', 'Mastercard 2'],
    ['6011111111111117', 'Discover 6011'],
    ['6445644564456445', 'Discover 644'],
    ['6510000000000000', 'Discover 65'],
    ['3530111333300000', 'JCB'],
    ['378282246310005', 'American Express 37'],
    ['341111111111111', 'American Express 34'],
    ['30569309025904', 'Diners 30'],
    ['36227206271667', 'Diners 36'],
    ['38520000023237', 'Diners 38'],
    ['6200000000000005', 'UnionPay 16'],
    ['6205500000000000004', 'UnionPay 19'],
  ])('with a known prefix and length is found only if its check digit is right: %s (%s)', (number) => {
    const valid = cardNumber(number.slice(0, -1));
    expect(holdsCardNumber(valid)).toBe(true);
    const wrong = (Number(valid.at(-1)) + 1) % 10;
    expect(holdsCardNumber(`${valid.slice(0, -1)}${wrong}`)).toBe(false);
  });

  test.each([
    ['a barcode of 13 digits', '4006381333931'],
    ['a Visa number of 13 digits, which is no longer issued', '4222222222222'],
    ['a number of no brand', cardNumber('900000000000000')],
    ['a number just below the range from 2221 to 2720', cardNumber('222000000000000')],
    ['a number just above the range from 2221 to 2720', cardNumber('272100000000000')],
    ['a number just below the range from 3528', cardNumber('352700000000000')],
    ['more digits than its brand has', cardNumber('4242424242424242')],
    ['a reference with a letter in front', 'R4242424242424242'],
    ['a reference with a letter of any script in front', 'Ä4242 4242 4242 4242'],
    ['digits separated by slashes', '4242/4242/4242/4242'],
    ['a time', '2026-11-01T12:00:00.000Z'],
    ['an id', 'pay_4f242c4242d4242a4242e4242'],
    ['an id that contains a card number', 'pay_4242424242424242abcdef01'],
    ['a text that names such ids', 'see pmt_ab4242424242424242cdef01, ref_a4242424242424242b012345.'],
    ['an id with a card number directly after its prefix', `cust_${'4242424242424242'}00000000`],
    ['a telephone number', '+49 30 901820 4242'],
    ['an IBAN', 'DE89 3704 0044 0532 0130 00'],
  ])('is not found in %s', (_, text) => {
    expect(cardNumbersIn(text)).toEqual([]);
  });

  test.each([
    ['an unknown prefix', 'xyz_4242424242424242abcdef01'],
    ['fewer digits', 'pay_4242424242424242abcdef0'],
    ['capitals', 'pay_4242424242424242ABCDEF01'],
    ['a letter in front', 'xpay_4242424242424242abcdef01'],
    ['a digit behind', 'pay_4242424242424242abcdef012'],
    ['a card number behind', 'pay_4242424242424242abcdef01 4242424242424242'],
    ['a card number behind, with a hyphen', 'pay_abcdef014242424242424242-4242 4242 4242 4242'],
    ['a card number in front', '4242-4242-4242-4242-pay_4242424242424242abcdef01'],
  ])('is found in a text that only resembles an id: %s', (_, text) => {
    expect(cardNumbersIn(text)).toHaveLength(1);
  });

  test('is found at its exact place in any text', () => {
    const words = fc
      .array(fc.constantFrom('a', 'é', 'x1', ',', '/', '漢', ': '), { maxLength: 8 })
      .map((all) => all.join(''));
    fc.assert(
      fc.property(words, words, fc.constantFrom(...SPELLINGS), (before, after, written) => {
        const text = `${before}: ${written}!${after}`;
        const from = `${before}: `.length;
        expect(cardNumbersIn(text)).toContainEqual({ from, to: from + written.length });
      }),
    );
  });
});

test('ids of every kind may contain the digits of a card number', () => {
  const texts = Object.values(ID_PREFIX).map((prefix) => `${prefix}_4242424242424242abcdef01`);
  expect(texts.filter(holdsCardNumber)).toEqual([]);
  expect(redact(texts)).toEqual(texts);
});

describe('a request with digits', () => {
  const NUMBER = '4242 4242 4242 4242';
  const tokenFields = new Set(['token']);
  const refuse = (body: unknown, allowed = false) => refuseCardNumbers({ params: {}, body, tokenFields }, allowed);
  const pathsOf = (body: unknown, allowed = false): readonly unknown[] => {
    const { code, details } = refusalOf(() => refuse(body, allowed));
    expect(code).toBe('VALIDATION_ERROR');
    expect(JSON.stringify(details)).not.toMatch(/4242/);
    return z
      .array(z.looseObject({ path: z.string(), rule: z.literal('card_number') }))
      .parse(details)
      .map(({ path }) => path);
  };

  test('is refused for a card number as text, number or name, at any depth of metadata', () => {
    expect(pathsOf({ description: NUMBER })).toEqual(['description']);
    expect(pathsOf({ metadata: { a: { b: [{ c: NUMBER }] } } })).toEqual(['metadata.a.b.0.c']);
    expect(pathsOf({ metadata: { a: 4242424242424242, b: [5555555555554444] } })).toEqual([
      'metadata.a',
      'metadata.b.0',
    ]);
    expect(pathsOf({ metadata: { [NUMBER]: 1 } })).toEqual(['metadata']);
    expect(pathsOf({ [NUMBER]: 1 })).toEqual(['']);
    expect(pathsOf({ unknown: NUMBER, token: NUMBER })).toEqual(['token', 'unknown']);
    expect(
      refusalOf(() => refuseCardNumbers({ params: { id: NUMBER }, body: undefined, tokenFields }, false)).code,
    ).toBe('VALIDATION_ERROR');
  });

  test('is refused with advice on how to write a reference that looks like a card number', () => {
    expect(JSON.stringify(refusalOf(() => refuse({ description: NUMBER })).details)).toContain('R1234');
    expect(() => refuse({ description: `R${NUMBER}`, metadata: { order: 'R4242424242424242' } })).not.toThrow();
  });

  test('may contain fractions such as coordinates and rates, but no card number before the decimal point', () => {
    const measured = {
      lat: 53.55734147024974,
      rates: [0.4820107200898669, -45.56373499877466],
      sum: 5171.977999999999,
    };
    expect(() => refuse({ metadata: measured })).not.toThrow();
    expect(pathsOf({ metadata: { a: 4242424242424242.5 } })).toEqual(['metadata.a']);
  });

  test('may contain a card number as an amount or in a raw card field, because those have their own rules', () => {
    expect(() => refuse({ total_cents: 4242424242424242, card_number: NUMBER })).not.toThrow();
  });

  test('may contain card numbers in texts if the operator allows them, but never in a token field', () => {
    expect(() => refuse({ description: NUMBER, metadata: { a: NUMBER } }, true)).not.toThrow();
    expect(pathsOf({ description: NUMBER, token: NUMBER }, true)).toEqual(['token']);
  });

  test('has a token field for each field of the catalogue that takes a token or a payment method’s id', () => {
    const fields = endpoints.flatMap(({ id, body }) =>
      body instanceof z.ZodObject
        ? Object.keys(body.shape)
            .filter((name) => /token|payment_method_id/.test(name))
            .map((name) => [`${id} ${name}`, tokenFieldsOf(body).has(name)] as const)
        : [],
    );
    expect(fields.length).toBeGreaterThan(6);
    expect(fields.filter(([, isToken]) => !isToken)).toEqual([]);
  });
});
