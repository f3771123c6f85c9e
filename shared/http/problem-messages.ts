import type * as z from 'zod';

/** The message for one problem of a request. A message in the schema itself takes precedence. */
export const IS_REQUIRED = 'is required';

type Issue = z.core.$ZodRawIssue;

/** @returns undefined for an issue that has its own message. */
export const messageFor = (issue: Issue): string | undefined =>
  issue.input === undefined ? IS_REQUIRED : messageOf(issue);

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
