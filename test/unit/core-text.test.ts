import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutText } from '../../shared/core/text.ts';

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
