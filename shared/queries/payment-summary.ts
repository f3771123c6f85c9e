/** @module Summaries from the sums that `project-changes` keeps. They lag by moments and read no payment. */

import * as z from 'zod';
import { DomainError, invalid } from '../core/errors.ts';
import { PROVIDER_SLOTS } from '../core/settings.ts';
import { DAY_MS, type Instant, iso, utcDay } from '../core/time.ts';
import { dayField, idParameter, organizationParameter } from '../http/fields.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { PAYMENT_STATUSES } from '../payments/payment.ts';
import { type AttributeSums, amountSum, type Group, NO_SUMS, sumNamed } from '../payments/summary-sums.ts';
import { allScopes, ownerPartition, sumKey, sumRange } from '../platform/keys.ts';
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
      '`status`: payments by the day of their creation, in their present status. `currency` and `provider`: succeeded payments by the day of their completion, refunds by the day they succeeded. `method`: succeeded payments by the day of their completion, with their refunds.',
    ),
});
type SummaryQuery = z.output<typeof summaryQuery>;

export const ownerSummaryQuery = summaryQuery.extend({
  organization_id: organizationParameter.describe(
    "The organization whose payments to sum up; the session's organization if absent. Empty means personal payments.",
  ),
  project_id: idParameter.describe(
    'Not supported, because no sums are kept per project. A request with this parameter gets 400.',
  ),
});
type OwnerSummaryQuery = z.output<typeof ownerSummaryQuery>;

export const summaryRows = z.array(
  z
    .object({
      period: z.iso.date().describe('The first UTC day of the day, week (from Monday) or month.'),
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
      count: z.int().describe('How many payments the row counts.'),
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
    })
    .meta({ id: 'SummaryRow', description: 'Payments and refunds of one period in one currency.' }),
);
type SummaryRow = z.output<typeof summaryRows>[number];

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
  deps: StoreDeps,
  request: ApiRequest<unknown, OwnerSummaryQuery>,
): Promise<Reply> => {
  if (!request.owner) throw new DomainError('AUTHENTICATION_REQUIRED');
  if (request.query.project_id !== undefined) {
    throw new DomainError('UNSUPPORTED_FILTER', { message: 'summaries have no project_id' });
  }
  return summaryOf(deps, [ownerPartition(request.owner, 'PAY')], request);
};

export const summaryOfAll = (deps: StoreDeps, request: ApiRequest<unknown, SummaryQuery>): Promise<Reply> =>
  summaryOf(deps, allScopes, request);

const MAX_JSON_ROWS = 10_000;

const summaryOf = async (
  { table, now }: StoreDeps,
  scopes: readonly string[],
  { query, csvPage }: ApiRequest<unknown, SummaryQuery>,
): Promise<Reply> => {
  const { interval, group_by } = query;
  const range = rangeOf(query, now());
  const items = await Promise.all(scopes.map((scope) => sumsOf(table, scope, range)));
  const rows = rowsOf(items.flat(), query);
  if (csvPage) {
    const end = csvPage.before + csvPage.limit;
    return { data: rows.slice(csvPage.before, end), ...(rows.length > end && { more: 'rows' }) };
  }
  if (rows.length > MAX_JSON_ROWS) {
    const message = `The summary has over ${MAX_JSON_ROWS} rows; narrow from and to, or choose a longer interval`;
    throw new DomainError('UNSUPPORTED_FILTER', { message });
  }
  return { data: rows, meta: { ...range, interval, group_by } };
};

const DEFAULT_DAYS = 31;
const MAX_DAYS = 366;

interface Range {
  readonly from: string;
  readonly to: string;
}

/** Both days are included. By default the range is 31 days long and ends on `to`, or today without `to`. */
const rangeOf = (query: SummaryQuery, now: Instant): Range => {
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

const dayBefore = (day: string, days: number): string => utcDay(iso(Date.parse(day) - days * DAY_MS));

const sumsOf = async (table: Table, scope: string, { from, to }: Range): Promise<readonly Item[]> => {
  const items: Item[] = [];
  const partition = sumKey(scope, '', '').pk;
  for await (const item of table.eachItem({ partition, ...sumRange(from, to) })) items.push(item);
  return items;
};

/** One row per period, currency and group, in this order. Rows that count nothing are left out. */
const rowsOf = (items: readonly Item[], query: SummaryQuery): readonly SummaryRow[] => {
  const totals = new Map<string, AttributeSums>();
  for (const item of items) {
    const [day = '', currency = ''] = String(item['sk']).split('#');
    const period = periodOf(day, query.interval);
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
    .map(([key, sums]) => ({
      ...labelsOf(key, query),
      count: sums.count,
      amount_cents: amountSum('cents', sums),
      refunded_count: sums.refunds,
      refunded_cents: amountSum('refunded', sums),
      lost_cents: amountSum('lost', sums),
    }));
};

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

/** The first day of the day's period. A week begins on Monday (ISO 8601). */
const periodOf = (day: string, interval: SummaryQuery['interval']): string => {
  switch (interval) {
    case 'day':
      return day;
    case 'week':
      return dayBefore(day, (new Date(day).getUTCDay() + DAYS_OF_WEEK - 1) % DAYS_OF_WEEK);
    case 'month':
      return `${day.slice(0, 'YYYY-MM'.length)}-01`;
  }
};
