/**
 * @module The page of a list, with search, filters in the address bar, paging and CSV. An empty result names the search
 * and filters.
 */

import type { ComponentChildren } from 'preact';
import { session } from '../api/session.ts';
import type { Column } from '../view/columns.ts';
import { CsvButton } from '../view/csv-button.tsx';
import { type PageOf, usePages } from '../view/load.ts';
import { PageHead } from '../view/parts.tsx';
import { Table } from '../view/table.tsx';
import { FilterBar, foundInWords, SEARCH, type Search } from './filter-bar.tsx';
import { type FilterField, filterInWords, parametersOf } from './filter-fields.tsx';
import { filterText } from './filter-values.ts';

/** Requests one page of the list as CSV. */
export type CsvRequest = Parameters<typeof CsvButton>[0]['ask'];

interface ListPageProps<Row> {
  /** The heading, and the name of the table. */
  readonly title: string;
  /** The name of one record in lower case, such as `payment`. */
  readonly one: string;
  readonly search?: Search;
  readonly filters: readonly FilterField[];
  readonly columns: readonly Column<Row>[];
  readonly read: (cursor: string | undefined) => Promise<PageOf<Row>>;
  readonly keyOf: (row: Row) => string;
  /** The path of a row's page, below /console. */
  readonly pageOf: (row: Row) => string;
  /** The CSV file's name and request; undefined if the API sends no CSV for the list. */
  readonly csv?: { readonly file: string; readonly ask: CsvRequest };
  /** The text for an empty list without filters. */
  readonly empty: ComponentChildren;
  /** The advice if no record matches the filters. */
  readonly hint?: string;
}

export const ListPage = <Row,>(props: ListPageProps<Row>) => {
  const { title, one, search, filters, columns, read, keyOf, pageOf, csv, empty } = props;
  const names = [...(search ? [SEARCH] : []), ...filters.flatMap(parametersOf)];
  const pages = usePages(`${title} ${session.value?.userId} ${names.map(filterText).join('|')}`, read);
  const searched = [
    ...(search && filterText(SEARCH) !== undefined ? [`“${filterText(SEARCH)}”`] : []),
    ...filters.flatMap((field) => filterInWords(field) ?? []),
  ];
  return (
    <>
      <PageHead title={title} tab={title}>
        {csv && <CsvButton {...csv} />}
      </PageHead>
      <FilterBar search={search} filters={filters} found={foundInWords(pages, one)} />
      <Table
        name={title}
        columns={columns}
        pages={pages}
        keyOf={keyOf}
        pageOf={pageOf}
        empty={searched.length > 0 ? <NothingFound one={one} searched={searched} hint={props.hint} /> : empty}
      />
    </>
  );
};

interface NothingFoundProps {
  readonly one: string;
  readonly searched: readonly string[];
  readonly hint: string | undefined;
}

const NothingFound = ({ one, searched, hint = 'Change or clear the filters.' }: NothingFoundProps) => (
  <>
    <strong>No {one} matches</strong>
    <p>Searched: {searched.join(' · ')}</p>
    <p>{hint}</p>
  </>
);
