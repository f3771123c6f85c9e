/**
 * @module Parses path, query and body. One response lists every problem. Only schemas decide which fields are optional.
 * Limits are checked on the raw request, before costly work.
 */

import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import * as z from 'zod';
import { DomainError, invalid, MAX_PROBLEMS, type Problem } from '../core/errors.ts';
import { rowOf } from '../core/rows.ts';

export const MAX_BODY_BYTES = 256 * 1024;
/** API Gateway limits the request line and headers to 10,240 bytes together. */
const MAX_QUERY_CHARACTERS = 8_192;
export const MAX_HEADER_CHARACTERS = 8_192;

const tooLong = (path: string, most: number): DomainError =>
  invalid([{ path, rule: 'too_big', message: `must be at most ${most} characters long` }]);

/** @throws DomainError VALIDATION_ERROR for an overlong header; checked before the header is read */
export const requireBoundedHeaders = (headers: Readonly<Record<string, string | undefined>>): void => {
  const long = Object.entries(headers).find(([, value]) => (value?.length ?? 0) > MAX_HEADER_CHARACTERS);
  if (long) throw tooLong(long[0], MAX_HEADER_CHARACTERS);
};

export const rawBodyOf = (event: APIGatewayProxyEventV2): Buffer => {
  const raw = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (raw.byteLength > MAX_BODY_BYTES) {
    throw new DomainError('PAYLOAD_TOO_LARGE', { details: { limit_bytes: MAX_BODY_BYTES } });
  }
  return raw;
};

/**
 * Joins repeated names into a comma-separated list. Reads the raw query string, because it is identical on every host.
 */
export const queryOf = (event: APIGatewayProxyEventV2, schema: z.ZodType): Readonly<Record<string, string>> => {
  if (event.rawQueryString.length > MAX_QUERY_CHARACTERS) throw tooLong('query', MAX_QUERY_CHARACTERS);
  if (event.rawQueryString === '') return {};
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(event.rawQueryString)) {
    const before = query.get(name);
    query.set(name, before && value ? `${before},${value}` : before || value);
  }
  return presentQuery(schema, Object.fromEntries(query));
};

export type Schema = z.core.$ZodType;

/**
 * Fields in which null and an empty string have a meaning. For example, an empty `organization_id` means personal
 * records.
 */
const meaningful = z.registry<{ readonly meaning: string }>();

export const withEmptyMeaning = <T extends Schema>(schema: T, meaning: string): T => {
  meaningful.add(schema, { meaning });
  return schema;
};

interface Field {
  readonly isOptional: boolean;
  readonly isNullable: boolean;
  /** The schema of a present value. */
  readonly inner: Schema;
}

const fieldOf = (schema: Schema): Field => {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) {
    return { ...fieldOf(schema._zod.def.innerType), isOptional: true };
  }
  if (schema instanceof z.ZodNullable) return { ...fieldOf(schema._zod.def.innerType), isNullable: true };
  // The schema after a preprocessing step describes its input.
  if (schema instanceof z.ZodPipe) {
    const { in: before, out } = schema._zod.def;
    return fieldOf(before instanceof z.ZodTransform ? out : before);
  }
  return { isOptional: false, isNullable: false, inner: schema };
};

/** The schema of a present value, without its optional, nullable and transforming wrappers. */
export const innerOf = (schema: Schema): Schema => fieldOf(schema).inner;

const shapeOf = (schema: Schema): Readonly<Record<string, Schema>> | undefined => {
  const { inner } = fieldOf(schema);
  return inner instanceof z.ZodObject ? inner._zod.def.shape : undefined;
};

/**
 * Removes absent fields from the body, also in nested objects. The caller's own data (metadata) stays as sent.
 * @param nullClears true on PUT and PATCH: null in a nullable field stays and clears the stored value
 */
export const withoutAbsentFields = (schema: Schema, body: unknown, nullClears: boolean): unknown => {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const shape = shapeOf(schema);
  if (!shape) return body;
  const kept = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    const field = rowOf(shape, name);
    if (!field) return [[name, value]];
    return isAbsent(field, value, nullClears) ? [] : [[name, withoutAbsentFields(field, value, nullClears)]];
  });
  return Object.fromEntries(kept);
};

/**
 * The problem if a body has no known field and the schema has `minProperties`. An empty field counts here, so `{"name":
 * ""}` is accepted without a change and `{}` is refused.
 */
export const missingField = (schema: Schema, body: unknown): readonly Problem[] => {
  const shape = shapeOf(schema);
  const least = z.globalRegistry.get(schema)?.['minProperties'];
  if (!shape || least === undefined || typeof body !== 'object' || body === null) return [];
  if (Object.keys(body).some((name) => Object.hasOwn(shape, name))) return [];
  return [{ path: '', rule: 'required', message: 'needs at least one field' }];
};

const isAbsent = (schema: Schema, value: unknown, nullClears: boolean): boolean => {
  if ((value !== null && value !== '') || meaningful.get(schema)) return false;
  const { isOptional, isNullable } = fieldOf(schema);
  return isOptional && !(value === null && isNullable && nullClears);
};

