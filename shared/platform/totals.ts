/**
 * @module The total of a list. Counting starts after the last row of the page, so page and total are consistent even if
 * a record is created between the two reads. A total is exact up to 1,000 records. Longer lists cost too much to count;
 * their total is an estimate, marked as such, and never below the records proved by the page.
 */

import {
  type Listed,
  type ListPart,
  type ListQuery,
  type ListRange,
  listRows,
  listTogether,
  rangeOf,
} from './listing.ts';
import type { Item, Table } from './table.ts';

export interface Total {
  readonly count: number;
  readonly isExact: boolean;
}

/** A page that can count its list. */
export interface CountedPage {
  readonly total: () => Promise<Total>;
}

/** A total is exact up to this many records. */
const COUNTED_ROWS = 1_000;

export const exactly =
  (count: number): CountedPage['total'] =>
  async () => ({ count, isExact: true });

/** @param estimate the length of a list too long to count; called only in that case */
export const listCounted = async (
  table: Table,
  query: ListQuery,
  estimate?: () => Promise<number>,
): Promise<Listed & CountedPage> => {
  const listed = await listRows(table, query);
  return {
    ...listed,
    total: () => totalOf(table, { parts: [{ query, listed }], page: { ...query, ...listed } }, estimate),
  };
};

export const listTogetherCounted = async (
  table: Table,
  partitions: readonly string[],
  query: Omit<ListQuery, 'partition' | 'cursor' | 'descending'>,
): Promise<Pick<Listed, 'rows' | 'hasMore'> & CountedPage> => {
  const { rows, hasMore, parts } = await listTogether(table, partitions, query);
  const page = { offset: query.offset, rows, hasMore };
  return { rows, hasMore, total: () => totalOf(table, { parts, page }) };
};

interface CountedList {
  readonly parts: readonly ListPart[];
  readonly page: Pick<Listed, 'rows' | 'hasMore'> & Pick<ListQuery, 'offset'>;
}

/**
 * Counts the rest of the first partition. Partitions have similar sizes, so this one request shows whether the list is
 * long. If the list is short, counts the other partitions in parallel.
 */
const totalOf = async (
  table: Table,
  { parts, page }: CountedList,
  estimate: () => Promise<number> = async () => 0,
): Promise<Total> => {
  const shown = page.rows.length;
  let count = parts.reduce((sum, { query, listed }) => sum + (query.cursor ? 0 : listed.seen), 0);
  const [first, ...others] = parts.filter(({ listed }) => !listed.reachedEnd);
  for (const group of [first ? [first] : [], others]) {
    const rests = await Promise.all(group.map((part) => countRest(table, part, count)));
    count += rests.reduce((sum, { matching }) => sum + matching, 0);
    if (rests.every(({ reachedEnd }) => reachedEnd)) continue;
    const least = page.offset + shown + (page.hasMore ? 1 : 0);
    return { count: Math.max(count, least, await estimate()), isExact: false };
  }
  return { count: Math.max(count, shown), isExact: true };
};

/**
 * Counts the rows after the page. With a cursor, counts the whole list, because the rows before the cursor were not
 * read.
 */
const countRest = (table: Table, { query, listed }: ListPart, counted: number): Promise<RowCount> =>
  countRows(table, query, { after: query.cursor ? undefined : listed.unread, counted });

interface CountStart {
  readonly after: Item | undefined;
  /** The number of rows counted so far. */
  readonly counted: number;
}

interface RowCount {
  readonly matching: number;
  readonly reachedEnd: boolean;
}

/**
 * Counts up to 1,000 rows or, with a filter, as many as one request reads. Beyond that, the list is too long to count.
 */
export const countRows = async (
  table: Table,
  query: ListRange,
  { after, counted }: CountStart = { after: undefined, counted: 0 },
): Promise<RowCount> => {
  const most = COUNTED_ROWS + 1 - counted;
  let [matching, evaluated] = [0, 0];
  let start = after;
  do {
    if (evaluated >= most) return { matching, reachedEnd: false };
    const part = await table.countIndex({
      ...rangeOf(query),
      after: start,
      ...(query.filter.length === 0 && { limit: most - evaluated }),
    });
    matching += part.matching;
    evaluated += part.evaluated;
    start = part.next;
  } while (start);
  return { matching, reachedEnd: true };
};
