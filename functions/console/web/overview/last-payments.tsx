/** @module The last ten payments. Staff and platform admins see all owners. */

import { answerOf, api } from '../api/client.ts';
import type { Payment } from '../api/types.ts';
import { OWN_PAYMENT_COLUMNS, PAYMENT_COLUMNS } from '../pages/payment-columns.tsx';
import { type PageOf, usePages } from '../view/load.ts';
import { Link } from '../view/route.tsx';
import { Table } from '../view/table.tsx';
import { isOfAll, ownerAsked } from './read-summary.ts';

const LAST = 10;

const readLast = async (): Promise<PageOf<Payment>> => {
  const call = isOfAll()
    ? api.GET('/admin/payments', { params: { query: { limit: LAST } } })
    : api.GET('/payments', { params: { query: { limit: LAST, organization_id: ownerAsked() } } });
  const { data } = await answerOf<{ data?: Payment[] }>(call);
  return { rows: data.data ?? [], next: undefined };
};

export const LastPayments = ({ of }: { readonly of: string }) => (
  <section class="part" aria-label="Last payments">
    <div class="card-head">
      <h2>Last payments</h2>
      <Link to="/payments">All payments</Link>
    </div>
    <Table
      name="Last payments"
      columns={isOfAll() ? PAYMENT_COLUMNS : OWN_PAYMENT_COLUMNS}
      pages={usePages(`last ${of}`, readLast)}
      keyOf={({ id }) => id}
      pageOf={({ id }) => `/payments/${id}`}
      empty={<strong>No payment yet</strong>}
    />
  </section>
);
