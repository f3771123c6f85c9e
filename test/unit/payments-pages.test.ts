/**
 * @module Pages of a payment list beyond the rows that one request can skip. The counts per day find the first day of
 * such a page, and the page keeps the bounds of its list.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, iso, utcDay } from '../../shared/core/time.ts';
import { countKey, sumKey } from '../../shared/platform/keys.ts';
import type { ListQuery } from '../../shared/platform/listing.ts';
import type { IndexQuery, Item, Table } from '../../shared/platform/table.ts';
import { dayCounts } from '../../shared/queries/day-counts.ts';
import { pageByCreation, paymentsReply } from '../../shared/queries/payment-page.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';

const SCOPE = 'USER#1#PAY';
/** The number of rows that the engine reads per request. */
const PER_REQUEST = 4_000;
const STATUSES = ['succeeded', 'failed'] as const;

interface Row {
  readonly sort: string;
  readonly status: (typeof STATUSES)[number];
}

/** The rows of each day at equal intervals, oldest first. Every third payment failed. */
const rowsOf = (days: readonly number[]): readonly Row[] =>
  days.flatMap((count, day) =>
    Array.from({ length: count }, (_, number): Row => {
      const createdAt = iso(NOON - 12 * HOUR_MS + day * DAY_MS + Math.floor((number * DAY_MS) / count));
      return { sort: `${createdAt}#${number}`, status: number % 3 === 0 ? 'failed' : 'succeeded' };
    }),
  );

const dayOf = ({ sort }: Row): string => utcDay(sort.split('#')[0] ?? '');
const within = ({ sort }: Row, { from = '', to = '~' }: Pick<ListQuery, 'from' | 'to'>): boolean =>
  sort >= from && sort <= to;

/** The sums of the days, with the payments of a day in two currencies. */
const sumsOf = (rows: readonly Row[]): readonly Item[] =>
  [...Map.groupBy(rows, dayOf)].flatMap(([day, ofDay]) =>
    ['EUR', 'USD'].map((currency, index) => {
      const part = ofDay.filter((_, number) => number % 2 === index);
      const counts = STATUSES.map((status) => [
        `status#${status}#count`,
        part.filter((row) => row.status === status).length,
      ]);
      return { sk: `${day}#${currency}`, 'provider#provider_a#count': 1, ...Object.fromEntries(counts) };
    }),
  );

/** The index of a list, and the sums of its scope. */
const tableOf = (rows: readonly Row[]): Table => {
  const itemOf = ({ sort, status }: Row): Item => ({ pk: `P#${sort}`, sk: 'P', sort, owner: SCOPE, f: { s: status } });
  const sums = sumsOf(rows);
  const read = ({ from, to, after, descending, filter = [], limit = PER_REQUEST }: IndexQuery) => {
    const ordered = descending ? rows.toReversed() : rows;
    const inRange = ordered.filter((row) => within(row, { from, to }));
    const start = after === undefined ? 0 : inRange.findIndex(({ sort }) => sort === after['sort']) + 1;
    const part = inRange.slice(start, start + Math.min(limit, PER_REQUEST));
    const last = part.at(-1);
    return {
      evaluated: part.length,
      found: part.filter(({ status }) => filter.length === 0 || status === 'succeeded'),
      next: last && start + part.length < inRange.length ? itemOf(last) : undefined,
    };
  };
  return {
    ...memoryTable({ now: () => NOON }).table,
    queryIndex: async (query) => {
      const { found, next } = read(query);
      return { items: found.map(itemOf), next };
    },
    countIndex: async (query) => {
      const { evaluated, found, next } = read(query);
      return { evaluated, matching: found.length, next };
    },
    eachItem: async function* ({ partition, from = '', to = '~' }: Parameters<Table['eachItem']>[0]) {
      if (partition !== sumKey(SCOPE, '', '').pk) return;
      yield* sums.filter(({ sk }) => String(sk) >= from && String(sk) <= to);
    },
  };
};

const startOf = (day: number): string => iso(NOON - 12 * HOUR_MS + day * DAY_MS);
const endOf = (day: number): string => iso(NOON - 12 * HOUR_MS + (day + 1) * DAY_MS - 1);
const DAYS = [900, 2_500, 1_000, 3_100, 1_700, 800];
const ROWS = rowsOf(DAYS);
const TABLE = tableOf(ROWS);
const SUCCEEDED = [{ oneOf: ['f.s', ['succeeded']] }] as const;
const list = { index: 'owner', partition: SCOPE, filter: [], limit: 50 } as const;

