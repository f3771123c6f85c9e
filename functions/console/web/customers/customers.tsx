/** @module The page with the customers of the caller or of an organization. */

import { answerOf, api, nextOffset } from '../api/client.ts';
import { providerName } from '../api/providers.ts';
import { may } from '../api/session.ts';
import type { Customer } from '../api/types.ts';
import { anyOwnerFilter, ownersFilter, providerFilter } from '../lists/filter-fields.tsx';
import { ownersChoice, providerChoice } from '../lists/filter-values.ts';
import { ListPage } from '../lists/list-page.tsx';
import type { Column } from '../view/columns.ts';
import type { PageOf } from '../view/load.ts';
import { Cut, Time } from '../view/parts.tsx';

const readPage = async (cursor = '0'): Promise<PageOf<Customer>> => {
  const query = { provider_id: providerChoice(), organization_id: ownersChoice(), offset: Number(cursor) };
  const { data, response } = await answerOf(api.GET('/customers', { params: { query } }));
  return { rows: data, next: nextOffset(response) };
};

const COLUMNS: readonly Column<Customer>[] = [
  {
    title: 'Customer',
    cell: ({ id, name, email }) => <Cut>{email ?? name ?? id}</Cut>,
    phone: 'name',
  },
  { title: 'Name', cell: ({ name, email }) => (email === null ? null : name), below: 'Customer', phone: 'state' },
  { title: 'Provider', cell: ({ provider_id }) => providerName(provider_id), phone: 'figure' },
  { title: 'Created', isTime: true, cell: ({ created_at }) => <Time at={created_at} />, phone: 'note' },
  {
    title: 'Phone',
    cell: ({ phone }) => phone,
  },
  {
    title: 'Provider’s ID',
    cell: ({ provider_customer_id: id }) => <Cut title={id}>{id}</Cut>,
  },
  { title: 'ID', cell: ({ id }) => <Cut title={id}>{id}</Cut>, below: 'Provider’s ID' },
];

export const CustomersPage = () => (
  <ListPage
    title="Customers"
    one="customer"
    filters={[...(may('customers:read') ? [anyOwnerFilter()] : ownersFilter('None (my own)')), providerFilter()]}
    columns={COLUMNS}
    read={readPage}
    keyOf={({ id }) => id}
    pageOf={({ id }) => `/customers/${id}`}
    empty={<NoCustomers />}
  />
);

const NoCustomers = () => (
  <>
    <strong>No customers</strong>
    <p>
      {may('customers:read')
        ? 'The list shows your own customers. Enter an organization to list its customers. Payments and subscriptions of a person link to their customer.'
        : 'Customers appear here as soon as they are created through the API.'}
    </p>
  </>
);
