/**
 * @module Lists as CSV (RFC 4180) for callers that request text/csv. Each page has a header row and up to 1,000 rows.
 * The Link header leads to the next page, and `limit` does not apply.
 */

import { stringify } from 'csv-stringify/sync';
import Negotiator from 'negotiator';
import { invalid } from '../core/errors.ts';

export interface CsvForm {
  /** The name of the file, without its extension. */
  readonly name: string;
  /** Fields with simple values, in column order. */
  readonly columns: readonly string[];
}

export interface CsvPage {
  /** The number of rows on all earlier pages. */
  readonly before: number;
  readonly limit: number;
  /** The list's own cursor; absent on the first page and for lists without cursors. */
  readonly cursor?: string;
}

/** The start of the next page, as the list's cursor or, in a list without cursors, as the number of rows so far. */
export type More = { readonly cursor: string } | 'rows';

const PAGE_ROWS = 1_000;
const MAX_ROWS = 100_000;

const CSV = 'text/csv';
const CSV_TYPE = `${CSV}; charset=utf-8`;
const TYPES = ['application/json', CSV, CSV_TYPE] as const;

/** True if the caller prefers CSV to JSON; a caller that accepts anything gets JSON. */
const prefersCsv = (accept: string | undefined): boolean =>
  new Negotiator({ headers: { accept } }).mediaType([...TYPES])?.startsWith(CSV) === true;

/** @throws DomainError VALIDATION_ERROR for a cursor that is not from the Link header of a CSV page. */
const csvPageAt = (cursor: string | undefined): CsvPage => {
  const [, rows, position] = /^(\d{1,6})(?:\.([\w-]{1,1000}))?$/.exec(cursor ?? '0') ?? [];
  const before = Number(rows);
  if (rows === undefined || before >= MAX_ROWS) {
    const message = 'must be the cursor of the Link header of an earlier CSV page';
    throw invalid([{ path: 'cursor', rule: 'cursor', message }]);
  }
  return {
    before,
    limit: Math.min(PAGE_ROWS, MAX_ROWS - before),
    ...(position !== undefined && { cursor: position }),
  };
};

/** The cursor of the next page; undefined at the end of the list, and after 100,000 rows. */
const csvCursor = (page: CsvPage, shown: number, more: More | undefined): string | undefined => {
  const before = page.before + shown;
  if (more === undefined || before >= MAX_ROWS) return undefined;
  return more === 'rows' ? String(before) : `${before}.${more.cursor}`;
};

/** A possible spreadsheet formula, at the start of a cell or after a separator. */
const FORMULA = /(?:^|[;,\t])[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/;

const textCell = (text: string) => (FORMULA.test(text) ? { value: `'${text}`, quoted: true } : text);

/** A header row and the records. A text with a formula gets a leading apostrophe and quotes. */
const csvText = (columns: readonly string[], records: readonly unknown[]): string =>
  stringify([...records], {
    columns: [...columns],
    header: true,
    record_delimiter: 'windows',
    quoted_match: /[\r\n]/,
    cast: { boolean: String, string: textCell },
  });

/** Only the functions of lists load this renderer, because its packages would slow down the start of all others. */
export const csvRenderer = { prefersCsv, csvPageAt, csvCursor, csvText } as const;
export type CsvRenderer = typeof csvRenderer;