describe('a page beyond the first 5,000 payments', () => {
  test.each([
    { descending: true, last: 'the lower bound' },
    { descending: false, last: 'the upper bound' },
  ])('ends at $last of its list', async ({ descending }) => {
    const bounds = { from: startOf(1), to: endOf(4) };
    const inRange = ROWS.filter((row) => within(row, bounds)).map(({ sort }) => sort);
    const offset = inRange.length - 30;
    const page = await pageByCreation(TABLE, { ...list, ...bounds, descending, offset }, { statuses: undefined });
    const expected = (descending ? inRange.toReversed() : inRange).slice(offset);
    expect(page.rows.map(({ sort }) => sort)).toEqual(expected);
    expect(page).toMatchObject({ hasMore: false, next: undefined });
  });

  test('contains the payments at its place in the list, for any bounds of whole days, order and status', () =>
    fc.assert(
      fc.asyncProperty(
        fc.record({
          from: fc.option(fc.integer({ min: 0, max: 1 }), { nil: undefined }),
          to: fc.option(fc.integer({ min: 4, max: 5 }), { nil: undefined }),
          descending: fc.boolean(),
          onlySucceeded: fc.boolean(),
          fromEnd: fc.oneof(fc.integer({ min: -60, max: 60 }), fc.integer({ min: 0, max: 5_000 })),
        }),
        async ({ from, to, descending, onlySucceeded, fromEnd }) => {
          const bounds = {
            from: from === undefined ? undefined : startOf(from),
            to: to === undefined ? undefined : endOf(to),
          };
          const inRange = ROWS.filter((row) => within(row, bounds) && (!onlySucceeded || row.status === 'succeeded'));
          const ordered = (descending ? inRange.toReversed() : inRange).map(({ sort }) => sort);
          const offset = Math.max(5_001, ordered.length - fromEnd);
          const page = await pageByCreation(
            TABLE,
            { ...list, ...bounds, descending, offset, filter: onlySucceeded ? SUCCEEDED : [] },
            { statuses: onlySucceeded ? ['succeeded'] : undefined },
          );
          expect(page.rows.map(({ sort }) => sort)).toEqual(ordered.slice(offset, offset + 50));
          expect(page.hasMore).toBe(ordered.length > offset + 50);
          expect((await page.total()).count).toBe(ordered.length);
        },
      ),
      { numRuns: 40 },
    ));

  test('is empty for a short list, with the list’s exact total', async () => {
    const bounds = { from: startOf(5), to: endOf(5) };
    const page = await pageByCreation(
      TABLE,
      { ...list, ...bounds, descending: true, offset: 5_001 },
      { statuses: undefined },
    );
    expect(page).toMatchObject({ rows: [], hasMore: false, next: undefined });
    expect(await page.total()).toEqual({ count: 800, isExact: true });
  });

  test.each([
    { from: iso(NOON), to: undefined },
    { from: undefined, to: iso(NOON + 4 * DAY_MS) },
  ])('is refused if its list has bounds within a day, because the counters count whole days', async (bounds) => {
    const page = pageByCreation(
      TABLE,
      { ...list, ...bounds, descending: true, offset: 5_001 },
      { statuses: undefined },
    );
    await expect(page).rejects.toMatchObject({ code: 'UNSUPPORTED_FILTER' });
  });
});

test('the counts of a project’s days come from its counters', async () => {
  const { table } = memoryTable({ now: () => NOON });
  await table.put({ ...countKey('PROJECT#1#PAY', '2026-03-10'), n_created: 2, n_failed: 1 });
  await table.put({ ...countKey('PROJECT#1#PAY', '2026-03-11'), n_created: 4 });
  expect(await dayCounts(table, 'PROJECT#1#PAY', { to: '2026-03-10T23:59:59.999Z' })).toEqual([
    { day: '2026-03-10', byStatus: { created: 2, failed: 1 } },
  ]);
});

describe('the reply with a page', () => {
  test('has next_cursor even if the page is empty because its filter reached the read limit', () => {
    const found = { rows: [], hasMore: true, next: { pk: 'P#1', sk: 'P', sort: `${iso(NOON)}#1` } };
    const reply = paymentsReply([], found, {
      ...{ query: { page: 1, limit: 20 }, list: SCOPE, total: { count: 1, isExact: false }, next: undefined },
    });
    expect(reply).toMatchObject({ data: [], meta: { hasMore: true, next_cursor: expect.any(String) } });
  });
});
