/** @module The chart's figures as a table. */

import { count, dateInUtc } from '../view/format.ts';
import { Money } from '../view/parts.tsx';
import type { figuresByPeriod, Sum } from './figures.ts';

interface PeriodTableProps {
  readonly figures: ReturnType<typeof figuresByPeriod>;
  readonly interval: 'day' | 'week';
  readonly currency: string;
}

export const PeriodTable = ({ figures, interval, currency }: PeriodTableProps) => {
  const rows = figures.filter(({ succeeded, failed, refunded }) => succeeded.count + failed.count + refunded.count > 0);
  return (
    <details>
      <summary>Figures by {interval}</summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the block scrolls, and keys scroll what has the focus */}
      <section class="table-scroll" tabIndex={0} aria-label={`Figures by ${interval}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{interval === 'day' ? 'Day (UTC)' : 'Week of (UTC)'}</th>
              <th scope="col" class="end">
                Succeeded
              </th>
              <th scope="col" class="end">
                Failed
              </th>
              <th scope="col" class="end">
                Refunded
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ period, succeeded, failed, refunded }) => (
              <tr key={period}>
                <td>{dateInUtc(period)}</td>
                <SumCell sum={succeeded} currency={currency} />
                <SumCell sum={failed} currency={currency} />
                <SumCell sum={refunded} currency={currency} />
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </details>
  );
};

const SumCell = ({ sum, currency }: { readonly sum: Sum; readonly currency: string }) => (
  <td class="end">
    {sum.count === 0 ? (
      <span class="quiet">–</span>
    ) : (
      <>
        <Money cents={sum.cents} currency={currency} /> <span class="quiet">({count(sum.count)})</span>
      </>
    )}
  </td>
);
