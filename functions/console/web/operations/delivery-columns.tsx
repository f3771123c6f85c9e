/** @module The columns for the events sent to targets. */

import { useState } from 'preact/hooks';
import { providerName } from '../api/providers.ts';
import { may } from '../api/session.ts';
import type { WebhookLog } from '../api/types.ts';
import { isTestEvent, SendAgain } from '../pages/log-parts.tsx';
import type { Column } from '../view/columns.ts';
import { Status, Time } from '../view/parts.tsx';
import { Link } from '../view/route.tsx';
import { deliveriesIn, type EventGroup } from './delivery-groups.ts';
import { answerIn, codeText, durationText, paymentIn } from './log-response.ts';

/** The target, or the provider that sent the event. */
const placeOf = ({ target, provider }: WebhookLog): string => target ?? `from ${providerName(provider)}`;

/** The ids of the selected events. */
export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly choose: (id: string, isChosen: boolean) => void;
}

export const deliveryColumns = (selection: Selection): readonly Column<EventGroup>[] => [
  { title: 'Time', isTime: true, cell: ({ newest }) => <Time at={newest.created_at} />, phone: 'name' },
  { title: 'Event', cell: (group) => <EventCell group={group} />, phone: 'note' },
  {
    title: 'Status',
    cell: ({ byTarget }) =>
      byTarget.map((entry) => <Result key={entry.id} entry={entry} isNamed={byTarget.length > 1} />),
    phone: 'figure',
  },
  { title: 'Target', cell: ({ byTarget }) => byTarget.map(placeOf).join(', '), phone: 'state' },
  { title: 'Attempts', cell: (group) => <Attempts group={group} /> },
  ...(may('webhooks:write') ? actions(selection) : []),
];

const actions = (selection: Selection): readonly Column<EventGroup>[] => [
  {
    title: 'Action',

    cell: (group) =>
      deliveriesIn(group).map(({ id, event_id, event_type, target }) => (
        <SendAgain key={id} logId={id} eventId={event_id} what={`${event_type} to ${target}`} />
      )),
  },
  { title: 'Select', cell: (group) => <SelectEvent group={group} selection={selection} /> },
];

interface SelectEventProps {
  readonly group: EventGroup;
  readonly selection: Selection;
}

const SelectEvent = ({ group, selection }: SelectEventProps) => {
  const { id, newest } = group;
  if (isTestEvent(id) || deliveriesIn(group).length === 0) return null;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keeps a click on the box from opening the row; keys act on the box
    <label class="select-box" onClick={(event) => event.stopPropagation()}>
      <input
        type="checkbox"
        checked={selection.ids.has(id)}
        onChange={({ currentTarget }) => selection.choose(id, currentTarget.checked)}
      />
      <span class="unseen">
        Select {newest.event_type}, {newest.created_at}
      </span>
    </label>
  );
};

interface ResultProps {
  readonly entry: WebhookLog;
  /** True to name the target, because the event went to several. */
  readonly isNamed: boolean;
}

const Result = ({ entry, isNamed }: ResultProps) => (
  <span class="result">
    <Status of={entry.status} /> <span class="code">{codeText(answerIn(entry.response))}</span>
    {isNamed && <span class="quiet"> {placeOf(entry)}</span>}
  </span>
);

/** The event's full name, and its payment. */
const EventCell = ({ group: { newest } }: { readonly group: EventGroup }) => {
  const payment = paymentIn(newest.payload);
  return (
    <>
      <EventName name={newest.event_type} />
      {payment !== undefined && (
        <Link to={`/payments/${payment}`} class="second-line clip">
          {payment}
        </Link>
      )}
    </>
  );
};

/** Allows a line break only between the words of a long name. */
const EventName = ({ name }: { readonly name: string }) => (
  <span class="whole">
    {name.split(/(?<=[.:_])/).flatMap((word, index) => (index === 0 ? [word] : [<wbr key={index} />, word]))}
  </span>
);

/** All attempts in a fold-out, each with a link to its page. */
const Attempts = ({ group: { attempts } }: { readonly group: EventGroup }) => {
  const [isOpen, setOpen] = useState(false);
  const [newest] = attempts;
  if (attempts.length < 2) return <>1 ({newest ? durationText(answerIn(newest.response)) : '–'})</>;
  return (
    <>
      <button type="button" class="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {attempts.length} attempts
      </button>
      {isOpen && (
        <ul class="attempts">
          {attempts.map((entry) => (
            <li key={entry.id}>
              <Link to={`/webhooks/${entry.id}`}>
                <Time at={entry.created_at} />
              </Link>{' '}
              {placeOf(entry)}: {codeText(answerIn(entry.response))}, {durationText(answerIn(entry.response))}
            </li>
          ))}
        </ul>
      )}
    </>
  );
};
