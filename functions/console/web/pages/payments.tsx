/**
 * @module The page with the list of payments. Platform admins see the payments of all owners. Other users see their
 * own.
 */

import { answerOf, api, nextCursor } from '../api/client.ts';
import { organizations } from '../api/organizations.ts';
import { providerName, providers } from '../api/providers.ts';
import { isAdmin } from '../api/session.ts';
import type { Payment, PaymentStatus, ProviderConfig } from '../api/types.ts';
import { CsvButton } from '../view/csv-button.tsx';
import { type Choice, ClearFilters, DateFilter, SearchBox, SelectFilter, TextFilter } from '../view/filters.tsx';
import { inWords, minorUnits } from '../view/format.ts';
import { type PageOf, usePages } from '../view/load.ts';
import { Money, PageHead, Status, Time } from '../view/parts.tsx';
import { place } from '../view/route.tsx';
import { type Column, Table } from '../view/table.tsx';
import { Method, payerOf } from './payment-parts.tsx';

const STATUSES: readonly PaymentStatus[] = [
  'succeeded',
  'failed',
  'processing',
  'pending',
  'requires_payment_method',
  'created',
  'canceled',
];
const PROVIDER_SLOTS: readonly ProviderConfig['provider_id'][] = [
  'provider_a',
  'provider_b',
  'provider_c',
  'provider_d',
];
const REFUND_STATUSES: readonly Payment['refund_status'][] = ['none', 'partial', 'full'];
const FILTERS = [
  ...['search', 'status', 'provider', 'currency', 'from', 'to', 'min', 'max', 'refunded', 'disputed', 'organization'],
] as const;

/** Offered first, before the other currencies of the browser. */
const FREQUENT_CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'SEK', 'PLN', 'CAD', 'AUD'];

const asChoices = (values: readonly string[]): readonly Choice[] =>
  values.map((value) => ({ value, text: inWords(value) }));

const currencyChoices = (): readonly Choice[] =>
  [...new Set([...FREQUENT_CURRENCIES, ...Intl.supportedValuesOf('currency')])].map((value) => ({
    value,
    text: value,
  }));

/** The value of a filter in the address bar; undefined if it is empty. */
const filter = (name: string): string | undefined => place.value.query.get(name) || undefined;

const centsIn = (name: string): number | undefined => {
  const text = filter(name);
  return text === undefined ? undefined : minorUnits(text, filter('currency') ?? 'USD');
};

/** The value of a filter, if the API accepts it. Any other value in the address bar counts as absent. */
const known = <Value extends string>(name: string, values: readonly Value[]): Value | undefined =>
  values.find((value) => value === filter(name));

const isDisputed = (): boolean | undefined => {
  const chosen = known('disputed', ['true', 'false']);
  return chosen === undefined ? undefined : chosen === 'true';
};

const adminQuery = () => ({
  search: filter('search'),
  status: known('status', STATUSES),
  provider_id: known('provider', PROVIDER_SLOTS),
  currency: filter('currency'),
  from: filter('from'),
  to: filter('to'),
  min_cents: centsIn('min'),
  max_cents: centsIn('max'),
  refund_status: known('refunded', REFUND_STATUSES),
  disputed: isDisputed(),
  organization_id: filter('organization'),
});

const ownQuery = () => ({
  search: filter('search'),
  status: known('status', STATUSES),
  created_at_from: filter('from'),
  created_at_to: filter('to'),
  organization_id: filter('organization'),
});

const readPage = async (cursor: string | undefined): Promise<PageOf<Payment>> => {
  const call = isAdmin.value
    ? api.GET('/admin/payments', { params: { query: { ...adminQuery(), cursor } } })
    : api.GET('/payments', { params: { query: { ...ownQuery(), cursor, include: 'payment_method' } } });
  const { data } = await answerOf<{ data?: Payment[]; meta?: Record<string, unknown> }>(call);
  return { rows: data.data ?? [], next: nextCursor(data.meta) };
};

type CsvRequest = Parameters<typeof CsvButton>[0]['ask'];

const askCsv: CsvRequest = ({ cursor, headers }) =>
  isAdmin.value
    ? api.GET('/admin/payments', { headers, parseAs: 'text', params: { query: { ...adminQuery(), cursor } } })
    : api.GET('/payments', { headers, parseAs: 'text', params: { query: { ...ownQuery(), cursor } } });

