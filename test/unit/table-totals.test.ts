/** @module The total of a list against an index that changes between its reads, and the cost of counting. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runList, totalHeader } from '../../shared/http/paging.ts';
import type { Cursor, ListQuery } from '../../shared/platform/listing.ts';
import type { IndexQuery, Item, PageCount, Table } from '../../shared/platform/table.ts';
import { listCounted, listTogetherCounted } from '../../shared/platform/totals.ts';
import { memoryTable } from '../builders/memory-table.ts';

interface Row {
  readonly partition: string;
  readonly sort: string;
  readonly isWanted: boolean;
}

const sortOf = (number: number): string => String(100_000 + number);
const rowsOf = (count: number, { partition = 'P', every = 1 } = {}): Row[] =>
  Array.from({ length: count }, (_, number) => ({
    partition,
    sort: sortOf(number),
    isWanted: number % every === 0,
  }));
const keyOf = (row: Row) => ({ pk: `${row.partition}#${row.sort}`, sk: 'R' });
const itemOf = (row: Row): Item => ({ ...keyOf(row), sort: row.sort, owner: row.partition });

/** An index, newest first, with at most `perRequest` rows per request. `change` runs before each read but the first. */
const indexOf = (first: readonly Row[], { perRequest = 4_000, change = (rows: readonly Row[]) => rows } = {}) => {
  let rows = first;
  const asked: IndexQuery[] = [];
  const read = ({ partition, after, limit = perRequest }: IndexQuery) => {
    const left = rows
      .filter((row) => row.partition === partition && (after === undefined || row.sort < String(after['sort'])))
      .toSorted((one, other) => (one.sort < other.sort ? 1 : -1));
    const page = left.slice(0, Math.min(limit, perRequest));
    const last = page.at(-1);
    return { page, next: last && page.length === Math.min(limit, perRequest) ? itemOf(last) : undefined };
  };
  const asking = (query: IndexQuery) => {
    if (asked.length > 0) rows = change(rows);
    asked.push(query);
    const { page, next } = read(query);
    return { evaluated: page.length, matching: page.filter((row) => !query.filter?.length || row.isWanted), next };
  };
  const table: Table = {
    ...memoryTable({ now: () => 0 }).table,
    queryIndex: async (query) => {
      const { matching, next } = asking(query);
      return { items: matching.map(itemOf), next };
    },
    countIndex: async (query): Promise<PageCount> => {
      const { evaluated, matching, next } = asking(query);
      return { evaluated, matching: matching.length, next };
    },
  };
  return { table, asked };
};

const list: ListQuery = { index: 'owner', partition: 'P', descending: true, filter: [], offset: 0, limit: 10 };
const WANTED = [{ equals: ['f.x', 1] }] as const;

const countOf = async (rows: readonly Row[], query: Partial<ListQuery> = {}, perRequest = 4_000) => {
  const { table, asked } = indexOf(rows, { perRequest });
  const page = await listCounted(table, { ...list, ...query });
  const reads = asked.length;
  return { page, total: await page.total(), counts: asked.length - reads };
};

const cursorOf = (row: Row | undefined): Cursor => ({ ...keyOf(row ?? rowsOf(1)[0] ?? fail()), sort: row?.sort ?? '' });
const fail = (): never => {
  throw new Error('no row');
};

