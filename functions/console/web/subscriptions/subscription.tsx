/** @module The page of one subscription, with its plan, dunning state, period payments and timeline. */

import type { ComponentChildren } from 'preact';
import { answerOf, api, nextCursor } from '../api/client.ts';
import { readPayersOfSubscription } from '../api/payers.ts';
import { providerName } from '../api/providers.ts';
import { may, session } from '../api/session.ts';
import type { Payment, Subscription, SubscriptionTimelineEntry } from '../api/types.ts';
import { OWN_PAYMENT_COLUMNS } from '../pages/payment-columns.tsx';
import { CustomerLink, OwningOrganization, Payer, payerInShort, SavedMethod } from '../pages/payment-parts.tsx';
import { readTimeline, Timeline } from '../pages/timeline.tsx';
import { count, inWords } from '../view/format.ts';
import { type PageOf, usePages } from '../view/load.ts';
import { Fact, Json, Money, Time } from '../view/parts.tsx';
import { RecordPage } from '../view/record-page.tsx';
import { Link } from '../view/route.tsx';
import { Table } from '../view/table.tsx';
import { PlanChangeNotes } from './plan-change-notes.tsx';
import { SubscriptionActions } from './subscription-actions.tsx';
import { NextCharge, nameOf, planOf, SubscriptionStatus } from './subscription-parts.tsx';
import { showSubscriptionChange } from './subscription-timeline.tsx';

interface SubscriptionFile {
  readonly subscription: Subscription;
  /** The charge attempts of a past-due subscription's latest payment. */
  readonly dunning: Dunning | undefined;
  readonly timeline: readonly SubscriptionTimelineEntry[];
}

interface Dunning {
  readonly paymentId: string;
  readonly attempts: number;
  readonly failureCode: string | undefined;
}

const readSubscription = async (id: string): Promise<SubscriptionFile> => {
  const path = { id };
  const [{ data }, payers, timeline] = await Promise.all([
    answerOf(api.GET('/subscriptions/{id}', { params: { path } })),
    readPayersOfSubscription(id),
    readTimeline(async (query) => {
      const call = api.GET('/subscriptions/{id}/timeline', { params: { path, query } });
      return (await answerOf(call)).data;
    }),
  ]);
  const { status, latest_payment_id: latest } = data;
  const dunning = status === 'past_due' && latest !== null ? await readDunning(latest) : undefined;
  return { subscription: { ...data, ...payers }, dunning, timeline };
};

/** Reads the last attempt's number and failure reason from the unpaid payment's timeline. */
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
    title={(file) => (file ? planOf(file.subscription) : 'Subscription')}
    tab="Subscription"
    status={({ subscription }) => <SubscriptionStatus subscription={subscription} />}
    about={({ subscription }) => (
      <>
        {payerInShort(subscription)} · {nameOf(subscription)} · since <Time at={subscription.created_at} zoned={true} />
      </>
    )}
    read={() => readSubscription(id)}
    actions={({ subscription }, follow) => <SubscriptionActions subscription={subscription} onChanged={follow} />}
  >
    {(file, follow) => <SubscriptionView file={file} onChanged={follow} />}
  </RecordPage>
);

interface ViewProps {
  readonly file: SubscriptionFile;
  readonly onChanged: () => void;
}

const SubscriptionView = ({ file: { subscription, dunning, timeline }, onChanged }: ViewProps) => (
  <>
    {dunning && <DunningNote subscription={subscription} dunning={dunning} />}
    <PlanChangeNotes subscription={subscription} onChanged={onChanged} />
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
    <Timeline
      entries={timeline}
      show={(change) => showSubscriptionChange(change, subscription.currency)}
      onSent={onChanged}
    />
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
    Next attempt: <Time at={at} zoned={true} />
  </>
);

