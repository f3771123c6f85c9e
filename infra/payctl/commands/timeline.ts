import type * as z from 'zod';
import { amountWithCurrency } from '../../../shared/core/money.ts';
import type { disputeViewSchema } from '../../../shared/payments/dispute.ts';
import { isVisiblePayment } from '../../../shared/payments/payment.ts';
import type { refundViewSchema } from '../../../shared/payments/refunds/refund.ts';
import type { Table } from '../../../shared/platform/table.ts';
import { type TimelineEntry, timelineOf } from '../../../shared/queries/payment-timeline.ts';
import {
  type SubscriptionTimelineEntry,
  subscriptionTimelineOf,
} from '../../../shared/queries/subscription-timeline.ts';
import { type LoggedEntry, wholeTimeline } from '../../../shared/queries/timeline.ts';
import { subscriptionStore } from '../../../shared/subscriptions/record/subscription-store.ts';
import { aliasedId, findPayment } from '../compare/find-payment.ts';
import { listDisputesHere, listRefundsHere } from '../compare/money-back.ts';
import { NotReachable } from '../installation/control.ts';
import type { Installation } from '../installation/installation.ts';
import { columns, type Report } from './report.ts';

/** The history of any payment or subscription, found by our id or its provider's. */
export const showTimeline = async (installation: Installation, id: string): Promise<Report> => {
  const subscriptionId = id.startsWith('subs_') ? id : await aliasedId(installation.deps.table, 'SUB', id);
  return subscriptionId === undefined
    ? showPayment(installation, id)
    : showSubscription(installation.deps.table, subscriptionId);
};

/** Shows the history that GET /payments/{id}/timeline shows to the payment's owner, below its refunds and disputes. */
const showPayment = async (installation: Installation, id: string): Promise<Report> => {
  const payment = await findPayment(installation, id);
  const { id: paymentId, status, totalCents, currency, providerId } = payment;
  return reportPayment({
    payment: { id: paymentId, status, total_cents: totalCents, currency, provider_id: providerId },
    refunds: isVisiblePayment(payment) ? await listRefundsHere(installation, payment) : [],
    disputes: isVisiblePayment(payment) ? await listDisputesHere(installation, payment) : [],
    entries: await wholeTimeline((page) => timelineOf(installation.deps.table, paymentId, page)),
  });
};

interface PaymentHistory {
  readonly payment: {
    readonly id: string;
    readonly status: string;
    readonly total_cents: number;
    readonly currency: string;
    readonly provider_id: string;
  };
  readonly refunds: readonly z.output<ReturnType<typeof refundViewSchema>>[];
  readonly disputes: readonly z.output<ReturnType<typeof disputeViewSchema>>[];
  readonly entries: readonly TimelineEntry[];
}

/** The report of a payment's history, whether it comes from the table or from the API. */
export const reportPayment = ({ payment, refunds, disputes, entries }: PaymentHistory): Report => {
  const { id, status, total_cents: totalCents, currency, provider_id: providerId } = payment;
  const beside = [
    ...refunds.map((one) => [
      'refund',
      one.id,
      one.status,
      amountOf(one),
      one.failure_code ?? `by ${one.created_by ?? one.source}`,
    ]),
    ...disputes.map((one) => ['dispute', one.id, one.status, amountOf(one), dueOf(one.evidence_due_by)]),
  ];
  return {
    json: { payment_id: id, status, is_complete: true, refunds, disputes, entries },
    lines: [
      `${id} is ${status}: ${amountWithCurrency(totalCents, currency)} at ${providerId}`,
      ...columns(beside),
      '',
      ...columns(entries.map((entry) => rowOf(entry, currency))),
    ],
    exitCode: 0,
  };
};

/** Shows the history that GET /subscriptions/{id}/timeline shows to the subscription's owner. @throws NotReachable */
const showSubscription = async (table: Table, id: string): Promise<Report> => {
  const [subscription, entries] = await Promise.all([
    subscriptionStore(table).load(id),
    wholeTimeline((page) => subscriptionTimelineOf(table, id, page)),
  ]);
  if (!subscription) throw new NotReachable(`there is no subscription ${id}`);
  const { status, totalCents, currency, billingInterval, providerId, billingOwner } = subscription;
  const shown = { total_cents: totalCents, billing_interval: billingInterval, billing_owner: billingOwner };
  return reportSubscription({ id, status, currency, provider_id: providerId, ...shown }, entries);
};

