/**
 * @module Finds card numbers. A card number has the range and the length of a brand and passes the Luhn check. Its
 * digits may have any spacing and may be of any script. A letter directly before the first digit marks a reference
 * instead. 13 digits are never a card number, because barcodes have 13 digits. The digits of our own ids do not count
 * either.
 */

import { invalid, type Problem } from './errors.ts';
import { withoutOurIds } from './ids.ts';

/** The position of a card number in a string, from its first digit to just after its last digit. */
export interface CardNumberSpan {
  readonly from: number;
  readonly to: number;
}

const LENGTHS: Readonly<Record<string, readonly number[]>> = {
  2: [16],
  3: [14, 15, 16],
  4: [16],
  5: [16],
  6: [16, 17, 18, 19],
};

const BRAND_NUMBER =
  /^(?:(?:4\d{3}|5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720|6011|64[4-9]\d|65\d\d|35(?:2[89]|[3-8]\d))\d{12}|62\d{14,17}|3[47]\d{13}|3[068]\d{12})$/;

const DIGITS = /\p{Nd}+/gu;
/** White space, hyphens and dots in any script, and invisible characters. */
const SEPARATORS = /^[\s\p{Pd}\p{Cf}.\u2212\u00b7\u2024\u2027\u30fb\uff0e\uff61\u3002]*$/u;
const LETTER_BEFORE = /\p{L}$/u;
/** A letter may be two UTF-16 units long. */
const LONGEST_LETTER = 2;

interface Group extends CardNumberSpan {
  readonly digits: string;
  readonly isReference: boolean;
}

/** Groups of digits with only separators between them, and the position of each group in the joined digits. */
interface Run {
  readonly groups: Group[];
  readonly starts: number[];
  digits: string;
}

/** The card numbers in order. Each card number starts and ends at a border of a digit group. Runs in linear time. */
export const cardNumbersIn = (text: string): readonly CardNumberSpan[] => {
  if (!mayHoldCardNumber(text)) return [];
  const found = runsIn(text).flatMap(numbersInRun);
  return found.length === 0 ? found : runsIn(withoutOurIds(text)).flatMap(numbersInRun);
};

export const holdsCardNumber = (text: string): boolean => cardNumbersIn(text).length > 0;

const FEWEST_DIGITS = 14;
const ASCII_SEPARATORS = new Set([...' \t\n\v\f\r-.'].map((character) => character.charCodeAt(0)));
const [FIRST_DIGIT, LAST_DIGIT, LAST_ASCII] = [0x30, 0x39, 0x7f];

/** A fast check. False if an ASCII text has too few digits in a row for a card number, apart from separators. */
const mayHoldCardNumber = (text: string): boolean => {
  let digits = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code > LAST_ASCII) return true;
    if (code >= FIRST_DIGIT && code <= LAST_DIGIT) digits += 1;
    else if (!ASCII_SEPARATORS.has(code)) digits = 0;
    if (digits === FEWEST_DIGITS) return true;
  }
  return false;
};

const runsIn = (text: string): readonly Run[] => {
  const runs: Run[] = [];
  let run: Run | undefined;
  let end = 0;
  for (const { 0: written, index: from } of text.matchAll(DIGITS)) {
    if (run === undefined || !SEPARATORS.test(text.slice(end, from))) {
      run = { groups: [], starts: [], digits: '' };
      runs.push(run);
    }
    end = from + written.length;
    const before = text.slice(Math.max(0, from - LONGEST_LETTER), from);
    const digits = asciiDigits(written);
    run.groups.push({ from, to: end, digits, isReference: LETTER_BEFORE.test(before) });
    run.starts.push(run.digits.length);
    run.digits += digits;
  }
  return runs;
};

const numbersInRun = ({ groups, starts, digits }: Run): readonly CardNumberSpan[] => {
  const spans: CardNumberSpan[] = [];
  const groupEndingAt = new Map(groups.map((group, at) => [(starts[at] ?? 0) + group.digits.length, group]));
  for (const [at, { from, isReference }] of groups.entries()) {
    const start = starts[at] ?? 0;
    if (isReference || from < (spans.at(-1)?.to ?? 0)) continue;
    const lengths = LENGTHS[digits[start] ?? ''] ?? [];
    const length = lengths.find(
      (one) => groupEndingAt.has(start + one) && isCardNumber(digits.slice(start, start + one)),
    );
    const last = length === undefined ? undefined : groupEndingAt.get(start + length);
    if (last) spans.push({ from, to: last.to });
  }
  return spans;
};

