/** @module The page with the disputes of all payments, for staff and platform admins. A row opens the payment. */

import { answerOf, api, nextCursor } from '../api/client.ts';
import { providerName } from '../api/providers.ts';
import type { Dispute } from '../api/types.ts';
import { CREATED_RANGE, type FilterField, providerFilter, statusFilter } from '../lists/filter-fields.tsx';
import { filterChoice, filterText, providerChoice } from '../lists/filter-values.ts';
import { type CsvRequest, ListPage } from '../lists/list-page.tsx';
import { PayerInShort } from '../pages/payment-parts.tsx';
import type { Column } from '../view/columns.ts';
import { inWords } from '../view/format.ts';
import type { PageOf } from '../view/load.ts';
import { Cut, Money, Status, Time } from '../view/parts.tsx';

const STATUSES: readonly Dispute['status'][] = ['needs_response', 'under_review', 'won', 'lost', 'closed'];

const query = () => ({
  status: filterChoice('status', STATUSES),
  provider_id: providerChoice(),
  from: filterText('from'),
  to: filterText('to'),
});

const readPage = async (cursor: string | undefined): Promise<PageOf<Dispute>> => {
  const { data } = await answerOf(api.GET('/disputes', { params: { query: { ...query(), cursor } } }));
  return { rows: data.data, next: nextCursor(data.meta) };
};

const askCsv: CsvRequest = ({ cursor, headers }) =>
  api.GET('/disputes', { headers, parseAs: 'text', params: { query: { ...query(), cursor } } });

const filters = (): readonly FilterField[] => [...CREATED_RANGE, statusFilter(STATUSES), providerFilter()];

const isDue = ({ status, evidence_due_by: due }: Dispute): boolean => due !== null && status === 'needs_response';

const COLUMNS: readonly Column<Dispute>[] = [
  { title: 'Opened', isTime: true, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: 'Amount',
    align: 'end',
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
    phone: 'figure',
  },
  {
    title: 'Status',
    cell: ({ status }) => <Status of={status} />,
    phone: 'state',
  },
  {
    title: 'Reason',
    cell: ({ reason }) => (reason === null ? null : inWords(reason)),
  },
  {
    title: 'Evidence due',
    isTime: true,
    cell: (dispute) => (isDue(dispute) ? <Time at={dispute.evidence_due_by ?? ''} /> : null),
    phone: 'note',
  },
  { title: 'Payer', cell: (record) => <PayerInShort record={record} />, phone: 'name' },
  { title: 'Provider', cell: ({ provider_id }) => providerName(provider_id), below: 'Reason' },
  {
    title: 'Payment',
    cell: ({ payment_id }) => <Cut title={payment_id}>{payment_id}</Cut>,
    below: 'Payer',
    isAlwaysBelow: true,
  },
];

export const DisputesPage = () => (
  <ListPage
    title="Disputes"
    one="dispute"
    filters={filters()}
    columns={COLUMNS}
    read={readPage}
    keyOf={({ id }) => id}
    pageOf={({ payment_id }) => `/payments/${payment_id}`}
    csv={{ file: 'disputes.csv', ask: askCsv }}
    empty={
      <>
        <strong>No disputes in the last 24 months</strong>
        <p>A dispute appears here when a payer asks the bank for the money back. Evidence is given at the provider.</p>
      </>
    }
  />
);
