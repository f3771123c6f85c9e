/**
 * @module The total of a list. Counting starts after the last row that the page has read, so that page and total agree.
 * A record that is created between the two reads is in neither, and a page never shows more than its total. Up to 1,000
 * records the total is exact. A longer list would cost too much to count, so its total is an estimate, is marked as an
 * estimate, and is never below the number of records that the page proves.
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

/** Up to this many records a total is exact. */
const COUNTED_ROWS = 1_000;

export const exactly =
  (count: number): CountedPage['total'] =>
  async () => ({ count, isExact: true });

/** @param estimate the length of a list that is too long to count; read only then */
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
 * Counts the rest of the first partition alone. Its records are about as many as those of each other partition, so one
 * request shows whether the list is long. If the list is short, the other partitions are counted together.
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

/** The rows before a cursor were never read, so the whole list is counted. */
const countRest = (table: Table, { query, listed }: ListPart, counted: number): Promise<RowCount> =>
  countRows(table, query, { after: query.cursor ? undefined : listed.unread, counted });

interface CountStart {
  readonly after: Item | undefined;
  /** Rows of the list that are counted already. */
  readonly counted: number;
}

interface RowCount {
  readonly matching: number;
  readonly reachedEnd: boolean;
}

/** Stops when the list is too long to count, at 1,000 rows or, with a filter, at as many as one request reads. */
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
