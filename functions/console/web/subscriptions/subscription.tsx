/** @module The page of one subscription, with its plan, the state of its dunning, and the payments of its periods. */

import type { ComponentChildren } from 'preact';
import { answerOf, api, nextCursor } from '../api/client.ts';
import { providerName } from '../api/providers.ts';
import { isAdmin, session } from '../api/session.ts';
import type { Payment, Subscription } from '../api/types.ts';
import { Method } from '../pages/payment-parts.tsx';
import { inWords } from '../view/format.ts';
import { type PageOf, usePages } from '../view/load.ts';
import { Fact, Id, Json, Money, Status, Time } from '../view/parts.tsx';
import { RecordPage } from '../view/record-page.tsx';
import { Link } from '../view/route.tsx';
import { type Column, Table } from '../view/table.tsx';
import { SubscriptionActions } from './subscription-actions.tsx';
import { NextCharge, nameOf, planOf, SubscriptionStatus } from './subscription-parts.tsx';

interface SubscriptionFile {
  readonly subscription: Subscription;
  /** The charge attempts of the latest payment, if the subscription is past due. */
  readonly dunning: Dunning | undefined;
}

interface Dunning {
  readonly paymentId: string;
  readonly attempts: number;
  readonly failureCode: string | undefined;
}

const readSubscription = async (id: string): Promise<SubscriptionFile> => {
  const { data } = await answerOf(api.GET('/subscriptions/{id}', { params: { path: { id } } }));
  const latest = data['latest_payment_id'];
  const isUnpaid = data.status === 'past_due' && typeof latest === 'string';
  return { subscription: data, dunning: isUnpaid ? await readDunning(latest) : undefined };
};

/** Reads the number of the last attempt and the reason of its failure from the timeline of the unpaid payment. */
const readDunning = async (paymentId: string): Promise<Dunning> => {
  const call = api.GET('/payments/{id}/timeline', { params: { path: { id: paymentId } } });
  const { data: entries } = (await answerOf(call)).data;
  const changes = entries.filter((entry) => entry.kind === 'change');
  return {
    paymentId,
    attempts: Math.max(0, ...changes.map(({ attempt }) => attempt)),
    failureCode: changes.findLast(({ failure_code: code }) => code !== undefined)?.failure_code,
  };
};

export const SubscriptionPage = ({ id }: { readonly id: string }) => (
  <RecordPage
    id={id}
    list={['/subscriptions', 'Subscriptions']}
    what="the subscription"
    title={() => `Subscription ${id}`}
    read={() => readSubscription(id)}
    actions={({ subscription }, follow) => <SubscriptionActions subscription={subscription} onChanged={follow} />}
  >
    {(file) => <SubscriptionView file={file} />}
  </RecordPage>
);

const SubscriptionView = ({ file: { subscription, dunning } }: { readonly file: SubscriptionFile }) => (
  <>
    <div class="summary">
      <span class="amount">{planOf(subscription)}</span>
      <SubscriptionStatus subscription={subscription} />
    </div>
    {dunning && <DunningNote subscription={subscription} dunning={dunning} />}
    <div class="columns">
      <Card title="Plan">
        <Plan subscription={subscription} />
      </Card>
      <div class="stack">
        <Card title="Prices">
          <Prices subscription={subscription} />
        </Card>
        {Object.keys(subscription.metadata).length > 0 && (
          <Card title="Metadata">
            <Json value={subscription.metadata} name="Metadata" />
          </Card>
        )}
      </div>
    </div>
    <section class="part" aria-label="Payments of its periods">
      <h2>Payments of its periods</h2>
      <Payments subscription={subscription} />
    </section>
  </>
);

const Card = ({ title, children }: { readonly title: string; readonly children: ComponentChildren }) => (
  <section class="card" aria-label={title}>
    <h2>{title}</h2>
    {children}
  </section>
);

interface DunningNoteProps {
  readonly subscription: Subscription;
  readonly dunning: Dunning;
}

const DunningNote = ({ subscription, dunning }: DunningNoteProps) => {
  const { next_billing_date: next, billing_status: step } = subscription;
  const { paymentId, attempts, failureCode } = dunning;
  return (
    <section class="note note-wait" aria-label="Dunning">
      <div>
        <strong>
          Dunning: {step === 'pending' ? 'the first charge waits for the payer' : inWords(step).toLowerCase()}
        </strong>
        <p>
          {attempts > 0 && `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'} made. `}
          {failureCode !== undefined && `Declined: ${failureCode}. `}
          {next === null ? 'No further attempt is planned.' : <NextAttempt at={next} />}
        </p>
      </div>
      <Link to={`/payments/${paymentId}`}>Show the payment</Link>
    </section>
  );
};

const NextAttempt = ({ at }: { readonly at: string }) => (
  <>
    Next attempt: <Time at={at} exact={true} />
  </>
);

