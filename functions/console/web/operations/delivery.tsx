/** @module The page of one delivery attempt, with the sent request and the target's response. */

import { answerOf, api } from '../api/client.ts';
import { providerName } from '../api/providers.ts';
import type { WebhookLog } from '../api/types.ts';
import { SendAgain } from '../pages/log-parts.tsx';
import { count } from '../view/format.ts';
import { Fact, Id, Json, Status, Time } from '../view/parts.tsx';
import { RecordPage } from '../view/record-page.tsx';
import { Link, withQuery } from '../view/route.tsx';
import { answerIn, codeText, durationText, paymentIn } from './log-response.ts';

const readEntry = async (id: string): Promise<WebhookLog> =>
  (await answerOf(api.GET('/webhooks/logs/{id}', { params: { path: { id } } }))).data;

export const DeliveryPage = ({ id }: { readonly id: string }) => (
  <RecordPage
    id={id}
    list={['/webhooks', 'Webhooks']}
    what="the delivery"
    title={(entry) => entry?.event_type ?? `Delivery ${id}`}
    tab="Delivery"
    read={() => readEntry(id)}
    actions={({ direction, event_id, event_type, target }) =>
      direction === 'outbound' && <SendAgain logId={id} eventId={event_id} what={`${event_type} to ${target}`} />
    }
  >
    {(entry) => <DeliveryView entry={entry} />}
  </RecordPage>
);

const DeliveryView = ({ entry }: { readonly entry: WebhookLog }) => (
  <>
    <section class="card" aria-label="Attempt">
      <h2>Attempt</h2>
      <Facts entry={entry} />
    </section>
    <div class="columns">
      <section class="card" aria-label="Payload">
        <h2>Payload</h2>
        <Json value={entry.payload} name={`Payload of ${entry.event_type}`} />
      </section>
      <section class="card" aria-label="Response">
        <h2>Response</h2>
        <Json value={entry.response} name={`Response to ${entry.event_type}`} />
      </section>
    </div>
  </>
);

const Facts = ({ entry }: { readonly entry: WebhookLog }) => {
  const answer = answerIn(entry.response);
  const payment = paymentIn(entry.payload);
  return (
    <dl class="facts">
      <Fact name="Time">
        <Time at={entry.created_at} zoned={true} />
      </Fact>
      <Fact name="Status">
        <Status of={entry.status} /> {codeText(answer)}
      </Fact>
      {entry.target !== null && <Fact name="Target">{entry.target}</Fact>}
      <Fact name="Attempt">{count(entry.attempt)}</Fact>
      {entry.next_attempt_at !== null && (
        <Fact name="Next attempt">
          <Time at={entry.next_attempt_at} exact={true} />
        </Fact>
      )}
      <Fact name="Duration">{durationText(answer)}</Fact>
      <Fact name="Provider">{providerName(entry.provider)}</Fact>
      {payment !== undefined && (
        <Fact name="Payment">
          <Link to={`/payments/${payment}`}>{payment}</Link>
        </Fact>
      )}
      <Fact name="Event">
        <Link to={withQuery('/webhooks', new URLSearchParams({ event: entry.event_type }))}>
          All deliveries of {entry.event_type}
        </Link>
      </Fact>
      <Fact name="Event ID">
        <Id>{entry.event_id}</Id>
      </Fact>
      <Fact name="Log entry">
        <Id>{entry.id}</Id>
      </Fact>
    </dl>
  );
};
