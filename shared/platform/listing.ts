/**
 * @module Lists over the `owner` and `project` indexes. A list selects its records by index rows (keys, `sort` and the
 * map `f`); one BatchGet then reads the records. A list never scans, and every request reads a bounded amount.
 */

import { DomainError } from '../core/errors.ts';
import type { Clause } from './expression.ts';
import type { Key } from './keys.ts';
import type { IndexQuery, Item, Page, Table } from './table.ts';

export interface ListQuery {
  readonly index: 'owner' | 'project';
  readonly partition: string;
  /** Inclusive bounds on created_at, ISO. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly descending: boolean;
  /** Filters on fields of `f` (`f.s` …). */
  readonly filter: readonly Clause[];
  readonly offset: number;
  readonly limit: number;
  /** Starts after this row, instead of skipping `offset` rows. */
  readonly cursor?: Cursor | undefined;
}

export type ListRange = Pick<ListQuery, 'index' | 'partition' | 'from' | 'to' | 'descending' | 'filter'>;

export interface Cursor extends Key {
  readonly sort: string;
}

export interface IndexRow extends Cursor {
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Listed {
  readonly rows: readonly IndexRow[];
  readonly hasMore: boolean;
  readonly next: Cursor | undefined;
  /** The number of matching rows from the start of the list, or from the cursor, to the end of this read. */
  readonly seen: number;
  /** The last row read, if further rows may exist. */
  readonly unread: Item | undefined;
  /** True if the read covered the whole list. */
  readonly reachedEnd: boolean;
}

/** One partition of a list, and its rows read so far. */
export interface ListPart {
  readonly query: ListQuery;
  readonly listed: Listed;
}

const FILTERED_CHUNK_ROWS = 200;
const FILTERED_CHUNKS = 4;
const LAST = '~';

export const rangeOf = ({ index, partition, from, to, descending, filter }: ListRange): IndexQuery => ({
  index,
  partition,
  from,
  // A sort key is `created_at#id`, so `#~` includes all records of the last millisecond.
  to: to === undefined ? undefined : `${to}#${LAST}`,
  descending,
  filter,
});

const rowOf = (item: Item): IndexRow => ({
  pk: String(item['pk']),
  sk: String(item['sk']),
  sort: String(item['sort']),
  fields: typeof item['f'] === 'object' && item['f'] !== null ? { ...item['f'] } : {},
});

const startKey = (query: ListQuery, cursor: Cursor): Item => ({
  pk: cursor.pk,
  sk: cursor.sk,
  sort: cursor.sort,
  [query.index]: query.partition,
});

/** One page in created_at order. */
export const listRows = async (table: Table, query: ListQuery): Promise<Listed> => {
  const wanted = query.offset + query.limit + 1;
  const rows: IndexRow[] = [];
  let after = query.cursor && startKey(query, query.cursor);
  let last: Page | undefined;
  const maxChunks = query.filter.length > 0 ? FILTERED_CHUNKS : Number.POSITIVE_INFINITY;
  for (let chunk = 0; chunk < maxChunks && rows.length < wanted; chunk += 1) {
    last = await table.queryIndex(chunkQuery(query, after, { chunk, missing: wanted - rows.length }));
    rows.push(...last.items.map(rowOf));
    after = last.next;
    if (!after) break;
  }
  const page = rows.slice(query.offset, query.offset + query.limit);
  const hasMore = rows.length > query.offset + query.limit || after !== undefined;
  const lastRow = page.at(-1);
  const position =
    rows.length > query.offset + query.limit ? lastRow && cursorOf(lastRow) : after && cursorOf(rowOf(after));
  return {
    rows: page,
    hasMore,
    next: hasMore ? position : undefined,
    seen: rows.length,
    unread: after,
    reachedEnd: after === undefined && query.cursor === undefined,
  };
};

/**
 * One page from several partitions in the same order, read in parallel. If a filter reaches its read limit in a
 * partition, the page ends at that point, because later rows are unknown.
 */
export const listTogether = async (
  table: Table,
  partitions: readonly string[],
  query: Omit<ListQuery, 'partition' | 'cursor' | 'descending'>,
): Promise<Pick<Listed, 'rows' | 'hasMore'> & { readonly parts: readonly ListPart[] }> => {
  const wanted = query.offset + query.limit;
  const parts = await Promise.all(
    partitions.map(async (partition): Promise<ListPart> => {
      const whole = { ...query, partition, descending: true, offset: 0, limit: wanted };
      return { query: whole, listed: await listRows(table, whole) };
    }),
  );
  const found = parts.map(({ listed }) => listed);
  const unknownFrom = found
    .flatMap(({ rows, next }) => (next && rows.length < wanted ? [next.sort] : []))
    .reduce((latest, sort) => (sort > latest ? sort : latest), '');
  const rows = found
    .flatMap((part) => part.rows)
    .filter(({ sort }) => sort >= unknownFrom)
    .sort((one, other) => (one.sort < other.sort ? 1 : -1));
  return {
    rows: rows.slice(query.offset, wanted),
    hasMore: rows.length > wanted || (unknownFrom === '' && found.some(({ hasMore }) => hasMore)),
    parts,
  };
};

const cursorOf = ({ pk, sk, sort }: Cursor): Cursor => ({ pk, sk, sort });

/** With a filter, a small first chunk fills most pages. The next chunk is as large as one request may read (1 MB). */
const chunkQuery = (
  query: ListQuery,
  after: Item | undefined,
  { chunk, missing }: { readonly chunk: number; readonly missing: number },
): IndexQuery => ({
  ...rangeOf(query),
  after,
  ...(query.filter.length === 0 ? { limit: missing } : chunk === 0 ? { limit: FILTERED_CHUNK_ROWS } : {}),
});

/** A range with more records can only be listed in the order of its index. */
const MAX_SORTED_ROWS = 10_000;

/** One page in an order without an index. @throws DomainError UNSUPPORTED_FILTER beyond 10,000 records */
export const sortedRows = async (
  table: Table,
  query: Omit<ListQuery, 'descending' | 'cursor'>,
  compare: (one: IndexRow, other: IndexRow) => number,
): Promise<Pick<Listed, 'rows' | 'hasMore'> & { readonly total: number }> => {
  const { offset, limit } = query;
  const rows = await allRows(table, query, MAX_SORTED_ROWS);
  const end = offset + limit;
  return { rows: rows.toSorted(compare).slice(offset, end), hasMore: rows.length > end, total: rows.length };
};

/** Every row of a range, for orders without an index. @throws DomainError UNSUPPORTED_FILTER beyond `max` rows */
export const allRows = async (
  table: Table,
  query: Pick<ListQuery, 'index' | 'partition' | 'from' | 'to' | 'filter'>,
  max: number,
): Promise<readonly IndexRow[]> => {
  const rows: IndexRow[] = [];
  let after: Item | undefined;
  do {
    const page = await table.queryIndex({
      ...rangeOf({ ...query, descending: false }),
      limit: max + 1 - rows.length,
      after,
    });
    rows.push(...page.items.map(rowOf));
    after = page.next;
    if (rows.length > max || (after && rows.length === max)) {
      throw new DomainError('UNSUPPORTED_FILTER', {
        message: `This order works on up to ${max} records; narrow the range (created_at_from, created_at_to)`,
      });
    }
  } while (after);
  return rows;
};
