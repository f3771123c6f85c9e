/** @module Sums per currency, from the summary routes. Amounts are in minor units. */

import type { SummaryRow } from '../api/types.ts';
import type { Summary, Rows as SummaryRows } from './read-summary.ts';

export interface Sum {
  readonly count: number;
  readonly cents: number;
}

export interface Figures {
  readonly succeeded: Sum;
  readonly failed: Sum;
  readonly refunded: Sum;
}

/** The figures of one day or week. */
export interface PeriodFigures extends Figures {
  /** The first day of the period, as YYYY-MM-DD. */
  readonly period: string;
}

const NOTHING: Sum = { count: 0, cents: 0 };
const NO_FIGURES: Figures = { succeeded: NOTHING, failed: NOTHING, refunded: NOTHING };

const plus = (one: Sum, count: number, cents: number): Sum => ({ count: one.count + count, cents: one.cents + cents });

const withSuccess = (before: Figures, row: SummaryRow): Figures => ({
  ...before,
  succeeded: plus(before.succeeded, row.count, row.amount_cents),
  refunded: plus(before.refunded, row.refunded_count, row.refunded_cents),
});

const withFailure = (before: Figures, row: SummaryRow): Figures => ({
  ...before,
  failed: plus(before.failed, row.count, row.amount_cents),
});

interface Rows {
  readonly successes: readonly SummaryRow[];
  readonly failures: readonly SummaryRow[];
}

const rowsOf = ({ bySuccess, byStatus }: SummaryRows, currency: string): Rows => ({
  successes: bySuccess.filter((row) => row.currency === currency),
  failures: byStatus.filter((row) => row.currency === currency && row.status === 'failed'),
});

export const totalsOf = (summary: SummaryRows, currency: string): Figures => {
  const { successes, failures } = rowsOf(summary, currency);
  return failures.reduce(withFailure, successes.reduce(withSuccess, NO_FIGURES));
};

/** One entry per period, including periods without payments. */
export const figuresByPeriod = (
  summary: Summary,
  currency: string,
  periods: readonly string[],
): readonly PeriodFigures[] => {
  const byPeriod = new Map<string, Figures>(periods.map((period) => [period, NO_FIGURES]));
  const { successes, failures } = rowsOf(summary, currency);
  for (const row of successes) byPeriod.set(row.period, withSuccess(byPeriod.get(row.period) ?? NO_FIGURES, row));
  for (const row of failures) byPeriod.set(row.period, withFailure(byPeriod.get(row.period) ?? NO_FIGURES, row));
  return [...byPeriod]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([period, figures]) => ({ period, ...figures }));
};

/** The share of succeeded payments among succeeded and failed payments; undefined if there are none of either. */
export const successRateOf = ({ byStatus }: Pick<SummaryRows, 'byStatus'>, currency: string): number | undefined => {
  const countOf = (status: SummaryRow['status']): number =>
    byStatus
      .filter((row) => row.currency === currency && row.status === status)
      .reduce((sum, row) => sum + row.count, 0);
  const [succeeded, failed] = [countOf('succeeded'), countOf('failed')];
  return succeeded + failed === 0 ? undefined : succeeded / (succeeded + failed);
};

/** The currencies of a summary, most frequent first. */
export const currenciesOf = ({ byStatus, bySuccess, all }: Summary): readonly string[] => {
  const counts = new Map<string, number>(all?.recurring.map(({ currency }) => [currency, 0]));
  for (const row of [...byStatus, ...bySuccess]) {
    counts.set(row.currency, (counts.get(row.currency) ?? 0) + row.count + row.refunded_count);
  }
  return [...counts].sort(([, one], [, other]) => other - one).map(([currency]) => currency);
};
