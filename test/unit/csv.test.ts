import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { csvRenderer } from '../../shared/http/csv.ts';

const { csvCursor, csvPageAt, csvText, prefersCsv } = csvRenderer;

const ROW = { cursor: 'WyJQQVkiXQ' };

describe('the pages of CSV', () => {
  test('have 1,000 rows each, and end at 100,000 rows', () => {
    expect(csvPageAt(undefined)).toEqual({ before: 0, limit: 1_000 });
    let page = csvPageAt(undefined);
    let rows = 0;
    for (let cursor: string | undefined = '0'; cursor !== undefined; ) {
      page = csvPageAt(cursor);
      rows += page.limit;
      cursor = csvCursor(page, page.limit, ROW);
    }
    expect(rows).toBe(100_000);
  });

  test('continue after the previous page, even if a filter shortened it', () => {
    const cursor = csvCursor({ before: 1_000, limit: 1_000 }, 7, ROW);
    expect(csvPageAt(cursor)).toEqual({ before: 1_007, limit: 1_000, ...ROW });
    expect(csvPageAt(csvCursor({ before: 0, limit: 1_000 }, 1_000, 'rows'))).toEqual({ before: 1_000, limit: 1_000 });
    expect(csvCursor({ before: 0, limit: 1_000 }, 1_000, undefined)).toBeUndefined();
    expect(csvPageAt('99999')).toEqual({ before: 99_999, limit: 1 });
  });

  test.each(['', 'x', '-1', '1000.', '1000.!!', '100000', '1e3'])('refuse the cursor %o', (cursor) => {
    expect(() => csvPageAt(cursor)).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
  });
});

describe('a CSV cell', () => {
  test('never begins like a formula, whatever its text', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('=', '+', '-', '@', '\t', '\r', ''), (rest, first) => {
        const [, cell = ''] = csvText(['a'], [{ a: `${first}${rest}` }]).split(/(?<=^a\r\n)/);
        expect(cell).not.toMatch(/^"?[=+\-@\t\r](?!\n)/);
      }),
    );
  });

  const textOf = (text: string): string => csvText(['a'], [{ a: text }]).slice('a\r\n'.length, -'\r\n'.length);
  const STARTS = ['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠'];

  test.each(['', 'x;', 'x,', 'x\t', ';', 'a;b,c;'])(
    'is quoted with a leading apostrophe if a formula follows %j',
    (before) => {
      for (const start of STARTS) {
        const text = `${before}${start}cmd|' /C calc'!A0`;
        expect(textOf(text)).toBe(`"'${text}"`);
      }
    },
  );

  test.each(['a=b', 'a-b; c', '1,5', 'x ; =', 'a@example.com', '2026-11-01', "o'neil"])(
    'stays unchanged, apart from quotes, for %j',
    (text) => {
      expect(textOf(text).replaceAll('"', '')).toBe(text);
    },
  );

  test('shows numbers and booleans unchanged, and is empty for null and absent values', () => {
    const text = csvText(['a', 'b', 'c', 'd'], [{ a: 0, b: false, c: null }]);
    expect(text).toBe('a,b,c,d\r\n0,false,,\r\n');
  });

  test('is quoted if it contains a comma, a quote or a line end', () => {
    const text = csvText(['a', 'b', 'c'], [{ a: 'x,y', b: 'say "x"', c: 'one\rtwo' }]);
    expect(text).toBe('a,b,c\r\n"x,y","say ""x""","one\rtwo"\r\n');
  });
});

describe('the preference for CSV in the Accept header', () => {
  test.each([undefined, '', '*/*', 'text/html', 'garbage;;;=', ',,,', 'text/csv;q=0', 'text/plain'])(
    'is absent in %o',
    (accept) => {
      expect(prefersCsv(accept)).toBe(false);
    },
  );

  test.each(['text/csv', 'Text/CSV', 'text/*', 'text/csv, */*;q=0.1', 'text/csv;charset=utf-8'])(
    'is present in %o',
    (accept) => {
      expect(prefersCsv(accept)).toBe(true);
    },
  );

  test('is read without an error from any value', () => {
    fc.assert(
      fc.property(fc.string(), (accept) => {
        expect(typeof prefersCsv(accept)).toBe('boolean');
      }),
    );
  });
});