interface ShownSubscription {
  readonly id: string;
  readonly status: string;
  readonly total_cents: number;
  readonly currency: string;
  readonly billing_interval: string;
  readonly provider_id: string;
  readonly billing_owner: string;
}

/** The report of a subscription's history, whether it comes from the table or from the API. */
export const reportSubscription = (
  subscription: ShownSubscription,
  entries: readonly SubscriptionTimelineEntry[],
): Report => {
  const { id, status, total_cents: totalCents, currency } = subscription;
  const amount = `${amountWithCurrency(totalCents, currency)} ${subscription.billing_interval}`;
  return {
    json: { subscription_id: id, status, is_complete: true, entries },
    lines: [
      `${id} is ${status}: ${amount} at ${subscription.provider_id}, billed by the ${subscription.billing_owner}`,
      '',
      ...columns(entries.map((entry) => subscriptionRow(entry, currency))),
    ],
    exitCode: 0,
  };
};

const subscriptionRow = (entry: SubscriptionTimelineEntry, currency: string): readonly string[] => {
  if (entry.kind !== 'change') return logRow(entry);
  const { previous_status: was, status, payment_id: payment, failure_code: failure } = entry;
  const about = [payment, failure, planOf(entry, currency)].filter((text) => text !== undefined).join(', ');
  const step = was === null || was === status ? status : `${was} → ${status}`;
  return [entry.at, 'change', step, entry.cause ?? '', '', about, actorOf(entry)];
};

type SubscriptionChange = Extract<SubscriptionTimelineEntry, { kind: 'change' }>;

/** The change of a plan, such as `10.00 USD → 60.00 USD, 50.00 USD due`. */
const planOf = ({ plan_change: plan }: SubscriptionChange, currency: string): string | undefined => {
  if (!plan) return undefined;
  const [from, to, due] = [plan.from.total_cents, plan.to.total_cents, plan.due_cents].map((cents) =>
    amountWithCurrency(cents, currency),
  );
  return `${from} → ${to}, ${due} due`;
};

const amountOf = (one: { readonly amount_cents: number; readonly currency: string }): string =>
  amountWithCurrency(one.amount_cents, one.currency);
const dueOf = (by: string | null): string => (by === null ? '' : `evidence due by ${by}`);

const rowOf = (entry: TimelineEntry, currency: string): readonly string[] => {
  if (entry.kind !== 'change') return logRow(entry);
  const why = [entry.failure_code, entry.anomaly, moneyBackOf(entry, currency), holdOf(entry, currency)]
    .filter((text) => text !== undefined)
    .join(', ');
  return [entry.at, 'change', entry.status, entry.cause ?? '', `attempt ${entry.attempt}`, why, actorOf(entry)];
};

const logRow = (entry: LoggedEntry): readonly string[] => {
  switch (entry.kind) {
    case 'provider_event':
      return [entry.at, 'event', entry.event_type, entry.outcome, '', entry.reason ?? '', ''];
    case 'delivery': {
      const answer = entry.http_status === null ? (entry.reason ?? '') : `HTTP ${entry.http_status}`;
      return [
        entry.at,
        'delivery',
        entry.event_type,
        `${entry.target} ${entry.status}`,
        `attempt ${entry.attempt}`,
        answer,
        entry.next_attempt_at === null ? '' : `next attempt ${entry.next_attempt_at}`,
      ];
    }
  }
};

type Change = Extract<TimelineEntry, { kind: 'change' }>;

/** The refund or dispute that a change is about, such as `ref_… succeeded 5.00 USD`. */
const moneyBackOf = ({ refund, dispute }: Change, currency: string): string | undefined => {
  const about = refund ?? dispute;
  return about && `${about.id} ${about.status} ${amountWithCurrency(about.amount_cents, currency)}`;
};

/** The capture or release that a change claims, such as `capture 18.00 USD`. */
const holdOf = ({ hold }: Change, currency: string): string | undefined =>
  hold &&
  [hold.call, ...(hold.amount_cents === null ? [] : [amountWithCurrency(hold.amount_cents, currency)])].join(' ');

const actorOf = ({ actor }: Pick<TimelineEntry, 'actor'>): string =>
  actor === null ? '' : `${actor.type} ${actor.id}${forPayer(actor)}`;

type ShownActor = NonNullable<TimelineEntry['actor']>;

const forPayer = ({ on_behalf_of: payer }: ShownActor): string => (payer ? ` for ${payer.type} ${payer.id}` : '');
