/** @module The columns of the tables of payments. */

import { providerName } from '../api/providers.ts';
import type { Payment } from '../api/types.ts';
import type { Column } from '../view/columns.ts';
import { inWords } from '../view/format.ts';
import { Money, Status, Time } from '../view/parts.tsx';
import { Method, organizationInShort, PayerInShort } from './payment-parts.tsx';

const CREATED: Column<Payment> = {
  title: 'Created',
  isTime: true,
  cell: ({ created_at }) => <Time at={created_at} />,
  phone: 'note',
};
const AMOUNT: Column<Payment> = {
  title: 'Amount',
  align: 'end',
  cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
  phone: 'figure',
};
const STATUS: Column<Payment> = {
  title: 'Status',
  cell: ({ status, disputed }) => (
    <span class="statuses">
      <Status of={status} />
      {disputed && <span class="status status-bad">Disputed</span>}
    </span>
  ),
  phone: 'state',
};
const METHOD: Column<Payment> = {
  title: 'Method',
  cell: (payment) => <Method payment={payment} />,
};

/** The columns for lists with payments of several payers. */
export const PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  CREATED,
  AMOUNT,
  STATUS,
  {
    title: 'Refunded',
    align: 'end',
    cell: ({ refunded_cents, currency }) =>
      refunded_cents === 0 ? null : <Money cents={refunded_cents} currency={currency} />,
    below: 'Amount',
  },
  { title: 'Payer', cell: (payment) => <PayerInShort record={payment} />, phone: 'name' },
  METHOD,
  { title: 'Provider', cell: ({ provider_id }) => providerName(provider_id), below: 'Method' },
  { title: 'Organization', cell: (payment) => organizationInShort(payment), below: 'Payer' },
];

/** The columns for the payments of one payer, on the page of a customer or subscription. */
export const OWN_PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  { ...CREATED, phone: 'name' },
  AMOUNT,
  STATUS,
  { title: 'Declined', cell: ({ failure_code: code }) => code && inWords(code) },
  { ...METHOD, phone: 'note' },
];
