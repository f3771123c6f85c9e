/** @module The figures of one currency, with their trend and the preceding period. */

import type { SummaryRow } from '../api/types.ts';
import { count, percent } from '../view/format.ts';
import { Money } from '../view/parts.tsx';
import { withQuery } from '../view/route.tsx';
import { type PeriodFigures, type Sum, successRateOf, totalsOf } from './figures.ts';
import type { Range } from './range.ts';
import { isOfAll, type Summary } from './read-summary.ts';
import { Change, Tile } from './tile.tsx';

export const SUCCESS_RATE_NOTE = 'of payments created in the range that succeeded or failed';

interface TilesProps {
  readonly summary: Summary;
  readonly range: Range;
  readonly currency: string;
  readonly figures: readonly PeriodFigures[];
}

export const Tiles = (props: TilesProps) => {
  const { summary, range, currency, figures } = props;
  const [now, before] = [totalsOf(summary, currency), totalsOf(summary.before, currency)];
  const [rate, rateBefore] = [successRateOf(summary, currency), successRateOf(summary.before, currency)];
  const failures = withQuery(
    '/payments',
    new URLSearchParams({ status: 'failed', currency, from: range.from, to: range.to }),
  );
  const sums = { currency, figures };
  return (
    <dl class="tiles">
      <SumTile {...sums} name={isOfAll() ? 'Gross' : 'Succeeded'} of="succeeded" now={now} before={before} />
      {summary.all && <NetTile {...props} />}
      <SumTile {...sums} name="Refunded" of="refunded" now={now} before={before} unit="refund" isRiseBad={true} />
      <SumTile
        {...sums}
        name="Failed"
        of="failed"
        now={now}
        before={before}
        isRiseBad={true}
        to={isOfAll() ? failures : undefined}
      />
      <Tile
        name="Success rate"
        note={SUCCESS_RATE_NOTE}
        course={figures.map(({ period }) => rateIn(summary, currency, period))}
        change={
          <Change now={rate} before={rateBefore} beforeText={rateBefore === undefined ? '–' : percent(rateBefore)} />
        }
      >
        {rate === undefined ? '–' : percent(rate)}
      </Tile>
      {summary.all && <RecurringTiles {...props} />}
    </dl>
  );
};

const rateIn = ({ byStatus }: Summary, currency: string, period: string): number | undefined =>
  successRateOf({ byStatus: byStatus.filter((row) => row.period === period) }, currency);

interface SumTileProps extends Pick<TilesProps, 'currency' | 'figures'> {
  readonly name: string;
  readonly of: 'succeeded' | 'failed' | 'refunded';
  readonly now: Readonly<Record<SumTileProps['of'], Sum>>;
  readonly before: SumTileProps['now'];
  readonly to?: string | undefined;
  readonly unit?: string;
  readonly isRiseBad?: boolean;
}

const SumTile = (props: SumTileProps) => {
  const { name, of, now, before, currency, figures, to, unit = 'payment', isRiseBad = false } = props;
  const sum = now[of];
  return (
    <Tile
      name={name}
      note={`${count(sum.count)} ${unit}${sum.count === 1 ? '' : 's'}`}
      to={to}
      course={figures.map((one) => one[of].cents)}
      change={
        <Change
          now={sum.cents}
          before={before[of].cents}
          beforeText={<Money cents={before[of].cents} currency={currency} />}
          isRiseBad={isRiseBad}
        />
      }
    >
      <Money cents={sum.cents} currency={currency} />
    </Tile>
  );
};

type Settled = NonNullable<SummaryRow['settlements']>[number];

/** The net amounts. The sum in the payment currency is first. Other settlement currencies follow in separate lines. */
const NetTile = ({ summary, currency, figures }: TilesProps) => {
  const total = summary.all?.totals.find((one) => one.currency === currency);
  const settled = total?.settlements ?? [];
  const shown = settled.find((one) => one.currency === currency)?.currency ?? settled[0]?.currency ?? currency;
  const [now, before] = [netIn(settled, shown), netIn(total?.before.settlements, shown)];
  const rows = summary.bySuccess.filter((row) => row.currency === currency);
  const course = figures.map(
    ({ period }) => netIn(rows.find((row) => row.period === period)?.settlements, shown).net_cents,
  );
  const others = settled.filter((one) => one.currency !== shown);
  return (
    <Tile
      name="Net"
      course={course}
      note={
        <>
          <Fees of={now} />
          {others.map((other) => (
            <span key={other.currency} class="own-line">
              <Money cents={other.net_cents} currency={other.currency} />, <Fees of={other} />
            </span>
          ))}
        </>
      }
      change={
        <Change
          now={now.net_cents}
          before={before.net_cents}
          beforeText={<Money cents={before.net_cents} currency={shown} />}
        />
      }
    >
      <Money cents={now.net_cents} currency={shown} />
    </Tile>
  );
};

const netIn = (settled: readonly Settled[] = [], currency: string): Settled =>
  settled.find((one) => one.currency === currency) ?? { currency, fee_cents: 0, net_cents: 0 };

const Fees = ({ of }: { readonly of: Settled }) => (
  <>
    fees <Money cents={of.fee_cents} currency={of.currency} />
  </>
);

const RecurringTiles = ({ summary, currency, figures }: TilesProps) => {
  const total = summary.all?.totals.find((one) => one.currency === currency);
  const { mrr_cents: mrr = 0, active_subscriptions: active = 0, new_payers: payers = 0 } = total ?? {};
  const { mrr_cents: mrrBefore = 0, active_subscriptions: activeBefore = 0 } = total?.before ?? {};
  const payersBefore = total?.before.new_payers ?? 0;
  const recurring = new Map(
    summary.all?.recurring.flatMap((row) => (row.currency === currency ? [[row.period, row] as const] : [])),
  );
  const newIn = new Map(
    summary.bySuccess.flatMap((row) => (row.currency === currency ? [[row.period, row.new_payers] as const] : [])),
  );
  return (
    <>
      <Tile
        name="MRR"
        note="per month, active and past due"
        course={figures.map(({ period }) => recurring.get(period)?.mrr_cents ?? 0)}
        change={<Change now={mrr} before={mrrBefore} beforeText={<Money cents={mrrBefore} currency={currency} />} />}
      >
        <Money cents={mrr} currency={currency} />
      </Tile>
      <Tile
        name="Active subscriptions"
        note="at the end of the range"
        course={figures.map(({ period }) => recurring.get(period)?.active_subscriptions ?? 0)}
        change={<Change now={active} before={activeBefore} beforeText={count(activeBefore)} />}
      >
        {count(active)}
      </Tile>
      <Tile
        name="New payers"
        note="paid for the first time"
        course={figures.map(({ period }) => newIn.get(period) ?? 0)}
        change={<Change now={payers} before={payersBefore} beforeText={count(payersBefore)} />}
      >
        {count(payers)}
      </Tile>
    </>
  );
};
