/**
 * @module Pages of lists. Lists by limit and offset are bare arrays, newest first; headers hold the total and the next
 * page.
 */

import * as z from 'zod';
import type { Caller } from '../access/caller.ts';
import type { Clause } from '../platform/expression.ts';
import { type Key, type OwnedKind, type Owner, ownerPartition, recordKey } from '../platform/keys.ts';
import type { IndexRow, Listed } from '../platform/listing.ts';
import type { Item, Table } from '../platform/table.ts';
import { type CountedPage, listCounted, type Total } from '../platform/totals.ts';
import { boundedText } from './fields.ts';
import type { Reply } from './request.ts';

export const MAX_OFFSET = 10_000;
export const PAGE_LIMIT = 100;

/** A whole number in a query. The largest safe integer has 16 digits. */
export const WHOLE_NUMBER = /^\d{1,16}$/;

const wholeNumber = boundedText(20).regex(WHOLE_NUMBER, 'must be a whole number').transform(Number);

export const wholeNumberParameter = (min: number, max: number) => wholeNumber.pipe(z.int().min(min).max(max));

/** A limit above 100 counts as 100. */
export const cappedLimit = wholeNumber
  .pipe(z.int().min(1))
  .transform((limit) => Math.min(limit, PAGE_LIMIT))
  .default(PAGE_LIMIT);

/** The page number, from 1. */
export const pageNumber = wholeNumber.pipe(z.int().min(1)).default(1);

/** True if the page begins within `MAX_OFFSET`. NaN passes, because an invalid page number has its own problem. */
export const isWithinReach = ({ page, limit }: { readonly page: number; readonly limit: number }): boolean =>
  !((page - 1) * limit > MAX_OFFSET);
export const outOfReach = {
  path: ['page'],
  message: `must stay within the first ${MAX_OFFSET} entries`,
  params: { rule: 'too_big' },
};

export const offsetQuery = {
  limit: cappedLimit.describe('Records per page, at least 1; 100 if absent or greater.'),
  offset: wholeNumber
    .pipe(z.int().max(MAX_OFFSET))
    .default(0)
    .describe('How many records to skip, at most 10,000. The header `Link` names the next page.'),
};

export interface OffsetPage {
  readonly limit: number;
  readonly offset: number;
}

interface OwnedQuery {
  readonly owner: Owner;
  readonly kind: OwnedKind;
  readonly filter?: readonly Clause[];
  readonly page: OffsetPage;
}

/** One page of an owner's records of one kind. A guest gets only the records of its guest_id. */
export const listOwned = (table: Table, { owner, kind, filter = [], page }: OwnedQuery) =>
  listCounted(table, {
    index: 'owner',
    partition: ownerPartition(owner, kind),
    descending: true,
    filter: owner.kind === 'guest' ? [{ equals: ['f.g', owner.guestId] }, ...filter] : filter,
    offset: page.offset,
    limit: page.limit,
  });

/** With a token that opens one record, a list shows only that record. */
export const onlyRecordFilter = (caller: Caller, kind: OwnedKind): readonly Clause[] => {
  const id = caller.kind === 'guest' ? caller.onlyRecord : undefined;
  return id === undefined ? [] : [{ equals: ['pk', recordKey(kind, id).pk] }];
};

interface OffsetList {
  readonly listed: Pick<Listed, 'hasMore'>;
  readonly page: OffsetPage;
  readonly total: Total;
}

export const offsetReply = (data: readonly unknown[], { listed, page, total }: OffsetList): Reply => ({
  data,
  ...(listed.hasMore && { next: { limit: String(page.limit), offset: String(page.offset + page.limit) } }),
  ...totalHeader(total),
});

/** A bare list cannot mark a total as an estimate, so the header is only set for exact totals. */
export const totalHeader = ({ count, isExact }: Total): Pick<Reply, 'headers'> =>
  isExact ? { headers: { 'x-total-count': String(count) } } : {};

interface FoundPage extends Partial<CountedPage> {
  readonly rows: readonly IndexRow[];
}

/** The steps of every list, in the order ids, records, visibility, views, reply. */
export interface ListSteps<P extends FoundPage, T, A = unknown> {
  /** Finds the index rows of one page. */
  readonly findPage: () => Promise<P>;
  /** The key of a row's record; by default the row's own key. */
  readonly keyOf?: (row: IndexRow) => Key;
  /** The record of an item; undefined if the caller may not see it. */
  readonly recordOf: (item: Item, row: IndexRow) => T | undefined;
  /** Reads further data for the views, in parallel with the records. */
  readonly readAlongside?: (page: P) => Promise<A>;
  /** One view per record, in the same order. */
  readonly viewsOf: (records: readonly T[], alongside: A | undefined) => Views | Promise<Views>;
  readonly replyOf: (views: Views, page: P, total: Total) => Reply;
}

type Views = readonly unknown[];

/** The reply of a list with cursors. @param cursor of the next page; undefined on the last page */
export const cursorReply = (
  data: Views,
  { limit, cursor }: { readonly limit: number; readonly cursor: string | undefined },
): Reply => ({
  data,
  meta: { limit, has_more: cursor !== undefined, next_cursor: cursor ?? null },
  ...(cursor !== undefined && { next: { limit: String(limit), cursor } }),
});

/**
 * Reads the records of a page, in one request per hundred records, and counts at the same time. A row without a record
 * is not counted, because deletions reach the index late.
 */
export const runList = async <P extends FoundPage, T, A>(table: Table, steps: ListSteps<P, T, A>): Promise<Reply> => {
  const { keyOf = (row) => row, recordOf } = steps;
  const page = await steps.findPage();
  const [items, alongside, total] = await Promise.all([
    table.getMany(page.rows.map(keyOf)),
    steps.readAlongside?.(page),
    page.total?.() ?? { count: page.rows.length, isExact: false },
  ]);
  const records = page.rows.flatMap((row, index) => {
    const item = items[index];
    const record = item && recordOf(item, row);
    return record === undefined ? [] : [record];
  });
  const gone = page.rows.length - records.length;
  const views = await steps.viewsOf(records, alongside);
  return steps.replyOf(views, page, { ...total, count: total.count - gone });
};
