/** @module A figure with its trend over the range and its change from the preceding period. */

import type { ComponentChildren } from 'preact';
import { percent } from '../view/format.ts';
import { Link } from '../view/route.tsx';

interface TileProps {
  readonly name: string;
  readonly note: ComponentChildren;
  /** The link to the records behind the figure. */
  readonly to?: string | undefined;
  /** One value per period; undefined for a period without a value. */
  readonly course?: readonly (number | undefined)[] | undefined;
  readonly change?: ComponentChildren;
  readonly children: ComponentChildren;
}

export const Tile = ({ name, note, to, course, change, children }: TileProps) => (
  <div class="tile">
    <dt>{to === undefined ? name : <Link to={to}>{name}</Link>}</dt>
    <dd>
      <strong>{children}</strong>
      <span class="quiet">{note}</span>
      {change}
      {course && <SparkLine values={course} />}
    </dd>
  </div>
);

const WIDTH = 100;
const HEIGHT = 24;
/** The margin that keeps the line inside the image. */
const EDGE = 1.5;

/** A small line of the values. It is hidden from screen readers, because the figures are also shown as text. */
const SparkLine = ({ values }: { readonly values: readonly (number | undefined)[] }) => {
  const known = values.flatMap((value, index) => (value === undefined ? [] : [{ value, index }]));
  const [low, high] = [Math.min(0, ...known.map(({ value }) => value)), Math.max(...known.map(({ value }) => value))];
  const points = known.map(({ value, index }) => {
    const x = values.length < 2 ? WIDTH / 2 : (index / (values.length - 1)) * WIDTH;
    const share = high > low ? (value - low) / (high - low) : 0;
    return `${x.toFixed(1)},${(HEIGHT - EDGE - share * (HEIGHT - 2 * EDGE)).toFixed(1)}`;
  });
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      {points.length > 1 && <polyline points={points.join(' ')} />}
    </svg>
  );
};

interface ChangeProps {
  readonly now: number | undefined;
  readonly before: number | undefined;
  /** The previous figure in words. */
  readonly beforeText: ComponentChildren;
  /** True if an increase is bad, such as for failed payments. */
  readonly isRiseBad?: boolean;
}

/** The change relative to the previous figure. */
export const Change = ({ now, before, beforeText, isRiseBad = false }: ChangeProps) => {
  if (now === undefined || before === undefined) return null;
  const rise = now - before;
  const tone = rise === 0 ? 'same' : rise > 0 === isRiseBad ? 'bad' : 'good';
  return (
    <span class="change">
      <span class={`change-${tone}`}>{changeText(rise, before)}</span> <span class="quiet">before: {beforeText}</span>
    </span>
  );
};

/** A change in words. A change of more than 100 % is shown without decimals. */
const changeText = (rise: number, before: number): string => {
  if (rise === 0) return 'No change';
  if (before === 0) return 'New';
  const part = Math.abs(rise / before);
  return `${rise > 0 ? '+' : '−'}${percent(part > 1 ? Math.round(part * 100) / 100 : part)}`;
};
