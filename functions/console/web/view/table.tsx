/** @module A table of records with paging and its loading, empty and failed states. */

import { type ComponentChildren, Fragment } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Column, phoneLinesIn, stacksIn } from './columns.ts';
import type { LoadedPages } from './load.ts';
import { Cut, ProblemNote } from './parts.tsx';
import { hasTwoLineRows, isWide } from './room.ts';
import { go, Link } from './route.tsx';
import { withZone } from './zone.ts';

export interface TableProps<Row> {
  /** The name of the table for screen readers. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly pages: LoadedPages<Row>;
  readonly keyOf: (row: Row) => string;
  /** The path of a row's page, below /console. The first cell links to it. */
  readonly pageOf?: ((row: Row) => string | undefined) | undefined;
  /** The content of an empty table, with advice. */
  readonly empty: ComponentChildren;
}

export const Table = <Row,>(props: TableProps<Row>) => {
  const { name, columns, pages, empty } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  useArrowKeys(body);
  const { rows, isLoading, problem, more, retry } = pages;
  const form = formOf(columns);
  return (
    <div class="table-part" aria-busy={isLoading}>
      {rows.length > 0 && (
        <div class="table-box">
          <table aria-label={name} class={form.isTall ? 'tall' : ''}>
            <Titles titles={form.titles} />
            <tbody ref={body}>
              {rows.map((row) => (
                <TableRow key={props.keyOf(row)} row={row} form={form} page={props.pageOf?.(row)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length === 0 && isLoading && <EmptyRows form={form} />}
      {rows.length === 0 && !isLoading && !problem && <div class="empty">{empty}</div>}
      {problem && <ProblemNote problem={problem} onRetry={retry} />}
      {isLoading && (
        <p class="unseen" role="status">
          Loading {name.toLowerCase()}…
        </p>
      )}
      {more && !problem && (
        <button type="button" class="more" disabled={isLoading} onClick={more}>
          {isLoading ? 'Loading…' : 'Load more'}
        </button>
      )}
    </div>
  );
};

interface Title {
  readonly key: string;
  readonly align?: 'end' | undefined;
  readonly content: ComponentChildren;
}

/** The table, laid out for the screen width. */
interface Form<Row> {
  readonly titles: readonly Title[];
  readonly cells: (row: Row, page: string | undefined) => readonly ComponentChildren[];
  /** True if the rows have two lines. */
  readonly isTall: boolean;
}

const titleOf = ({ title, isTime }: Pick<Column<never>, 'title' | 'isTime'>): string =>
  isTime ? withZone(title) : title;

const formOf = <Row,>(columns: readonly Column<Row>[]): Form<Row> => {
  if (hasTwoLineRows() && columns.some(({ phone }) => phone)) return phoneForm(columns);
  const stacks = stacksIn(columns, isWide());
  return {
    titles: stacks.map(({ first, second }) => ({
      key: first.title,
      align: first.align,
      content: (
        <>
          {titleOf(first)}
          {second.length > 0 && <span class="second-line">{second.map(titleOf).join(', ')}</span>}
        </>
      ),
    })),
    cells: (row, page) =>
      stacks.map(({ first, second }, index) => (
        <>
          {linked(first.cell(row) ?? NONE, index === 0 ? page : undefined)}
          <SecondLine row={row} columns={second} />
        </>
      )),
    isTall: stacks.some(({ second }) => second.length > 0),
  };
};

/** The table on a phone. Each row has two lines, and each line a left and a right part that share the row's width. */
const phoneForm = <Row,>(columns: readonly Column<Row>[]): Form<Row> => {
  const [first, second] = phoneLinesIn(columns);
  const lines = [first, second];
  const title = lines.map(([start, end]) => (
    <span key={start[0]?.title} class="phone-line">
      <span>{start.map(titleOf).join(', ')}</span>
      <span>{end.map(titleOf).join(', ')}</span>
    </span>
  ));
  return {
    titles: [{ key: 'all', content: title }],
    cells: (row, page) => [
      lines.map(([start, end], line) => (
        <span key={line} class={line === 0 ? 'phone-line' : 'phone-line second-line quiet'}>
          <span class="start">{linked(<Lines row={row} columns={start} />, line === 0 ? page : undefined)}</span>
          <span class="finish">
            <Joined row={row} columns={end} />
          </span>
        </span>
      )),
    ],
    isTall: true,
  };
};

const linked = (content: ComponentChildren, page: string | undefined): ComponentChildren =>
  page === undefined ? (
    content
  ) : (
    <Link to={page} class="row-link">
      {content}
    </Link>
  );

const Titles = ({ titles }: { readonly titles: readonly Title[] }) => (
  <thead>
    <tr>
      {titles.map(({ key, align, content }) => (
        <th key={key} scope="col" class={align}>
          {content}
        </th>
      ))}
    </tr>
  </thead>
);

const EMPTY_ROWS = 8;

/** A placeholder until the first page arrives, to keep the layout stable. */
const EmptyRows = ({ form: { titles, isTall } }: { readonly form: Form<never> }) => (
  <div class="table-box" aria-hidden={true}>
    <table class={isTall ? 'tall' : ''}>
      <Titles titles={titles} />
      <tbody>
        {Array.from({ length: EMPTY_ROWS }, (_, row) => (
          <tr key={row}>
            {titles.map(({ key, align }) => (
              <td key={key} class={align}>
                <span class="skeleton" />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

interface RowProps<Row> {
  readonly row: Row;
  readonly form: Form<Row>;
  readonly page: string | undefined;
}

const TableRow = <Row,>({ row, form: { titles, cells }, page }: RowProps<Row>) => {
  const open = (event: MouseEvent): void => {
    const isOnControl = event.target instanceof Element && event.target.closest('a, button, input') !== null;
    if (page !== undefined && !isOnControl && getSelection()?.toString() === '') go(page);
  };
  return (
    // Mouse only, because the link in the first cell handles the keyboard.
    <tr class={page === undefined ? '' : 'opens'} onClick={open}>
      {cells(row, page).map((cell, index) => (
        <td key={titles[index]?.key} class={titles[index]?.align}>
          {cell}
        </td>
      ))}
    </tr>
  );
};

const NONE = <span class="quiet">–</span>;

interface ValuesProps<Row> {
  readonly row: Row;
  readonly columns: readonly Column<Row>[];
}

/** The values of columns in one line. Missing values take no space. */
const Joined = <Row,>({ row, columns }: ValuesProps<Row>) => {
  const shown = columns
    .map(({ title, cell }) => ({ title, value: cell(row) }))
    .filter(({ value }) => value !== null && value !== undefined);
  return (
    <>
      {shown.map(({ title, value }, index) => (
        <Fragment key={title}>
          {index > 0 && ' · '}
          {value}
        </Fragment>
      ))}
    </>
  );
};

/** One line per value, so a long value does not cut the others. */
const Lines = <Row,>({ row, columns }: ValuesProps<Row>) => (
  <>
    {columns.map(({ title, cell }) => {
      const value = cell(row) ?? null;
      return value === null ? null : <Cut key={title}>{value}</Cut>;
    })}
  </>
);

const SecondLine = <Row,>({ row, columns }: ValuesProps<Row>) =>
  columns.every(({ cell }) => (cell(row) ?? null) === null) ? null : (
    <span class="second-line quiet">
      <Cut>
        <Joined row={row} columns={columns} />
      </Cut>
    </span>
  );

/** Arrow keys move between the links of the rows; from the search box, Arrow Down goes to the first row. */
const useArrowKeys = (body: { readonly current: HTMLTableSectionElement | null }): void => {
  useEffect(() => {
    const move = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return;
      if (!takesArrows(document.activeElement)) return;
      const links = [...(body.current?.querySelectorAll<HTMLElement>('a.row-link') ?? [])];
      const at = links.findIndex((link) => link.matches(':focus'));
      const next = event.key === 'ArrowDown' ? links[at + 1] : links[at - 1];
      if (!next) return;
      event.preventDefault();
      next.focus();
    };
    document.addEventListener('keydown', move);
    return () => document.removeEventListener('keydown', move);
  }, [body]);
};

/** True if the arrow keys move within the table. Selects, text areas and date fields need the arrow keys themselves. */
const takesArrows = (focused: Element | null): boolean => {
  if (document.querySelector('dialog[open]')) return false;
  if (focused === null || focused === document.body) return true;
  if (focused.matches('[aria-haspopup], [role=menuitem]')) return false;
  return focused.matches('a, button, summary, h1, main, input[type=search], input[type=text]');
};
