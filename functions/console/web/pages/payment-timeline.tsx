/**
 * @module The timeline of a payment, oldest first, with its changes, the provider's events, and the deliveries of its
 * own events.
 */

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { providerName } from '../api/providers.ts';
import type { TimelineEntry } from '../api/types.ts';
import { inWords, money } from '../view/format.ts';
import { Status, Time } from '../view/parts.tsx';
import { PayloadOfLog, SendAgain } from './log-parts.tsx';

type Change = Extract<TimelineEntry, { kind: 'change' }>;
type ProviderEvent = Extract<TimelineEntry, { kind: 'provider_event' }>;
type Delivery = Extract<TimelineEntry, { kind: 'delivery' }>;

interface TimelineProps {
  readonly entries: readonly TimelineEntry[];
  readonly currency: string;
  /** Called after a delivery was sent again. The new delivery appears a moment later. */
  readonly onSent: () => void;
}

export const Timeline = ({ entries, currency, onSent }: TimelineProps) => (
  <ol class="timeline">
    {entries.map((entry, index) => (
      <Entry key={keyOf(entry, index)} entry={entry} currency={currency} onSent={onSent} />
    ))}
  </ol>
);

const keyOf = (entry: TimelineEntry, index: number): string =>
  entry.kind === 'change' ? `version ${entry.version}` : `${entry.log_id} ${index}`;

interface EntryProps extends Pick<TimelineProps, 'currency' | 'onSent'> {
  readonly entry: TimelineEntry;
}

const Entry = ({ entry, currency, onSent }: EntryProps) => {
  switch (entry.kind) {
    case 'change':
      return <ChangeEntry entry={entry} currency={currency} />;
    case 'provider_event':
      return <EventEntry entry={entry} />;
    case 'delivery':
      return <DeliveryEntry entry={entry} onSent={onSent} />;
  }
};

const CAUSES: Readonly<Record<NonNullable<Change['cause']>, string>> = {
  create: 'Payment created',
  update: 'Payment updated',
  claim: 'Attempt started',
  answer: 'The provider responded',
  event: 'Changed by an event of the provider',
  sync: 'Synced with the provider',
  reconciliation: 'Looked up at the provider',
  cancel: 'Payment canceled',
  expiry: 'Payment expired',
  release: 'Attempt undone, because it never reached the provider',
  refund: 'Refund',
  dispute: 'Dispute',
  erasure: 'Personal data erased',
};

const ChangeEntry = ({ entry, currency }: { readonly entry: Change; readonly currency: string }) => {
  const { cause, refund, dispute, failure_code: failure, anomaly, attempt } = entry;
  const shown = refund ?? dispute;
  const title = cause === null ? 'Payment changed' : CAUSES[cause];
  return (
    <Frame
      entry={entry}
      title={cause === 'claim' ? `Attempt ${attempt} started` : title}
      badge={<Status of={shown?.status ?? entry.status} />}
    >
      {shown && (
        <p>
          {money(shown.amount_cents, currency)}
          {shown.reason && `, ${inWords(shown.reason).toLowerCase()}`} · <code>{shown.id}</code>
        </p>
      )}
      {failure && (
        <p>
          Declined: <code>{failure}</code>
        </p>
      )}
      {anomaly && <p class="wrong">Contradiction: {anomaly}</p>}
    </Frame>
  );
};

/** The words for reasons in the service's log. Other reasons are shown unchanged. */
const REASONS: Readonly<Record<string, string>> = {
  backward: 'the payment is already further than the event',
  'no change': 'the payment already has what the event reports',
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
  const { event_type: type, target, status, http_status: code, attempt, reason } = entry;
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
      </p>
    </Frame>
  );
};

interface FrameProps {
  readonly entry: TimelineEntry;
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
      {entry.actor && <span>by {actorOf(entry.actor)}</span>}
      {entry.request_id !== null && (
        <span>
          request <code>{entry.request_id}</code>
        </span>
      )}
    </p>
    {controls && <div class="entry-controls">{controls}</div>}
  </li>
);

/** The words for an actor. Platform admins see the id of every actor. */
const actorOf = ({ type, id = '' }: NonNullable<TimelineEntry['actor']>): string => {
  switch (type) {
    case 'provider':
      return providerName(id);
    case 'system':
      return `the service (${id})`;
    case 'admin':
      return `platform admin ${id}`;
    case 'guest':
      return `guest ${id}`;
    case 'user':
      return id;
  }
};

const PREVIEW = 60;

/** Shows only the newest entries of a long timeline at first. */
export const useShownEntries = (entries: readonly TimelineEntry[]) => {
  const [isWhole, setWhole] = useState(false);
  const hidden = isWhole ? 0 : Math.max(0, entries.length - PREVIEW);
  return { shown: entries.slice(hidden), hidden, showAll: () => setWhole(true) };
};
