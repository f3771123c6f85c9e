/**
 * @module Finds where a text stops being valid JSON. `JSON.parse` reports a position for only some mistakes, and its
 * messages quote the text, including any card data. Runs only on text refused by `JSON.parse`.
 */

export interface JsonFault {
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  /** True if the text ends before its JSON is complete. */
  readonly isCutOff: boolean;
}

/**
 * Finds the first character that cannot continue the JSON, or the start of an invalid string or word.
 * @returns undefined if the text has more tokens than a valid body, so hostile text costs little
 */
export const findJsonFault = (text: string): JsonFault | undefined => {
  const at = faultIn(text);
  if (at === undefined) return undefined;
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const newlines = text.slice(0, lineStart).match(/\n/g) ?? [];
  return {
    line: newlines.length + 1,
    column: charactersIn(text.slice(lineStart, at)) + 1,
    isCutOff: at === text.length,
  };
};

/** A character may be two UTF-16 units long. */
const charactersIn = (text: string): number =>
  text.length - (text.match(/[\ud800-\udbff](?=[\udc00-\udfff])/g) ?? []).length;

const NUMBER_OR_WORD = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The position after the match at `at`, or `at` if the pattern does not match there. */
const after = (pattern: RegExp, text: string, at: number): number => {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
};

const isSpace = (sign: string | undefined): boolean => sign === ' ' || sign === '\n' || sign === '\r' || sign === '\t';

const afterSpace = (text: string, at: number): number => {
  let next = at;
  while (isSpace(text[next])) next += 1;
  return next;
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

/** A body may have 5,000 values, each with a name, a colon and a comma. */
const MOST_TOKENS = 20_000;

interface Place {
  expected: Expected;
  /** The open brackets, outermost first. */
  readonly open: string[];
}

/** The position of the fault; the length of the text if the JSON is only incomplete. */
const faultIn = (text: string): number | undefined => {
  const place: Place = { expected: 'value', open: [] };
  let at = afterSpace(text, 0);
  for (let tokens = 0; at < text.length; tokens += 1) {
    if (tokens === MOST_TOKENS) return undefined;
    const end = endOf(text, at, place);
    if (end === at) return at;
    pass(text[at] ?? '', place);
    at = afterSpace(text, end);
  }
  return at;
};

const isOpening = (sign: string): boolean => sign === '{' || sign === '[';

const closes = (sign: string, bracket: string | undefined): boolean =>
  (sign === '}' && bracket === '{') || (sign === ']' && bracket === '[');

/** The position after the token at `at`, or `at` if this token is not allowed here. */
const endOf = (text: string, at: number, { expected, open }: Place): number => {
  const sign = text[at] ?? '';
  const bracket = open.at(-1);
  switch (expected) {
    case 'colon':
      return sign === ':' ? at + 1 : at;
    case 'comma or end':
      return closes(sign, bracket) || (sign === ',' && bracket !== undefined) ? at + 1 : at;
    case 'name':
      return afterString(text, at);
    case 'name or end':
      return closes(sign, bracket) ? at + 1 : afterString(text, at);
    case 'value or end':
      return closes(sign, bracket) ? at + 1 : afterValue(text, at);
    case 'value':
      return afterValue(text, at);
  }
};

const afterValue = (text: string, at: number): number => {
  const sign = text[at] ?? '';
  if (isOpening(sign)) return at + 1;
  return sign === '"' ? afterString(text, at) : after(NUMBER_OR_WORD, text, at);
};

/** Moves past the token that begins with `sign`. */
const pass = (sign: string, place: Place): void => {
  const { expected, open } = place;
  if (isOpening(sign)) open.push(sign);
  if (sign === '}' || sign === ']') open.pop();
  place.expected = nextExpected(sign, expected, open.at(-1));
};

const nextExpected = (sign: string, expected: Expected, bracket: string | undefined): Expected => {
  if (sign === '"' && (expected === 'name' || expected === 'name or end')) return 'colon';
  switch (sign) {
    case ':':
      return 'value';
    case ',':
      return bracket === '{' ? 'name' : 'value';
    case '{':
      return 'name or end';
    case '[':
      return 'value or end';
    default:
      return 'comma or end';
  }
};
