import { DomainError } from '../core/errors.ts';
import type { Reply } from '../http/request.ts';
import { decodeCursor, encodeCursor } from '../table/cursor.ts';
import { countOf, type DayCount, dayCounts, type Listed, type ListQuery, listRows } from '../table/listing.ts';
import type { Table } from '../table/table.ts';

/** One page of payments, and the total of the list. */
export interface PageFound extends Pick<Listed, 'rows' | 'hasMore' | 'next'> {
  readonly total: number;
  readonly totalIsExact: boolean;
}

/** Up to this offset rows are read and skipped; beyond it the day counters find the day that the page starts in. */
const MAX_SKIPPED_ROWS = 5_000;
const MAX_SKIPPED_IN_A_DAY = 10_000;

/**
 * A page in created_at order.
 * @param counted the statuses that the day counters count for this list; undefined: the counters do not fit its filter.
 */
export const pageByCreation = async (
  table: Table,
  query: ListQuery,
  counted: { readonly statuses: readonly string[] | undefined } | undefined,
): Promise<PageFound> => {
  const counts = counted && dayCounts(table, query.partition, query);
  if (query.offset <= MAX_SKIPPED_ROWS) {
    const [listed, days] = await Promise.all([listRows(table, query), counts]);
    return withTotal(listed, query, days && totalOf(days, query, counted?.statuses));
  }
  if (!counts) throw tooDeep();
  const days = await counts;
  const start = startOf(days, query, counted?.statuses);
  if (!start) return { rows: [], hasMore: false, next: undefined, ...total(totalOf(days, query, counted?.statuses)) };
  const listed = await listRows(table, { ...query, ...start });
  return { ...listed, ...total(totalOf(days, query, counted?.statuses)) };
};

interface Total {
  readonly total: number;
  readonly exact: boolean;
}

const total = ({ total, exact }: Total) => ({ total, totalIsExact: exact });

const withTotal = (listed: Listed, query: ListQuery, counted: Total | undefined): PageFound => {
  const { rows, hasMore, next } = listed;
  if (listed.reachedEnd) return { rows, hasMore, next, total: listed.seen, totalIsExact: true };
  if (counted) return { rows, hasMore, next, ...total(counted) };
  return { rows, hasMore, next, total: Math.max(listed.seen, query.offset + rows.length), totalIsExact: false };
};

/** The counters count whole days: the total of a range that begins or ends within a day is not exact. */
const totalOf = (days: readonly DayCount[], query: ListQuery, statuses: readonly string[] | undefined): Total => ({
  total: days.reduce((sum, day) => sum + countOf(day, statuses), 0),
  exact: startsDay(query.from) && endsDay(query.to),
});
const startsDay = (from: string | undefined): boolean => from === undefined || from.endsWith('T00:00:00.000Z');
const endsDay = (to: string | undefined): boolean => to === undefined || to.endsWith('T23:59:59.999Z');

/** The day that the page begins in, and the number of that day's rows before the page. */
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
    message: 'This page lies too deep: follow next_cursor, or narrow the range (created_at_from, created_at_to)',
  });

interface PageParameters {
  readonly page: number;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Where the page begins: at the cursor, else at the offset of the page's number. */
export const positionOf = ({ page, limit, cursor }: PageParameters): Pick<ListQuery, 'offset' | 'limit' | 'cursor'> =>
  cursor === undefined ? { offset: (page - 1) * limit, limit } : { offset: 0, limit, cursor: decodeCursor(cursor) };

interface PageContext {
  readonly query: PageParameters;
  /** The order that the caller chose, if the list has several orders. */
  readonly order?: Readonly<Record<string, string>>;
  /** Query parameters of the next page. */
  readonly next: Readonly<Record<string, string>> | undefined;
}

export const paymentsReply = (
  views: readonly unknown[],
  found: PageFound,
  { query: { page, limit }, order, next }: PageContext,
): Reply => ({
  data: views,
  meta: {
    page,
    limit,
    total: found.total,
    ...(!found.totalIsExact && { total_is_exact: false }),
    hasMore: found.hasMore,
    ...order,
    ...(found.next && { next_cursor: encodeCursor(found.next) }),
  },
  ...(next && { next }),
  ...(found.totalIsExact && { headers: { 'x-total-count': String(found.total) } }),
});