describe('the total of a list', () => {
  test.each([
    [0, 0],
    [10, 0],
    [11, 1],
    [999, 1],
    [1_000, 1],
  ])('is exact for %i records, after at most %i requests more than the page needs', async (length, most) => {
    const { total, counts } = await countOf(rowsOf(length));
    expect(total).toEqual({ count: length, isExact: true });
    expect(counts).toBeLessThanOrEqual(most);
  });

  test('is the estimate above 1,000 records, after one request that counts at most 1,000 rows', async () => {
    const { table, asked } = indexOf(rowsOf(50_000));
    const page = await listCounted(table, list, async () => 48_000);
    expect(await page.total()).toEqual({ count: 48_000, isExact: false });
    expect(asked).toHaveLength(2);
    expect(asked[1]?.limit).toBeLessThanOrEqual(1_001);
  });

  test('is never below the known count, for any estimate', async () => {
    const { table } = indexOf(rowsOf(3_000));
    const shallow = await listCounted(table, list, async () => 7);
    expect((await shallow.total()).count).toBeGreaterThan(1_000);
    const deep = await listCounted(table, { ...list, offset: 2_500 }, async () => 7);
    expect(await deep.total()).toEqual({ count: 2_511, isExact: false });
  });

  test('reads the estimate only for a list that is too long to count', async () => {
    const { table } = indexOf(rowsOf(900));
    const page = await listCounted(table, list, () => Promise.reject(new Error('read')));
    expect(await page.total()).toEqual({ count: 900, isExact: true });
  });

  test('is also exact for wide rows, although one request does not read all of them', async () => {
    expect((await countOf(rowsOf(1_000), {}, 300)).total).toEqual({ count: 1_000, isExact: true });
    expect((await countOf(rowsOf(1_000, { every: 7 }), { filter: WANTED }, 300)).total.isExact).toBe(true);
  });

  test('counts a filter’s matches within one request, and says if more rows follow', async () => {
    const some = await countOf(rowsOf(3_900, { every: 100 }), { filter: WANTED });
    expect(some.total).toEqual({ count: 39, isExact: true });
    const many = await countOf(rowsOf(40_000, { every: 100 }), { filter: WANTED });
    expect(many.total.isExact).toBe(false);
    expect(many.total.count).toBeGreaterThan(many.page.rows.length);
    expect(many.counts).toBe(1);
  });

  test('covers the whole list for a page by cursor', async () => {
    const rows = rowsOf(40);
    const { total } = await countOf(rows, { cursor: cursorOf(rows[25]) });
    expect(total).toEqual({ count: 40, isExact: true });
  });

  test('is never below the count of its page, for any creations and deletions between the reads', () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({
          length: fc.integer({ min: 0, max: 60 }),
          offset: fc.integer({ min: 0, max: 30 }),
          limit: fc.integer({ min: 1, max: 20 }),
          cursor: fc.option(fc.integer({ min: 0, max: 59 })),
          added: fc.integer({ min: 0, max: 3 }),
          removed: fc.integer({ min: 0, max: 3 }),
        }),
        async ({ length, offset, limit, cursor, added, removed }) => {
          const change = (rows: readonly Row[]) => [
            ...rows.slice(removed),
            ...rowsOf(added).map((row, index) => ({ ...row, sort: sortOf(1_000 + rows.length + index) })),
          ];
          const rows = rowsOf(length);
          const from = cursor === null ? undefined : rows[cursor];
          const { table } = indexOf(rows, { change });
          const start = from ? { offset: 0, cursor: cursorOf(from) } : { offset };
          const page = await listCounted(table, { ...list, ...start, limit });
          const { count, isExact } = await page.total();
          expect(isExact).toBe(true);
          expect(count).toBeGreaterThanOrEqual(page.rows.length === 0 ? 0 : start.offset + page.rows.length);
          if (!from && added > 0 && removed === 0) expect(count).toBe(length);
        },
      ),
    ));
});

describe('the total of a list over several partitions', () => {
  const over = (counts: readonly number[]) =>
    indexOf(counts.flatMap((count, index) => rowsOf(count, { partition: `P${index}` })));
  const partitions = (count: number) => Array.from({ length: count }, (_, index) => `P${index}`);
  const query = { index: 'owner', filter: [], offset: 0, limit: 10 } as const;

  test('is exact up to 1,000 records, and adds the rest of unfinished partitions', async () => {
    const { table, asked } = over([3, 500, 0, 497]);
    const page = await listTogetherCounted(table, partitions(4), query);
    expect(await page.total()).toEqual({ count: 1_000, isExact: true });
    expect(asked).toHaveLength(4 + 2);
  });

  test('stops counting a long list after one request', async () => {
    const { table, asked } = over([40_000, 40_000, 40_000, 40_000]);
    const page = await listTogetherCounted(table, partitions(4), query);
    const total = await page.total();
    expect(total.isExact).toBe(false);
    expect(total.count).toBeGreaterThan(1_000);
    expect(asked).toHaveLength(4 + 1);
  });
});

describe('a row without a record', () => {
  test('is not on the page and not in the total', async () => {
    const rows = rowsOf(3);
    const { table } = indexOf(rows);
    const kept = { ...table, getMany: async () => [{ id: 1 }, undefined, { id: 3 }] };
    const reply = await runList(kept, {
      findPage: () => listCounted(kept, list),
      recordOf: (item) => item,
      viewsOf: (records) => records,
      replyOf: (data, _, total) => ({ data, ...totalHeader(total) }),
    });
    expect(reply).toEqual({ data: [{ id: 1 }, { id: 3 }], headers: { 'x-total-count': '2' } });
  });
});