/** Removes empty values from the query. Replaces enum values of any letter case by the schema's spelling. */
const presentQuery = (schema: Schema, query: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const shape = shapeOf(schema) ?? {};
  const present = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    const field = rowOf(shape, name);
    if (value === '') return field && meaningful.get(field) ? [[name, value]] : [];
    return [[name, field ? inSpellingOf(field, value) : value]];
  });
  return Object.fromEntries(present);
};

const LONGEST_CHOICE = 100;

const inSpellingOf = (schema: Schema, value: string): string => {
  if (value.length > LONGEST_CHOICE) return value;
  const { inner } = fieldOf(schema);
  if (!(inner instanceof z.ZodEnum)) return value;
  const lower = value.toLowerCase();
  const known = Object.values(inner._zod.def.entries).find((entry) => String(entry).toLowerCase() === lower);
  return known === undefined ? value : String(known);
};

interface RequestParts {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}
interface Schemas {
  readonly params: z.ZodType;
  readonly query: z.ZodType;
  readonly body: z.ZodType | null;
}

/**
 * @param found problems of earlier checks
 * @throws DomainError VALIDATION_ERROR with one entry per problem, of all three parts
 */
export const checkAll = (schemas: Schemas, parts: RequestParts, found: readonly Problem[] = []): RequestParts => {
  const problems: Problem[] = [...found];
  const check = (schema: z.ZodType | null, value: unknown): unknown => {
    if (schema === null) return undefined;
    const parsed = schema.safeParse(value, { error: messageFor });
    if (parsed.success) return parsed.data;
    problems.push(...parsed.error.issues.slice(0, MAX_PROBLEMS).flatMap(problemsOf));
    return undefined;
  };
  const checked = {
    params: check(schemas.params, parts.params),
    query: check(schemas.query, parts.query),
    body: check(schemas.body, parts.body),
  };
  if (problems.length > 0) throw invalid(problems);
  return checked;
};

const ruleOf = (issue: z.core.$ZodIssue): string => {
  if (issue.code === 'custom' && typeof issue.params?.['rule'] === 'string') return issue.params['rule'];
  return issue.message === IS_REQUIRED ? 'required' : issue.code;
};

const problemsOf = (issue: z.core.$ZodIssue): Problem[] => {
  const path = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: [...issue.path, key].join('.'),
      rule: 'unrecognized',
      message: issue.message,
    }));
  }
  return [{ path, rule: ruleOf(issue), message: issue.message }];
};

/**
 * Dated versions of the API, oldest first. Each breaking change adds a date; an old version is supported for 12 months.
 */
export const API_VERSIONS = ['2026-11-01'] as const;

/** The version in X-API-Version; without the header, the oldest supported version. */
export const apiVersion = (header: string | undefined): string => {
  if (header === undefined) return API_VERSIONS[0];
  if (
    header.length !== 'YYYY-MM-DD'.length ||
    !/^\d{4}-\d{2}-\d{2}$/.test(header) ||
    Number.isNaN(Date.parse(header))
  ) {
    throw invalid([{ path: 'X-API-Version', rule: 'date', message: 'must be a date, YYYY-MM-DD' }]);
  }
  return header;
};

const IS_REQUIRED = 'is required';

type Issue = z.core.$ZodRawIssue;

/** The message for one problem of a request. @returns undefined if the schema defines the message of this issue */
const messageFor = (issue: Issue): string | undefined => (issue.input === undefined ? IS_REQUIRED : messageOf(issue));

const messageOf = (issue: Issue): string | undefined => {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? 'has the wrong type';
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    case 'too_big':
      return `must ${boundary('at most', issue.maximum, issue)}`;
    case 'too_small':
      return issue.origin === 'string' && Number(issue.minimum) === 1
        ? 'must not be empty'
        : `must ${boundary('at least', issue.minimum, issue)}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'does not have the right format';
    case 'unrecognized_keys':
      return 'is not a known field';
    case 'invalid_key':
      return 'has a name that is not allowed: it is empty or too long';
    case 'invalid_union':
    case 'invalid_element':
      return 'has a value that is not allowed here';
    default:
      return undefined;
  }
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'must be a string',
  number: 'must be a number',
  int: 'must be an integer',
  boolean: 'must be true or false',
  object: 'must be an object',
  record: 'must be an object',
  array: 'must be a list',
  never: 'is not allowed here',
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'must be an ISO 8601 date and time such as 2026-11-01T12:00:00Z',
  date: 'must be an ISO 8601 date such as 2026-11-01',
  url: 'must be a URL',
  uuid: 'must be a UUID',
};

const boundary = (which: 'at most' | 'at least', limit: number | bigint, { origin, inclusive }: SizeIssue): string => {
  switch (origin) {
    case 'string':
      return `be ${which} ${limit} characters long`;
    case 'array':
    case 'set':
    case 'map':
      return `have ${which} ${limit} items`;
    default:
      return inclusive === false ? `be ${which === 'at most' ? 'below' : 'above'} ${limit}` : `be ${which} ${limit}`;
  }
};

interface SizeIssue {
  readonly origin: string;
  readonly inclusive?: boolean;
}
