/** @module The page of one customer, with its methods, its subscriptions and its payments. */

import { answerOf, api } from '../api/client.ts';
import { providerName } from '../api/providers.ts';
import { may, mayOpen } from '../api/session.ts';
import type { Customer, PaymentMethod } from '../api/types.ts';
import { OWN_PAYMENT_COLUMNS } from '../pages/payment-columns.tsx';
import { OwningOrganization, savedMethodInShort } from '../pages/payment-parts.tsx';
import { CUSTOMER_SUBSCRIPTION_COLUMNS } from '../subscriptions/subscription-columns.tsx';
import type { Column } from '../view/columns.ts';
import { inWords } from '../view/format.ts';
import { usePages } from '../view/load.ts';
import { NotPermitted } from '../view/not-permitted.tsx';
import { Cut, Fact, Json, Time } from '../view/parts.tsx';
import { RecordPage } from '../view/record-page.tsx';
import { Table } from '../view/table.tsx';
import { readMethods, readPayments, readSubscriptions } from './customer-records.ts';
import { Lifetime } from './lifetime.tsx';

const readCustomer = async (id: string): Promise<Customer> =>
  (await answerOf(api.GET('/customers/{id}', { params: { path: { id } } }))).data;

export const CustomerPage = ({ id }: { readonly id: string }) => (
  <RecordPage
    id={id}
    list={['/customers', 'Customers']}
    what="the customer"
    title={(customer) => customer?.email ?? customer?.name ?? 'Customer'}
    about={(customer) => <About customer={customer} />}
    tab="Customer"
    read={() => readCustomer(id)}
    actions={() => null}
  >
    {(customer) => <CustomerView customer={customer} />}
  </RecordPage>
);

interface CustomerProps {
  readonly customer: Customer;
}

/** The details that the heading does not show. */
const About = ({ customer: { email, name, created_at } }: CustomerProps) => (
  <>
    {email !== null && name !== null && `${name} · `}
    since <Time at={created_at} zoned={true} />
  </>
);

const CustomerView = ({ customer }: CustomerProps) => (
  <>
    {may('payments:read') && <Lifetime customer={customer} />}
    <div class="columns">
      <section class="card" aria-label="Details">
        <h2>Details</h2>
        <Details customer={customer} />
      </section>
      {Object.keys(customer.metadata ?? {}).length > 0 && (
        <section class="card" aria-label="Metadata">
          <h2>Metadata</h2>
          <Json value={customer.metadata} name="Metadata" />
        </section>
      )}
    </div>
    <section class="part" aria-label="Payment methods">
      <h2>Payment methods</h2>
      <Methods customer={customer} />
    </section>
    <section class="part" aria-label="Subscriptions">
      <h2>Subscriptions</h2>
      {mayOpen('subscriptions:read') ? (
        <Subscriptions customer={customer} />
      ) : (
        <NotPermitted what="Subscriptions" scope="subscriptions:read" />
      )}
    </section>
    <section class="part" aria-label="Payments">
      <h2>Payments</h2>
      {mayOpen('payments:read') ? (
        <Payments customer={customer} />
      ) : (
        <NotPermitted what="Payments" scope="payments:read" />
      )}
    </section>
  </>
);

const Details = ({ customer }: CustomerProps) => {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['E-mail', customer.email ?? undefined],
    ['Name', customer.name ?? undefined],
    ['Phone', customer.phone ?? undefined],
    ['Provider', providerName(customer.provider_id)],
    ['Provider’s ID', customer.provider_customer_id],
    ['User', customer.user_id ?? undefined],
    ['Project', customer.project_id],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) =>
        value === undefined ? null : (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ),
      )}
      {customer.is_guest && <Fact name="Guest">Made without a session</Fact>}
      {customer.organization_id !== undefined && (
        <Fact name="Organization">
          <OwningOrganization record={customer} />
        </Fact>
      )}
      <Fact name="Created">
        <Time at={customer.created_at} exact={true} />
      </Fact>
    </dl>
  );
};

const SETUPS: Readonly<Record<PaymentMethod['setup_status'], readonly [words: string, tone: string]>> = {
  succeeded: ['Ready', 'good'],
  requires_action: ['Waits for the payer', 'wait'],
  failed: ['Failed', 'bad'],
};

const Setup = ({ status }: { readonly status: PaymentMethod['setup_status'] }) => {
  const [words, tone] = SETUPS[status];
  return <span class={`status status-${tone}`}>{words}</span>;
};

const METHOD_COLUMNS: readonly Column<PaymentMethod>[] = [
  { title: 'Method', cell: (method) => <span class="method">{savedMethodInShort(method)}</span>, phone: 'name' },
  {
    title: 'Expires',
    cell: ({ card_exp_month: month, card_exp_year: year }) =>
      month !== null && year !== null ? `${month}/${year}` : null,
    phone: 'note',
  },
  {
    title: 'Status',
    cell: ({ setup_status, is_default }) => (
      <span class="statuses">
        <Setup status={setup_status} />
        {is_default && <span class="status">Default</span>}
      </span>
    ),
    phone: 'figure',
  },
  {
    title: 'Funding',
    cell: ({ funding, country }) => {
      const known = [funding, country].filter((part) => part !== null);
      return known.length > 0 ? inWords(known.join(', ')) : null;
    },
  },
  { title: 'Alias', cell: ({ alias }) => alias },
  { title: 'ID', cell: ({ id }) => <Cut title={id}>{id}</Cut> },
];

const Methods = ({ customer }: CustomerProps) => (
  <Table
    name="Payment methods"
    columns={METHOD_COLUMNS}
    pages={usePages(`methods ${customer.id}`, () => readMethods(customer))}
    keyOf={({ id }) => id}
    empty={<strong>No saved payment method</strong>}
  />
);

const Subscriptions = ({ customer }: CustomerProps) => (
  <Table
    name="Subscriptions"
    columns={CUSTOMER_SUBSCRIPTION_COLUMNS}
    pages={usePages(`subscriptions ${customer.id}`, (cursor) => readSubscriptions(customer, cursor))}
    keyOf={({ id }) => id}
    pageOf={({ id }) => `/subscriptions/${id}`}
    empty={<strong>No subscription</strong>}
  />
);

const Payments = ({ customer }: CustomerProps) => (
  <Table
    name="Payments"
    columns={OWN_PAYMENT_COLUMNS}
    pages={usePages(`payments ${customer.id}`, (cursor) => readPayments(customer, cursor))}
    keyOf={({ id }) => id}
    pageOf={({ id }) => `/payments/${id}`}
    empty={<strong>No payment</strong>}
  />
);
