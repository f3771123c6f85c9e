/** @module The page with the refunds of all payments, for staff and platform admins. A row opens the payment. */

import { answerOf, api, nextCursor } from '../api/client.ts';
import { readNames } from '../api/people.ts';
import { providerName } from '../api/providers.ts';
import type { Refund } from '../api/types.ts';
import { CREATED_RANGE, type FilterField, providerFilter, statusFilter } from '../lists/filter-fields.tsx';
import { filterChoice, filterText, providerChoice } from '../lists/filter-values.ts';
import { type CsvRequest, ListPage } from '../lists/list-page.tsx';
import { PersonInShort } from '../pages/actor.tsx';
import { PayerInShort } from '../pages/payment-parts.tsx';
import type { Column } from '../view/columns.ts';
import { inWords } from '../view/format.ts';
import type { PageOf } from '../view/load.ts';
import { Cut, Money, Status, Time } from '../view/parts.tsx';

const STATUSES: readonly Refund['status'][] = ['succeeded', 'pending', 'failed', 'canceled'];

const query = () => ({
  status: filterChoice('status', STATUSES),
  provider_id: providerChoice(),
  from: filterText('from'),
  to: filterText('to'),
});

const readPage = async (cursor: string | undefined): Promise<PageOf<Refund>> => {
  const { data } = await answerOf(api.GET('/refunds', { params: { query: { ...query(), cursor } } }));
  void readNames(data.data.flatMap(({ created_by: by }) => (by === null ? [] : [by])));
  return { rows: data.data, next: nextCursor(data.meta) };
};

const askCsv: CsvRequest = ({ cursor, headers }) =>
  api.GET('/refunds', { headers, parseAs: 'text', params: { query: { ...query(), cursor } } });

const filters = (): readonly FilterField[] => [...CREATED_RANGE, statusFilter(STATUSES), providerFilter()];

const COLUMNS: readonly Column<Refund>[] = [
  { title: 'Created', isTime: true, cell: ({ created_at }) => <Time at={created_at} />, phone: 'note' },
  {
    title: 'Amount',
    align: 'end',
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
    phone: 'figure',
  },
  { title: 'Status', cell: ({ status }) => <Status of={status} />, phone: 'state' },
  {
    title: 'Reason',
    cell: ({ reason }) => (reason === null ? null : inWords(reason)),
  },
  {
    title: 'Made by',
    cell: (refund) => <Maker refund={refund} />,
    below: 'Reason',
  },
  { title: 'Payer', cell: (record) => <PayerInShort record={record} />, phone: 'name' },
  { title: 'Provider', cell: ({ provider_id }) => providerName(provider_id) },
  {
    title: 'Payment',
    cell: ({ payment_id }) => <Cut title={payment_id}>{payment_id}</Cut>,
    below: 'Payer',
    isAlwaysBelow: true,
  },
];

const Maker = ({ refund: { source, created_by: by, provider_id: provider } }: { readonly refund: Refund }) => {
  if (source === 'provider') return <Cut>{providerName(provider)} (dashboard)</Cut>;
  return by === null ? (
    <>–</>
  ) : (
    <Cut>
      <PersonInShort id={by} />
    </Cut>
  );
};

export const RefundsPage = () => (
  <ListPage
    title="Refunds"
    one="refund"
    filters={filters()}
    columns={COLUMNS}
    read={readPage}
    keyOf={({ id }) => id}
    pageOf={({ payment_id }) => `/payments/${payment_id}`}
    csv={{ file: 'refunds.csv', ask: askCsv }}
    empty={
      <>
        <strong>No refunds in the last 24 months</strong>
        <p>A refund is made on the page of its payment. Refunds made at the provider are listed here too.</p>
      </>
    }
  />
);
