/**
 * @module The page with the events sent to targets and the events from providers, each with its attempts. With the
 * scope webhooks:read the log covers all owners, else the session's user or organization. The page reloads the log
 * while it is open.
 */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { answerOf, api } from '../api/client.ts';
import { may } from '../api/session.ts';
import type { WebhookLog } from '../api/types.ts';
import { FilterBar, foundInWords } from '../lists/filter-bar.tsx';
import { type FilterField, statusFilter } from '../lists/filter-fields.tsx';
import { newKey, useAction } from '../view/action.ts';
import { count } from '../view/format.ts';
import { type LoadedPages, type PageOf, useLoaded, usePages } from '../view/load.ts';
import { Done, Loading, PageHead, ProblemNote } from '../view/parts.tsx';
import { place, setQuery } from '../view/route.tsx';
import { Table } from '../view/table.tsx';
import { deliveryColumns } from './delivery-columns.tsx';
import { deliveriesIn, type EventGroup, inGroups } from './delivery-groups.ts';
import { RatesView, readRates } from './rates.tsx';
import { readLog } from './read-log.ts';
import { CANONICAL_EVENTS, TestEventDialog } from './test-event.tsx';

const STATUSES = ['success', 'failed'] as const;
const FILTERS = ['status', 'event', 'target'] as const;

const filter = (name: (typeof FILTERS)[number]): string | undefined => place.value.query.get(name) || undefined;

/** The service's own events, or provider events with their deliveries to targets. */
type Origin = 'own' | 'provider';

const originShown = (): Origin => (place.value.query.get('events') === 'provider' ? 'provider' : 'own');

/** A provider event's name starts with the provider's slot and a colon. */
const originOf = ({ direction, event_type: type }: WebhookLog): Origin =>
  direction === 'inbound' || type.includes(':') ? 'provider' : 'own';

/** The API filters by status and event. The console filters by origin and target. */
const readPage = async (cursor: string | undefined): Promise<PageOf<WebhookLog>> => {
  const status = STATUSES.find((known) => known === filter('status'));
  const [origin, target] = [originShown(), filter('target')];
  const { rows, next } = await readLog({ status, event_type: filter('event') }, cursor);
  const isShown = (row: WebhookLog): boolean =>
    originOf(row) === origin && (target === undefined || row.target === target);
  return { rows: rows.filter(isShown), next };
};

const REFRESH_MS = 15_000;

/**
 * Counts up while the page is visible, to reload the log. @param isPaused true while a reload would disturb the user
 */
