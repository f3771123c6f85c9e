/** @module The columns of a table, and their layout for each screen width. */

import type { ComponentChildren } from 'preact';

/**
 * The column's place in the two lines of a row on a phone. `name` with `note` below is on the left, and `figure` with
 * `state` below on the right.
 */
type PhonePlace = 'name' | 'note' | 'figure' | 'state';

export interface Column<Row> {
  readonly title: string;
  /** Null or undefined for a row without the value. */
  readonly cell: (row: Row) => ComponentChildren;
  /** True if the cells are times. The title then shows the time zone. */
  readonly isTime?: true;
  /** `end` for amounts and numbers. */
  readonly align?: 'end';
  /**
   * The title of another column. On screens narrower than 1,440 pixels, this column is shown under that other column.
   */
  readonly below?: string;
  /** True if the column stays below on wide screens too, because it would take too much width. */
  readonly isAlwaysBelow?: true;
  /** A phone shows only columns with a place. The record's page shows the others. */
  readonly phone?: PhonePlace;
}

/** Columns stacked in one cell. */
interface Stack<Row> {
  readonly first: Column<Row>;
  /** The columns in the second line. */
  readonly second: readonly Column<Row>[];
}

/** @param isWide true if the screen has room for every column */
export const stacksIn = <Row>(columns: readonly Column<Row>[], isWide: boolean): readonly Stack<Row>[] =>
  columns
    .filter((column) => !isSecond(column, isWide))
    .map((first) => ({
      first,
      second: columns.filter((column) => column.below === first.title && isSecond(column, isWide)),
    }));

const isSecond = ({ below, isAlwaysBelow }: Pick<Column<never>, 'below' | 'isAlwaysBelow'>, isWide: boolean): boolean =>
  below !== undefined && (!isWide || isAlwaysBelow === true);

/** The columns on the left and right of a line on a phone. */
type PhoneLine<Row> = readonly [start: readonly Column<Row>[], end: readonly Column<Row>[]];

export const phoneLinesIn = <Row>(
  columns: readonly Column<Row>[],
): readonly [first: PhoneLine<Row>, second: PhoneLine<Row>] => {
  const at = (place: PhonePlace) => columns.filter(({ phone }) => phone === place);
  return [
    [at('name'), at('figure')],
    [at('note'), at('state')],
  ];
};