const Plan = ({ subscription }: { readonly subscription: Subscription }) => (
  <dl class="facts">
    <Fact name="Name">{nameOf(subscription)}</Fact>
    <Fact name="Current period" isTime={true}>
      <Time at={subscription.current_period_start} /> to <Time at={subscription.current_period_end} />
    </Fact>
    <Fact name={subscription.status === 'past_due' ? 'Next attempt' : 'Next charge'} isTime={true}>
      <NextCharge subscription={subscription} />
    </Fact>
    {subscription.trial_end !== null && (
      <Fact name="Trial ends">
        <Time at={subscription.trial_end} exact={true} />
      </Fact>
    )}
    <Fact name="Billing">
      {inWords(subscription.billing_status)}
      {`, by the ${subscription.billing_owner}`}
    </Fact>
    <Fact name="Provider">{providerName(subscription.provider_id)}</Fact>
    <Fact name="Payer">
      <Payer record={subscription} />
    </Fact>
    {subscription.organization_id !== null && (
      <Fact name="Organization">
        <OwningOrganization record={subscription} />
      </Fact>
    )}
    <Fact name="Customer">
      <CustomerLink id={subscription.customer_id} />
    </Fact>
    <Fact name="Payment method">
      <SavedMethod id={subscription.payment_method_id} />
    </Fact>
    <TextFacts subscription={subscription} />
    <Fact name="Created">
      <Time at={subscription.created_at} exact={true} />
    </Fact>
  </dl>
);

/** Fields that are shown only if they are set. */
const TextFacts = ({ subscription }: { readonly subscription: Subscription }) => {
  const facts: readonly (readonly [string, unknown])[] = [
    ['Provider’s ID', subscription.provider_subscription_id],
    ['Product', subscription.product_id],
    ['Quantity', subscription.product_id === null ? null : count(subscription.quantity)],
    ['Description', subscription.description],
    ['Reference', subscription.reference_code],
    ['Project', subscription.project_id],
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

/** The discount code, and the price after it ends. */
const discountLine = ({ discount }: Subscription): readonly (readonly [string, number])[] => {
  if (discount === null) return [];
  const { code, periods_left: left, full } = discount;
  return [[`Without code ${code}${left === null ? '' : `, after ${left} more periods`}`, full.total_cents]];
};

const Prices = ({ subscription }: { readonly subscription: Subscription }) => {
  const prices: readonly (readonly [string, number])[] = [
    ['Subtotal', subscription.subtotal_cents],
    ['Tax', subscription.tax_cents],
    ['Discount', 0 - subscription.discount_cents],
    ...discountLine(subscription),
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

/** Requests one page of a payment list that the caller may read and that includes the subscription's payments. */
const askPayments = (subscription: Subscription, cursor: string | undefined) => {
  const { created_at: from, organization_id, user_id } = subscription;
  const organization = organization_id ?? undefined;
  if (may('payments:read') && user_id !== session.value?.userId) {
    const user = organization === undefined ? (user_id ?? undefined) : undefined;
    const query = { from, organization_id: organization, user_id: user, limit: 100, cursor };
    return api.GET('/admin/payments', { params: { query } });
  }
  const query = { created_at_from: from, organization_id: organization, limit: 50, cursor };
  return api.GET('/payments', { params: { query } });
};

/** The subscription's payments, filtered from the owner's payments, because no route lists them. */
const readPayments = async (subscription: Subscription, cursor: string | undefined): Promise<PageOf<Payment>> => {
  const call = askPayments(subscription, cursor);
  const { data } = await answerOf<{ data?: Payment[]; meta?: Record<string, unknown> }>(call);
  const rows = (data.data ?? []).filter(({ subscription_id: id }) => id === subscription.id);
  return { rows, next: nextCursor(data.meta) };
};

const Payments = ({ subscription }: { readonly subscription: Subscription }) => {
  const { id, updated_at: updatedAt } = subscription;
  const pages = usePages(`${id} ${updatedAt}`, (cursor) => readPayments(subscription, cursor));
  return (
    <Table
      name="Payments of its periods"
      columns={OWN_PAYMENT_COLUMNS}
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
