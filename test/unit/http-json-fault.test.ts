import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findJsonFault } from '../../shared/http/json-fault.ts';

const at = (line: number, column: number) => ({ line, column, isCutOff: false });
const cutOff = (line: number, column: number) => ({ line, column, isCutOff: true });

describe('the reported fault of invalid JSON', () => {
  test.each([
    ['{"a":1,}', at(1, 8)],
    ["{'a':1}", at(1, 2)],
    ['{"a" 1}', at(1, 6)],
    ['{"a":1 "b":2}', at(1, 8)],
    ['{"a":01}', at(1, 7)],
    ['{"a":1.}', at(1, 7)],
    ['{"a":+1}', at(1, 6)],
    ['{"a":nul}', at(1, 6)],
    ['{"a":NaN}', at(1, 6)],
    ['{"a":1}x', at(1, 8)],
    ['{"a":1}}', at(1, 8)],
    ['[1,2}', at(1, 5)],
    ['[1,]', at(1, 4)],
    ['[,1]', at(1, 2)],
    [']', at(1, 1)],
    ['\ufeff{}', at(1, 1)],
    ['undefined', at(1, 1)],
  ])('is the first invalid character: %j', (text, fault) => {
    expect(findJsonFault(text)).toEqual(fault);
  });

  test.each([
    ['{"a": "b}', at(1, 7)],
    ['{"a": "\\x"}', at(1, 7)],
    ['{"a": "\\u12G4"}', at(1, 7)],
    ['{"a": "one\ntwo"}', at(1, 7)],
    ['{"a": "\u0001"}', at(1, 7)],
  ])('is the beginning of an invalid string: %j', (text, fault) => {
    expect(findJsonFault(text)).toEqual(fault);
  });

  test.each([
    ['', cutOff(1, 1)],
    [' ', cutOff(1, 2)],
    ['{', cutOff(1, 2)],
    ['{"a"', cutOff(1, 5)],
    ['{"a":[1,\n  {"b":2}', cutOff(2, 10)],
  ])('is the end of an incomplete text: %j', (text, fault) => {
    expect(findJsonFault(text)).toEqual(fault);
  });

  test('has the line and the column that an editor shows', () => {
    expect(findJsonFault('{\n  "price": 25,\n  "note": "💶 paid",,\n}')).toEqual(at(3, 20));
    expect(findJsonFault('{\r\n\t"a": x}')).toEqual(at(2, 7));
  });

  test('is found at any depth and in any length', () => {
    const deep = '['.repeat(10_000);
    expect(findJsonFault(deep)).toEqual(cutOff(1, 10_001));
    expect(findJsonFault(`${deep}}`)).toEqual(at(1, 10_001));
    expect(findJsonFault(`"${'\\n'.repeat(100_000)}`)).toEqual(at(1, 1));
    expect(findJsonFault(`${'1'.repeat(100_000)}e${'1'.repeat(100_000)}x`)).toEqual(at(1, 200_002));
  });

  test('is not located in a text with more tokens than a valid body can have', () => {
    expect(findJsonFault(`[${'1,'.repeat(9_999)}x`)).toEqual(at(1, 20_000));
    expect(findJsonFault(`[${'1,'.repeat(10_000)}x`)).toBeUndefined();
  });

  test('is at the position that JSON.parse reports, outside strings and numbers', () => {
    const broken = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', ']', '{', '[', ':', '0', 'x', ' '))
      .map(([text, seed, sign]) => {
        const place = seed % (text.length + 1);
        return `${text.slice(0, place)}${sign}${text.slice(place + 1)}`;
      });
    let compared = 0;
    fc.assert(
      fc.property(broken, (text) => {
        const position = reportedPosition(text);
        if (position === undefined) return;
        expect(findJsonFault(text)).toEqual({ line: 1, column: position + 1, isCutOff: position === text.length });
        compared += 1;
      }),
      { numRuns: 2_000, seed: 20_261_126 },
    );
    expect(compared).toBeGreaterThan(100);
  });
});

/** The position in the engine's message, or undefined for errors in strings and numbers or without a position. */
const reportedPosition = (text: string): number | undefined => {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : '';
    // The position gives the column only in a single line of one-unit characters.
    if (/string|control|escape|number/i.test(message) || !/^[ -~]*$/.test(text)) return undefined;
    const [, position] = /at position (\d+)/.exec(message) ?? [];
    return position === undefined ? undefined : Number(position);
  }
};
