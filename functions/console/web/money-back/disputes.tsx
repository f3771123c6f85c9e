/** @module The page with the disputes of all payments, for staff and platform admins. Each row opens its payment. */

import { answerOf, api, nextCursor } from '../api/client.ts';
import { providerName } from '../api/providers.ts';
import type { Dispute } from '../api/types.ts';
import { CREATED_RANGE, choicesOf, type FilterField, providerFilter } from '../lists/filter-fields.tsx';
import { filterChoice, filterText, providerChoice } from '../lists/filter-values.ts';
import { type CsvRequest, ListPage } from '../lists/list-page.tsx';
import { PayerInShort } from '../pages/payment-parts.tsx';
import { inWords } from '../view/format.ts';
import type { PageOf } from '../view/load.ts';
import { Money, Status, Time } from '../view/parts.tsx';
import type { Column } from '../view/table.tsx';

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

const filters = (): readonly FilterField[] => [
  { kind: 'choice', label: 'Status', name: 'status', choices: choicesOf(STATUSES) },
  providerFilter(),
  ...CREATED_RANGE,
];

const isDue = ({ status, evidence_due_by: due }: Dispute): boolean => due !== null && status === 'needs_response';

const DueDate = ({ dispute }: { readonly dispute: Dispute }) =>
  isDue(dispute) ? <Time at={dispute.evidence_due_by ?? ''} /> : <span class="quiet">–</span>;

const COLUMNS: readonly Column<Dispute>[] = [
  { title: 'Opened', isTime: true, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: 'Amount',
    align: 'end',
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
  },
  {
    title: 'Status',
    cell: (dispute) => (
      <>
        <Status of={dispute.status} />
        {isDue(dispute) && (
          <span class="narrow-only quiet">
            due <DueDate dispute={dispute} />
          </span>
        )}
      </>
    ),
  },
  {
    title: 'Reason',
    isExtra: true,
    cell: ({ reason }) => (reason === null ? <span class="quiet">–</span> : inWords(reason)),
  },
  { title: 'Evidence due', isTime: true, isExtra: true, cell: (dispute) => <DueDate dispute={dispute} /> },
  { title: 'Payer', isExtra: true, cell: (record) => <PayerInShort record={record} /> },
  { title: 'Provider', isExtra: true, cell: ({ provider_id }) => providerName(provider_id) },
  { title: 'Payment', isExtra: true, cell: ({ payment_id }) => <span class="clip quiet">{payment_id}</span> },
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
