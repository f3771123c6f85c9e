/** @module Lists the refunds and disputes of one payment, or of all payments by month. */

import * as z from 'zod';
import { type Audience, audienceOf } from '../access/audience.ts';
import { DISPUTE_STATUSES, REFUND_STATUSES } from '../core/money-back.ts';
import { once } from '../core/once.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { iso } from '../core/time.ts';
import type { CsvPage } from '../http/csv.ts';
import { idParameter } from '../http/fields.ts';
import { cursorReply, runList, totalHeader, wholeNumberParameter } from '../http/paging.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { DISPUTE_COLUMNS, type Dispute, disputeOf, disputeView, disputeViewSchema } from '../payments/dispute.ts';
import { paymentRecord, type VisiblePayment } from '../payments/payment.ts';
import { REFUND_COLUMNS, type Refund, refundOf, refundView, refundViewSchema } from '../payments/refunds/refund.ts';
import { decodeCursor, encodeCursor } from '../platform/cursor.ts';
import type { Clause } from '../platform/expression.ts';
import { besidePayment, monthPartition } from '../platform/keys.ts';
import { type Cursor, type IndexRow, type ListQuery, listRows } from '../platform/listing.ts';
import type { Item, StoreDeps, Table } from '../platform/table.ts';
import { listCounted } from '../platform/totals.ts';
import { cursorParameter, moment } from './parameters.ts';
import { PAYER_COLUMNS, payerFields, payersOf } from './payers.ts';
import { datedCells, settlementCells } from './payment-csv.ts';

type Kind = 'RFD' | 'DSP';

/** More refunds or disputes than any payment has, because providers limit partial refunds. */
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

export const listRefundsOfPayment = (
  { table }: StoreDeps,
  { record, caller }: ForCaller<VisiblePayment>,
): Promise<Reply> => refundsOfPayment(table, record.id, audienceOf(caller));

export const refundsOfPayment = (table: Table, paymentId: string, audience: Audience): Promise<Reply> =>
  listOfPayment(table, paymentId, { kind: 'RFD', viewOf: (item) => refundView(refundOf(item), audience) });

export const listDisputesOfPayment = ({ table }: StoreDeps, { record }: OfPayment): Promise<Reply> =>
  listOfPayment(table, record.id, { kind: 'DSP', viewOf: (item) => disputeView(disputeOf(item)) });

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
    .describe('Records per page, 1 to 100; 25 if absent. It does not apply to CSV.'),
  cursor: cursorParameter,
};
export const listRefundsQuery = z.object({
  status: z.enum(REFUND_STATUSES).optional().describe('Only refunds in this status.'),
  provider_id: z.enum(PROVIDER_SLOTS).optional().describe('Only refunds of payments at this provider slot.'),
  payment_id: idParameter.describe('Only refunds of this payment.'),
  ...range,
});
export const listDisputesQuery = z.object({
  status: z.enum(DISPUTE_STATUSES).optional().describe('Only disputes in this status.'),
  provider_id: z.enum(PROVIDER_SLOTS).optional().describe('Only disputes of payments at this provider slot.'),
  payment_id: idParameter.describe('Only disputes of this payment.'),
  due_before: moment(true).describe(
    'Only disputes whose evidence is due by this time: a time, or a day in UTC (its last moment).',
  ),
  ...range,
});
type RangeQuery = z.output<typeof listRefundsQuery> | z.output<typeof listDisputesQuery>;

export const LISTED_REFUND_COLUMNS = [...REFUND_COLUMNS, ...PAYER_COLUMNS] as const;
export const LISTED_DISPUTE_COLUMNS = [...DISPUTE_COLUMNS, ...PAYER_COLUMNS] as const;

export const listedRefundSchema = /* @__PURE__ */ once(() =>
  refundViewSchema().extend(payerFields()).meta({
    id: 'ListedRefund',
    description: 'A refund in the list of all refunds, with the payer of its payment.',
  }),
);

export const listedDisputeSchema = /* @__PURE__ */ once(() =>
  disputeViewSchema().extend(payerFields()).meta({
    id: 'ListedDispute',
    description: 'A dispute in the list of all disputes, with the payer of its payment.',
  }),
);

/** The differences between refunds and disputes. */
interface MoneyBack<T extends Refund | Dispute> {
  readonly kind: Kind;
  readonly recordOf: (item: Item) => T;
  readonly viewOf: (record: T) => object;
  /** An additional filter. */
  readonly passes?: (record: T) => boolean;
}

const REFUNDS: MoneyBack<Refund> = {
  kind: 'RFD',
  recordOf: refundOf,
  viewOf: (refund) => refundView(refund, 'staff'),
};
const DISPUTES: MoneyBack<Dispute> = { kind: 'DSP', recordOf: disputeOf, viewOf: disputeView };

type CreatedRange = Pick<RangeQuery, 'limit' | 'from' | 'to' | 'cursor'>;

/** Refunds created in the query's range that pass the test, with their settlements. */
export const exportedRefunds = (
  deps: StoreDeps,
  { query, csvPage }: Pick<ApiRequest<unknown, CreatedRange>, 'query' | 'csvPage'>,
  passes: (refund: Refund) => boolean,
): Promise<Reply> => {
  const viewOf = (refund: Refund) => ({
    ...refundView(refund, 'staff'),
    ...{ ...settlementCells(refund), ...datedCells(refund) },
  });
  return listByMonth(deps, { query, csvPage }, { ...REFUNDS, viewOf, passes });
};

export const listRefunds = (deps: StoreDeps, request: InRange): Promise<Reply> => listByMonth(deps, request, REFUNDS);

export const listDisputes = (deps: StoreDeps, request: InRange): Promise<Reply> => listByMonth(deps, request, DISPUTES);

