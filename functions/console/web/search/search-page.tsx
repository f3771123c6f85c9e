/** @module The page with the search results by kind. A single result opens its page directly. */

import { useEffect } from 'preact/hooks';
import { NEWEST_CUSTOMERS, type SearchResult, searchEverything } from '../api/search.ts';
import type { SearchHit, SearchKind } from '../api/types.ts';
import type { Column } from '../view/columns.ts';
import { count, inWords } from '../view/format.ts';
import { useLoaded } from '../view/load.ts';
import { Cut, Loading, Money, PageHead, ProblemNote, Status, Time } from '../view/parts.tsx';
import { go, Link, place, withQuery } from '../view/route.tsx';
import { Table } from '../view/table.tsx';

/** The kinds and their headings, in page order. */
const KINDS: readonly (readonly [kind: SearchKind, heading: string])[] = [
  ['payment', 'Payments'],
  ['refund', 'Refunds'],
  ['dispute', 'Disputes'],
  ['subscription', 'Subscriptions'],
  ['customer', 'Customers'],
  ['method', 'Saved methods'],
  ['organization', 'Organizations'],
  ['user', 'Users'],
];

const paymentsWith = (name: string, value: string): string =>
  withQuery('/payments', new URLSearchParams({ [name]: value }));

/** The page of a record or of its payment; undefined if neither exists. */
const pageOf = ({ kind, id, payment_id: payment }: SearchHit): string | undefined => {
  switch (kind) {
    case 'payment':
      return `/payments/${id}`;
    case 'refund':
    case 'dispute':
      return payment === null ? undefined : `/payments/${payment}`;
    case 'subscription':
      return `/subscriptions/${id}`;
    case 'customer':
      return `/customers/${id}`;
    case 'organization':
      return paymentsWith('organization', id);
    case 'user':
      return paymentsWith('user', id);
    case 'method':
      return undefined;
  }
};

const onlyPage = ({ hits, isTruncated }: SearchResult): string | undefined => {
  const [hit] = hits;
  return hit && hits.length === 1 && !isTruncated ? pageOf(hit) : undefined;
};

const NOTHING: SearchResult = { hits: [], isTruncated: false };

export const SearchPage = () => {
  const q = place.value.query.get('q')?.trim() ?? '';
  const found = useLoaded(q, async () => (q === '' ? NOTHING : searchEverything(q)));
  const only = found.data && onlyPage(found.data);
  useEffect(() => {
    if (only !== undefined) go(only, 'replace');
  }, [only]);
  const title = q === '' ? 'Search' : `Results for “${q}”`;
  return (
    <>
      <PageHead title={title} tab={title} />
      {found.problem && <ProblemNote problem={found.problem} onRetry={found.reload} />}
      {(found.isLoading || only !== undefined) && <Loading what="the results" />}
      {found.data && only === undefined && <Results q={q} result={found.data} />}
    </>
  );
};

const Results = ({ q, result: { hits, isTruncated } }: { readonly q: string; readonly result: SearchResult }) => {
  if (hits.length === 0) return <NothingFound q={q} />;
  return (
    <>
      {KINDS.map(([kind, heading]) => {
        const ofKind = hits.filter((hit) => hit.kind === kind);
        return ofKind.length === 0 ? null : <Kind key={kind} heading={heading} hits={ofKind} />;
      })}
      {isTruncated && (
        <p class="note">
          <span>More records match than are listed here.</span>
          <Link to={paymentsWith('search', q)}>Search the payments, with filters</Link>
        </p>
      )}
    </>
  );
};

/**
 * The kinds whose label is a name of the API, such as `requested_by_customer`. The console turns such a name into
 * words.
 */
const NAMED_BY_API: readonly SearchKind[] = ['refund', 'dispute', 'method'];

const labelOf = ({ kind, id, label }: SearchHit): string =>
  label !== id && NAMED_BY_API.includes(kind) ? inWords(label) : label;

const RECORD: Column<SearchHit> = {
  title: 'Record',
  cell: (hit) => <Cut title={labelOf(hit)}>{labelOf(hit)}</Cut>,
  phone: 'name',
};

const ID: Column<SearchHit> = {
  title: 'ID',
  cell: ({ id, label }) => (label === id ? null : <Cut title={id}>{id}</Cut>),
  below: 'Record',
};

/** Columns of only some kinds, each with its field. */
const OPTIONAL_COLUMNS: readonly (readonly [field: keyof SearchHit, column: Column<SearchHit>])[] = [
  [
    'amount_cents',
    {
      title: 'Amount',
      align: 'end',
      cell: ({ amount_cents, currency }) =>
        amount_cents === null || currency === null ? null : <Money cents={amount_cents} currency={currency} />,
      phone: 'figure',
    },
  ],
  ['status', { title: 'Status', cell: ({ status }) => status && <Status of={status} />, phone: 'state' }],
  [
    'user_email',
    { title: 'Payer', cell: ({ user_email: email }) => email && <Cut title={email}>{email}</Cut>, phone: 'note' },
  ],
  [
    'created_at',
    {
      title: 'Created',
      isTime: true,
      cell: ({ created_at }) => created_at && <Time at={created_at} />,
      phone: 'note',
    },
  ],
];

const columnsOf = (hits: readonly SearchHit[]): readonly Column<SearchHit>[] => [
  RECORD,
  ...(hits.some(({ id, label }) => label !== id) ? [ID] : []),
  ...OPTIONAL_COLUMNS.filter(([field]) => hits.some((hit) => hit[field] !== null)).map(([, column]) => column),
];

const Kind = ({ heading, hits }: { readonly heading: string; readonly hits: readonly SearchHit[] }) => (
  <section class="part" aria-label={heading}>
    <h2>{heading}</h2>
    <Table
      name={`${heading} found`}
      columns={columnsOf(hits)}
      pages={{ rows: hits, isLoading: false, problem: undefined, more: undefined, retry: () => undefined }}
      keyOf={({ id }) => id}
      pageOf={pageOf}
      empty={null}
    />
  </section>
);

const NothingFound = ({ q }: { readonly q: string }) => (
  <div class="empty">
    {q !== '' && <strong>Nothing found for “{q}”</strong>}
    <p>
      The search covers payments, refunds, disputes, subscriptions, customers, saved methods, organizations and users.
      It finds a record by its whole ID, ours or the provider’s, by an e-mail address, by the last four digits of a
      card, and by a reference code. It finds the newest {count(NEWEST_CUSTOMERS)} customers by the beginning of a name
      or an e-mail address.
    </p>
    {q !== '' && <Link to={paymentsWith('search', q)}>Search the payments, with filters</Link>}
  </div>
);
