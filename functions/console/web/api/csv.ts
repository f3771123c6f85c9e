import { type Answered, answerOf } from './client.ts';

/** The whole result of a filter as one CSV file: the API sends it in pages of 1,000 rows. */
interface CsvPage {
  readonly cursor: string | undefined;
  readonly headers: { readonly Accept: 'text/csv' };
}

/** @param ask makes the request for the page at this cursor. @param onRows is called with the rows so far. */
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
/** Without the header row; a line end inside of a cell counts too, so this is for showing progress only. */
const rowsIn = (page: string): number => page.split(LINE_END).length - 2;

const cursorIn = (link: string): string | undefined => {
  const [, target] = /<([^>]*)>;\s*rel="next"/.exec(link) ?? [];
  return target === undefined ? undefined : (new URL(target, location.href).searchParams.get('cursor') ?? undefined);
};

/** Has the browser save a text as a file. */
export const saveFile = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv;charset=utf-8' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};
