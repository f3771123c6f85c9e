/** @module The page with the customers of all owners (staff), of the caller or of an organization. */

import { answerOf, api, nextCursor, nextOffset } from '../api/client.ts';
import { providerName } from '../api/providers.ts';
import { may } from '../api/session.ts';
import type { Customer } from '../api/types.ts';
import { anyOwnerFilter, ownersFilter, providerFilter } from '../lists/filter-fields.tsx';
import { filterText, ownersChoice, providerChoice } from '../lists/filter-values.ts';
import { ListPage } from '../lists/list-page.tsx';
import type { Column } from '../view/columns.ts';
import type { PageOf } from '../view/load.ts';
import { Cut, Time } from '../view/parts.tsx';

/** True for the list of all owners' customers. Only this list has a search. */
const isOfAll = (): boolean => may('customers:read') && ownersChoice() === '';

const readPage = (cursor: string | undefined): Promise<PageOf<Customer>> =>
  isOfAll() ? readOfAll(cursor) : readOfOwner(cursor);

const readOfAll = async (cursor: string | undefined): Promise<PageOf<Customer>> => {
  const query = { provider_id: providerChoice(), search: filterText('search'), limit: 50, cursor };
  const { data } = await answerOf(api.GET('/admin/customers', { params: { query } }));
  return { rows: data.data, next: nextCursor(data.meta) };
};

const readOfOwner = async (cursor = '0'): Promise<PageOf<Customer>> => {
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
    {...(isOfAll() && { search: { label: 'Search customers', placeholder: 'E-mail, name or ID' } })}
    hint="Search for a whole e-mail address, name or ID. Change or clear the filters."
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
        ? 'Customers appear here moments after they are created. A customer from before the list existed appears after its next change.'
        : 'Customers appear here as soon as they are created through the API.'}
    </p>
  </>
);
