/** @module Summaries from the sums that `project-changes` keeps. Summaries lag by moments and do not read payments. */

import * as z from 'zod';
import { DomainError, invalid } from '../core/errors.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { DAY_MS, type Instant, iso, utcDay } from '../core/time.ts';
import type { CsvPage } from '../http/csv.ts';
import { dayField, idParameter, organizationParameter } from '../http/fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { PAYMENT_STATUSES } from '../payments/payment.ts';
import { type AttributeSums, amountSum, type Group, NO_SUMS, sumNamed } from '../payments/summary-sums.ts';
import { ownerPartition, sumKey, sumRange } from '../platform/keys.ts';
import type { Item, StoreDeps, Table } from '../platform/table.ts';

const INTERVALS = ['day', 'week', 'month'] as const;
const GROUPS = ['currency', 'status', 'provider', 'method'] as const;

export const summaryQuery = z.object({
  from: dayField()
    .optional()
    .describe('The first UTC day, YYYY-MM-DD; 30 days before `to` if absent, at most 365 days before it.'),
  to: dayField().optional().describe('The last UTC day, which is included; today if absent.'),
  interval: z.enum(INTERVALS).default('day').describe('The length of the periods. Weeks begin on Monday.'),
  group_by: z
    .enum(GROUPS)
    .default('currency')
    .describe(
      '`status`: payments by the day of their creation, in their current status. `currency` and `provider`: succeeded payments by the day of their completion, refunds by the day they succeeded. `method`: succeeded payments by the day of their completion, with their refunds.',
    ),
});
export type SummaryQuery = z.output<typeof summaryQuery>;

export const ownerSummaryQuery = summaryQuery.extend({
  organization_id: organizationParameter.describe(
    "Sums up the payments of this organization, by default the session's. Empty means personal payments.",
  ),
  project_id: idParameter.describe(
    'Not supported, because no sums are kept per project. A request with this parameter gets 400.',
  ),
});
type OwnerSummaryQuery = z.output<typeof ownerSummaryQuery>;

/** The labels of a row, without its period. */
export const summaryGroupFields = {
  currency: z.string().describe('The ISO 4217 code of the amounts; each currency has rows of its own.'),
  status: z
    .enum(PAYMENT_STATUSES)
    .optional()
    .describe('The current status of the payments; only with `group_by=status`.'),
  provider_id: z.enum(PROVIDER_SLOTS).optional().describe('The provider slot; only with `group_by=provider`.'),
  method: z
    .string()
    .nullable()
    .optional()
    .describe(
      'The brand of a card, also of a card in a wallet (`visa`); `bank_account`; or the wallet that paid (`paypal`). Null while the provider has not reported the method. Only with `group_by=method`.',
    ),
};

export const summaryFigureFields = {
  count: z.int().describe('The number of payments in the row.'),
  amount_cents: z.int().describe('The sum of their totals, in minor units. A sum above 2^53 − 1 is rounded.'),
  refunded_count: z
    .int()
    .describe(
      "How many refunds succeeded in the period; with `group_by=status` or `method`, how many refunds of the row's payments.",
    ),
  refunded_cents: z.int().describe('The sum of these refunds, in minor units.'),
  lost_cents: z
    .int()
    .describe(
      "The sum of the disputes lost in the period, in minor units; with `group_by=status` or `method`, of the lost disputes of the row's payments.",
    ),
};

export const periodField = z.iso.date().describe('The first UTC day of the day, week (from Monday) or month.');

export const summaryRow = z
  .object({ period: periodField, ...summaryGroupFields, ...summaryFigureFields })
  .meta({ id: 'SummaryRow', description: 'Payments and refunds of one period in one currency.' });
type SummaryRow = z.output<typeof summaryRow>;

export const SUMMARY_COLUMNS = [
  'period',
  'currency',
  'status',
  'provider_id',
  'count',
  'amount_cents',
  'refunded_count',
  'refunded_cents',
  'method',
  'lost_cents',
] as const satisfies readonly (keyof SummaryRow)[];

export const ownerSummary = async (
  { table, now }: StoreDeps,
  { owner, query, csvPage }: ApiRequest<unknown, OwnerSummaryQuery>,
): Promise<Reply> => {
  if (!owner) throw new DomainError('AUTHENTICATION_REQUIRED');
  if (query.project_id !== undefined) {
    throw new DomainError('UNSUPPORTED_FILTER', { message: 'summaries have no project_id' });
  }
  const range = summaryRangeOf(query, now());
  const items = await sumsOf(table, [ownerPartition(owner, 'PAY')], range);
  const rows = rowsOf(items, query).map(({ labels, sums }) => ({ ...labels, ...figuresOf(sums) }));
  return csvPage ? csvRows(rows, csvPage) : { data: bounded(rows), meta: metaOf(range, query) };
};

/** One CSV page of a summary. */
export const csvRows = (rows: readonly unknown[], { before, limit }: CsvPage): Reply => {
  const end = before + limit;
  return { data: rows.slice(before, end), ...(rows.length > end && { more: 'rows' }) };
};

