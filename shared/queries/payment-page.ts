/** @module Finds a page of a list in creation order. For deep pages, the day counters find the start. */

import { DomainError } from '../core/errors.ts';
import { totalHeader } from '../http/paging.ts';
import type { Reply } from '../http/request.ts';
import { type CursorRange, decodeCursor, encodeCursor } from '../platform/cursor.ts';
import { type Listed, type ListQuery, listRows } from '../platform/listing.ts';
import type { Table } from '../platform/table.ts';
import { type CountedPage, countRows, exactly, listCounted, type Total } from '../platform/totals.ts';
import { countOf, type DayCount, dayCounts } from './day-counts.ts';

export type PageFound = Pick<Listed, 'rows' | 'hasMore' | 'next'>;

/** Up to this offset, rows are read and skipped. Beyond it, the day counters find the page's first day. */
const MAX_SKIPPED_ROWS = 5_000;
const MAX_SKIPPED_IN_A_DAY = 10_000;

/** The statuses in a list's day counters; every status if undefined. */
interface CountedBy {
  readonly statuses: readonly string[] | undefined;
}

/**
 * A page with its total. If the list is too long to count, the day counters estimate the total. They lag and count
 * whole days.
 * @param by undefined if the day counters do not fit the list's filter
 */
export const pageByCreation = (
  table: Table,
  query: ListQuery,
  by: CountedBy | undefined,
): Promise<PageFound & CountedPage> => {
  const days = () => dayCounts(table, query.partition, query);
  const estimate = by && (async () => sumOf(await days(), by));
  if (query.offset <= MAX_SKIPPED_ROWS) return listCounted(table, query, estimate);
  if (!by) throw tooDeep();
  return deepPage(table, query, by);
};

const sumOf = (days: readonly DayCount[], { statuses }: CountedBy): number =>
  days.reduce((sum, day) => sum + countOf(day, statuses), 0);

/** A page beyond `MAX_SKIPPED_ROWS`. Empty if the list ends before the page. */
const deepPage = async (table: Table, query: ListQuery, by: CountedBy): Promise<PageFound & CountedPage> => {
  const [counted, days] = await Promise.all([countRows(table, query), dayCounts(table, query.partition, query)]);
  if (counted.reachedEnd && counted.matching <= query.offset) return { ...EMPTY, total: exactly(counted.matching) };
  const start = startOf(days, query, by.statuses);
  const page = start ? await listRows(table, { ...query, ...start }) : EMPTY;
  const shown = page.rows.length === 0 ? 0 : query.offset + page.rows.length + (page.hasMore ? 1 : 0);
  const count = Math.max(counted.matching, sumOf(days, by), shown);
  return { ...page, total: async () => ({ count, isExact: false }) };
};

const EMPTY: PageFound = { rows: [], hasMore: false, next: undefined };

const startsDay = (from: string | undefined): boolean => from === undefined || from.endsWith('T00:00:00.000Z');
const endsDay = (to: string | undefined): boolean => to === undefined || to.endsWith('T23:59:59.999Z');

/** The first day of the page, and the number of rows to skip on that day. */
const startOf = (
  days: readonly DayCount[],
  query: ListQuery,
  statuses: readonly string[] | undefined,
): Pick<ListQuery, 'from' | 'to' | 'offset'> | undefined => {
  if (!startsDay(query.from) || !endsDay(query.to)) throw tooDeep();
  let before = 0;
  for (const day of query.descending ? days.toReversed() : days) {
    const here = countOf(day, statuses);
    if (before + here > query.offset) {
      const offset = query.offset - before;
      if (offset > MAX_SKIPPED_IN_A_DAY) throw tooDeep();
      return query.descending
        ? { from: query.from, to: `${day.day}T23:59:59.999Z`, offset }
        : { from: `${day.day}T00:00:00.000Z`, to: query.to, offset };
    }
    before += here;
  }
  return undefined;
};

const tooDeep = (): DomainError =>
  new DomainError('UNSUPPORTED_FILTER', {
    message: 'This page is too deep; follow next_cursor, or narrow the range (created_at_from, created_at_to)',
  });

interface PageParameters {
  readonly page: number;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** The cursor at which the page starts. Without a cursor, the offset at which the page number starts. */
export const positionOf = (
  { page, limit, cursor }: PageParameters,
  range: CursorRange,
): Pick<ListQuery, 'offset' | 'limit' | 'cursor'> =>
  cursor === undefined
    ? { offset: (page - 1) * limit, limit }
    : { offset: 0, limit, cursor: decodeCursor(cursor, range) };

interface PageContext {
  readonly query: PageParameters;
  /** The name of the list, for its cursors. */
  readonly list: string;
  readonly total: Total;
  /** The requested order, if the list supports several. */
  readonly order?: Readonly<Record<string, string>>;
  /** Query parameters of the next page. */
  readonly next: Readonly<Record<string, string>> | undefined;
}

export const paymentsReply = (
  views: readonly unknown[],
  found: PageFound,
  { query: { page, limit }, list, total, order, next }: PageContext,
): Reply => ({
  data: views,
  meta: {
    page,
    limit,
    total: total.count,
    ...(!total.isExact && { total_is_exact: false }),
    hasMore: found.hasMore,
    ...order,
    ...(found.next && { next_cursor: encodeCursor(found.next, list) }),
  },
  ...(next && { next }),
  ...totalHeader(total),
});