const isCardNumber = (digits: string): boolean => BRAND_NUMBER.test(digits) && passesLuhn(digits);

/** Doubles every second digit, from the second-to-last to the first. */
const passesLuhn = (digits: string): boolean => {
  let sum = 0;
  for (let at = 0; at < digits.length; at += 1) {
    const value = Number(digits[at]) * ((digits.length - at) % 2 === 0 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
};

const ASCII = /^[0-9]+$/;

const asciiDigits = (written: string): string =>
  ASCII.test(written) ? written : [...written].map(digitValue).join('');

const IS_DIGIT = /^\p{Nd}$/u;
const ZERO = '0'.codePointAt(0) ?? 0;

/**
 * The value of a digit of any script. Unicode lists the digits of each script from 0 to 9. The digits of several styles
 * follow one another directly, so the value is taken modulo 10.
 */
const digitValue = (digit: string): number => {
  const point = digit.codePointAt(0) ?? ZERO;
  let first = point;
  while (first > ZERO && IS_DIGIT.test(String.fromCodePoint(first - 1))) first -= 1;
  return (point - first) % 10;
};

interface Said {
  readonly params: unknown;
  readonly body: unknown;
  /** The fields of the body that accept a provider's token. */
  readonly tokenFields: ReadonlySet<string>;
}

/**
 * Refuses card numbers before a request is stored, hashed or sent. Skips the `card_` fields, which are checked
 * separately.
 * @param allowInTexts true if the operator accepts card numbers in texts and metadata, but never in token fields
 * @throws DomainError VALIDATION_ERROR
 */
export const refuseCardNumbers = ({ params, body, tokenFields }: Said, allowInTexts: boolean): void => {
  const tokens: [string, unknown][] = [];
  const texts: [string, unknown][] = [];
  for (const [name, value] of membersOf(body)) {
    if (tokenFields.has(name)) tokens.push([name, value]);
    // A top-level number is an amount or a count, not a card number.
    else if (!isCardField(name)) texts.push([name, typeof value === 'number' ? undefined : value]);
  }
  const problems = [
    ...problemsIn(Object.fromEntries(tokens), '', TOKEN_MESSAGE),
    ...(allowInTexts ? [] : [Object.fromEntries(texts), params].flatMap((said) => problemsIn(said, '', TEXT_MESSAGE))),
  ];
  if (problems.length > 0) throw invalid(problems);
};

const TOKEN_MESSAGE =
  "looks like a card number; send the provider's token for the card. If this is a token, put a letter directly before its first digit";
const TEXT_MESSAGE =
  'contains a number that looks like a card number; if it is a reference, put a letter directly before its first digit, as in R1234';

const membersOf = (value: unknown): readonly (readonly [name: string, value: unknown])[] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

/** The limit for strings in fields without a schema, the same as for metadata. */
const LONGEST_TEXT = 16 * 1024;
const TOO_LONG = { rule: 'too_big', message: `must be at most ${LONGEST_TEXT} characters long` };

const problemOfText = (text: string, message: string): Omit<Problem, 'path'> | undefined => {
  if (text.length > LONGEST_TEXT) return TOO_LONG;
  return holdsCardNumber(text) ? { rule: 'card_number', message } : undefined;
};

/** If a field's name is itself a card number, the problem has the path of the enclosing object. */
const problemsIn = (value: unknown, path: string, message: string): readonly Problem[] => {
  if (typeof value === 'string') {
    const problem = problemOfText(value, message);
    return problem ? [{ path, ...problem }] : [];
  }
  return membersOf(value).flatMap(([name, inner]) => {
    const problem = problemOfText(name, message);
    // Drops the fraction of a number (a coordinate, a rate), because a card number has none.
    const text = typeof inner === 'number' ? String(Math.trunc(inner)) : inner;
    return problem ? [{ path, ...problem }] : problemsIn(text, path === '' ? name : `${path}.${name}`, message);
  });
};

const isCardField = (name: string): boolean => name.startsWith('card_');

/**
 * The body without card data, for the stored hash. A hash would not hide a card number, because all card numbers can be
 * tried.
 */
export const withoutCardData = (json: unknown): unknown =>
  typeof json === 'object' && json !== null
    ? Object.fromEntries(Object.entries(json).filter(([name]) => !isCardField(name)))
    : json;
