/** @module The page of one payment, with its facts, its timeline, and the actions of the merchant. */

import type { ComponentChildren } from 'preact';
import { answerOf, api } from '../api/client.ts';
import { readPayersOfPayment } from '../api/payers.ts';
import { dashboardLink, providerName } from '../api/providers.ts';
import { may } from '../api/session.ts';
import type { Dispute, Payment, Refund, Settlement, TimelineEntry } from '../api/types.ts';
import { HoldNote } from '../holds/hold-note.tsx';
import { dateInUtc, inWords, money } from '../view/format.ts';
import { Fact, Id, Json, Money, Status, Time } from '../view/parts.tsx';
import { RecordPage } from '../view/record-page.tsx';
import { Link, withQuery } from '../view/route.tsx';
import { adviceFor, declineInWords, methodInWords } from './method-words.ts';
import { PaymentActions } from './payment-actions.tsx';
import { CustomerLink, Method, OwningOrganization, Payer } from './payment-parts.tsx';
import { showPaymentChange } from './payment-timeline.tsx';
import { readTimeline, Timeline } from './timeline.tsx';

interface PaymentFile {
  readonly payment: Payment;
  readonly refunds: readonly Refund[];
  readonly disputes: readonly Dispute[];
  readonly timeline: readonly TimelineEntry[];
}

