/**
 * @module The summary of all payments. In addition to the rows of an owner's summary, it shows first payments of
 * payers, and fees and net by settlement currency. Its `meta` compares the totals with the previous period and shows
 * recurring revenue. Reads only sums, so the cost does not depend on the number of records.
 */

import * as z from 'zod';
import { DAY_MS } from '../core/time.ts';
import type { ApiRequest, Reply } from '../http/request.ts';
import { type AttributeSums, amountSum, NO_SUMS, sumNamed } from '../payments/summary-sums.ts';
import { allScopes, PRESENT_SUMS, subscriptionScopes } from '../platform/keys.ts';
import type { Item, StoreDeps, Table } from '../platform/table.ts';
import { recurringSums } from '../subscriptions/record/subscription-sums.ts';
import { summaryMeta } from './list-meta.ts';
import {
  bounded,
  csvRows,
  dayBefore,
  figuresOf,
  metaOf,
  periodField,
  periodOf,
  placeOf,
  rowsOf,
  SUMMARY_COLUMNS,
  type SummaryQuery,
  type SummaryRange,
  type SummedRow,
  summaryFigureFields,
  summaryGroupFields,
  summaryRangeOf,
  summaryRow,
  sumsOf,
} from './payment-summary.ts';

const BY_CURRENCY = 'Only with `group_by=currency`.';

const settlementsField = z.array(
  z
    .object({
      currency: z.string().describe('The currency that you receive.'),
      fee_cents: z.int().describe("The provider's fees, in minor units; negative if it gives back more."),
      net_cents: z
        .int()
        .describe(
          'Payments less fees, refunds and lost disputes, in minor units. Without a known settlement, a payment or refund counts with its own amount, currency and no fee.',
        ),
    })
    .meta({ id: 'SettledSum', description: 'Fees and net in one settlement currency, in its minor units.' }),
);

const paidFields = {
  ...summaryFigureFields,
  new_payers: z
    .int()
    .optional()
    .describe(`How many users, organizations and guests (by e-mail address) paid for the first time. ${BY_CURRENCY}`),
  settlements: settlementsField.optional().describe(`Fees and net, one entry per settlement currency. ${BY_CURRENCY}`),
};

export const everySummaryRow = summaryRow
  .extend(paidFields)
  .meta({ id: 'EverySummaryRow', description: 'Payments and refunds of all owners in one period and currency.' });
type EverySummaryRow = z.output<typeof everySummaryRow>;

const recurringFields = {
  mrr_cents: z
    .int()
    .describe(
      'The totals of active and past due subscriptions per month, in minor units: yearly / 12, quarterly / 3, weekly × 52 / 12, daily × 365 / 12, each divided by interval_multiplier; rounded half up once.',
    ),
  active_subscriptions: z.int().describe('How many subscriptions are active.'),
  past_due_subscriptions: z.int().describe('How many subscriptions are past due.'),
};

const totalFields = {
  ...paidFields,
  mrr_cents: recurringFields.mrr_cents.optional(),
  active_subscriptions: recurringFields.active_subscriptions.optional(),
  past_due_subscriptions: recurringFields.past_due_subscriptions.optional(),
};

export const everySummaryMeta = summaryMeta
  .extend({
    before: z
      .object({
        from: z.iso.date().describe('The first UTC day of the previous period.'),
        to: z.iso.date().describe('The last UTC day of the previous period, the day before `from`.'),
      })
      .describe('The previous period, with as many days as the range.'),
    totals: z
      .array(
        z
          .object({
            ...summaryGroupFields,
            ...totalFields,
            before: z.object(totalFields).describe('The same figures for the previous period.'),
          })
          .meta({ id: 'SummaryTotal', description: 'The whole range in one currency, with the previous period.' }),
      )
      .describe(
        'One entry per currency and group. Recurring revenue and subscriptions are those at the end of the range.',
      ),
    subscriptions: z
      .array(
        z
          .object({ period: periodField, currency: summaryGroupFields.currency, ...recurringFields })
          .meta({ id: 'RecurringRevenue', description: 'Subscriptions in one currency at the end of a period.' }),
      )
      .optional()
      .describe(`Recurring revenue at the end of each period, or now if the period has not ended. ${BY_CURRENCY}`),
  })
  .describe('The range and grouping of the rows, totals of the range and the previous period, and recurring revenue.');

