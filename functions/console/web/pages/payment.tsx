/** @module The page of one payment, with its facts, its timeline, and the actions of platform admins. */

import type { ComponentChildren } from 'preact';
import { answerOf, api } from '../api/client.ts';
import { dashboardLink, providerName } from '../api/providers.ts';
import type { Dispute, Payment, Refund, TimelineEntry } from '../api/types.ts';
import { dateInUtc, inWords } from '../view/format.ts';
import { Fact, Id, Json, Money, Status, Time } from '../view/parts.tsx';
import { RecordPage } from '../view/record-page.tsx';
import { Link } from '../view/route.tsx';
import { PaymentActions } from './payment-actions.tsx';
import { Method, payerOf } from './payment-parts.tsx';
import { Timeline, useShownEntries } from './payment-timeline.tsx';

interface PaymentFile {
  readonly payment: Payment;
  readonly refunds: readonly Refund[];
  readonly disputes: readonly Dispute[];
  readonly timeline: readonly TimelineEntry[];
}

const readPayment = async (id: string): Promise<PaymentFile> => {
  const path = { id };
  const [payment, refunds, disputes, timeline] = await Promise.all([
    answerOf(api.GET('/payments/{id}', { params: { path, query: { include: 'payment_method' } } })),
    answerOf(api.GET('/payments/{id}/refunds', { params: { path } })),
    answerOf(api.GET('/payments/{id}/disputes', { params: { path } })),
    readTimeline(id),
  ]);
  return {
    payment: payment.data.data,
    refunds: refunds.data,
    disputes: disputes.data,
    timeline,
  };
};

/** More pages than any payment has. The first page has the newest entries. */
const MAX_PAGES = 20;

/** All entries of the timeline, by time. */
const readTimeline = async (id: string): Promise<readonly TimelineEntry[]> => {
  const entries: TimelineEntry[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = cursor === undefined ? {} : { cursor };
    const { data } = await answerOf(api.GET('/payments/{id}/timeline', { params: { path: { id }, query } }));
    entries.push(...data.data);
    if (!data.meta.next_cursor) break;
    cursor = data.meta.next_cursor;
  }
  return entries.sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
};

export const PaymentPage = ({ id }: { readonly id: string }) => (
  <RecordPage
    id={id}
    list={['/payments', 'Payments']}
    what="the payment"
    title={() => `Payment ${id}`}
    read={() => readPayment(id)}
    actions={({ payment, disputes }, follow) => (
      <PaymentActions payment={payment} disputes={disputes} onChanged={follow} />
    )}
  >
    {(file, follow) => <PaymentView file={file} onSent={follow} />}
  </RecordPage>
);

const PaymentView = ({ file, onSent }: { readonly file: PaymentFile; readonly onSent: () => void }) => {
  const { payment, refunds, disputes, timeline } = file;
  const { shown, hidden, showAll } = useShownEntries(timeline);
  return (
    <>
      <Summary payment={payment} />
      <div class="columns">
        <Card title="Details">
          <Details payment={payment} />
        </Card>
        <div class="stack">
          <Card title="Prices">
            <Prices payment={payment} />
          </Card>
          {refunds.length > 0 && (
            <Card title="Refunds">
              <ul class="plain-list">
                {refunds.map((refund) => (
                  <RefundItem key={refund.id} refund={refund} />
                ))}
              </ul>
            </Card>
          )}
          {disputes.length > 0 && (
            <Card title="Disputes">
              <ul class="plain-list">
                {disputes.map((dispute) => (
                  <DisputeItem key={dispute.id} dispute={dispute} />
                ))}
              </ul>
            </Card>
          )}
          {Object.keys(payment.metadata).length > 0 && (
            <Card title="Metadata">
              <Json value={payment.metadata} name="Metadata" />
            </Card>
          )}
        </div>
      </div>
      <Card title="Timeline">
        {hidden > 0 && (
          <button type="button" onClick={showAll}>
            Show {hidden} earlier entries
          </button>
        )}
        <Timeline entries={shown} currency={payment.currency} onSent={onSent} />
      </Card>
    </>
  );
};

const Card = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <section class="card" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
);

const Summary = ({ payment }: { readonly payment: Payment }) => (
  <div class="summary">
    <span class="amount">
      <Money cents={payment.amount_cents} currency={payment.currency} />
    </span>
    <Status of={payment.status} />
    {payment.disputed && <span class="status status-bad">Disputed</span>}
    {payment.refund_status !== 'none' && (
      <span class="status">{payment.refund_status === 'full' ? 'Refunded' : 'Partly refunded'}</span>
    )}
  </div>
);

