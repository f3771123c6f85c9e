/**
 * @module Reads a JSON body. Checks content type, encoding, Unicode, JSON, and the limits on depth and number of
 * values.
 */

import { DomainError, invalid, type Problem } from '../core/errors.ts';
import { findJsonFault } from './json-fault.ts';

const MAX_JSON_DEPTH = 10;
/** Maximum members and elements of a body, over all depths. */
const MAX_JSON_VALUES = 5_000;

interface SentBody {
  readonly raw: Buffer;
  /** True if the gateway has decoded the bytes to text. The gateway replaces invalid UTF-8 by U+FFFD. */
  readonly isDecoded: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** @throws DomainError UNSUPPORTED_MEDIA_TYPE or INVALID_JSON. */
export const jsonBodyOf = ({ raw, isDecoded, headers }: SentBody): unknown => {
  if (raw.byteLength === 0) return {};
  requireJsonType(headers['content-type']);
  requirePlain(headers['content-encoding']);
  return parseJson(textOf(raw, isDecoded));
};

const requireJsonType = (contentType: string | undefined): void => {
  if (contentType === undefined) return;
  if (!/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType)) throw new DomainError('UNSUPPORTED_MEDIA_TYPE');
  const charsets = [...contentType.matchAll(/;\s*charset\s*=\s*"?([^";\s]*)/gi)].map(([, charset = '']) => charset);
  if (charsets.every((charset) => /^utf-?8$/i.test(charset))) return;
  throw new DomainError('UNSUPPORTED_MEDIA_TYPE', {
    message: 'The body must be UTF-8; send charset=utf-8 or no charset',
  });
};

const requirePlain = (encoding: string | undefined): void => {
  if (encoding === undefined || /^\s*(identity\s*)?$/i.test(encoding)) return;
  throw new DomainError('UNSUPPORTED_MEDIA_TYPE', {
    message: 'The body must not be compressed; send it without Content-Encoding',
  });
};

/** The decoder keeps a byte order mark, because a body with this mark is not valid JSON. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const REPLACED = '\ufffd';

/** @throws DomainError INVALID_JSON for invalid UTF-8 */
const textOf = (raw: Buffer, isDecoded: boolean): string => {
  const text = decoded(raw);
  if (text !== undefined && !(isDecoded && text.includes(REPLACED))) return text;
  throw new DomainError('INVALID_JSON', { message: 'The body is not valid UTF-8' });
};

const decoded = (raw: Buffer): string | undefined => {
  try {
    return utf8.decode(raw);
  } catch {
    return undefined;
  }
};

/** @throws DomainError INVALID_JSON with the position of the mistake, without quoting the text */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    const fault = findJsonFault(text);
    if (!fault) throw new DomainError('INVALID_JSON');
    const { line, column, isCutOff } = fault;
    const place = `line ${line}, column ${column}`;
    const message = isCutOff
      ? `The JSON of the body ends too early, at ${place}`
      : `The body is not valid JSON at ${place}`;
    throw new DomainError('INVALID_JSON', { message, details: { line, column } });
  }
};

/**
 * Checks the depth and the number of values of an object before its members. Refuses lone surrogates, because the table
 * and providers refuse them.
 * @throws DomainError VALIDATION_ERROR for a body that is too deep, has too many values, or is not Unicode
 */
export const requireReadable = (json: unknown): void => {
  let values = 0;
  const problemIn = (value: unknown, depth: number, path: string): Problem | undefined => {
    if (typeof value === 'string') return value.isWellFormed() ? undefined : { path, ...NOT_UNICODE };
    if (typeof value !== 'object' || value === null) return undefined;
    values += countOf(value);
    return problemOfSize(depth, values) ?? problemInMembers(value, depth + 1, path);
  };
  const problemInMembers = (value: object, depth: number, path: string): Problem | undefined => {
    for (const [name, inner] of Object.entries(value)) {
      const at = path === '' ? name : `${path}.${name}`;
      const problem = problemIn(name, depth, path) ?? problemIn(inner, depth, at);
      if (problem) return problem;
    }
    return undefined;
  };
  const problem = problemIn(json, 0, '');
  if (problem) throw invalid([problem]);
};

const countOf = (value: object): number => (Array.isArray(value) ? value.length : Object.keys(value).length);

const problemOfSize = (depth: number, values: number): Problem | undefined => {
  if (depth === MAX_JSON_DEPTH) return TOO_DEEP;
  return values > MAX_JSON_VALUES ? TOO_MANY : undefined;
};

const NOT_UNICODE = { rule: 'unicode', message: 'must be well-formed Unicode' };
const TOO_DEEP = { path: '', rule: 'max_depth', message: `must not be nested deeper than ${MAX_JSON_DEPTH}` };
const TOO_MANY = { path: '', rule: 'too_big', message: `must have at most ${MAX_JSON_VALUES} values` };
