/** @module The chart's data, with three bars per day or week. */

import type { Figures, PeriodFigures } from './figures.ts';

export type Measure = 'amount' | 'count';

export interface ChartProps {
  readonly name: string;
  readonly figures: readonly PeriodFigures[];
  readonly interval: 'day' | 'week';
  readonly measure: Measure;
  readonly currency: string;
}

interface Bar {
  readonly of: keyof Figures;
  readonly title: string;
  /** The CSS custom property of the bar's color. */
  readonly color: string;
}

export const BARS: readonly Bar[] = [
  { of: 'succeeded', title: 'Succeeded', color: '--chart-good' },
  { of: 'failed', title: 'Failed', color: '--chart-bad' },
  { of: 'refunded', title: 'Refunded', color: '--chart-plain' },
];