const readPayment = async (id: string): Promise<PaymentFile> => {
  const path = { id };
  const [payment, payers, refunds, disputes, timeline] = await Promise.all([
    answerOf(api.GET('/payments/{id}', { params: { path, query: { include: 'payment_method' } } })),
    readPayersOfPayment(id),
    answerOf(api.GET('/payments/{id}/refunds', { params: { path } })),
    answerOf(api.GET('/payments/{id}/disputes', { params: { path } })),
    readTimeline(
      async (query) => (await answerOf(api.GET('/payments/{id}/timeline', { params: { path, query } }))).data,
    ),
  ]);
  return {
    payment: { ...payment.data.data, ...payers },
    refunds: refunds.data,
    disputes: disputes.data,
    timeline,
  };
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
  const { settlement } = payment;
  return (
    <>
      <Summary payment={payment} />
      <DeclineNote payment={payment} />
      <HoldNote payment={payment} />
      <div class="columns">
        <Card title="Details">
          <Details payment={payment} />
        </Card>
        <div class="stack">
          <Card title="Prices">
            <Prices payment={payment} />
          </Card>
          {settlement && (
            <Card title="Settlement">
              <SettlementFacts settlement={settlement} />
            </Card>
          )}
          {refunds.length > 0 && (
            <Card title="Refunds" all="/refunds">
              <ul class="plain-list">
                {refunds.map((refund) => (
                  <RefundItem key={refund.id} refund={refund} />
                ))}
              </ul>
            </Card>
          )}
          {disputes.length > 0 && (
            <Card title="Disputes" all="/disputes">
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
      <Timeline entries={timeline} show={showPaymentChange(payment.currency)} onSent={onSent} />
    </>
  );
};

interface CardProps {
  readonly title: string;
  /** The page that lists such records of all payments. It needs the scope payments:read. */
  readonly all?: string;
  readonly children: ComponentChildren;
}

const Card = ({ title, all, children }: CardProps) => (
  <section class="card" aria-label={title}>
    <div class="card-head">
      <h2>{title}</h2>
      {all !== undefined && may('payments:read') && <Link to={all}>All {title.toLowerCase()}</Link>}
    </div>
    {children}
  </section>
);

/** Why the last attempt was declined, and what to tell the payer. */
const DeclineNote = ({ payment }: { readonly payment: Payment }) => {
  const { decline, provider_id: provider } = payment;
  if (!decline) return null;
  const { provider_code, network_code } = decline;
  const codes = [
    ...(provider_code === null ? [] : [`${providerName(provider)}: ${provider_code}`]),
    ...(network_code === null ? [] : [`card network: ${network_code}`]),
  ];
  return (
    <section class="note note-bad" aria-label="Decline">
      <div>
        <strong>{declineInWords(decline)}</strong> {adviceFor(decline)}
        {codes.length > 0 && <p class="quiet">{codes.join(' · ')}</p>}
      </div>
    </section>
  );
};

const SettlementFacts = ({ settlement }: { readonly settlement: Settlement }) => {
  const { fee_cents, net_cents, currency, exchange_rate, available_on } = settlement;
  return (
    <dl class="facts prices">
      <Fact name="Provider’s fee">
        <Money cents={fee_cents} currency={currency} />
      </Fact>
      <Fact name="Net">
        <Money cents={net_cents} currency={currency} />
      </Fact>
      {exchange_rate !== null && <Fact name="Exchange rate">{exchange_rate}</Fact>}
      {available_on !== null && <Fact name="Paid out from">{dateInUtc(available_on)}</Fact>}
    </dl>
  );
};

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
    <Fact name="Payer">
      <Payer record={payment} />
      <PaymentsOfPayer payment={payment} />
    </Fact>
    <MethodFacts payment={payment} />
    <Fact name="Provider">{providerName(payment.provider_id)}</Fact>
    <ProviderId payment={payment} />
    <TextFacts payment={payment} />
  </dl>
);

/** The way to the other payments of the payer, for example to find a second charge. */
const PaymentsOfPayer = ({ payment: { user_id: user, guest_email: guest } }: { readonly payment: Payment }) => {
  if (!may('payments:read') || (user === null && guest === null)) return null;
  const filter = user === null ? ['search', guest ?? ''] : ['user', user];
  return (
    <span class="second-line">
      <Link to={withQuery('/payments', new URLSearchParams([filter]))}>All payments of this payer</Link>
    </span>
  );
};

/** The method of the last attempt in one line, its expiry, and the way to other payments with the same card. */
const MethodFacts = ({ payment }: { readonly payment: Payment }) => {
  const { payment_method_details: details } = payment;
  return (
    <>
      <Fact name="Method">
        {details ? <span class="method">{methodInWords(details)}</span> : <Method payment={payment} />}
      </Fact>
      {details?.expiry_year && (
        <Fact name="Expires">
          {details.expiry_month}/{details.expiry_year}
        </Fact>
      )}
      {details?.fingerprint && may('payments:read') && (
        <Fact name="Same card">
          <Link to={withQuery('/payments', new URLSearchParams({ fingerprint: details.fingerprint }))}>
            All payments with this card
          </Link>
        </Fact>
      )}
    </>
  );
};

const CHARGED_FOR = {
  subscription_create: 'The first period',
  subscription_cycle: 'A renewal',
  subscription_change: 'A change of the plan',
  subscription_resume: 'The period after a pause',
} as const;

/** Fields that are shown only if they are set. */
const TextFacts = ({ payment }: { readonly payment: Payment }) => {
  const facts: readonly (readonly [string, unknown])[] = [
    ['Description', payment.description],
    ['Concept', payment.concept],
    ['Reference', payment.reference_code],
    ['Category', payment.category],
    ['Tags', payment.tags],
    ['Project', payment.project_id],
    ['Product', payment.product_id],
    ['Charged for', payment.billing_reason && CHARGED_FOR[payment.billing_reason]],
  ];
  const { subscription_id: subscription, customer_id: customer, organization_id: organization } = payment;
  return (
    <>
      {facts.map(([name, value]) =>
        typeof value === 'string' && value !== '' ? (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ) : null,
      )}
      {organization !== undefined && (
        <Fact name="Organization">
          <OwningOrganization record={payment} />
        </Fact>
      )}
      {customer !== null && (
        <Fact name="Customer">
          <CustomerLink id={customer} />
        </Fact>
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

const heldPrices = (payment: Payment) =>
  [
    ['Authorized', payment.authorized_cents ?? 0],
    ['Captured', payment.captured_cents],
  ] as const;

const Prices = ({ payment }: { readonly payment: Payment }) => {
  const { currency } = payment;
  const prices: readonly (readonly [string, number])[] = [
    ['Subtotal', payment.subtotal_cents],
    ['Tax', payment.tax_cents],
    ['Discount', 0 - payment.discount_cents],
    ...(payment.discount === null
      ? []
      : ([[`of it code ${payment.discount.code}`, 0 - payment.discount.cents]] as const)),
    ['Total', payment.total_cents],
    ...(payment.authorized_cents === null ? [] : heldPrices(payment)),
    ['Refunded', payment.refunded_cents],
    ...(payment.disputed_cents === 0 ? [] : ([['Disputed', payment.disputed_cents]] as const)),
    ...(payment.lost_cents === 0 ? [] : ([['Lost in disputes', payment.lost_cents]] as const)),
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

const feeInWords = ({ fee_cents: fee, currency }: Settlement): string =>
  fee < 0 ? `fee given back: ${money(-fee, currency)}` : `fee: ${money(fee, currency)}`;

const RefundItem = ({ refund }: { readonly refund: Refund }) => {
  const { settlement } = refund;
  return (
    <li>
      <div class="entry-head">
        <Money cents={refund.amount_cents} currency={refund.currency} />
        <Status of={refund.status} />
      </div>
      <p class="quiet">
        {refund.reason === null ? 'No reason given' : inWords(refund.reason)}
        {refund.source === 'provider' && ' · made at the provider'}
        {refund.failure_code !== null && ` · ${refund.failure_code}`}
        {settlement && ` · ${feeInWords(settlement)}`}
      </p>
      <p class="entry-by">
        <Time at={refund.created_at} exact={true} />
        {refund.created_by !== null && <span>by {refund.created_by}</span>}
        <code>{refund.id}</code>
        {refund.provider_refund_id !== null && <code>{refund.provider_refund_id}</code>}
      </p>
    </li>
  );
};

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
