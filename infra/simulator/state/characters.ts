/** @module Strings of limited length, as the vendors' documentation counts them. */
import * as z from 'zod';

/**
 * At most `most` code points (a JSON schema's maxLength), without lone surrogates, which no vendor's JSON reader
 * accepts.
 */
export const characters = (most: number) =>
  z.string().check(({ value, issues }) => {
    if (!value.isWellFormed()) issues.push({ code: 'invalid_format', format: 'utf-16', input: value });
    else if (value.length > most && [...value].length > most) {
      issues.push({ code: 'too_big', origin: 'string', maximum: most, inclusive: true, input: value });
    }
  });
