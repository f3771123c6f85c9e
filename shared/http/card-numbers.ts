/**
 * @module Refuses card numbers in the texts of a request before they are stored, hashed or sent. Fields whose name begins with
 * `card_` have rules of their own: a raw card is refused or goes to the provider alone.
 */
import * as z from 'zod';
import { holdsCardNumber } from '../core/card-number.ts';
import { invalid, type Problem } from '../core/errors.ts';
import { isTokenField } from './fields.ts';

/** What a request says in its path and in its body. */
interface Said {
  readonly params: unknown;
  readonly body: unknown;
  /** Of the body. */
  readonly schema: z.ZodType | null;
}

/**
 * @param allowInTexts the operator accepts card numbers in texts and metadata; a token field never takes one
 * @throws DomainError VALIDATION_ERROR
 */
export const refuseCardNumbers = ({ params, body, schema }: Said, allowInTexts: boolean): void => {
  const shape = schema instanceof z.ZodObject ? schema.shape : {};
  const tokens: [string, unknown][] = [];
  const texts: [string, unknown][] = [];
  for (const [name, value] of membersOf(body)) {
    const field: unknown = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (field instanceof z.ZodType && isTokenField(field)) tokens.push([name, value]);
    // A number of the body itself is an amount or a count.
    else if (!name.startsWith('card_')) texts.push([name, typeof value === 'number' ? undefined : value]);
  }
  const problems = [
    ...problemsIn(Object.fromEntries(tokens), '', TOKEN_MESSAGE),
    ...(allowInTexts ? [] : [Object.fromEntries(texts), params].flatMap((said) => problemsIn(said, '', TEXT_MESSAGE))),
  ];
  if (problems.length > 0) throw invalid(problems);
};

const TOKEN_MESSAGE =
  "looks like a card number; send the token that the provider's library made of the card, or write a letter directly before the first digit of a token that only looks like one";
const TEXT_MESSAGE =
  'holds what looks like a card number; if it is a reference, write a letter directly before its first digit, as in R1234';

const membersOf = (value: unknown): readonly (readonly [name: string, value: unknown])[] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : [];

/** A text of an unknown field has no bound of its own. As long as metadata may be. */
const LONGEST_TEXT = 16 * 1024;
const TOO_LONG = { rule: 'too_big', message: `must be at most ${LONGEST_TEXT} characters long` };

const problemOfText = (text: string, message: string): Omit<Problem, 'path'> | undefined => {
  if (text.length > LONGEST_TEXT) return TOO_LONG;
  return holdsCardNumber(text) ? { rule: 'card_number', message } : undefined;
};

/** The path of a name that is a card number itself is that of the object around it. */
const problemsIn = (value: unknown, path: string, message: string): readonly Problem[] => {
  if (typeof value === 'string') {
    const problem = problemOfText(value, message);
    return problem ? [{ path, ...problem }] : [];
  }
  return membersOf(value).flatMap(([name, inner]) => {
    const problem = problemOfText(name, message);
    const text = typeof inner === 'number' ? String(inner) : inner;
    return problem ? [{ path, ...problem }] : problemsIn(text, path === '' ? name : `${path}.${name}`, message);
  });
};
