/**
 * @module Finds the place where a text stops being JSON. `JSON.parse` reports a position for some mistakes only, and its
 * messages quote the text, which may hold card data. Runs only for a text that `JSON.parse` has refused.
 */

export interface JsonFault {
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  /** True if the text ends before its JSON is complete. */
  readonly isCutOff: boolean;
}

/** The first character that cannot continue the JSON; of an invalid string or word, its beginning. In linear time. */
export const findJsonFault = (text: string): JsonFault => {
  const at = faultIn(text);
  const before = text.slice(0, at);
  const lines = before.split('\n');
  return { line: lines.length, column: [...(lines.at(-1) ?? '')].length + 1, isCutOff: at === text.length };
};

const SPACE = /[ \t\n\r]*/y;
const NUMBER_OR_WORD = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The position after the match at `at`, or `at` if the pattern does not match there. */
const after = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
};

/** The position after the string that begins at `at`, or `at` if it is not a whole JSON string. */
const afterString = (text: string, at: number): number => {
  if (text[at] !== '"') return at;
  let end = at + 1;
  while (end < text.length && text[end] !== '"') {
    const isEscape = text[end] === '\\';
    const next = isEscape ? after(ESCAPE, text, end) : end + 1;
    if (next === end || (text[end] ?? '') < ' ') return at;
    end = next;
  }
  return end < text.length ? end + 1 : at;
};

type Expected = 'value' | 'value or end' | 'name' | 'name or end' | 'colon' | 'comma or end';

/** The position of the fault, or the length of the text if every character could begin a longer JSON text. */
const faultIn = (text: string): number => {
  const open: string[] = [];
  let expected: Expected = 'value';
  let at = after(SPACE, text, 0);
  while (at < text.length) {
    const end = endOf(text, at, { expected, inside: open.at(-1) });
    if (end === at) return at;
    expected = nextExpected(text[at] ?? '', expected, open);
    at = after(SPACE, text, end);
  }
  return at;
};

interface Place {
  readonly expected: Expected;
  /** The innermost open bracket. */
  readonly inside: string | undefined;
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/** The position after the token at `at`, or `at` if no such token may stand here. */
const endOf = (text: string, at: number, { expected, inside }: Place): number => {
  const sign = text[at] ?? '';
  const closes = inside !== undefined && sign === CLOSING[inside];
  switch (expected) {
    case 'colon':
      return sign === ':' ? at + 1 : at;
    case 'comma or end':
      return closes || (sign === ',' && inside !== undefined) ? at + 1 : at;
    case 'name':
      return afterString(text, at);
    case 'name or end':
      return closes ? at + 1 : afterString(text, at);
    case 'value or end':
      return closes ? at + 1 : afterValue(text, at);
    case 'value':
      return afterValue(text, at);
  }
};

const afterValue = (text: string, at: number): number => {
  const sign = text[at] ?? '';
  if (sign in CLOSING) return at + 1;
  return sign === '"' ? afterString(text, at) : after(NUMBER_OR_WORD, text, at);
};

/** What may follow the token that begins with `sign`. Keeps the list of open brackets. */
const nextExpected = (sign: string, expected: Expected, open: string[]): Expected => {
  if (expected === 'name' || (expected === 'name or end' && sign === '"')) return 'colon';
  if (sign === ':') return 'value';
  if (sign === ',') return open.at(-1) === '{' ? 'name' : 'value';
  if (sign in CLOSING) {
    open.push(sign);
    return sign === '{' ? 'name or end' : 'value or end';
  }
  if (sign === '}' || sign === ']') open.pop();
  return 'comma or end';
};
