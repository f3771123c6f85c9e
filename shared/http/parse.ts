import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import type * as z from 'zod';
import { DomainError, invalid, type Problem } from '../core/errors.ts';
import { IS_REQUIRED, messageFor } from './problem-messages.ts';

/** Parses path, query and body. One answer lists every problem. */
export const MAX_BODY_BYTES = 256 * 1024;
const MAX_JSON_DEPTH = 10;

export const rawBodyOf = (event: APIGatewayProxyEventV2): Buffer => {
  const raw = Buffer.from(event.body ?? '', event.isBase64Encoded ? 'base64' : 'utf8');
  if (raw.byteLength > MAX_BODY_BYTES) {
    throw new DomainError('PAYLOAD_TOO_LARGE', { details: { limit_bytes: MAX_BODY_BYTES } });
  }
  return raw;
};

/** The query as sent; a repeated name becomes a comma-separated list. Reads the raw text, equal on every host. */
export const queryOf = (event: APIGatewayProxyEventV2): Readonly<Record<string, string>> => {
  const query = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(event.rawQueryString)) {
    const before = query.get(name);
    query.set(name, before === undefined ? value : `${before},${value}`);
  }
  return Object.fromEntries(query);
};

/** @throws DomainError UNSUPPORTED_MEDIA_TYPE, INVALID_JSON, or VALIDATION_ERROR for a value that no field can hold. */
export const jsonBodyOf = (raw: Buffer, contentType: string | undefined): unknown => {
  if (raw.byteLength === 0) return {};
  if (contentType !== undefined && !/^application\/([\w.-]+\+)?json\s*(;|$)/i.test(contentType)) {
    throw new DomainError('UNSUPPORTED_MEDIA_TYPE');
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(raw.toString('utf8'));
  } catch (cause) {
    throw new DomainError('INVALID_JSON', { cause });
  }
  const problem = problemIn(parsed, MAX_JSON_DEPTH);
  if (problem) throw invalid([problem]);
  return parsed;
};

/** Finds nesting that is too deep, or a lone surrogate, which neither the table nor a provider accepts. */
const problemIn = (value: unknown, left: number, path = ''): Problem | undefined => {
  if (typeof value === 'string' && !value.isWellFormed()) {
    return { path, rule: 'unicode', message: 'must be well-formed Unicode' };
  }
  if (typeof value !== 'object' || value === null) return undefined;
  if (left === 0) {
    return { path: '', rule: 'max_depth', message: `must not be nested deeper than ${MAX_JSON_DEPTH}` };
  }
  for (const [name, inner] of Object.entries(value)) {
    const at = path === '' ? name : `${path}.${name}`;
    const problem = problemIn(name, left - 1, path) ?? problemIn(inner, left - 1, at);
    if (problem) return problem;
  }
  return undefined;
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

/** @throws DomainError VALIDATION_ERROR with one entry per problem, over all three parts. */
export const checkAll = (schemas: Schemas, parts: RequestParts): RequestParts => {
  const problems: Problem[] = [];
  const check = (schema: z.ZodType | null, value: unknown): unknown => {
    if (schema === null) return undefined;
    const parsed = schema.safeParse(value, { error: messageFor });
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) problems.push(...problemsOf(issue));
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

/** Dated versions of the API, oldest first. A breaking change is a new date; the old one stays for 12 months. */
export const API_VERSIONS = ['2026-11-01'] as const;

/** The version that X-API-Version requests; without the header, the oldest supported version. */
export const apiVersion = (header: string | undefined): string => {
  if (header === undefined) return API_VERSIONS[0];
  if (!/^\d{4}-\d{2}-\d{2}$/.test(header) || Number.isNaN(Date.parse(header))) {
    throw invalid([{ path: 'X-API-Version', rule: 'date', message: 'must be a date, YYYY-MM-DD' }]);
  }
  return header;
};