/** How many months a list without `from` goes back from its newest month. */
const MONTHS_BACK = 24;
/** How many months a list with `from` may go back at most. A month without records costs one read. */
const MOST_MONTHS_BACK = 240;

/** The months of the range, newest first, as YYYY-MM. */
const monthsOf = (query: RangeQuery, now: number): readonly string[] => {
  const last = new Date(Math.min(now, query.to === undefined ? now : Date.parse(query.to)));
  const months: string[] = [];
  const most = query.from === undefined ? MONTHS_BACK : MOST_MONTHS_BACK;
  for (let back = 0; back <= most; back += 1) {
    const month = iso(Date.UTC(last.getUTCFullYear(), last.getUTCMonth() - back)).slice(0, 'YYYY-MM'.length);
    if (query.from !== undefined && month < query.from.slice(0, month.length)) break;
    months.push(month);
  }
  return months;
};

/** The records of all payments, newest first. Each creation month has its own partition. */
const listByMonth = async <T extends Refund | Dispute>(
  { table, now }: StoreDeps,
  { query, csvPage }: InRange,
  { kind, recordOf, viewOf, passes }: MoneyBack<T>,
): Promise<Reply> =>
  runList(table, {
    findPage: () => pageByMonth({ table, now }, { ...query, ...positionOf(query, csvPage, kind) }, kind),
    recordOf: (item) => {
      const record = recordOf(item);
      return isAsked(record, query) && (passes?.(record) ?? true) ? record : undefined;
    },
    viewsOf: async (records) => {
      const payers = await payersOfPayments(table, records);
      return records.map((record, index) => ({ ...viewOf(record), ...payers[index] }));
    },
    replyOf: (views, { next }) => {
      const cursor = next && encodeCursor(next, listOf(query, kind));
      return {
        ...cursorReply(views, { limit: query.limit, cursor }),
        ...(cursor !== undefined && { more: { cursor } }),
      };
    },
  });

/** Items stored before the list had filters lack `f.p` and `f.e`, so their records decide about these filters. */
const filterOf = (query: RangeQuery): readonly Clause[] => [
  ...(query.status === undefined ? [] : [{ equals: ['f.s', query.status] } as const]),
  ...(query.provider_id === undefined
    ? []
    : [{ any: [{ equals: ['f.p', query.provider_id] }, { lacks: 'f.p' }] } as const]),
  ...(dueBeforeIn(query) === undefined
    ? []
    : [{ any: [{ atMost: ['f.e', dueBeforeIn(query) ?? ''] }, { lacks: 'f.p' }] } as const]),
];

const dueBeforeIn = (query: RangeQuery): string | undefined => ('due_before' in query ? query.due_before : undefined);

const isAsked = (record: Refund | Dispute, query: RangeQuery): boolean => {
  const dueBefore = dueBeforeIn(query);
  const due = 'evidenceDueBy' in record ? record.evidenceDueBy : undefined;
  return (
    (query.status === undefined || record.status === query.status) &&
    (query.provider_id === undefined || record.providerId === query.provider_id) &&
    (dueBefore === undefined || (due !== undefined && due <= dueBefore))
  );
};

/** The payers of the refunded or disputed payments. */
const payersOfPayments = async (table: Table, records: readonly (Refund | Dispute)[]) => {
  const items = await table.getMany(records.map(({ paymentId }) => paymentRecord.key(paymentId)));
  return payersOf(
    table,
    items.map((item) => item && paymentRecord.parse(item)),
  );
};

interface Position {
  readonly limit: number;
  readonly start: Cursor | undefined;
}

/** The name of the list in its cursors. The partitions of all months share one name. */
const listOf = ({ payment_id: paymentId }: RangeQuery, kind: Kind): string =>
  paymentId === undefined ? monthPartition('', kind) : besidePayment(paymentId, kind);

const positionOf = (query: RangeQuery, csvPage: CsvPage | undefined, kind: Kind): Position => {
  const { limit, cursor } = csvPage ?? query;
  const range = { list: listOf(query, kind), from: query.from, to: query.to };
  return { limit, start: cursor === undefined ? undefined : decodeCursor(cursor, range) };
};

/** The list's monthly partitions, newest first, or only the payment's partition. */
const partitionsOf = (query: RangeQuery, now: number, kind: Kind): readonly Pick<ListQuery, 'index' | 'partition'>[] =>
  query.payment_id === undefined
    ? monthsOf(query, now).map((month) => ({ index: 'project', partition: monthPartition(month, kind) }))
    : [{ index: 'owner', partition: besidePayment(query.payment_id, kind) }];

const pageByMonth = async ({ table, now }: StoreDeps, query: RangeQuery & Position, kind: Kind) => {
  const { start } = query;
  const partitions = partitionsOf(query, now(), kind);
  const first = start && query.payment_id === undefined ? monthPartition(monthOf(start), kind) : undefined;
  const left = partitions.filter(({ partition }) => first === undefined || partition <= first);
  const rows: IndexRow[] = [];
  for (const list of left) {
    const page = await listRows(table, {
      ...list,
      from: query.from,
      to: query.to,
      descending: true,
      filter: filterOf(query),
      offset: 0,
      limit: query.limit - rows.length,
      ...(list.partition === (first ?? list.partition) && { cursor: start }),
    });
    rows.push(...page.rows);
    if (page.next) return { rows, next: page.next };
    if (rows.length === query.limit) return { rows, next: list === left.at(-1) ? undefined : rows.at(-1) };
  }
  return { rows, next: undefined };
};

const monthOf = ({ sort }: Cursor): string => sort.slice(0, 'YYYY-MM'.length);
