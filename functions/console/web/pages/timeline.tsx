/**
 * @module The timeline of a payment or subscription, oldest first, with changes, provider events and deliveries.
 * Provider events without a change are folded.
 */

import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { readNames } from '../api/people.ts';
import { providerName } from '../api/providers.ts';
import { mayOpen } from '../api/session.ts';
import type { TimelineEntry } from '../api/types.ts';
import { inWords } from '../view/format.ts';
import { NotPermitted } from '../view/not-permitted.tsx';
import { Status, Time } from '../view/parts.tsx';
import { ActorName, usersIn } from './actor.tsx';
import { PayloadOfLog, SendAgain } from './log-parts.tsx';

type ProviderEvent = Extract<TimelineEntry, { kind: 'provider_event' }>;
type Delivery = Extract<TimelineEntry, { kind: 'delivery' }>;

/** The fields that payment and subscription changes share. */
type Change = Pick<Extract<TimelineEntry, { kind: 'change' }>, 'kind' | 'at' | 'version' | 'actor' | 'request_id'>;

/** A change in words. */
export interface ShownChange {
  readonly title: string;
  readonly status: string;
  readonly children?: ComponentChildren;
}

interface TimelineProps<Changed extends Change> {
  readonly entries: readonly (Changed | ProviderEvent | Delivery)[];
  readonly show: (change: Changed) => ShownChange;
  /** Called after a delivery was resent. The new delivery appears a moment later. */
  readonly onSent: () => void;
}

/** The id of the timeline in its page. */
export const TIMELINE = 'timeline';

/** The number of entries that a long timeline shows at first. These are the newest entries. */
const PREVIEW = 60;

export const Timeline = <Changed extends Change>({ entries, show, onSent }: TimelineProps<Changed>) => {
  const [isWhole, setWhole] = useState(false);
  const [withIgnored, setWithIgnored] = useState(false);
  useEffect(() => void readNames(usersIn(entries.map(({ actor }) => actor))), [entries]);
  const ignored = entries.filter(isIgnored).length;
  const listed = withIgnored ? entries : entries.filter((entry) => !isIgnored(entry));
  const hidden = isWhole ? 0 : Math.max(0, listed.length - PREVIEW);
  return (
    <section class="card" id={TIMELINE} tabIndex={-1} aria-label="Timeline">
      <div class="card-head">
        <h2>Timeline</h2>
        {ignored > 0 && (
          <button type="button" class="small" aria-expanded={withIgnored} onClick={() => setWithIgnored(!withIgnored)}>
            {withIgnored ? 'Hide' : 'Show'} {ignored === 1 ? '1 ignored event' : `${ignored} ignored events`}
          </button>
        )}
      </div>
      {!mayOpen('webhooks:read') && <NotPermitted what="Events and deliveries" scope="webhooks:read" />}
      {hidden > 0 && (
        <button type="button" onClick={() => setWhole(true)}>
          Show {hidden} earlier entries
        </button>
      )}
      <ol class="timeline">
        {listed.slice(hidden).map((entry, index) => (
          <Entry key={keyOf(entry, index)} entry={entry} show={show} onSent={onSent} />
        ))}
      </ol>
    </section>
  );
};

type AnyEntry = Change | ProviderEvent | Delivery;

const isIgnored = (entry: AnyEntry): boolean => entry.kind === 'provider_event' && entry.outcome === 'ignored';

const keyOf = (entry: AnyEntry, index: number): string =>
  entry.kind === 'change' ? `version ${entry.version}` : `${entry.log_id} ${index}`;

interface EntryProps<Changed extends Change> extends Pick<TimelineProps<Changed>, 'show' | 'onSent'> {
  readonly entry: Changed | ProviderEvent | Delivery;
}

const Entry = <Changed extends Change>({ entry, show, onSent }: EntryProps<Changed>) => {
  switch (entry.kind) {
    case 'change': {
      const { title, status, children } = show(entry);
      return (
        <Frame entry={entry} title={title} badge={<Status of={status} />}>
          {children}
        </Frame>
      );
    }
    case 'provider_event':
      return <EventEntry entry={entry} />;
    case 'delivery':
      return <DeliveryEntry entry={entry} onSent={onSent} />;
  }
};