export const EVERY_SUMMARY_COLUMNS = [
  ...SUMMARY_COLUMNS,
  'new_payers',
  'settlements',
] as const satisfies readonly (keyof EverySummaryRow)[];

export const summaryOfAll = async (
  { table, now }: StoreDeps,
  { query, csvPage }: ApiRequest<unknown, SummaryQuery>,
): Promise<Reply> => {
  const range = summaryRangeOf(query, now());
  if (csvPage) {
    const rows = everyRow(await sumsOf(table, allScopes, range), query);
    return csvRows(rows.map(inCsv), csvPage);
  }
  const before = periodBefore(range);
  const [items, recurring] = await Promise.all([
    sumsOf(table, allScopes, { from: before.from, to: range.to }),
    query.group_by === 'currency' ? recurringOver(table, range, query.interval) : undefined,
  ]);
  const rows = everyRow(
    items.filter((item) => placeOf(item).day >= range.from),
    query,
  );
  return {
    data: bounded(rows),
    meta: {
      ...metaOf(range, query),
      before,
      totals: totalsOf(items, { query, range, recurring }),
      ...(recurring && { subscriptions: recurring.periods }),
    },
  };
};

const periodBefore = ({ from, to }: SummaryRange): SummaryRange => {
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1;
  return { from: dayBefore(from, days), to: dayBefore(from, 1) };
};

type PeriodAt = (day: string) => string;

const everyRow = (items: readonly Item[], query: SummaryQuery, periodAt?: PeriodAt): readonly EverySummaryRow[] => {
  const rows = rowsOf(items, query, periodAt);
  if (query.group_by !== 'currency') return rows.map(({ labels, sums }) => ({ ...labels, ...figuresOf(sums) }));
  const settled = settledOf(items, periodAt ?? ((day) => periodOf(day, query.interval)));
  return rows.map((row) => ({ ...row.labels, ...figuresOf(row.sums), ...paidIn(row, settled) }));
};

const paidIn = ({ key, sums }: SummedRow, settled: ReturnType<typeof settledOf>) => ({
  new_payers: sums.payers,
  settlements: [...(settled.get(key) ?? [])]
    .map(([currency, of]) => ({ currency, fee_cents: amountSum('fee', of), net_cents: amountSum('net', of) }))
    .filter(({ fee_cents, net_cents }) => fee_cents !== 0 || net_cents !== 0)
    .sort((one, other) => (one.currency < other.currency ? -1 : 1)),
});

/** The sums by settlement currency, for each row's period and currency. */
const settledOf = (items: readonly Item[], periodAt: PeriodAt): ReadonlyMap<string, Map<string, AttributeSums>> => {
  const rows = new Map<string, Map<string, AttributeSums>>();
  for (const item of items) {
    const { day, currency } = placeOf(item);
    const key = [periodAt(day), currency].join('#');
    const row = rows.get(key) ?? new Map<string, AttributeSums>();
    rows.set(key, row);
    for (const [name, by] of Object.entries(item)) {
      const sum = sumNamed(name);
      if (sum?.group !== 'settled' || typeof by !== 'number') continue;
      const sums = row.get(sum.value) ?? { ...NO_SUMS };
      sums[sum.attribute] += by;
      row.set(sum.value, sums);
    }
  }
  return rows;
};

const inCsv = ({ settlements, ...row }: EverySummaryRow) => ({
  ...row,
  settlements: settlements
    ?.map(({ currency, fee_cents, net_cents }) => `${currency} fee=${fee_cents} net=${net_cents}`)
    .join('; '),
});

type Recurring = ReturnType<ReturnType<typeof recurringSums>['figures']>;

interface RecurringRange {
  readonly periods: readonly ({ readonly period: string; readonly currency: string } & Recurring)[];
  /** The revenue at the start of the range, by currency. */
  readonly atStart: ReadonlyMap<string, Recurring>;
  readonly atEnd: ReadonlyMap<string, Recurring>;
}

/**
 * The recurring revenue at the start of the range, at its end and in each period. Starts at the current sums and
 * subtracts day by day, so the cost depends only on the days since `from`.
 */