const COLUMNS: readonly Column<Payment>[] = [
  {
    title: 'Created (UTC)',
    cell: (payment) => (
      <>
        <Time at={payment.created_at} />
        <span class="narrow-only clip quiet">{payerOf(payment)}</span>
      </>
    ),
  },
  {
    title: 'Amount',
    align: 'end',
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
  },
  {
    title: 'Status',
    cell: ({ status, disputed }) => (
      <span class="statuses">
        <Status of={status} />
        {disputed && <span class="status status-bad">Disputed</span>}
      </span>
    ),
  },
  {
    title: 'Refunded',
    align: 'end',
    isExtra: true,
    cell: ({ refunded_cents, currency }) =>
      refunded_cents === 0 ? <span class="quiet">–</span> : <Money cents={refunded_cents} currency={currency} />,
  },
  { title: 'Payer', isExtra: true, cell: (payment) => <span class="clip">{payerOf(payment)}</span> },
  { title: 'Method', isExtra: true, cell: (payment) => <Method payment={payment} /> },
  { title: 'Provider', isExtra: true, cell: ({ provider_id }) => providerName(provider_id) },
  {
    title: 'Organization',
    isExtra: true,
    cell: ({ organization_id }) => <span class="clip quiet">{organization_id ?? '–'}</span>,
  },
];

export const PaymentsPage = () => {
  const key = `${isAdmin.value} ${FILTERS.map(filter).join('|')}`;
  const pages = usePages(key, readPage);
  const isFiltered = FILTERS.some((name) => filter(name) !== undefined);
  return (
    <>
      <PageHead title="Payments" tab="Payments">
        <CsvButton file="payments.csv" ask={askCsv} />
      </PageHead>
      <SearchBox
        label="Search payments"
        name="search"
        placeholder={
          isAdmin.value
            ? 'ID, provider’s ID, e-mail, reference or last four digits'
            : 'ID, or part of an e-mail or description'
        }
      />
      <div class="filters">
        <SelectFilter label="Status" name="status" choices={asChoices(STATUSES)} />
        {isAdmin.value ? <AdminFilters /> : <OrganizationFilter />}
        <DateFilter label="From" name="from" />
        <DateFilter label="To" name="to" />
        <ClearFilters names={FILTERS} />
      </div>
      <Table
        name="Payments"
        columns={COLUMNS}
        pages={pages}
        keyOf={({ id }) => id}
        pageOf={({ id }) => `/payments/${id}`}
        empty={isFiltered ? <NothingFound /> : <NoPayments />}
      />
    </>
  );
};

/** A filter, because the payments of an organization are a separate list. */
const OrganizationFilter = () =>
  organizations.value.length === 0 ? null : (
    <SelectFilter
      label="Organization"
      name="organization"
      none="None (my own payments)"
      choices={organizations.value.map(({ id, name }) => ({ value: id, text: name }))}
    />
  );

const AdminFilters = () => (
  <>
    <SelectFilter
      label="Provider"
      name="provider"
      choices={providers.value.map(({ provider_id: id }) => ({ value: id, text: providerName(id) }))}
    />
    <SelectFilter label="Currency" name="currency" choices={currencyChoices()} />
    <TextFilter label="Minimum amount" name="min" inputMode="decimal" placeholder="0.00" />
    <TextFilter label="Maximum amount" name="max" inputMode="decimal" placeholder="0.00" />
    <SelectFilter label="Refunded" name="refunded" choices={asChoices(REFUND_STATUSES)} />
    <SelectFilter
      label="Disputed"
      name="disputed"
      choices={[
        { value: 'true', text: 'Yes' },
        { value: 'false', text: 'No' },
      ]}
    />
  </>
);

const NothingFound = () => (
  <>
    <strong>No payment matches</strong>
    <p>
      {isAdmin.value && filter('from') === undefined
        ? 'A search without a date covers the last 31 days. Set “From” to search further back, or clear the filters.'
        : 'Change or clear the filters.'}
    </p>
  </>
);

const NoPayments = () => (
  <>
    <strong>No payments yet</strong>
    <p>Payments appear here as soon as they are created through the API.</p>
  </>
);