const Details = ({ payment }: { readonly payment: Payment }) => (
  <dl class="facts">
    <Fact name="Created">
      <Time at={payment.created_at} exact={true} />
    </Fact>
    {payment.completed_at !== null && (
      <Fact name="Completed">
        <Time at={payment.completed_at} exact={true} />
      </Fact>
    )}
    <Fact name="Payer">{payerOf(payment)}</Fact>
    <Fact name="Method">
      <Method payment={payment} />
    </Fact>
    <Fact name="Provider">{providerName(payment.provider_id)}</Fact>
    <ProviderId payment={payment} />
    {payment.failure_code !== undefined && (
      <Fact name="Declined">
        <code>{payment.failure_code}</code>
      </Fact>
    )}
    <TextFacts payment={payment} />
  </dl>
);

/** Fields that are shown only if they are set. */
const TextFacts = ({ payment }: { readonly payment: Payment }) => {
  const facts: readonly (readonly [string, unknown])[] = [
    ['Description', payment.description],
    ['Concept', payment.concept],
    ['Reference', payment.reference_code],
    ['Category', payment.category],
    ['Tags', payment.tags],
    ['Customer', payment.customer_id],
    ['Organization', payment.organization_id],
    ['Project', payment.project_id],
    ['Product', payment.product_id],
  ];
  const { subscription_id: subscription } = payment;
  return (
    <>
      {facts.map(([name, value]) =>
        typeof value === 'string' && value !== '' ? (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ) : null,
      )}
      {typeof subscription === 'string' && (
        <Fact name="Subscription">
          <Link to={`/subscriptions/${subscription}`}>{subscription}</Link>
        </Fact>
      )}
      <Fact name="ID">
        <Id>{payment.id}</Id>
      </Fact>
    </>
  );
};

const ProviderId = ({ payment }: { readonly payment: Payment }) => {
  const id = payment.provider_payment_id ?? payment.provider_intent_id;
  if (id === null) return null;
  const link = dashboardLink(payment.provider_id, id);
  return (
    <Fact name="Provider’s ID">
      {link === undefined ? (
        <code>{id}</code>
      ) : (
        <a href={link} target="_blank" rel="noreferrer" title={`Open at ${providerName(payment.provider_id)}`}>
          <code>{id}</code>
        </a>
      )}
    </Fact>
  );
};

const Prices = ({ payment }: { readonly payment: Payment }) => {
  const { currency } = payment;
  const prices: readonly (readonly [string, number])[] = [
    ['Subtotal', payment.subtotal_cents],
    ['Tax', payment.tax_cents],
    ['Discount', 0 - payment.discount_cents],
    ['Total', payment.total_cents],
    ['Refunded', payment.refunded_cents],
    ['Can be refunded', payment.refundable_cents],
  ];
  return (
    <dl class="facts prices">
      {prices.map(([name, cents]) => (
        <Fact key={name} name={name}>
          <Money cents={cents} currency={currency} />
        </Fact>
      ))}
    </dl>
  );
};

const RefundItem = ({ refund }: { readonly refund: Refund }) => (
  <li>
    <div class="entry-head">
      <Money cents={refund.amount_cents} currency={refund.currency} />
      <Status of={refund.status} />
    </div>
    <p class="quiet">
      {refund.reason === null ? 'No reason given' : inWords(refund.reason)}
      {refund.source === 'provider' && ' · made at the provider'}
      {refund.failure_code !== null && ` · ${refund.failure_code}`}
    </p>
    <p class="entry-by">
      <Time at={refund.created_at} exact={true} />
      {refund.created_by !== null && <span>by {refund.created_by}</span>}
      <code>{refund.id}</code>
    </p>
  </li>
);

const DisputeItem = ({ dispute }: { readonly dispute: Dispute }) => (
  <li>
    <div class="entry-head">
      <Money cents={dispute.amount_cents} currency={dispute.currency} />
      <Status of={dispute.status} />
    </div>
    <p class="quiet">
      {dispute.reason === null ? 'No reason given' : inWords(dispute.reason)}
      {dispute.evidence_due_by !== null && ` · evidence is due by ${dateInUtc(dispute.evidence_due_by)} (UTC)`}
    </p>
    <p class="entry-by">
      <Time at={dispute.created_at} exact={true} />
      <code>{dispute.id}</code>
    </p>
  </li>
);
