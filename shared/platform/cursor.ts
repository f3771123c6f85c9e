/** @module The cursors of `next_cursor` and Link headers. A cursor is opaque and belongs to one list and range. */

import * as z from 'zod';
import { invalid } from '../core/errors.ts';
import { fingerprint } from '../core/ids.ts';
import type { Cursor } from './listing.ts';

export interface CursorRange {
  /** The partition, or a name for a list of several partitions. */
  readonly list: string;
  /** Inclusive bounds on created_at, ISO. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** DynamoDB refuses a query if its key is not well-formed Unicode. */
const texts = z
  .array(
    z
      .string()
      .max(200)
      .refine((text) => text.isWellFormed()),
  )
  .max(4);
const key = (max: number) => z.string().min(1).max(max);
/** A creation time, with a record's id unless the position is between records. */
const position = key(100).regex(/^\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{3}Z(#[\w~]{0,64})?$/);
const placeSchema = z.tuple([key(200), key(100), position]);
const LONGEST = 1_000;

const nameOf = (list: string): string => fingerprint(list).slice(0, 16);

export const encodePlace = (place: readonly string[], list: string): string =>
  Buffer.from(JSON.stringify([nameOf(list), ...place])).toString('base64url');

/** @throws DomainError VALIDATION_ERROR for a text other than a cursor of this list */
export const decodePlace = <T>(text: string, list: string, schema: z.ZodType<T>): T => {
  const [name, ...place] = text.length > LONGEST ? [] : (texts.safeParse(jsonOf(text)).data ?? []);
  if (name !== undefined && name !== nameOf(list)) {
    throw invalid([{ path: 'cursor', rule: 'cursor', message: 'is the next_cursor of another list' }]);
  }
  const read = schema.safeParse(place);
  if (read.success) return read.data;
  throw invalid([{ path: 'cursor', rule: 'cursor', message: 'must be the next_cursor of an earlier page' }]);
};

export const encodeCursor = ({ pk, sk, sort }: Cursor, list: string): string => encodePlace([pk, sk, sort], list);

/** @throws DomainError VALIDATION_ERROR for a text other than a cursor of this list, or a cursor outside the range */
export const decodeCursor = (text: string, { list, from, to }: CursorRange): Cursor => {
  const [pk, sk, sort] = decodePlace(text, list, placeSchema);
  const createdAt = sort.slice(0, ISO_LENGTH);
  if (
    Number.isNaN(Date.parse(createdAt)) ||
    (from !== undefined && createdAt < from) ||
    (to !== undefined && createdAt > to)
  ) {
    throw invalid([{ path: 'cursor', rule: 'range', message: 'is outside the requested range' }]);
  }
  return { pk, sk, sort };
};

const ISO_LENGTH = '2000-01-01T00:00:00.000Z'.length;

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
};
