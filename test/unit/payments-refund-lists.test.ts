/** @module The list of all refunds, stored in one partition per month. */
import { describe, expect, test } from 'vitest';
import { DAY_MS, iso, MINUTE_MS } from '../../shared/core/time.ts';
import { type Refund, refundShape } from '../../shared/payments/refunds/refund.ts';
import { keyOf } from '../../shared/platform/keys.ts';
import type { IndexQuery, Item, Table } from '../../shared/platform/table.ts';
import { recordItem } from '../../shared/platform/versioned-record.ts';
import { listRefunds } from '../../shared/queries/list-refunds.ts';
import { apiRequest } from '../builders/api-request.ts';
import { memoryTable } from '../builders/memory-table.ts';
import { NOON } from '../builders/payment.ts';
import { present } from '../builders/present.ts';

const PER_DAY = 15;
const DAYS = 90;
/** The rows that one request reads without a limit. A filtered page reads 200 rows and then three such requests. */
const PER_REQUEST = 50;

/** 1,350 refunds over three months, with one failed refund. */
const refunds = Array.from(
  { length: PER_DAY * DAYS },
  (_, number): Refund => ({
    ...{ id: `rfd_${String(number).padStart(24, '0')}`, version: 1, paymentId: 'pay_1', amountCents: 100 },
    ...{
      createdAt: iso(NOON - Math.floor(number / PER_DAY) * DAY_MS - (number % PER_DAY) * MINUTE_MS),
      updatedAt: iso(NOON),
    },
    ...{ currency: 'USD', source: 'api', providerId: 'provider_a', userId: 'user_1' },
    status: number === 1_000 ? 'failed' : 'succeeded',
  }),
);

const tableOf = (items: readonly Item[]): Table => {
  const byKey = new Map(items.map((item) => [`${item['pk']} ${item['sk']}`, item]));
  const newestFirst = items.toSorted((one, other) => (`${one['sort']}` < `${other['sort']}` ? 1 : -1));
  return {
    ...memoryTable({ now: () => NOON }).table,
    getMany: async (keys) => keys.map(({ pk, sk }) => byKey.get(`${pk} ${sk}`)),
    queryIndex: async ({ index, partition, after, limit = PER_REQUEST, filter = [] }: IndexQuery) => {
      const rows = newestFirst.filter((item) => item[index] === partition);
      const start = after === undefined ? 0 : rows.findIndex(({ sort }) => sort === after['sort']) + 1;
      const read = rows.slice(start, start + limit);
      const last = read.at(-1);
      return {
        items: read.filter(({ f }) => filter.length === 0 || (f as { s?: unknown }).s === 'failed'),
        next: last && start + read.length < rows.length ? { ...keyOf(last), sort: last['sort'] } : undefined,
      };
    },
  };
};

interface Body {
  readonly data: readonly { readonly id: string }[];
  readonly meta: { readonly has_more: boolean; readonly next_cursor: string | null };
}

/** Follows `next_cursor` to the end. */
const followed = async (table: Table, query: object) => {
  const shown: string[] = [];
  let emptyPages = 0;
  let cursor: string | undefined;
  do {
    const request = apiRequest({ query: { limit: 25, ...query, ...(cursor && { cursor }) } });
    const { data, meta } = (await listRefunds(
      { table, now: () => NOON },
      request as Parameters<typeof listRefunds>[1],
    )) as Body;
    shown.push(...data.map(({ id }) => id));
    if (data.length === 0) emptyPages += 1;
    expect(meta.has_more).toBe(meta.next_cursor !== null);
    cursor = meta.next_cursor ?? undefined;
  } while (cursor !== undefined);
  return { shown, emptyPages };
};

describe('the list of all refunds', () => {
  const table = tableOf(refunds.map((refund) => recordItem(refundShape, refund)));

  test('shows each refund once, over all months', async () => {
    expect((await followed(table, {})).shown).toEqual(refunds.map(({ id }) => id));
  });

  test('goes back 24 months, or to an earlier `from`', async () => {
    const months = [0, 10, 24, 25, 40, 100].map((back) => new Date(Date.UTC(2026, 2 - back, 1, 11)));
    const dated = months.map(
      (at, number): Refund => ({
        ...present(refunds[0]),
        id: `rfd_${String(number).padStart(24, '1')}`,
        createdAt: at.toISOString(),
      }),
    );
    const old = tableOf(dated.map((refund) => recordItem(refundShape, refund)));
    const ids = dated.map(({ id }) => id);
    expect((await followed(old, {})).shown).toEqual(ids.slice(0, 3));
    expect((await followed(old, { from: iso(Date.UTC(2010, 0, 1)) })).shown).toEqual(ids);
    expect((await followed(old, { limit: 2, from: iso(Date.UTC(2022, 0, 1)) })).shown).toEqual(ids.slice(0, 5));
  });

  test('continues after pages that reached their read limit without a match', async () => {
    const { shown, emptyPages } = await followed(table, { status: 'failed' });
    expect(shown).toEqual(refunds.filter(({ status }) => status === 'failed').map(({ id }) => id));
    expect(emptyPages).toBeGreaterThan(0);
  });
});
