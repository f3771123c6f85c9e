/**
 * @module The page with the list of payments. Staff and platform admins see all owners. Other users see their own
 * payments.
 */

import { answerOf, api, nextCursor } from '../api/client.ts';
import { may } from '../api/session.ts';
import type { Payment, PaymentStatus } from '../api/types.ts';
import {
  anyOwnerFilter,
  CREATED_RANGE,
  choicesOf,
  type FilterField,
  ownersFilter,
  providerFilter,
  statusFilter,
  userFilter,
} from '../lists/filter-fields.tsx';
import { filterChoice, filterText, ownersChoice, providerChoice } from '../lists/filter-values.ts';
import { type CsvRequest, ListPage } from '../lists/list-page.tsx';
import type { Choice } from '../view/filters.tsx';
import { minorUnits } from '../view/format.ts';
import type { PageOf } from '../view/load.ts';
import { PAYMENT_COLUMNS } from './payment-columns.tsx';

const STATUSES: readonly PaymentStatus[] = [
  'succeeded',
  'requires_capture',
  'failed',
  'processing',
  'pending',
  'requires_payment_method',
  'created',
  'canceled',
];
const REFUND_STATUSES: readonly Payment['refund_status'][] = ['none', 'partial', 'full'];
const CARD_BRANDS = ['visa', 'mastercard', 'amex', 'discover', 'jcb', 'diners', 'unionpay'];
const WALLETS = ['apple_pay', 'google_pay', 'link', 'paypal', 'venmo'];
const DECLINE_CODES: readonly NonNullable<Payment['failure_code']>[] = [
  'insufficient_funds',
  'do_not_honor',
  'authentication_required',
  'expired_card',
  'incorrect_cvc',
  'lost_card',
  'stolen_card',
  'processing_error',
];

/** The currencies listed in the filter before the browser's other currencies. */
const FREQUENT_CURRENCIES = ['EUR', 'USD', 'GBP', 'CHF', 'JPY', 'SEK', 'PLN', 'CAD', 'AUD'];

const currencyChoices = (): readonly Choice[] =>
  [...new Set([...FREQUENT_CURRENCIES, ...Intl.supportedValuesOf('currency')])].map((value) => ({
    value,
    text: value,
  }));

const centsIn = (name: string): number | undefined => {
  const text = filterText(name);
  return text === undefined ? undefined : minorUnits(text, filterText('currency') ?? 'USD');
};

const isDisputed = (): boolean | undefined => {
  const chosen = filterChoice('disputed', ['true', 'false']);
  return chosen === undefined ? undefined : chosen === 'true';
};

const adminQuery = () => ({
  search: filterText('search'),
  status: filterChoice('status', STATUSES),
  provider_id: providerChoice(),
  currency: filterText('currency'),
  from: filterText('from'),
  to: filterText('to'),
  min_cents: centsIn('min'),
  max_cents: centsIn('max'),
  refund_status: filterChoice('refunded', REFUND_STATUSES),
  disputed: isDisputed(),
  organization_id: filterText('organization'),
  user_id: filterText('user'),
  card_brand: filterText('brand'),
  wallet_type: filterText('wallet'),
  decline_code: filterChoice('decline', DECLINE_CODES),
  fingerprint: filterText('fingerprint'),
  capture_before: filterText('hold'),
});

const ownQuery = () => ({
  search: filterText('search'),
  status: filterChoice('status', STATUSES),
  created_at_from: filterText('from'),
  created_at_to: filterText('to'),
  organization_id: ownersChoice(),
});

const readPage = async (cursor: string | undefined): Promise<PageOf<Payment>> => {
  const call = may('payments:read')
    ? api.GET('/admin/payments', { params: { query: { ...adminQuery(), cursor } } })
    : api.GET('/payments', { params: { query: { ...ownQuery(), cursor, include: 'payment_method' } } });
  const { data } = await answerOf<{ data?: Payment[]; meta?: Record<string, unknown> }>(call);
  return { rows: data.data ?? [], next: nextCursor(data.meta) };
};

const askCsv: CsvRequest = ({ cursor, headers }) =>
  may('payments:read')
    ? api.GET('/admin/payments', { headers, parseAs: 'text', params: { query: { ...adminQuery(), cursor } } })
    : api.GET('/payments', { headers, parseAs: 'text', params: { query: { ...ownQuery(), cursor } } });

const YES_OR_NO: readonly Choice[] = [
  { value: 'true', text: 'Yes' },
  { value: 'false', text: 'No' },
];

const adminFilters = (): readonly FilterField[] => [
  providerFilter(),
  { kind: 'choice', label: 'Currency', name: 'currency', choices: currencyChoices() },
  { kind: 'text', label: 'Minimum amount', name: 'min', inputMode: 'decimal', placeholder: '0.00' },
  { kind: 'text', label: 'Maximum amount', name: 'max', inputMode: 'decimal', placeholder: '0.00' },
  { kind: 'choice', label: 'Refunded', name: 'refunded', choices: choicesOf(REFUND_STATUSES) },
  { kind: 'choice', label: 'Disputed', name: 'disputed', choices: YES_OR_NO },
  { kind: 'choice', label: 'Card brand', name: 'brand', choices: choicesOf(CARD_BRANDS) },
  { kind: 'choice', label: 'Wallet', name: 'wallet', choices: choicesOf(WALLETS) },
  { kind: 'choice', label: 'Declined', name: 'decline', choices: choicesOf(DECLINE_CODES) },
  { kind: 'day', label: 'Hold ends by', name: 'hold' },
  anyOwnerFilter(),
  userFilter(),
  // The fingerprint filter is shown only if it is set. A link on a payment's page sets it, to list the payments with
  // the same card.
  ...(filterText('fingerprint') === undefined
    ? []
    : [{ kind: 'text', label: 'Card fingerprint', name: 'fingerprint' } as const]),
];

const searchOf = () => ({
  label: 'Search payments',
  placeholder: may('payments:read')
    ? 'ID, e-mail, reference or last four digits'
    : 'ID, or part of an e-mail or description',
});

export const PaymentsPage = () => (
  <ListPage
    title="Payments"
    one="payment"
    search={searchOf()}
    filters={[
      ...CREATED_RANGE,
      statusFilter(STATUSES),
      ...(may('payments:read') ? adminFilters() : ownersFilter('None (my own payments)')),
    ]}
    columns={PAYMENT_COLUMNS}
    read={readPage}
    keyOf={({ id }) => id}
    pageOf={({ id }) => `/payments/${id}`}
    csv={{ file: 'payments.csv', ask: askCsv }}
    empty={<NoPayments />}
    {...(may('payments:read') && !readsAnyAge() && { hint: RANGE_HINT })}
  />
);

/** With one of these filters, the list has no age limit. */
const ANY_AGE = ['from', 'search', 'user', 'organization', 'fingerprint'] as const;

const readsAnyAge = (): boolean => ANY_AGE.some((name) => filterText(name) !== undefined);

const RANGE_HINT =
  'Filters without a date cover the last 31 days. Set “From” to look further back, or clear the filters.';

const NoPayments = () => (
  <>
    <strong>No payments yet</strong>
    <p>Payments appear here as soon as they are created through the API.</p>
  </>
);