/** Words for reasons in the service's log. Other reasons stay unchanged. */
const REASONS: Readonly<Record<string, string>> = {
  backward: 'the record is already further than the event',
  'no change': 'the record already has what the event reports',
};

const EventEntry = ({ entry }: { readonly entry: ProviderEvent }) => {
  const { actor, event_type: type, outcome, reason } = entry;
  return (
    <Frame
      entry={entry}
      title={
        <>
          {providerName(actor?.id ?? '')} sent <code>{type}</code>
        </>
      }
      badge={<Status of={outcome} />}
      controls={<PayloadOfLog logId={entry.log_id} name={type} />}
    >
      {reason !== null && (
        <p class="quiet">
          {inWords(outcome)}: {REASONS[reason] ?? reason}
        </p>
      )}
    </Frame>
  );
};

const DeliveryEntry = ({ entry, onSent }: { readonly entry: Delivery; readonly onSent: () => void }) => {
  const { event_type: type, target, status, http_status: code, attempt, reason, next_attempt_at: next } = entry;
  return (
    <Frame
      entry={entry}
      title={
        <>
          <code>{type}</code> to {target}
        </>
      }
      badge={<Status of={status === 'success' ? 'delivered' : 'failed'} />}
      controls={
        <>
          <PayloadOfLog logId={entry.log_id} name={type} />
          <SendAgain logId={entry.log_id} eventId={entry.event_id} what={`${type} to ${target}`} onSent={onSent} />
        </>
      }
    >
      <p class="quiet">
        {code === null ? 'No answer' : `Answered ${code}`} · attempt {attempt}
        {reason !== null && ` · ${reason}`}
        {next !== null && (
          <>
            {' '}
            · next attempt <Time at={next} exact={true} />
          </>
        )}
      </p>
    </Frame>
  );
};

interface FrameProps {
  readonly entry: AnyEntry;
  readonly title: ComponentChildren;
  readonly badge: ComponentChildren;
  readonly controls?: ComponentChildren;
  readonly children?: ComponentChildren;
}

const Frame = ({ entry, title, badge, controls, children }: FrameProps) => (
  <li class={`entry entry-${entry.kind}`}>
    <div class="entry-head">
      <span class="entry-title">{title}</span>
      {badge}
    </div>
    {children}
    <p class="entry-by">
      <Time at={entry.at} exact={true} />
      {entry.actor && (
        <span>
          by <ActorName actor={entry.actor} />
        </span>
      )}
      {entry.request_id !== null && (
        <span>
          {originOf(entry)} <code>{entry.request_id}</code>
        </span>
      )}
    </p>
    {controls && <div class="entry-controls">{controls}</div>}
  </li>
);

/** payctl's actor id. A change by payctl comes from no queue message, so its entry shows the request id. */
const OPERATORS_TOOL = 'payctl';

/** Whether an entry shows the id of a provider event, queue message or request. */
const originOf = ({ kind, actor }: AnyEntry): 'event' | 'message' | 'request' => {
  if (kind === 'provider_event' || actor?.type === 'provider') return 'event';
  const isWork = actor?.type === 'system' && actor.id !== OPERATORS_TOOL;
  return kind === 'delivery' || isWork ? 'message' : 'request';
};

/** More pages than any timeline has. The first page has the newest entries. */
const MAX_PAGES = 20;

interface TimelinePage<Entry> {
  readonly data: readonly Entry[];
  readonly meta: { readonly next_cursor?: string | null | undefined };
}

/** Reads all entries of a timeline, by time. */
export const readTimeline = async <Entry extends { readonly at: string }>(
  ask: (query: { readonly cursor?: string }) => Promise<TimelinePage<Entry>>,
): Promise<readonly Entry[]> => {
  const entries: Entry[] = [];
  let query: { readonly cursor?: string } = {};
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data, meta } = await ask(query);
    entries.push(...data);
    if (!meta.next_cursor) break;
    query = { cursor: meta.next_cursor };
  }
  return entries.sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
};
