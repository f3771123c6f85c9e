/** @module The columns of the tables of payments. */

import { providerName } from '../api/providers.ts';
import type { Payment } from '../api/types.ts';
import { Money, Status, Time } from '../view/parts.tsx';
import type { Column } from '../view/table.tsx';
import { Method, OrganizationInShort, PayerInShort, payerInShort } from './payment-parts.tsx';

const AMOUNT: Column<Payment> = {
  title: 'Amount',
  align: 'end',
  cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
};
const STATUS: Column<Payment> = {
  title: 'Status',
  cell: ({ status, disputed }) => (
    <span class="statuses">
      <Status of={status} />
      {disputed && <span class="status status-bad">Disputed</span>}
    </span>
  ),
};
const METHOD: Column<Payment> = {
  title: 'Method',
  isExtra: true,
  cell: (payment) => <Method payment={payment} />,
};

/** For lists with payments of several payers. */
export const PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  {
    title: 'Created',
    isTime: true,
    cell: (payment) => (
      <>
        <Time at={payment.created_at} />
        <span class="narrow-only clip quiet">{payerInShort(payment)}</span>
      </>
    ),
  },
  AMOUNT,
  STATUS,
  {
    title: 'Refunded',
    align: 'end',
    isExtra: true,
    cell: ({ refunded_cents, currency }) =>
      refunded_cents === 0 ? <span class="quiet">–</span> : <Money cents={refunded_cents} currency={currency} />,
  },
  { title: 'Payer', isExtra: true, cell: (payment) => <PayerInShort record={payment} /> },
  METHOD,
  { title: 'Provider', isExtra: true, cell: ({ provider_id }) => providerName(provider_id) },
  { title: 'Organization', isExtra: true, cell: (payment) => <OrganizationInShort record={payment} /> },
];

/** For the payments of one payer, on the page of a customer or subscription. */
export const OWN_PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  { title: 'Created', isTime: true, cell: ({ created_at }) => <Time at={created_at} /> },
  AMOUNT,
  STATUS,
  {
    title: 'Declined',
    isExtra: true,
    cell: ({ failure_code: code }) => code ?? <span class="quiet">–</span>,
  },
  METHOD,
];
