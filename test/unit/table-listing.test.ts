import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Cursor, listRows, listTogether } from '../../shared/platform/listing.ts';
import type { IndexQuery, Item, Page, Table } from '../../shared/platform/table.ts';
import { memoryTable } from '../builders/memory-table.ts';

/** A row of a partition, whose rows are listed newest first. A filter keeps the wanted rows after they were read. */
interface Row {
  readonly sort: string;
  readonly wanted: boolean;
}

/** The number of rows of a partition that the engine reads per request without a limit. */
const PAGE_ROWS = 250;

const tableOf = (partitions: ReadonlyMap<string, readonly Row[]>): { table: Table; reads: () => number } => {
  let reads = 0;
  const queryIndex = async ({ partition, after, limit, filter }: IndexQuery): Promise<Page> => {
    reads += 1;
    const rows = partitions.get(partition) ?? [];
    const from = after === undefined ? 0 : rows.findIndex(({ sort }) => sort === after['sort']) + 1;
    const read = rows.slice(from, from + (limit ?? PAGE_ROWS));
    const item = ({ sort }: Row): Item => ({ pk: `P#${sort}`, sk: 'P', sort, owner: partition });
    const last = read.at(-1);
    return {
      items: read.filter(({ wanted }) => filter?.length === 0 || wanted).map(item),
      next: last && from + read.length < rows.length ? item(last) : undefined,
    };
  };
  return { table: { ...memoryTable({ now: () => 0 }).table, queryIndex }, reads: () => reads };
};

const sortOf = (number: number): string => String(900_000 - number);
const spread = (rows: readonly Row[], over: number): ReadonlyMap<string, readonly Row[]> =>
  Map.groupBy(rows, ({ sort }) => `part ${Number(sort) % over}`);
const rowsOf = (count: number, isWanted: (number: number) => boolean): Row[] =>
  Array.from({ length: count }, (_, number) => ({ sort: sortOf(number), wanted: isWanted(number) }));
const WANTED = [{ equals: ['f.x', 1] as const }];

/** Follows `next` from page to page. @returns all shown rows, and the number of empty pages before the last page */
const followed = async (rows: readonly Row[], limit: number): Promise<{ shown: string[]; emptyPages: number }> => {
  const { table } = tableOf(new Map([['P', rows]]));
  const list = { index: 'owner', partition: 'P', descending: true, filter: WANTED, offset: 0, limit } as const;
  const shown: string[] = [];
  let [cursor, emptyPages]: [Cursor | undefined, number] = [undefined, 0];
  for (;;) {
    const page = await listRows(table, { ...list, cursor });
    shown.push(...page.rows.map(({ sort }) => sort));
    expect(page.hasMore).toBe(page.next !== undefined);
    if (!page.next) return { shown, emptyPages };
    if (page.rows.length === 0) emptyPages += 1;
    cursor = page.next;
  }
};

/** A filtered page reads 200 rows, then three times as many as one request returns. */
const READ_LIMIT = 200 + 3 * PAGE_ROWS;

describe('a filtered list', () => {
  test('continues after an empty page that reached its read limit', async () => {
    const { table } = tableOf(new Map([['P', rowsOf(5_000, (number) => number === 4_321)]]));
    const page = await listRows(table, {
      ...{ index: 'owner', partition: 'P', descending: true, filter: WANTED, offset: 0, limit: 10 },
    });
    expect(page).toMatchObject({ rows: [], hasMore: true, next: { sort: sortOf(READ_LIMIT - 1) } });
  });

  test('ends without a cursor if no row matches', async () => {
    expect(
      await followed(
        rowsOf(5_000, () => false),
        10,
      ),
    ).toEqual({ shown: [], emptyPages: 5 });
    expect(
      await followed(
        rowsOf(READ_LIMIT, () => false),
        10,
      ),
    ).toEqual({ shown: [], emptyPages: 0 });
  });

  test('shows every match once over all cursors, for any number of rows between two matches', () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 4_000 }),
        fc.integer({ min: 1, max: 2_500 }),
        fc.integer({ min: 1, max: 50 }),
        async (...[count, every, limit]) => {
          const rows = rowsOf(count, (number) => number % every === every - 1);
          const matches = rows.filter(({ wanted }) => wanted).map(({ sort }) => sort);
          expect((await followed(rows, limit)).shown).toEqual(matches);
        },
      ),
    ));
});

describe('a list over several partitions', () => {
  test('returns the same as a list over one partition, for any page', () =>
    fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 300 }),
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 0, max: 120 }),
        fc.integer({ min: 1, max: 100 }),
        fc.boolean(),
        async (...[count, over, offset, limit, filtered]) => {
          const rows = rowsOf(count, (number) => number % 3 === 0);
          const partitions = spread(rows, over);
          const { table } = tableOf(partitions);
          const query = { index: 'owner' as const, filter: filtered ? WANTED : [], offset, limit };
          const listed = await listTogether(table, [...partitions.keys()], query);
          const all = rows.filter(({ wanted }) => !filtered || wanted).map(({ sort }) => sort);
          expect(listed.rows.map(({ sort }) => sort)).toEqual(all.slice(offset, offset + limit));
          expect(listed.hasMore).toBe(all.length > offset + limit);
        },
      ),
    ));

  test('reads each partition once per page, for any length', async () => {
    for (const count of [1_000, 50_000]) {
      const partitions = spread(
        rowsOf(count, () => true),
        8,
      );
      const { table, reads } = tableOf(partitions);
      const query = { index: 'owner' as const, filter: [], offset: 0, limit: 100 };
      const { rows, hasMore } = await listTogether(table, [...partitions.keys()], query);
      expect([rows.length, hasMore, reads()]).toEqual([100, true, 8]);
    }
  });

  test('ends when the filter reaches the read limit of one partition, and leaves no gap', async () => {
    // The first partition has no match within the read limit; the others have many.
    const partitions = new Map([
      ['rare', rowsOf(5_000, (number) => number > 4_000)],
      ['plenty', rowsOf(5_000, () => true).map(({ sort, wanted }) => ({ sort: `${sort}x`, wanted }))],
    ]);
    const { table, reads } = tableOf(partitions);
    const query = { index: 'owner' as const, filter: WANTED, offset: 0, limit: 100 };
    const first = await listTogether(table, [...partitions.keys()], query);
    expect(first.rows.map(({ sort }) => sort)).toEqual(rowsOf(100, () => true).map(({ sort }) => `${sort}x`));
    expect(reads()).toBeLessThanOrEqual(8);
    const deep = await listTogether(table, [...partitions.keys()], { ...query, offset: 900 });
    expect(deep.rows).toHaveLength(READ_LIMIT - 900);
    expect(deep.hasMore).toBe(false);
  });
});