const Plan = ({ subscription }: { readonly subscription: Subscription }) => (
  <dl class="facts">
    <Fact name="Name">{nameOf(subscription)}</Fact>
    <Fact name="Current period (UTC)">
      <Time at={subscription.current_period_start} /> to <Time at={subscription.current_period_end} />
    </Fact>
    <Fact name={subscription.status === 'past_due' ? 'Next attempt (UTC)' : 'Next charge (UTC)'}>
      <NextCharge subscription={subscription} />
    </Fact>
    {subscription.trial_end !== null && (
      <Fact name="Trial ends">
        <Time at={subscription.trial_end} exact={true} />
      </Fact>
    )}
    <Fact name="Billing">
      {inWords(subscription.billing_status)}
      {typeof subscription['billing_owner'] === 'string' && `, by the ${subscription['billing_owner']}`}
    </Fact>
    <Fact name="Provider">{providerName(subscription.provider_id)}</Fact>
    <TextFacts subscription={subscription} />
    <Fact name="Created">
      <Time at={subscription.created_at} exact={true} />
    </Fact>
    <Fact name="ID">
      <Id>{subscription.id}</Id>
    </Fact>
  </dl>
);

/** Fields that are shown only if they are set. */
const TextFacts = ({ subscription }: { readonly subscription: Subscription }) => {
  const facts: readonly (readonly [string, unknown])[] = [
    ['Provider’s ID', subscription.provider_subscription_id],
    ['Product', subscription.product_id],
    ['Description', subscription['description']],
    ['Reference', subscription['reference_code']],
    ['Customer', subscription.customer_id],
    ['User', subscription.user_id],
    ['Organization', subscription.organization_id],
    ['Project', subscription.project_id],
    ['Payment method', subscription.payment_method_id],
  ];
  return (
    <>
      {facts.map(([name, value]) =>
        typeof value === 'string' && value !== '' ? (
          <Fact key={name} name={name}>
            {value}
          </Fact>
        ) : null,
      )}
    </>
  );
};

const Prices = ({ subscription }: { readonly subscription: Subscription }) => {
  const prices: readonly (readonly [string, number])[] = [
    ['Subtotal', subscription.subtotal_cents],
    ['Tax', subscription.tax_cents],
    ['Discount', 0 - subscription.discount_cents],
    ['Total per period', subscription.total_cents],
  ];
  return (
    <dl class="facts prices">
      {prices.map(([name, cents]) => (
        <Fact key={name} name={name}>
          <Money cents={cents} currency={subscription.currency} />
        </Fact>
      ))}
    </dl>
  );
};

/** Requests a list of payments that the caller may read and that includes those of the subscription. */
const askPayments = (subscription: Subscription, cursor: string | undefined) => {
  const { created_at: from, organization_id, user_id } = subscription;
  const organization = organization_id ?? undefined;
  if (isAdmin.value && user_id !== session.value?.userId) {
    const user = organization === undefined ? (user_id ?? undefined) : undefined;
    const query = { from, organization_id: organization, user_id: user, limit: 100, cursor };
    return api.GET('/admin/payments', { params: { query } });
  }
  const query = { created_at_from: from, organization_id: organization, limit: 50, cursor };
  return api.GET('/payments', { params: { query } });
};

/** The payments of the subscription, filtered from those of its owner, because no route lists them. */
const readPayments = async (subscription: Subscription, cursor: string | undefined): Promise<PageOf<Payment>> => {
  const call = askPayments(subscription, cursor);
  const { data } = await answerOf<{ data?: Payment[]; meta?: Record<string, unknown> }>(call);
  const rows = (data.data ?? []).filter(({ subscription_id: id }) => id === subscription.id);
  return { rows, next: nextCursor(data.meta) };
};

const COLUMNS: readonly Column<Payment>[] = [
  { title: 'Created (UTC)', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    title: 'Amount',
    align: 'end',
    cell: ({ amount_cents, currency }) => <Money cents={amount_cents} currency={currency} />,
  },
  { title: 'Status', cell: ({ status }) => <Status of={status} /> },
  { title: 'Declined', isExtra: true, cell: ({ failure_code: code }) => code ?? <span class="quiet">–</span> },
  { title: 'Method', isExtra: true, cell: (payment) => <Method payment={payment} /> },
];

const Payments = ({ subscription }: { readonly subscription: Subscription }) => {
  const { id, updated_at: updatedAt } = subscription;
  const pages = usePages(`${id} ${updatedAt}`, (cursor) => readPayments(subscription, cursor));
  return (
    <Table
      name="Payments of its periods"
      columns={COLUMNS}
      pages={pages}
      keyOf={({ id: paymentId }) => paymentId}
      pageOf={({ id: paymentId }) => `/payments/${paymentId}`}
      empty={
        <>
          <strong>No payment yet</strong>
          <p>The first charge is made when a trial ends; a paused subscription is not charged.</p>
        </>
      }
    />
  );
};
