import { stringify } from 'csv-stringify/sync';
import Negotiator from 'negotiator';
import { invalid } from '../core/errors.ts';
import type { Endpoint } from './endpoint.ts';
import { decodeCursor, encodeCursor } from './paging.ts';
import type { Reply } from './reply.ts';
import type { CsvPage } from './request.ts';

/**
 * A list as CSV (RFC 4180), for callers that ask for text/csv: pages of 1,000 rows, each with the header row. The next
 * page is behind the Link header; `limit` does not apply.
 */
const CSV_PAGE_ROWS = 1_000;
const MAX_CSV_ROWS = 100_000;

/** The query parameter that holds the position of a CSV page. */
export const CSV_CURSOR = 'cursor';

/** True if the endpoint has CSV and the caller prefers it to JSON. Where both are equally welcome by wildcard: JSON. */
export const prefersCsv = ({ csv }: Pick<Endpoint, 'csv'>, accept: string | undefined): boolean =>
  csv !== undefined && new Negotiator({ headers: { accept } }).mediaType([...FORMS])?.startsWith(CSV) === true;

const CSV = 'text/csv';
const CSV_TYPE = `${CSV}; charset=utf-8`;
const FORMS = ['application/json', CSV, CSV_TYPE] as const;

/** @throws DomainError VALIDATION_ERROR for a cursor that no Link header of a CSV page had. */
export const csvPageAt = (cursor: string | undefined): CsvPage => {
  const [, rows, position] = /^(\d{1,6})(?:\.([\w-]+))?$/.exec(cursor ?? '0') ?? [];
  const before = Number(rows);
  if (rows === undefined || before >= MAX_CSV_ROWS) {
    const message = 'must be the cursor of the Link header of an earlier CSV page';
    throw invalid([{ path: CSV_CURSOR, rule: 'cursor', message }]);
  }
  return {
    before,
    limit: Math.min(CSV_PAGE_ROWS, MAX_CSV_ROWS - before),
    ...(position !== undefined && { cursor: decodeCursor(position) }),
  };
};

/** The page of a list as a text, with the position of the next page. */
export const csvReply = (spec: Pick<Endpoint, 'csv'>, { data, more, headers }: Reply, page: CsvPage): CsvText => {
  const { name, columns } = spec.csv ?? { name: '', columns: [] };
  const rows: readonly unknown[] = Array.isArray(data) ? data : [];
  const text = stringify([...rows], {
    columns: [...columns],
    header: true,
    record_delimiter: 'windows',
    // A cell that begins like a formula gets a leading apostrophe, inside quotes.
    escape_formulas: true,
    quoted_match: /^[=+\-@\t]|[\r\n]/,
    cast: { boolean: String },
  });
  const before = page.before + rows.length;
  const goesOn = more !== undefined && before < MAX_CSV_ROWS;
  return {
    text,
    headers: {
      ...headers,
      'content-type': CSV_TYPE,
      'content-disposition': `attachment; filename="${name}.csv"`,
    },
    ...(goesOn && { next: { [CSV_CURSOR]: more === 'rows' ? `${before}` : `${before}.${encodeCursor(more)}` } }),
  };
};

interface CsvText {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly next?: Readonly<Record<string, string>>;
}
