import * as z from 'zod';
import { invalid } from '../core/errors.ts';
import type { Clause } from '../table/expression.ts';
import { type ItemKind, type Owner, ownerPartition } from '../table/keys.ts';
import { type Cursor, type Listed, listRows } from '../table/listing.ts';
import type { Table } from '../table/table.ts';
import type { Reply } from './reply.ts';

/** Lists by limit and offset, newest first: bare arrays; headers hold the total and the next page. */
export const MAX_OFFSET = 10_000;
export const PAGE_LIMIT = 100;

export const wholeNumber = z
  .string()
  .regex(/^\d{1,9}$/, 'must be a whole number')
  .transform(Number);

/** A limit above 100 counts as 100. */
export const offsetQuery = {
  limit: wholeNumber
    .pipe(z.int().min(1))
    .transform((limit) => Math.min(limit, PAGE_LIMIT))
    .default(PAGE_LIMIT),
  offset: wholeNumber.pipe(z.int().max(MAX_OFFSET)).default(0),
};

export interface OffsetPage {
  readonly limit: number;
  readonly offset: number;
}

interface OwnedQuery {
  readonly owner: Owner;
  readonly kind: ItemKind;
  readonly filter?: readonly Clause[];
  readonly page: OffsetPage;
}

/** One page of an owner's records of a kind; for a guest, only the records of its guest_id. */
export const listOwned = (table: Table, { owner, kind, filter = [], page }: OwnedQuery): Promise<Listed> =>
  listRows(table, {
    index: 'owner',
    partition: ownerPartition(owner, kind),
    descending: true,
    filter: owner.kind === 'guest' ? [{ equals: ['f.g', owner.guestId] }, ...filter] : filter,
    offset: page.offset,
    limit: page.limit,
  });

export const offsetReply = (data: readonly unknown[], listed: Omit<Listed, 'next'>, page: OffsetPage): Reply => ({
  data,
  ...(listed.hasMore && { next: { limit: String(page.limit), offset: String(page.offset + page.limit) } }),
  ...(listed.reachedEnd && { headers: { 'x-total-count': String(listed.seen) } }),
});

/** `next_cursor`: the position after a row, opaque to callers and checked when a request sends it. */
const cursorSchema = z.tuple([z.string().max(200), z.string().max(100), z.string().max(200)]);

export const encodeCursor = ({ pk, sk, sort }: Cursor): string =>
  Buffer.from(JSON.stringify([pk, sk, sort])).toString('base64url');

export const decodeCursor = (text: string): Cursor => {
  try {
    const [pk, sk, sort] = cursorSchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
    return { pk, sk, sort };
  } catch {
    throw invalid([{ path: 'cursor', rule: 'cursor', message: 'must be the next_cursor of an earlier answer' }]);
  }
};
