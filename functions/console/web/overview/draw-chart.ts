/** @module Draws the chart with uPlot. */

import uPlot from 'uplot';
import { count, shortDay, wholeMoney } from '../view/format.ts';
import { BARS, type ChartProps } from './chart-bars.ts';

const DAY_SECONDS = 86_400;
const DAYS_OF_WEEK = 7;
const HEIGHT = 250;
const X_AXIS_PX = 28;
/** The fraction of a period's width filled by its bars. */
const FILLED = 0.78;
const LABEL_PX = 64;
const HEADROOM = 1.08;
const FONT = '12px system-ui, sans-serif';

const secondsOf = (day: string): number => Date.parse(day) / 1_000;
const dayOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();

/**
 * Draws the chart into an element, and redraws it when the size or the colors change.
 * @returns a function that removes the chart
 */
export const drawChart = (
  place: HTMLDivElement | null,
  props: ChartProps,
  onPoint: (index: number | undefined) => void,
): (() => void) | undefined => {
  if (!place || props.figures.length === 0) return undefined;
  let chart: uPlot | undefined;
  const draw = (): void => {
    chart?.destroy();
    chart = new uPlot(optionsOf(place, props, onPoint), dataOf(props), place);
  };
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const resized = new ResizeObserver(() => {
    if (place.clientWidth !== chart?.width) draw();
  });
  resized.observe(place);
  dark.addEventListener('change', draw);
  return () => {
    resized.disconnect();
    dark.removeEventListener('change', draw);
    chart?.destroy();
  };
};

const dataOf = ({ figures, measure }: ChartProps): uPlot.AlignedData => [
  figures.map(({ period }) => secondsOf(period)),
  ...BARS.map(({ of }) =>
    figures.map((one) => (measure === 'amount' ? one[of].cents : one[of].count)).map((value) => value || null),
  ),
];

const optionsOf = (
  place: HTMLDivElement,
  props: ChartProps,
  onPoint: (index: number | undefined) => void,
): uPlot.Options => {
  const { figures, interval } = props;
  const style = getComputedStyle(place);
  const colorOf = (property: string): string => style.getPropertyValue(property).trim();
  const step = DAY_SECONDS * (interval === 'week' ? DAYS_OF_WEEK : 1);
  const [first, last] = [secondsOf(figures[0]?.period ?? ''), secondsOf(figures.at(-1)?.period ?? '')];
  const grid = { stroke: colorOf('--line'), width: 1 };
  const axis = { stroke: colorOf('--ink-quiet'), font: FONT, ticks: { show: false } };
  const shown = Math.ceil(figures.length / Math.max(1, Math.floor(place.clientWidth / LABEL_PX)));
  return {
    width: place.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    hooks: { setCursor: [({ cursor: { idx } }) => onPoint(idx ?? undefined)] },
    scales: {
      x: { time: false, range: [first - step / 2, last + step / 2] },
      y: { range: (_, _min, max) => [0, Math.max(1, max) * HEADROOM] },
    },
    axes: [
      {
        ...axis,
        size: X_AXIS_PX,
        grid: { show: false },
        splits: () => figures.filter((_, index) => index % shown === 0).map(({ period }) => secondsOf(period)),
        values: (_, splits) => splits.map((seconds) => shortDay(dayOf(seconds))),
      },
      { ...axis, grid, size: axisWidth, values: (_, splits) => splits.map((value) => scaleText(value, props)) },
    ],
    series: [{}, ...BARS.map((bar, index) => seriesOf(bar.title, colorOf(bar.color), barsAt(index, step)))],
  };
};

const scaleText = (value: number, { measure, currency }: ChartProps): string => {
  if (measure === 'amount') return wholeMoney(value, currency);
  return Number.isInteger(value) ? count(value) : '';
};

const CHARACTER_PX = 7;
const AXIS_GAP_PX = 14;

const axisWidth = (_: uPlot, values: readonly string[] | null): number =>
  Math.max(0, ...(values ?? []).map(({ length }) => length)) * CHARACTER_PX + AXIS_GAP_PX;

const seriesOf = (label: string, fill: string, paths: uPlot.Series.PathBuilder | undefined): uPlot.Series => ({
  label,
  fill,
  width: 0,
  points: { show: false },
  ...(paths && { paths }),
});

/** Places the bar of a series among the bars of a period. */
const barsAt = (index: number, step: number): uPlot.Series.PathBuilder | undefined => {
  const width = (step * FILLED) / BARS.length;
  const start = (index - BARS.length / 2) * width;
  return uPlot.paths.bars?.({
    radius: 0.2,
    disp: {
      x0: { unit: 1, values: ({ data: [days = []] }) => Array.from(days, (day) => day + start) },
      size: { unit: 1, values: () => [width] },
    },
  });
};
