/**
 * @module The page of the attempts to deliver events to targets. Users with the scope webhooks:read see the attempts of
 * all owners. Other users see those of the organization or the user of their session.
 */

import { useState } from 'preact/hooks';
import { answerOf, api, nextOffset } from '../api/client.ts';
import { serviceNow } from '../api/local.ts';
import { may } from '../api/session.ts';
import type { WebhookLog } from '../api/types.ts';
import { FilterBar, foundInWords } from '../lists/filter-bar.tsx';
import { type FilterField, statusFilter } from '../lists/filter-fields.tsx';
import { SendAgain } from '../pages/log-parts.tsx';
import type { Column } from '../view/columns.ts';
import { count, percent } from '../view/format.ts';
import { type PageOf, useLoaded, usePages } from '../view/load.ts';
import { Loading, PageHead, ProblemNote, Status, Time } from '../view/parts.tsx';
import { Link, place } from '../view/route.tsx';
import { Table } from '../view/table.tsx';
import { answerIn, codeText, durationText, paymentIn } from './log-response.ts';
import { CANONICAL_EVENTS, TestEventDialog } from './test-event.tsx';

const STATUSES = ['success', 'failed'] as const;
const FILTERS = ['status', 'event', 'target'] as const;
const PER_PAGE = 100;

const filter = (name: (typeof FILTERS)[number]): string | undefined => place.value.query.get(name) || undefined;

interface LogPage extends PageOf<WebhookLog> {}

const readLog = async (
  query: { readonly status?: WebhookLog['status'] | undefined; readonly event_type?: string | undefined },
  cursor = '0',
): Promise<LogPage> => {
  const asked = { ...query, limit: PER_PAGE, offset: Number(cursor) };
  const { data, response } = await answerOf(api.GET('/webhooks/logs', { params: { query: asked } }));
  return { rows: data.filter(({ direction }) => direction === 'outbound'), next: nextOffset(response) };
};

/** The API filters by status and event. The console itself filters its rows by target. */
const readPage = async (cursor: string | undefined): Promise<PageOf<WebhookLog>> => {
  const status = STATUSES.find((known) => known === filter('status'));
  const { rows, next } = await readLog({ status, event_type: filter('event') }, cursor);
  const target = filter('target');
  return { rows: rows.filter((row) => target === undefined || row.target === target), next };
};

const columns = (): readonly Column<WebhookLog>[] => [
  { title: 'Time', isTime: true, cell: ({ created_at }) => <Time at={created_at} />, phone: 'name' },
  { title: 'Event', cell: (entry) => <EventCell entry={entry} />, phone: 'note' },
  { title: 'Target', cell: ({ target }) => target, phone: 'state' },
  {
    title: 'Status',
    cell: ({ status, response }) => (
      <>
        <Status of={status} /> <span class="code">{codeText(answerIn(response))}</span>
      </>
    ),
    phone: 'figure',
  },
  { title: 'Attempt', align: 'end', cell: ({ attempt }) => count(attempt) },
  { title: 'Duration', align: 'end', cell: ({ response }) => durationText(answerIn(response)) },
  ...(may('webhooks:write')
    ? [
        {
          title: 'Action',
          cell: ({ id, event_id, event_type, target }: WebhookLog) => (
            <SendAgain logId={id} eventId={event_id} what={`${event_type} to ${target}`} />
          ),
        },
      ]
    : []),
];

/** The whole name of the event, and the payment that it reports. */
const EventCell = ({ entry: { event_type, payload } }: { readonly entry: WebhookLog }) => {
  const payment = paymentIn(payload);
  return (
    <>
      <EventName name={event_type} />
      {payment !== undefined && (
        <Link to={`/payments/${payment}`} class="second-line clip">
          {payment}
        </Link>
      )}
    </>
  );
};

/** Breaks a long name only between its words. */
const EventName = ({ name }: { readonly name: string }) => (
  <span class="whole">
    {name.split(/(?<=[.:_])/).flatMap((word, index) => (index === 0 ? [word] : [<wbr key={index} />, word]))}
  </span>
);

