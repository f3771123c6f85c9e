/**
 * @module The page with the records that support and operators must act on, as far as the API reports them. For
 * staff and platform admins.
 */

import type { ComponentChildren } from 'preact';
import { answerOf, api, nextCursor, nextOffset } from '../api/client.ts';
import { serviceNow } from '../api/local.ts';
import { providerName } from '../api/providers.ts';
import { may } from '../api/session.ts';
import type { Dispute, Payment, Refund, WebhookLog } from '../api/types.ts';
import { readEndingHolds } from '../holds/ending-holds.ts';
import type { Column } from '../view/columns.ts';
import { count, duration } from '../view/format.ts';
import { type Loaded, type PageOf, useLoaded, usePages } from '../view/load.ts';
import { Cut, Loading, Money, PageHead, ProblemNote, Status, Time } from '../view/parts.tsx';
import { Link } from '../view/route.tsx';
import { Table } from '../view/table.tsx';

const MINUTE_MS = 60_000;
/** The same time after which `payctl doctor` reports a record. */
const UNCLEAR_AFTER_MS = 10 * MINUTE_MS;
const DAY_MS = 86_400_000;
/** Evidence due within this time is marked as urgent. */
const URGENT_MS = 3 * DAY_MS;

export const HealthPage = () => (
  <>
    <PageHead title="Health" tab="Health" />
    <Service />
    <Part
      title="Payments with unknown outcome"
      about={`The provider has not reported the outcome for over 10 minutes, or the method takes days, as bank debits do. The service looks the outcome up by itself. Ask the payer not to pay again.${may('payments:operate') ? ' To look it up now, open the payment and choose Sync.' : ''}`}
    >
      <UnclearPayments />
    </Part>
    <Part
      title="Refunds with unknown outcome"
      about="The provider has not confirmed the refund for over 10 minutes. The service looks it up by itself. Do not refund again, because the payer could get the money twice."
    >
      <UnclearRefunds />
    </Part>
    <Part
      title="Holds that end within 24 hours"
      about={`The amount is held, but not captured. After the end of the hold the payer cannot be charged.${may('payments:capture') ? ' Open the payment, and capture it or release it.' : ' Ask finance or operations to capture or release it.'}`}
    >
      <EndingHolds />
    </Part>
    <Part
      title="Disputes due"
      about="The bank takes the money back unless you give evidence before the date. Give it at the provider. The most urgent dispute comes first."
    >
      <DueDisputes />
    </Part>
    {may('webhooks:read') && (
      <Part
        title="Failed deliveries"
        about={`Events of the last 24 hours that one of your systems did not accept. The service retries by itself.${may('webhooks:write') ? ' Once the system works again, open a delivery and choose Send again.' : ''}`}
      >
        <FailedDeliveries />
      </Part>
    )}
    <p class="quiet">
      Engineers check the settings, the queues and the keys of the providers. Their checks are on the page{' '}
      <Link to="/developers">Developers</Link>.
    </p>
  </>
);

const Service = () => {
  const health = useLoaded('health', async () => (await answerOf(api.GET('/health'))).data);
  return (
    <section class="card" aria-label="Service">
      <h2>Service</h2>
      {health.problem && <ProblemNote problem={health.problem} onRetry={health.reload} />}
      {!health.data && health.isLoading && <Loading what="the service’s state" lines={1} />}
      {health.data && (
        <p>
          <span class="status status-good">Works and responds to requests</span>
        </p>
      )}
    </section>
  );
};

interface PartProps {
  readonly title: string;
  /** Why the records are here, and what to do. */
  readonly about: string;
  readonly children: ComponentChildren;
}

const Part = ({ title, about, children }: PartProps) => (
  <section class="part" aria-label={title}>
    <h2>{title}</h2>
    <p class="quiet about">{about}</p>
    {children}
  </section>
);

const Nothing = ({ children }: { readonly children: ComponentChildren }) => <strong>{children}</strong>;

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

const UnclearPayments = () => (
  <Table
    name="Payments with unknown outcome"
    columns={PAYMENT_COLUMNS}
    pages={usePages('unclear payments', readUnclear)}
    keyOf={({ id }) => id}
    pageOf={({ id }) => `/payments/${id}`}
    empty={<Nothing>No payment has an unknown outcome</Nothing>}
  />
);

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

const EndingHolds = () => (
  <Table
    name="Holds that end within 24 hours"
    columns={HOLD_COLUMNS}
    pages={usePages('ending holds', readEndingHolds)}
    keyOf={({ id }) => id}
    pageOf={({ id }) => `/payments/${id}`}
    empty={<Nothing>No hold ends within 24 hours</Nothing>}
  />
);

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

const UnclearRefunds = () => (
  <Table
    name="Refunds with unknown outcome"
    columns={REFUND_COLUMNS}
    pages={usePages('unclear refunds', readUnclearRefunds)}
    keyOf={({ id }) => id}
    pageOf={({ payment_id }) => `/payments/${payment_id}`}
    empty={<Nothing>No refund has an unknown outcome</Nothing>}
  />
);

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
  { title: 'Reason', cell: ({ reason }) => reason, phone: 'note' },
  { title: 'Provider', cell: ({ provider_id }) => providerName(provider_id) },
  { title: 'Payment', cell: ({ payment_id }) => <Cut>{payment_id}</Cut> },
];

const DueDisputes = () => (
  <Table
    name="Disputes due"
    columns={DISPUTE_COLUMNS}
    pages={usePages('due disputes', readDue)}
    keyOf={({ id }) => id}
    pageOf={({ payment_id }) => `/payments/${payment_id}`}
    empty={<Nothing>No dispute needs evidence</Nothing>}
  />
);

interface Failures {
  readonly rows: readonly WebhookLog[];
  readonly isPartial: boolean;
}

const readFailures = async (): Promise<Failures> => {
  const query = { status: 'failed' as const, limit: 100 };
  const { data, response } = await answerOf(api.GET('/webhooks/logs', { params: { query } }));
  const earliest = new Date(serviceNow() - DAY_MS).toISOString();
  const recent = data.filter(({ created_at }) => created_at >= earliest);
  const isPartial = recent.length === data.length && nextOffset(response) !== undefined;
  return { rows: recent.filter(({ direction }) => direction === 'outbound'), isPartial };
};

const FailedDeliveries = () => {
  const failures: Loaded<Failures> = useLoaded('failures', readFailures);
  return (
    <>
      {failures.problem && <ProblemNote problem={failures.problem} onRetry={failures.reload} />}
      {!failures.data && failures.isLoading && <Loading what="failed deliveries" />}
      {failures.data && <FailureCount failures={failures.data} />}
    </>
  );
};

const FailureCount = ({ failures: { rows, isPartial } }: { readonly failures: Failures }) => {
  if (rows.length === 0)
    return (
      <div class="empty">
        <Nothing>No delivery failed in the last 24 hours</Nothing>
      </div>
    );
  return (
    <p class="note">
      <span>
        <Status of="failed" /> {count(rows.length)}
        {isPartial && ' or more'} {rows.length === 1 ? 'attempt' : 'attempts'}
      </span>
      <Link to="/webhooks?status=failed">Show failed deliveries</Link>
    </p>
  );
};
