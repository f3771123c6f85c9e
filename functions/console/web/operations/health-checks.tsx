/** @module Records from the API that support or operators must act on, one check per kind. */

import type { ComponentChildren } from 'preact';
import { answerOf, api, nextCursor, nextOffset } from '../api/client.ts';
import { serviceNow } from '../api/local.ts';
import { providerName } from '../api/providers.ts';
import { may } from '../api/session.ts';
import type { Dispute, Payment, Refund, WebhookLog } from '../api/types.ts';
import { readEndingHolds } from '../holds/ending-holds.ts';
import type { Column } from '../view/columns.ts';
import { count, duration, inWords } from '../view/format.ts';
import { type LoadedPages, type PageOf, useLoaded, usePages } from '../view/load.ts';
import { Cut, Money, ProblemNote, Status, Time } from '../view/parts.tsx';
import { Link } from '../view/route.tsx';
import { Table } from '../view/table.tsx';

const MINUTE_MS = 60_000;
/** The same limit as in `payctl doctor`. */
const UNCLEAR_AFTER_MS = 10 * MINUTE_MS;
const DAY_MS = 86_400_000;
/** Evidence due within this time is urgent. */
const URGENT_MS = 3 * DAY_MS;

export interface Check {
  readonly title: string;
  /** The reason for the check, and the advice. */
  readonly about: string;
  /** The text if no record is found. */
  readonly well: string;
  /** `open` if records were found or the read failed. */
  readonly state: 'reading' | 'well' | 'open';
  readonly content: ComponentChildren;
}

const stateOf = ({ rows, isLoading, problem, more }: LoadedPages<unknown>): Check['state'] => {
  if (rows.length > 0 || problem || more) return 'open';
  return isLoading ? 'reading' : 'well';
};

interface TableCheck<Row> extends Pick<Check, 'title' | 'about' | 'well'> {
  readonly columns: readonly Column<Row>[];
  readonly read: (cursor: string | undefined) => Promise<PageOf<Row>>;
  readonly paymentOf: (row: Row) => string;
}

const useTableCheck = <Row extends { readonly id: string }>(check: TableCheck<Row>): Check => {
  const { title, about, well, columns, read, paymentOf } = check;
  const pages = usePages(title, read);
  return {
    title,
    about,
    well,
    state: stateOf(pages),
    content: (
      <Table
        name={title}
        columns={columns}
        pages={pages}
        keyOf={({ id }) => id}
        pageOf={(row) => `/payments/${paymentOf(row)}`}
        empty={<strong>None of the records that were read</strong>}
      />
    ),
  };
};

/** The checks visible to the user, most urgent first. */
export const useChecks = (): readonly Check[] => {
  const payments = useTableCheck<Payment>({
    title: 'Payments with unknown outcome',
    about: `The provider has not reported the outcome for over 10 minutes, or the method takes days, as bank debits do. The service looks the outcome up automatically. Ask the payer not to pay again.${may('payments:operate') ? ' To look it up now, open the payment and choose Sync.' : ''}`,
    well: 'no payment has an unknown outcome',
    columns: PAYMENT_COLUMNS,
    read: readUnclear,
    paymentOf: ({ id }) => id,
  });
  const refunds = useTableCheck<Refund>({
    title: 'Refunds with unknown outcome',
    about:
      'The provider has not confirmed the refund for over 10 minutes. The service looks it up automatically. Do not refund again, because the payer could get the money twice.',
    well: 'no refund has an unknown outcome',
    columns: REFUND_COLUMNS,
    read: readUnclearRefunds,
    paymentOf: ({ payment_id }) => payment_id,
  });
  const holds = useTableCheck<Payment>({
    title: 'Holds that end within 24 hours',
    about: `The amount is held, but not captured. After the end of the hold the payer cannot be charged.${may('payments:capture') ? ' Open the payment, and capture it or release it.' : ' Ask finance or operations to capture or release it.'}`,
    well: 'no hold ends within 24 hours',
    columns: HOLD_COLUMNS,
    read: readEndingHolds,
    paymentOf: ({ id }) => id,
  });
  const disputes = useTableCheck<Dispute>({
    title: 'Disputes due',
    about:
      'The bank takes the money back unless you give evidence before the date. Give it at the provider. The most urgent dispute comes first.',
    well: 'no dispute needs evidence',
    columns: DISPUTE_COLUMNS,
    read: readDue,
    paymentOf: ({ payment_id }) => payment_id,
  });
  const deliveries = useDeliveryCheck();
  return [disputes, holds, payments, refunds, ...(may('webhooks:read') ? [deliveries] : [])];
};

const isOlder = (at: string): boolean => serviceNow() - Date.parse(at) > UNCLEAR_AFTER_MS;

const readUnclear = async (cursor: string | undefined): Promise<PageOf<Payment>> => {
  const query = { status: 'processing', limit: 100, cursor };
  const { data } = await answerOf(api.GET('/admin/payments', { params: { query } }));
  return { rows: data.data.filter(({ updated_at }) => isOlder(updated_at)), next: nextCursor(data.meta) };
};

const since = (at: string): string => duration(serviceNow() - Date.parse(at));

