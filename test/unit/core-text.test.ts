import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { comparableText, cutText } from '../../shared/core/text.ts';

describe('comparableText', () => {
  const plain = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC');

  test('composes and lower-cases any text without very long runs of marks', () => {
    const piece = fc.constantFrom(
      'a',
      'Å',
      'A\u030a',
      '\u0301',
      '\u0316',
      'İ',
      'Σ',
      '각',
      '\u1100\u1161',
      '@',
      '😀',
      '\ud83d',
    );
    const texts = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(texts, (text) => {
        expect(comparableText(text)).toBe(plain(text));
      }),
      { numRuns: 1_000 },
    );
    const longest = `A${'\u0316\u0301'.repeat(120)}@example.com`;
    expect(comparableText(longest)).toBe(plain(longest));
  });

  test('still converts the text next to a very long run of marks', () => {
    const marks = '\u0301\u0316'.repeat(1_000);
    expect(comparableText(`ADA@example.com ${marks} A\u030a`)).toBe(`ada@example.com ${marks} å`);
  });
});

describe('cutText', () => {
  test.each([
    ['a text that fits', 'abc', 3, 'abc'],
    ['a text that is too long', 'abcd', 3, 'abc'],
    ['an emoji at the limit', `${'a'.repeat(126)}😀b`, 127, `${'a'.repeat(126)}😀`],
    ['an emoji beyond the limit', 'abc😀', 3, 'abc'],
    ['a lone surrogate in a short text', 'a\ud83d', 9, 'a\ufffd'],
    ['a lone surrogate in a long text', 'a\udc00bcd', 3, 'a\ufffdb'],
    ['an empty text', '', 5, ''],
    ['a limit of 0', 'abc', 0, ''],
  ])('cuts %s', (...[, text, most, cut]) => {
    expect(cutText(text, most)).toBe(cut);
  });

  test('keeps at most the given number of code points of any text, and returns a well-formed text', () => {
    const anyText = fc.string({ unit: 'binary', maxLength: 40 });
    fc.assert(
      fc.property(anyText, fc.nat({ max: 45 }), (text, most) => {
        const cut = cutText(text, most);
        expect(cut.isWellFormed()).toBe(true);
        expect(cut).toBe([...text].slice(0, most).join('').toWellFormed());
      }),
    );
  });
});
