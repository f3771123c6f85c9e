import { DomainError } from '../core/errors.ts';
import {
  type Cursor,
  countOf,
  type DayCount,
  dayCounts,
  type IndexRow,
  type Listed,
  type ListQuery,
  listRows,
} from '../table/listing.ts';
import type { Table } from '../table/table.ts';

/** A page in created_at order, and how many there are in all. */
export interface PageFound {
  readonly rows: readonly IndexRow[];
  readonly hasMore: boolean;
  readonly next: Cursor | undefined;
  readonly total: number;
  readonly totalIsExact: boolean;
}

/** Up to here rows are read and left out; further on the counters lead to the day. */
const MAX_SKIPPED_ROWS = 5_000;
const MAX_SKIPPED_IN_A_DAY = 10_000;

/** @param counted what the day counters can count of this list; undefined: they cannot. */
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

/** Whole days are counted; a range that begins or ends within a day counts those days whole, and says so. */
const totalOf = (days: readonly DayCount[], query: ListQuery, statuses: readonly string[] | undefined): Total => ({
  total: days.reduce((sum, day) => sum + countOf(day, statuses), 0),
  exact: startsDay(query.from) && endsDay(query.to),
});
const startsDay = (from: string | undefined): boolean => from === undefined || from.endsWith('T00:00:00.000Z');
const endsDay = (to: string | undefined): boolean => to === undefined || to.endsWith('T23:59:59.999Z');

/** The day that the page begins in, and how many rows of it come before. */
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
