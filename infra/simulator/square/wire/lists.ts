/** @module Square's lists. They have fields in the query, and a cursor to the next page. */
import * as z from 'zod';
import { type Call, NOT_OFFERED, Refused } from '../../protocol/vendor.ts';
import { invalidSquareRequest } from './errors.ts';

export const wholeText = z.string().regex(/^-?\d{1,9}$/, 'must be a whole number');
export const time = z.iso.datetime({ offset: true });
export const sortOrder = z.enum(['ASC', 'DESC']);

/** @throws Refused naming the first problem. */
export const readSquareQuery = <T extends z.ZodType>(call: Call, schema: T): z.output<T> => {
  const parsed = schema.safeParse(Object.fromEntries(call.query));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue?.code === 'unrecognized_keys') {
    const name = issue.keys[0] ?? '';
    const refusal = invalidSquareRequest('UNKNOWN_QUERY_PARAMETER', `Unknown query parameter '${name}'.`, name);
    // Square may support the parameter, although the simulator does not.
    throw new Refused({ ...refusal.answer, headers: NOT_OFFERED });
  }
  const field = issue?.path.join('.') ?? '';
  throw invalidSquareRequest('INVALID_VALUE', `${field}: ${issue?.message}`, field);
};

export const MAX_PAGE = 100;

/** @throws Refused if the page size is out of Square's range. */
export const checkLimit = (limit: string | undefined): number => {
  const size = Number(limit ?? MAX_PAGE);
  if (size < 1) throw invalidSquareRequest('VALUE_TOO_LOW', '`limit` must not be less than 1.', 'limit');
  if (size > MAX_PAGE) throw invalidSquareRequest('VALUE_TOO_HIGH', '`limit` must not be greater than 100.', 'limit');
  return size;
};

export interface Paging {
  readonly size: number;
  readonly cursor: string | undefined;
}

/** One page of the documents, in the same order. The cursor is the id of the page's last document. */
export const squarePage = <T extends { readonly id: string }>(
  documents: readonly T[],
  { size, cursor }: Paging,
): { readonly page: readonly T[]; readonly next: { readonly cursor?: string } } => {
  const after = cursor === undefined ? undefined : Buffer.from(cursor, 'base64url').toString('utf8');
  const at = after === undefined ? -1 : documents.findIndex(({ id }) => id === after);
  if (after !== undefined && at < 0) throw invalidSquareRequest('INVALID_CURSOR', 'The cursor is not valid.', 'cursor');
  const page = documents.slice(at + 1, at + 1 + size);
  const last = page.at(-1);
  const isLast = last === undefined || last === documents.at(-1);
  return { page, next: isLast ? {} : { cursor: Buffer.from(last.id, 'utf8').toString('base64url') } };
};
