/** @module A table of records with its loading, empty and failed states, and with more pages. */

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { LoadedPages } from './load.ts';
import { ProblemNote } from './parts.tsx';
import { go, Link } from './route.tsx';
import { withZone } from './zone.ts';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** True if the cells are times. The title then names their zone. */
  readonly isTime?: true;
  /** `end` for amounts and numbers. */
  readonly align?: 'end';
  /** True if the column is hidden on narrow screens. The page of the record shows it. */
  readonly isExtra?: boolean;
}

export interface TableProps<Row> {
  /** The name of the table for screen readers. */
  readonly name: string;
  readonly columns: readonly Column<Row>[];
  readonly pages: LoadedPages<Row>;
  readonly keyOf: (row: Row) => string;
  /** The path of the page of a row, below /console. The first cell links to it. */
  readonly pageOf?: ((row: Row) => string | undefined) | undefined;
  /** The content of an empty table, with a hint about what to do. */
  readonly empty: ComponentChildren;
}

const classOf = ({ align, isExtra }: Pick<Column<never>, 'align' | 'isExtra'>): string =>
  [align === 'end' ? 'end' : '', isExtra ? 'extra' : ''].filter(Boolean).join(' ');

export const Table = <Row,>(props: TableProps<Row>) => {
  const { name, columns, pages, empty } = props;
  const body = useRef<HTMLTableSectionElement>(null);
  useArrowKeys(body);
  const { rows, isLoading, problem, more, retry } = pages;
  return (
    <div class="table-part" aria-busy={isLoading}>
      {rows.length > 0 && (
        <div class="table-scroll">
          <table aria-label={name}>
            <Titles columns={columns} />
            <tbody ref={body}>
              {rows.map((row) => (
                <TableRow key={props.keyOf(row)} row={row} columns={columns} pageOf={props.pageOf} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length === 0 && isLoading && <EmptyRows columns={columns} />}
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

const Titles = <Row,>({ columns }: Pick<TableProps<Row>, 'columns'>) => (
  <thead>
    <tr>
      {columns.map((column) => (
        <th key={column.title} scope="col" class={classOf(column)}>
          {column.isTime ? withZone(column.title) : column.title}
        </th>
      ))}
    </tr>
  </thead>
);

const EMPTY_ROWS = 8;

/** Holds the place of the rows until the first page arrives, so that the page keeps its layout. */
const EmptyRows = <Row,>({ columns }: Pick<TableProps<Row>, 'columns'>) => (
  <div class="table-scroll" aria-hidden={true}>
    <table>
      <Titles columns={columns} />
      <tbody>
        {Array.from({ length: EMPTY_ROWS }, (_, row) => (
          <tr key={row}>
            {columns.map((column) => (
              <td key={column.title} class={classOf(column)}>
                <span class="skeleton" />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

interface RowProps<Row> extends Pick<TableProps<Row>, 'columns' | 'pageOf'> {
  readonly row: Row;
}

const TableRow = <Row,>({ row, columns, pageOf }: RowProps<Row>) => {
  const page = pageOf?.(row);
  const open = (event: MouseEvent): void => {
    const isOnControl = event.target instanceof Element && event.target.closest('a, button') !== null;
    if (page !== undefined && !isOnControl && getSelection()?.toString() === '') go(page);
  };
  return (
    // The link in the first cell handles the keyboard.
    <tr class={page === undefined ? '' : 'opens'} onClick={open}>
      {columns.map((column, index) => (
        <td key={column.title} class={classOf(column)}>
          {index === 0 && page !== undefined ? (
            <Link to={page} class="row-link">
              {column.cell(row)}
            </Link>
          ) : (
            column.cell(row)
          )}
        </td>
      ))}
    </tr>
  );
};

/** Arrow keys move between the links of the rows; from the search box, Arrow Down goes to the first row. */
const useArrowKeys = (body: { readonly current: HTMLTableSectionElement | null }): void => {
  useEffect(() => {
    const move = (event: KeyboardEvent): void => {
      if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
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

/** True if the arrow keys move in the table. Selects, text areas and date fields use the arrow keys themselves. */
const takesArrows = (focused: Element | null): boolean => {
  if (document.querySelector('dialog[open]')) return false;
  if (focused === null || focused === document.body) return true;
  return focused.matches('a, button, summary, h1, main, input[type=search], input[type=text]');
};