const recurringOver = async (
  table: Table,
  { from, to }: SummaryRange,
  interval: SummaryQuery['interval'],
): Promise<RecurringRange> => {
  const items = await sumsOf(table, subscriptionScopes, { from });
  const byCurrency = Map.groupBy(items, (item) => placeOf(item).currency);
  const days = daysOf({ from, to });
  const periods: RecurringRange['periods'][number][] = [];
  const [atStart, atEnd] = [new Map<string, Recurring>(), new Map<string, Recurring>()];
  for (const [currency, own] of [...byCurrency].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const byDay = Map.groupBy(own, (item) => placeOf(item).day);
    const sums = recurringSums();
    for (const item of byDay.get(PRESENT_SUMS) ?? []) sums.add(item, 1);
    const takeOut = (day: string): void => {
      for (const item of byDay.get(day) ?? []) sums.add(item, -1);
    };
    for (const day of byDay.keys()) if (day > to && day !== PRESENT_SUMS) takeOut(day);
    atEnd.set(currency, sums.figures());
    const found = new Map<string, Recurring>();
    for (const day of days.toReversed()) {
      const period = periodOf(day, interval);
      if (!found.has(period)) found.set(period, sums.figures());
      takeOut(day);
    }
    atStart.set(currency, sums.figures());
    const counting = [...found].toReversed().filter(([, figures]) => counts(figures));
    periods.push(...counting.map(([period, figures]) => ({ period, currency, ...figures })));
  }
  return { periods, atStart, atEnd };
};

const counts = ({
  mrr_cents: mrr,
  active_subscriptions: active,
  past_due_subscriptions: pastDue,
}: Recurring): boolean => mrr !== 0 || active !== 0 || pastDue !== 0;

const daysOf = ({ from, to }: SummaryRange): readonly string[] => {
  const days: string[] = [];
  for (let day = from; day <= to; day = dayBefore(day, -1)) days.push(day);
  return days;
};

interface TotalsOver {
  readonly query: SummaryQuery;
  readonly range: SummaryRange;
  readonly recurring: RecurringRange | undefined;
}

const NOW = 'now';
const EARLIER = 'earlier';
/** The period of a row without payments, which shows a currency that has subscriptions. */
const IDLE = 'idle';

/** Totals of the range and of the previous period, computed as rows of two long periods. */
const totalsOf = (items: readonly Item[], { query, range, recurring }: TotalsOver) => {
  const rows = everyRow(items, query, (day) => (day >= range.from ? NOW : EARLIER));
  const labelled = rows.map(({ period, currency, status, provider_id, method, ...figures }) => ({
    period,
    labels: {
      currency,
      ...(status && { status }),
      ...(provider_id && { provider_id }),
      ...(method !== undefined && { method }),
    },
    figures,
  }));
  const idle = [...(recurring ? [recurring.atStart, recurring.atEnd] : [])].flatMap((sums) =>
    [...sums].flatMap(([currency, figures]) =>
      counts(figures) ? [{ period: IDLE, labels: { currency }, figures: NO_FIGURES }] : [],
    ),
  );
  const groups = Map.groupBy([...labelled, ...idle], ({ labels }) => JSON.stringify(labels));
  return [...groups]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([, found]) => {
      const [first] = found;
      if (!first) return [];
      const { currency } = first.labels;
      const nothing = recurring ? NO_FIGURES : NO_COUNTS;
      const figuresIn = (period: string) => found.find((row) => row.period === period)?.figures ?? nothing;
      return [
        {
          ...first.labels,
          ...figuresIn(NOW),
          ...(recurring && (recurring.atEnd.get(currency) ?? NO_RECURRING)),
          before: { ...figuresIn(EARLIER), ...(recurring && (recurring.atStart.get(currency) ?? NO_RECURRING)) },
        },
      ];
    });
};

const NO_COUNTS = figuresOf(NO_SUMS);
const NO_FIGURES = { ...NO_COUNTS, new_payers: 0, settlements: [] };
const NO_RECURRING: Recurring = { mrr_cents: 0, active_subscriptions: 0, past_due_subscriptions: 0 };
