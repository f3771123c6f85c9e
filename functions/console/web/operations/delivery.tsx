import { answerOf, api } from '../api/client.ts';
import { providerName } from '../api/providers.ts';
import type { WebhookLog } from '../api/types.ts';
import { SendAgain } from '../pages/log-parts.tsx';
import { count } from '../view/format.ts';
import { useLoaded } from '../view/load.ts';
import { Fact, Id, Json, Loading, PageHead, ProblemNote, Status, Time } from '../view/parts.tsx';
import { Link, withQuery } from '../view/route.tsx';
import { answerIn, codeText, durationText } from './log-response.ts';

/** One attempt to deliver an event: what was sent, and what the target answered. */
const readEntry = async (id: string): Promise<WebhookLog> =>
  (await answerOf(api.GET('/webhooks/logs/{id}', { params: { path: { id } } }))).data;

export const DeliveryPage = ({ id }: { readonly id: string }) => {
  const { data, problem, isLoading, reload } = useLoaded(id, () => readEntry(id));
  return (
    <>
      <p class="trail">
        <Link to="/webhooks">Webhooks</Link>
      </p>
      <PageHead title={data ? data.event_type : `Delivery ${id}`} tab="Delivery">
        {data?.direction === 'outbound' && (
          <SendAgain logId={id} eventId={data.event_id} what={`${data.event_type} to ${data.target}`} />
        )}
      </PageHead>
      {problem && <ProblemNote problem={problem} onRetry={reload} />}
      {!data && isLoading && <Loading what="the delivery" />}
      {data && <DeliveryView entry={data} />}
    </>
  );
};

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
      <section class="card" aria-label="Answer">
        <h2>Answer</h2>
        <Json value={entry.response} name={`Answer to ${entry.event_type}`} />
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
        <Time at={entry.created_at} exact={true} />
      </Fact>
      <Fact name="Status">
        <Status of={entry.status} /> {codeText(answer)}
      </Fact>
      {entry.target !== null && <Fact name="Target">{entry.target}</Fact>}
      <Fact name="Attempt">{count(entry.attempt)}</Fact>
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

/** The payment that a canonical event names. */
const paymentIn = (payload: unknown): string | undefined => {
  const data: unknown = typeof payload === 'object' && payload !== null && 'data' in payload ? payload.data : undefined;
  const id: unknown = typeof data === 'object' && data !== null && 'payment_id' in data ? data.payment_id : undefined;
  return typeof id === 'string' && /^pay_[0-9a-f]{24}$/.test(id) ? id : undefined;
};