const useTurns = (isPaused: boolean): readonly [turn: number, next: () => void] => {
  const [turn, setTurn] = useState(0);
  const next = (): void => setTurn((before) => before + 1);
  useEffect(() => {
    if (isPaused) return undefined;
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') next();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [isPaused]);
  return [turn, next];
};

/** The size of the reloaded first page. A reload drops any further loaded pages. */
const FIRST_PAGE = 100;

export const WebhooksPage = () => {
  const [isTesting, setTesting] = useState(false);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [isLong, setLong] = useState(false);
  const [turn, next] = useTurns(isTesting || isLong);
  const rates = useLoaded('rates', readRates);
  const pages = usePages(`${turn} ${originShown()} ${FILTERS.map(filter).join('|')}`, readPage);
  useEffect(() => setLong(pages.rows.length > FIRST_PAGE), [pages.rows.length]);
  const refresh = (): void => {
    rates.reload();
    next();
  };
  const closeTest = (): void => {
    setTesting(false);
    refresh();
  };
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
      <Tabs />
      <FilterBar
        search={undefined}
        filters={filterFields(targets)}
        found={foundInWords(pages, 'delivery', 'deliveries')}
      />
      <div role="tabpanel" aria-label="Log entries" class="part">
        <Deliveries pages={pages} chosen={chosen} onChoose={setChosen} onSent={refresh} />
      </div>
      {isTesting && <TestEventDialog onClose={closeTest} />}
    </>
  );
};

const TABS: Readonly<Record<Origin, string>> = { own: 'Own events', provider: 'Provider’s events' };
const ORDER: readonly Origin[] = ['own', 'provider'];

/** The tabs of the log. The left and right arrow keys move between the tabs. */
const Tabs = () => {
  const choose = (origin: Origin): void =>
    setQuery({ events: origin === 'provider' ? 'provider' : '', target: '', event: '', status: '' });
  const move = (event: KeyboardEvent): void => {
    if (event.key !== 'ArrowLeft' && event.key !== 'ArrowRight') return;
    const other = originShown() === 'own' ? 'provider' : 'own';
    choose(other);
    document.getElementById(`tab-${other}`)?.focus();
  };
  return (
    <div role="tablist" aria-label="Log" class="tabs" onKeyDown={move}>
      {ORDER.map((origin) => (
        <button
          key={origin}
          id={`tab-${origin}`}
          type="button"
          role="tab"
          aria-selected={origin === originShown()}
          tabIndex={origin === originShown() ? 0 : -1}
          onClick={() => choose(origin)}
        >
          {TABS[origin]}
        </button>
      ))}
    </div>
  );
};

interface DeliveriesProps {
  readonly pages: LoadedPages<WebhookLog>;
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (ids: ReadonlySet<string>) => void;
  readonly onSent: () => void;
}

const Deliveries = ({ pages, chosen, onChoose, onSent }: DeliveriesProps) => {
  const groups = inGroups(pages);
  const choose = (id: string, isChosen: boolean): void => {
    const others = [...chosen].filter((other) => other !== id);
    onChoose(new Set(isChosen ? [...others, id] : others));
  };
  const selected = groups.rows.filter(({ id }) => chosen.has(id));
  const remaining = new Set(chosen);
  const sent = (id: string): void => {
    remaining.delete(id);
    onChoose(new Set(remaining));
    if (remaining.size === 0) onSent();
  };
  return (
    <>
      {may('webhooks:write') && <SendSelected selected={selected} onClear={() => onChoose(new Set())} onSent={sent} />}
      <Table
        name={originShown() === 'own' ? 'Deliveries' : TABS.provider}
        columns={deliveryColumns({ ids: chosen, choose })}
        pages={groups}
        keyOf={({ id }) => id}
        pageOf={({ newest }) => `/webhooks/${newest.id}`}
        empty={FILTERS.some((name) => filter(name) !== undefined) ? <NothingFound /> : EMPTY[originShown()]}
      />
    </>
  );
};

interface SendSelectedProps {
  readonly selected: readonly EventGroup[];
  readonly onClear: () => void;
  /** Called with the id of each sent event. */
  readonly onSent: (id: string) => void;
}

const sendAgain = async (entries: readonly WebhookLog[]): Promise<void> => {
  for (const { id } of entries) {
    const params = { path: { id }, header: { 'Idempotency-Key': newKey() } };
    await answerOf(api.POST('/webhooks/logs/{id}/replay', { params, body: {} }));
  }
};

/**
 * Resends the selected events to their targets one after another. After a failure it stops, and the rest stays
 * selected.
 */
const SendSelected = ({ selected, onClear, onSent }: SendSelectedProps) => {
  const [sent, setSent] = useState(0);
  const sending = useAction(async () => {
    setSent(0);
    for (const group of selected) {
      const deliveries = deliveriesIn(group);
      await sendAgain(deliveries);
      setSent((before) => before + deliveries.length);
      onSent(group.id);
    }
  });
  return (
    <>
      {selected.length > 0 && (
        <section class="controls" aria-label="Selected events">
          <span>{count(selected.length)} selected</span>
          <button type="button" class="primary" disabled={sending.isBusy} onClick={sending.run}>
            {sending.isBusy ? 'Sending…' : `Send ${count(selected.length)} again`}
          </button>
          <button type="button" class="plain" onClick={onClear}>
            Clear selection
          </button>
        </section>
      )}
      {sent > 0 && selected.length === 0 && (
        <Done>
          Queued: {count(sent)} {sent === 1 ? 'delivery' : 'deliveries'}
        </Done>
      )}
      {sending.problem && <ProblemNote problem={sending.problem} />}
    </>
  );
};

const filterFields = (targets: readonly string[]): readonly FilterField[] => [
  statusFilter(STATUSES),
  { kind: 'text', label: 'Event', name: 'event', placeholder: 'payment.succeeded' },
  { kind: 'choice', label: 'Target', name: 'target', choices: targets.map((value) => ({ value, text: value })) },
];

const targetsOf = (deliveries: readonly WebhookLog[]): readonly string[] =>
  [
    ...new Set([
      ...deliveries.flatMap(({ target }) => (target === null ? [] : [target])),
      ...(filter('target') === undefined ? [] : [filter('target') ?? '']),
    ]),
  ].sort();

const NothingFound = () => (
  <>
    <strong>No delivery matches</strong>
    <p>Search for the whole name of an event, like {CANONICAL_EVENTS[0]}. Change or clear the filters.</p>
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

const EMPTY: Readonly<Record<Origin, ComponentChildren>> = {
  own: <NoDeliveries />,
  provider: (
    <>
      <strong>No event of a provider</strong>
      <p>Events appear here once a provider sends them to the address that its dashboard names.</p>
    </>
  ),
};