export const WebhooksPage = () => {
  const [isTesting, setTesting] = useState(false);
  const [turn, setTurn] = useState(0);
  const rates = useLoaded('rates', readRates);
  const pages = usePages(`${turn} ${FILTERS.map(filter).join('|')}`, readPage);
  const refresh = (): void => {
    rates.reload();
    setTurn((before) => before + 1);
  };
  const closeTest = (): void => {
    setTesting(false);
    refresh();
  };
  const isFiltered = FILTERS.some((name) => filter(name) !== undefined);
  const targets = targetsOf([...pages.rows, ...(rates.data?.deliveries ?? [])]);
  return (
    <>
      <PageHead title="Webhooks" tab="Webhooks">
        <button type="button" onClick={refresh}>
          Refresh
        </button>
        {may('webhooks:write') && (
          <button type="button" class="primary" onClick={() => setTesting(true)}>
            Send test event
          </button>
        )}
      </PageHead>
      <section class="part rates" aria-label="Success rate, last 24 hours">
        <h2>Success rate, last 24 hours</h2>
        {rates.problem && <ProblemNote problem={rates.problem} onRetry={rates.reload} />}
        {rates.isLoading && !rates.data && <Loading what="success rates" lines={1} />}
        {rates.data && <RatesView rates={rates.data} />}
      </section>
      <FilterBar
        search={undefined}
        filters={filterFields(targets)}
        found={foundInWords(pages, 'delivery', 'deliveries')}
      />
      <Table
        name="Deliveries"
        columns={columns()}
        pages={pages}
        keyOf={({ id }) => id}
        pageOf={({ id }) => `/webhooks/${id}`}
        empty={isFiltered ? <NothingFound /> : <NoDeliveries />}
      />
      {isTesting && <TestEventDialog onClose={closeTest} />}
    </>
  );
};

const filterFields = (targets: readonly string[]): readonly FilterField[] => [
  statusFilter(STATUSES),
  { kind: 'text', label: 'Event', name: 'event', placeholder: CANONICAL_EVENTS[0] },
  { kind: 'choice', label: 'Target', name: 'target', choices: targets.map((value) => ({ value, text: value })) },
];

const targetsOf = (deliveries: readonly WebhookLog[]): readonly string[] =>
  [
    ...new Set([
      ...deliveries.flatMap(({ target }) => (target === null ? [] : [target])),
      ...(filter('target') === undefined ? [] : [filter('target') ?? '']),
    ]),
  ].sort();

const DAY_MS = 86_400_000;
const MOST_PAGES = 10;

/** The deliveries of the last 24 hours, up to ten pages of the log. */
interface Rates {
  readonly deliveries: readonly WebhookLog[];
  /** False if the day has more deliveries than were read. */
  readonly isWholeDay: boolean;
}

const readRates = async (): Promise<Rates> => {
  const since = new Date(serviceNow() - DAY_MS).toISOString();
  const deliveries: WebhookLog[] = [];
  let next: string | undefined = '0';
  let isPast = false;
  for (let pages = 0; pages < MOST_PAGES && next !== undefined && !isPast; pages += 1) {
    const page: LogPage = await readLog({}, next);
    deliveries.push(...page.rows.filter(({ created_at }) => created_at >= since));
    isPast = page.rows.some(({ created_at }) => created_at < since);
    next = page.next;
  }
  return { deliveries, isWholeDay: isPast || next === undefined };
};

const RatesView = ({ rates: { deliveries, isWholeDay } }: { readonly rates: Rates }) => {
  if (deliveries.length === 0) return <p class="quiet">No event was sent in the last 24 hours.</p>;
  const targets = [...new Set(deliveries.map(({ target }) => target ?? ''))].sort();
  return (
    <>
      <dl class="tiles">
        {targets.map((target) => {
          const ofTarget = deliveries.filter((delivery) => delivery.target === target);
          const delivered = ofTarget.filter(({ status }) => status === 'success').length;
          return (
            <div key={target} class="tile">
              <dt>{target}</dt>
              <dd>
                <strong>{percent(delivered / ofTarget.length)}</strong>
                <span class="quiet">
                  {count(delivered)} of {count(ofTarget.length)} attempts
                </span>
              </dd>
            </div>
          );
        })}
      </dl>
      {!isWholeDay && (
        <p class="quiet">
          Covers the last {count(deliveries.length)} attempts, since{' '}
          <Time at={deliveries.at(-1)?.created_at ?? ''} zoned={true} />, because the day has more deliveries than this
          page reads.
        </p>
      )}
    </>
  );
};

const NothingFound = () => (
  <>
    <strong>No delivery matches</strong>
    <p>An event is found by its whole name, like {CANONICAL_EVENTS[0]}. Change or clear the filters.</p>
  </>
);

const NoDeliveries = () => (
  <>
    <strong>No deliveries yet</strong>
    <p>
      The operator configures targets by WEBHOOK_1_URL and WEBHOOK_1_ENABLED=true. Each attempt to deliver an event to a
      target is listed here.
    </p>
  </>
);
