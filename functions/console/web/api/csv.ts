/** @module Downloads all rows of a filter as one CSV file. The API sends them in pages of 1,000 rows. */

import { type Answered, answerOf } from './client.ts';

interface CsvPage {
  readonly cursor: string | undefined;
  readonly headers: { readonly Accept: 'text/csv' };
}

/**
 * @param ask requests the page at this cursor
 * @param onRows receives the number of rows so far
 */
export const readCsv = async (
  ask: (page: CsvPage) => Promise<{ data?: unknown; error?: unknown; response: Response }>,
  onRows: (rows: number) => void,
): Promise<string> => {
  let text = '';
  let rows = 0;
  let cursor: string | undefined;
  do {
    const { data, response }: Answered<unknown> = await answerOf(ask({ cursor, headers: { Accept: 'text/csv' } }));
    const page = String(data);
    text += text === '' ? page : withoutHeader(page);
    rows += rowsIn(page);
    onRows(rows);
    cursor = cursorIn(response.headers.get('link') ?? '');
  } while (cursor !== undefined);
  return text;
};

const LINE_END = '\r\n';
const withoutHeader = (page: string): string => page.slice(page.indexOf(LINE_END) + LINE_END.length);
/** Counts rows without the header row. Line breaks inside cells count too, so the number is only for progress. */
const rowsIn = (page: string): number => page.split(LINE_END).length - 2;

const cursorIn = (link: string): string | undefined => {
  const [, target] = /<([^<>]*)>;\s*rel="next"/.exec(link) ?? [];
  return target === undefined ? undefined : (new URL(target, location.href).searchParams.get('cursor') ?? undefined);
};

/** Lets the browser save a text as a file. */
export const saveFile = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};
