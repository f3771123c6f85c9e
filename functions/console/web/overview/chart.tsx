/** @module The chart of succeeded, failed and refunded payments per day or week. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { count, dateInUtc, money } from '../view/format.ts';
import { BARS, type ChartProps } from './chart-bars.ts';
import type { Figures, PeriodFigures } from './figures.ts';

export const Chart = (props: ChartProps) => {
  const { name, figures, interval } = props;
  const place = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number>();
  useEffect(() => {
    let remove: (() => void) | undefined;
    let isGone = false;
    // The chart library is a separate file, so other pages load without it.
    void import('./draw-chart.ts').then(({ drawChart }) => {
      if (!isGone) remove = drawChart(place.current, props, setPointed);
    });
    return () => {
      isGone = true;
      remove?.();
    };
  }, [props.figures, props.measure, props.currency]);
  const shown = pointed === undefined ? undefined : figures[pointed];
  return (
    <figure class="chart" aria-label={name}>
      <figcaption>
        <ul class="chart-key">
          {BARS.map(({ of, title }) => (
            <li key={of} class={`key-${of}`}>
              {title}
            </li>
          ))}
        </ul>
        <span class="quiet">
          {shown ? readingOf(shown, props) : `By ${interval} (UTC). Point at a ${interval} to read its figures.`}
        </span>
      </figcaption>
      <div ref={place} class="chart-place" aria-hidden="true" />
    </figure>
  );
};

const readingOf = (shown: PeriodFigures, { interval, measure, currency }: ChartProps): string => {
  const read = (of: keyof Figures): string =>
    measure === 'amount' ? money(shown[of].cents, currency) : count(shown[of].count);
  const when = `${interval === 'week' ? 'Week of ' : ''}${dateInUtc(shown.period)}`;
  return `${when}: ${BARS.map(({ of, title }) => `${title.toLowerCase()} ${read(of)}`).join(' · ')}`;
};
