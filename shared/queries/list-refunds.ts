/** @module Lists the refunds and disputes of one payment, and those of all payments month by month. */

import * as z from 'zod';
import { type Audience, audienceOf } from '../access/audience.ts';
import { DISPUTE_STATUSES, REFUND_STATUSES } from '../core/money-back.ts';
import { iso } from '../core/time.ts';
import type { CsvPage } from '../http/csv.ts';
import { runList, totalHeader, wholeNumberParameter } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { disputeOf, disputeView } from '../payments/dispute.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import { type Refund, refundOf, refundView } from '../payments/refunds/refund.ts';
import { decodeCursor, encodeCursor } from '../platform/cursor.ts';
import { besidePayment, monthPartition } from '../platform/keys.ts';
import { type Cursor, type IndexRow, listRows } from '../platform/listing.ts';
import type { Item, StoreDeps, Table } from '../platform/table.ts';
import { listCounted } from '../platform/totals.ts';
import { cursorParameter, moment } from './parameters.ts';

type Kind = 'RFD' | 'DSP';

/** More refunds or disputes than any payment has, because a provider limits partial refunds. */
const MAX_OF_PAYMENT = 1_000;

/** The refunds or disputes of one payment, newest first. */
const listOfPayment = async (
  table: Table,
  paymentId: string,
  { kind, viewOf }: { readonly kind: Kind; readonly viewOf: (item: Item) => unknown },
): Promise<Reply> =>
  runList(table, {
    findPage: () =>
      listCounted(table, {
        index: 'owner',
        partition: besidePayment(paymentId, kind),
        descending: true,
        filter: [],
        offset: 0,
        limit: MAX_OF_PAYMENT,
      }),
    recordOf: (item) => item,
    viewsOf: (items) => items.map(viewOf),
    replyOf: (views, _, total) => ({ data: views, ...totalHeader(total) }),
  });

type OfPayment = Pick<ApiRequest<unknown, unknown, unknown, VisiblePayment>, 'record'>;
type ForCaller<R> = Pick<ApiRequest<unknown, unknown, unknown, R>, 'record' | 'caller'>;
type InRange = Pick<ApiRequest<unknown, RangeQuery>, 'query' | 'csvPage'>;

const refundViewFor = (audience: Audience) => (item: Item) => refundView(refundOf(item), audience);
const disputeViewOf = (item: Item) => disputeView(disputeOf(item));

export const listRefundsOfPayment = (
  { table }: StoreDeps,
  { record, caller }: ForCaller<VisiblePayment>,
): Promise<Reply> => refundsOfPayment(table, record.id, audienceOf(caller));

export const refundsOfPayment = (table: Table, paymentId: string, audience: Audience): Promise<Reply> =>
  listOfPayment(table, paymentId, { kind: 'RFD', viewOf: refundViewFor(audience) });

export const listDisputesOfPayment = ({ table }: StoreDeps, { record }: OfPayment): Promise<Reply> =>
  listOfPayment(table, record.id, { kind: 'DSP', viewOf: disputeViewOf });

export const getRefund = async (_: StoreDeps, { record, caller }: ForCaller<Refund>): Promise<Reply> => ({
  data: refundView(record, audienceOf(caller)),
});

const MAX_LIMIT = 100;
const DEFAULT_LIMIT = 25;

const range = {
  from: moment(false).describe(
    'The earliest time of creation: a time, or a day in UTC (its first moment). 24 months ago if absent.',
  ),
  to: moment(true).describe('The latest time of creation: a time, or a day in UTC (its last moment). Now if absent.'),
  limit: wholeNumberParameter(1, MAX_LIMIT)
    .default(DEFAULT_LIMIT)
    .describe('How many records a page holds, 1 to 100; 25 if absent. It does not apply to CSV.'),
  cursor: cursorParameter,
};
export const listRefundsQuery = z.object({
  status: z.enum(REFUND_STATUSES).optional().describe('Only refunds in this status.'),
  ...range,
});
export const listDisputesQuery = z.object({
  status: z.enum(DISPUTE_STATUSES).optional().describe('Only disputes in this status.'),
  ...range,
});
type RangeQuery = z.output<typeof listRefundsQuery> | z.output<typeof listDisputesQuery>;

export const listRefunds = ({ table, now }: StoreDeps, request: InRange): Promise<Reply> =>
  listByMonth({ table, now }, request, { kind: 'RFD', viewOf: refundViewFor('staff') });

export const listDisputes = ({ table, now }: StoreDeps, request: InRange): Promise<Reply> =>
  listByMonth({ table, now }, request, { kind: 'DSP', viewOf: disputeViewOf });

/** Without `from`, a list goes this far back. */
const MONTHS_BACK = 24;

/** The months of the range, newest first, as YYYY-MM. */
const monthsOf = (query: RangeQuery, now: number): readonly string[] => {
  const last = new Date(Math.min(now, query.to === undefined ? now : Date.parse(query.to)));
  const months: string[] = [];
  for (let back = 0; back <= MONTHS_BACK; back += 1) {
    const month = iso(Date.UTC(last.getUTCFullYear(), last.getUTCMonth() - back)).slice(0, 'YYYY-MM'.length);
    if (query.from !== undefined && month < query.from.slice(0, month.length)) break;
    months.push(month);
  }
  return months;
};

/** The records of all payments, newest first. Each month of creation has its own partition. */
const listByMonth = async (
  { table, now }: StoreDeps,
  { query, csvPage }: InRange,
  { kind, viewOf }: { readonly kind: Kind; readonly viewOf: (item: Item) => unknown },
): Promise<Reply> =>
  runList(table, {
    findPage: () => pageByMonth({ table, now }, { ...query, ...positionOf(query, csvPage, kind) }, kind),
    recordOf: (item) => item,
    viewsOf: (items) => items.map(viewOf),
    replyOf: (views, { next }) => {
      const cursor = next && encodeCursor(next, listOf(kind));
      return {
        data: views,
        meta: { limit: query.limit, has_more: cursor !== undefined, next_cursor: cursor ?? null },
        ...(cursor !== undefined && { next: { limit: String(query.limit), cursor }, more: { cursor } }),
      };
    },
  });

interface Position {
  readonly limit: number;
  readonly start: Cursor | undefined;
}

/** One list name for the partitions of all months. */
const listOf = (kind: Kind): string => monthPartition('', kind);

const positionOf = (query: RangeQuery, csvPage: CsvPage | undefined, kind: Kind): Position => {
  const { limit, cursor } = csvPage ?? query;
  const range = { list: listOf(kind), from: query.from, to: query.to };
  return { limit, start: cursor === undefined ? undefined : decodeCursor(cursor, range) };
};

const pageByMonth = async ({ table, now }: StoreDeps, query: RangeQuery & Position, kind: Kind) => {
  const { start } = query;
  const first = start?.sort.slice(0, 'YYYY-MM'.length);
  const months = monthsOf(query, now()).filter((month) => first === undefined || month <= first);
  const rows: IndexRow[] = [];
  for (const month of months) {
    const page = await listRows(table, {
      index: 'project',
      partition: monthPartition(month, kind),
      from: query.from,
      to: query.to,
      descending: true,
      filter: query.status === undefined ? [] : [{ equals: ['f.s', query.status] }],
      offset: 0,
      limit: query.limit - rows.length,
      ...(month === first && { cursor: start }),
    });
    rows.push(...page.rows);
    if (page.next) return { rows, next: page.next };
    if (rows.length === query.limit) {
      const last = rows.at(-1);
      return { rows, next: month === months.at(-1) ? undefined : last };
    }
  }
  return { rows, next: undefined };
};
