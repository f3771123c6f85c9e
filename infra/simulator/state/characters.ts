/** @module Strings of limited length, as the vendors' documentation counts them. */
import * as z from 'zod';

/**
 * A string of at most `most` code points (a JSON schema's maxLength). Lone surrogates are refused, because no vendor's
 * JSON reader accepts them.
 */
export const characters = (most: number) =>
  z.string().check(({ value, issues }) => {
    if (!value.isWellFormed()) issues.push({ code: 'invalid_format', format: 'utf-16', input: value });
    else if (value.length > most && [...value].length > most) {
      issues.push({ code: 'too_big', origin: 'string', maximum: most, inclusive: true, input: value });
    }
  });
