/** @module The columns of a table, and the way in which they share the room of the screen. */

import type { ComponentChildren } from 'preact';

/**
 * The place of a column in the two lines of a row on a phone: `name` and below it `note` at the start of the row,
 * `figure` and below it `state` at its end.
 */
type PhonePlace = 'name' | 'note' | 'figure' | 'state';

export interface Column<Row> {
  readonly title: string;
  /** Null or undefined if the row has no such value. */
  readonly cell: (row: Row) => ComponentChildren;
  /** True if the cells are times. The title then names their zone. */
  readonly isTime?: true;
  /** `end` for amounts and numbers. */
  readonly align?: 'end';
  /** On screens below 1,440 pixels this column is the second line of the column with this title. */
  readonly below?: string;
  /** True if it is the second line on wider screens too, because it needs more room than it is worth. */
  readonly isAlwaysBelow?: true;
  /** A phone shows the columns with a place. The page of the record shows the others. */
  readonly phone?: PhonePlace;
}

/** Columns that stand one below the other. */
interface Stack<Row> {
  readonly first: Column<Row>;
  /** The second line. */
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

/** The columns at the start and at the end of a line of a phone. */
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