const PAYMENT_COLUMNS: readonly Column<Payment>[] = [
  { title: 'Payment', cell: ({ id }) => <Cut>{id}</Cut>, phone: 'name' },
  {
    title: 'Amount',
    align: 'end',
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
    phone: 'figure',
  },
  { title: 'For', cell: ({ updated_at }) => since(updated_at), phone: 'state' },
  { title: 'Provider', cell: ({ provider_id }) => providerName(provider_id) },
  { title: 'Created', isTime: true, cell: ({ created_at }) => <Time at={created_at} />, phone: 'note' },
];

const HOLD_COLUMNS: readonly Column<Payment>[] = [
  { title: 'Hold ends', isTime: true, cell: ({ capture_before: end }) => end && <Time at={end} />, phone: 'note' },
  { title: 'Payment', cell: ({ id }) => <Cut>{id}</Cut>, phone: 'name' },
  {
    title: 'Can be captured',
    align: 'end',
    cell: ({ capturable_cents, currency }) => <Money cents={capturable_cents} currency={currency} />,
    phone: 'figure',
  },
  { title: 'Provider', cell: ({ provider_id }) => providerName(provider_id) },
];

const readUnclearRefunds = async (cursor: string | undefined): Promise<PageOf<Refund>> => {
  const query = { status: 'pending' as const, limit: 100, cursor };
  const { data } = await answerOf(api.GET('/refunds', { params: { query } }));
  const isUnclear = ({ provider_refund_id: known, created_at: at }: Refund): boolean => known === null && isOlder(at);
  return { rows: data.data.filter(isUnclear), next: nextCursor(data.meta) };
};

const REFUND_COLUMNS: readonly Column<Refund>[] = [
  { title: 'Refund', cell: ({ id }) => <Cut>{id}</Cut>, phone: 'name' },
  {
    title: 'Amount',
    align: 'end',
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
    phone: 'figure',
  },
  { title: 'For', cell: ({ created_at }) => since(created_at), phone: 'state' },
  { title: 'Payment', cell: ({ payment_id }) => <Cut>{payment_id}</Cut> },
];

const readDue = async (cursor: string | undefined): Promise<PageOf<Dispute>> => {
  const query = { status: 'needs_response' as const, limit: 100, cursor };
  const { data } = await answerOf(api.GET('/disputes', { params: { query } }));
  return { rows: data.data.toSorted(byDueDate), next: nextCursor(data.meta) };
};

const byDueDate = (one: Dispute, other: Dispute): number =>
  (one.evidence_due_by ?? '9') < (other.evidence_due_by ?? '9') ? -1 : 1;

const isUrgent = ({ evidence_due_by: by }: Dispute): boolean =>
  by !== null && Date.parse(by) - serviceNow() < URGENT_MS;

const DISPUTE_COLUMNS: readonly Column<Dispute>[] = [
  {
    title: 'Evidence due',
    isTime: true,
    cell: (dispute) => (
      <>
        {dispute.evidence_due_by === null ? 'No date' : <Time at={dispute.evidence_due_by} />}
        {isUrgent(dispute) && <span class="status status-bad">Within 3 days</span>}
      </>
    ),
    phone: 'name',
  },
  {
    title: 'Amount',
    align: 'end',
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
    phone: 'figure',
  },
  { title: 'Reason', cell: ({ reason }) => reason && inWords(reason), phone: 'note' },
  { title: 'Provider', cell: ({ provider_id }) => providerName(provider_id) },
  { title: 'Payment', cell: ({ payment_id }) => <Cut>{payment_id}</Cut> },
];

interface Failures {
  readonly rows: readonly WebhookLog[];
  readonly isPartial: boolean;
}

const readFailures = async (): Promise<Failures> => {
  if (!may('webhooks:read')) return { rows: [], isPartial: false };
  const query = { status: 'failed' as const, limit: 100 };
  const { data, response } = await answerOf(api.GET('/webhooks/logs', { params: { query } }));
  const earliest = new Date(serviceNow() - DAY_MS).toISOString();
  const recent = data.filter(({ created_at }) => created_at >= earliest);
  const isPartial = recent.length === data.length && nextOffset(response) !== undefined;
  return { rows: recent.filter(({ direction }) => direction === 'outbound'), isPartial };
};

const useDeliveryCheck = (): Check => {
  const { data, problem, reload } = useLoaded('failures', readFailures);
  const isOpen = problem !== undefined || (data !== undefined && data.rows.length > 0);
  return {
    title: 'Failed deliveries',
    about: `Events of the last 24 hours that one of your systems did not accept. The service retries automatically.${may('webhooks:write') ? ' Once the system works again, open a delivery and choose Send again.' : ''}`,
    well: 'no delivery failed in the last 24 hours',
    state: isOpen ? 'open' : data ? 'well' : 'reading',
    content: (
      <>
        {problem && <ProblemNote problem={problem} onRetry={reload} />}
        {data && <FailureCount failures={data} />}
      </>
    ),
  };
};

const FailureCount = ({ failures: { rows, isPartial } }: { readonly failures: Failures }) => (
  <p class="note">
    <span>
      <Status of="failed" /> {count(rows.length)}
      {isPartial && ' or more'} {rows.length === 1 ? 'attempt' : 'attempts'}
    </span>
    <Link to="/webhooks?status=failed">Show failed deliveries</Link>
  </p>
);