const MAX_JSON_ROWS = 10_000;

/** @throws DomainError UNSUPPORTED_FILTER if the response would be too large */
export const bounded = <Row>(rows: readonly Row[]): readonly Row[] => {
  if (rows.length <= MAX_JSON_ROWS) return rows;
  const message = `The summary has over ${MAX_JSON_ROWS} rows; narrow from and to, or choose a longer interval`;
  throw new DomainError('UNSUPPORTED_FILTER', { message });
};

export const metaOf = (range: SummaryRange, { interval, group_by }: SummaryQuery) => ({ ...range, interval, group_by });

const DEFAULT_DAYS = 31;
const MAX_DAYS = 366;

export interface SummaryRange {
  readonly from: string;
  readonly to: string;
}

/** The days of the summary, inclusive. By default 31 days that end on `to`, or today without `to`. */
export const summaryRangeOf = (query: SummaryQuery, now: Instant): SummaryRange => {
  const to = query.to ?? laterOf(utcDay(iso(now)), query.from);
  const from = query.from ?? dayBefore(to, DEFAULT_DAYS - 1);
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  if (days < 1) throw invalid([{ path: 'to', rule: 'range', message: 'must not be before from' }]);
  if (days > MAX_DAYS) {
    throw invalid([{ path: 'from', rule: 'range', message: `must be at most ${MAX_DAYS - 1} days before to` }]);
  }
  return { from, to };
};

const laterOf = (one: string, other = ''): string => (one > other ? one : other);

export const dayBefore = (day: string, days: number): string => utcDay(iso(Date.parse(day) - days * DAY_MS));

/** The sums of the days in the range. */
export const sumsOf = async (
  table: Table,
  scopes: readonly string[],
  { from, to }: { readonly from: string; readonly to?: string | undefined },
): Promise<readonly Item[]> => {
  const lists = scopes.map(async (scope) => {
    const items: Item[] = [];
    const partition = sumKey(scope, '', '').pk;
    for await (const item of table.eachItem({ partition, ...sumRange(from, to) })) items.push(item);
    return items;
  });
  return (await Promise.all(lists)).flat();
};

/** The day and currency of a sums item. */
export const placeOf = (item: Item): { readonly day: string; readonly currency: string } => {
  const [day = '', currency = ''] = String(item['sk']).split('#');
  return { day, currency };
};

export interface SummedRow {
  /** Combines period, currency and group value. */
  readonly key: string;
  readonly labels: ReturnType<typeof labelsOf>;
  readonly sums: Readonly<AttributeSums>;
}

/**
 * One row per period, currency and group, in this order. Omits empty rows.
 * @param periodAt the period of a day; by default the query's interval decides
 */
export const rowsOf = (
  items: readonly Item[],
  query: SummaryQuery,
  periodAt = (day: string): string => periodOf(day, query.interval),
): readonly SummedRow[] => {
  const totals = new Map<string, AttributeSums>();
  for (const item of items) {
    const { day, currency } = placeOf(item);
    const period = periodAt(day);
    for (const [name, by] of Object.entries(item)) {
      const sum = sumNamed(name);
      if (!sum || typeof by !== 'number' || sum.group !== groupOf(query)) continue;
      const key = [period, currency, ...(query.group_by === 'currency' ? [] : [sum.value])].join('#');
      const row = totals.get(key) ?? { ...NO_SUMS };
      row[sum.attribute] += by;
      totals.set(key, row);
    }
  }
  return [...totals]
    .filter(([, { count, refunds, lost }]) => count > 0 || refunds > 0 || lost > 0)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, sums]) => ({ key, labels: labelsOf(key, query), sums }));
};

export const figuresOf = (sums: AttributeSums) => ({
  count: sums.count,
  amount_cents: amountSum('cents', sums),
  refunded_count: sums.refunds,
  refunded_cents: amountSum('refunded', sums),
  lost_cents: amountSum('lost', sums),
});

const groupOf = ({ group_by }: SummaryQuery): Group => (group_by === 'currency' ? 'provider' : group_by);

const labelsOf = (key: string, { group_by }: SummaryQuery) => {
  const [period = '', currency = '', value] = key.split('#');
  const status = PAYMENT_STATUSES.find((known) => group_by === 'status' && known === value);
  const provider = PROVIDER_SLOTS.find((known) => group_by === 'provider' && known === value);
  return {
    period,
    currency,
    ...(status && { status }),
    ...(provider && { provider_id: provider }),
    ...(group_by === 'method' && { method: value || null }),
  };
};

const DAYS_OF_WEEK = 7;

/** The first day of the period. A week begins on Monday (ISO 8601). */
export const periodOf = (day: string, interval: SummaryQuery['interval']): string => {
  switch (interval) {
    case 'day':
      return day;
    case 'week':
      return dayBefore(day, (new Date(day).getUTCDay() + DAYS_OF_WEEK - 1) % DAYS_OF_WEEK);
    case 'month':
      return `${day.slice(0, 'YYYY-MM'.length)}-01`;
  }
};
