import { describe, expect, test } from 'vitest';
import { PAGES, readPage, withParts } from '../../infra/docs/docs.ts';

describe('the documentation', () => {
  test.each(Object.entries(PAGES))('%s says what the code says (`npm run docs` writes it)', (page, parts) => {
    const text = readPage(page);
    expect(text).toBe(withParts(text, parts()));
  });

  test('has a place for every part, and a part for every place', () => {
    const place = '<!-- generated: one -->\n<!-- end -->';
    expect(withParts(place, { one: 'x' })).toBe('<!-- generated: one -->\n\nx\n\n<!-- end -->');
    expect(() => withParts(place, { one: 'x', two: 'y' })).toThrow('no place for two');
    expect(() => withParts(place, {})).toThrow('nothing makes the part one');
  });
});
