import * as z from 'zod';
import { amountWithCurrency } from '../../../shared/core/money.ts';
import { disputeViewSchema } from '../../../shared/payments/dispute.ts';
import { refundViewSchema } from '../../../shared/payments/refunds/refund.ts';
import { type TimelineEntry, timelineSchema } from '../../../shared/queries/payment-timeline.ts';
import {
  type SubscriptionTimelineEntry,
  subscriptionTimelineSchema,
} from '../../../shared/queries/subscription-timeline.ts';
import type { LoggedEntry } from '../../../shared/queries/timeline.ts';
import { type ApiPayment, readApiPayment, searchPayment, searchSubscription } from '../compare/api-payment.ts';
import { type ApiSubscription, readApiSubscription } from '../compare/api-subscription.ts';
import type { Api } from '../installation/api.ts';
import { NotReachable } from '../installation/control.ts';
import { columns, type Report } from './report.ts';

/**
 * The history of a payment or subscription, by our id or its provider's. Requires the scopes payments:read and
 * subscriptions:read. With webhooks:read, it includes the provider's events and the deliveries. @throws NotReachable
 */
export const showTimeline = async (api: Api, id: string): Promise<Report> => {
  if (id.startsWith('subs_')) return showSubscription(api, id);
  if (id.startsWith('pay_')) return showPayment(api, id);
  const paymentId = await searchPayment(api, id);
  if (paymentId !== undefined) return showPayment(api, paymentId);
  const subscriptionId = await searchSubscription(api, id);
  if (subscriptionId !== undefined) return showSubscription(api, subscriptionId);
  throw new NotReachable(`there is no payment or subscription ${id}`);
};

const showPayment = async (api: Api, id: string): Promise<Report> => {
  const payment = await readApiPayment(api, id);
  const path = `/payments/${payment.id}`;
  return reportPayment({
    payment,
    refunds: z.array(refundViewSchema()).parse((await api.get(`${path}/refunds`)).data),
    disputes: z.array(disputeViewSchema()).parse((await api.get(`${path}/disputes`)).data),
    entries: await readTimeline(api, path, timelineSchema),
  });
};

const showSubscription = async (api: Api, id: string): Promise<Report> => {
  const subscription = await readApiSubscription(api, id);
  return reportSubscription(
    subscription,
    await readTimeline(api, `/subscriptions/${subscription.id}`, subscriptionTimelineSchema),
  );
};

/** The whole timeline, oldest first. The API's pages go from newest to oldest. */
const readTimeline = async <T extends { readonly at: string }>(
  api: Api,
  path: string,
  schema: z.ZodType<T[]>,
): Promise<T[]> => {
  const pages: T[][] = [];
  let cursor: string | null | undefined;
  do {
    const query = cursor ? `?cursor=${encodeURIComponent(cursor)}` : '';
    const { data, meta } = await api.get(`${path}/timeline${query}`);
    pages.push(schema.parse(data));
    cursor = meta?.next_cursor;
  } while (cursor);
  return pages.flat().sort((one, other) => (one.at < other.at ? -1 : Number(one.at > other.at)));
};

interface PaymentHistory {
  readonly payment: ApiPayment;
  readonly refunds: readonly z.output<ReturnType<typeof refundViewSchema>>[];
  readonly disputes: readonly z.output<ReturnType<typeof disputeViewSchema>>[];
  readonly entries: readonly TimelineEntry[];
}

const reportPayment = ({ payment, refunds, disputes, entries }: PaymentHistory): Report => {
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

const reportSubscription = (subscription: ApiSubscription, entries: readonly SubscriptionTimelineEntry[]): Report => {
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

/** A plan change, such as `10.00 USD → 60.00 USD, 50.00 USD due`. */
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

/** The refund or dispute of a change, such as `ref_… succeeded 5.00 USD`. */
const moneyBackOf = ({ refund, dispute }: Change, currency: string): string | undefined => {
  const about = refund ?? dispute;
  return about && `${about.id} ${about.status} ${amountWithCurrency(about.amount_cents, currency)}`;
};

/** The capture or release started by a change, such as `capture 18.00 USD`. */
const holdOf = ({ hold }: Change, currency: string): string | undefined =>
  hold &&
  [hold.call, ...(hold.amount_cents === null ? [] : [amountWithCurrency(hold.amount_cents, currency)])].join(' ');

const actorOf = ({ actor }: Pick<TimelineEntry, 'actor'>): string =>
  actor === null ? '' : `${actor.type} ${actor.id}${forPayer(actor)}`;

type ShownActor = NonNullable<TimelineEntry['actor']>;

const forPayer = ({ on_behalf_of: payer }: ShownActor): string => (payer ? ` for ${payer.type} ${payer.id}` : '');
