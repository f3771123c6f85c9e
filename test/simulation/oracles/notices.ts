/** @module Invariants about the notice before a renewal. */
import { SKEW_MS } from '../model/exchanges.ts';
import type { History, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { actsOnSubscriptions } from '../model/outside.ts';
import { planVersions } from '../model/plans.ts';
import { at, recordsOf } from '../model/records.ts';
import { NOTICE_DAYS } from '../world/people.ts';

const DAY_MS = 86_400_000;
/**
 * The longest delay of due work by all faults of a run together. Each table failure and each killed function adds some
 * minutes.
 */
const LATEST_BY_FAULTS_MS = 12 * 3_600_000;

interface Notice {
  readonly subscriptionId: string;
  /** Epoch ms. */
  readonly at: number;
  readonly renewal: number;
  readonly amount: number;
  readonly interval: string;
  readonly isEnding: boolean;
}

const noticeOf = ({ timestamp, data }: HistoryJson): Notice => ({
  subscriptionId: data.subscription_id,
  at: at(timestamp),
  renewal: at(data.next_billing_date),
  amount: data.amount,
  interval: data.billing_interval,
  isEnding: data.status !== 'active' || data.cancel_at_period_end,
});

/** The notices, each once, because the bus may receive an event more than once. */
const noticesOf = ({ bus }: History): readonly Notice[] => {
  const sent = bus.filter(
    ({ 'detail-type': name, detail }) =>
      name === 'subscription.updated' && detail.payload.data.reason === 'renewal_due',
  );
  return [...new Map(sent.map(({ detail }) => [detail.id, detail])).values()].map(({ payload }) => noticeOf(payload));
};

const faultOf = ({ at: time, renewal, interval, isEnding }: Notice): string | undefined => {
  if (interval === 'weekly' || interval === 'daily') return `is of a ${interval} plan`;
  if (isEnding) return 'is of a subscription that does not renew';
  if (time < renewal - NOTICE_DAYS * DAY_MS - SKEW_MS) return 'is too early';
  return time > renewal + SKEW_MS ? 'is too late' : undefined;
};

export const noticedOnce: Oracle = {
  sentence: 'A renewal has at most one notice, in the days before it',
  atRestOnly: false,
  violations: (history) => {
    const notices = noticesOf(history);
    const byRenewal = Map.groupBy(notices, ({ subscriptionId, renewal }) => `${subscriptionId} at ${renewal}`);
    return [
      ...[...byRenewal].flatMap(([name, all]) => (all.length > 1 ? [`${name} has ${all.length} notices`] : [])),
      ...notices.flatMap((notice) => {
        const fault = faultOf(notice);
        return fault === undefined ? [] : [`the notice of ${notice.subscriptionId} at ${notice.renewal} ${fault}`];
      }),
    ];
  },
};

/** A renewal charged by the service. */
interface Renewal {
  readonly subscription: HistoryItem;
  readonly start: number;
  readonly payment: HistoryItem;
}

const CLOCKS_DIFFER_MS = 5_000;

const renewalsOf = (history: History): readonly Renewal[] => {
  const { subscriptions, payment } = recordsOf(history);
  const acts = actsOnSubscriptions(history);
  return subscriptions
    .filter(({ id }) => !acts.has(id))
    .flatMap((subscription) =>
      history.items
        .filter(({ pk, sk }) => pk === `SUB#${subscription['id']}` && String(sk).startsWith('PERIOD#'))
        .flatMap(({ start, paymentId }) => {
          const found = payment(paymentId);
          return found?.['billingReason'] === 'subscription_cycle'
            ? [{ subscription, start: at(start), payment: found }]
            : [];
        }),
    );
};

const changesPlan = (history: History, id: string, from: number, until: number): boolean =>
  planVersions(history, id).some((version) => at(version['at']) >= from && at(version['at']) <= until + SKEW_MS);

export const noticedAmounts: Oracle = {
  sentence: 'A notice says what its renewal costs, unless the plan changes in between',
  atRestOnly: false,
  violations: (history) => {
    const notices = noticesOf(history);
    return renewalsOf(history).flatMap(({ subscription: { id }, start, payment: { totalCents, createdAt } }) =>
      notices
        .filter(({ subscriptionId, renewal }) => subscriptionId === id && Math.abs(renewal - start) < CLOCKS_DIFFER_MS)
        .filter(
          (notice) =>
            notice.amount !== totalCents && !changesPlan(history, id, notice.at, Math.max(start, at(createdAt))),
        )
        .map(({ amount }) => `the notice of ${id} at ${start} says ${amount}, and the renewal costs ${totalCents}`),
    );
  },
};

/** True if the subscription was active and about to renew for longer than the maximum delay of due work. */
const wasDue = (history: History, { subscription, start }: Renewal): boolean => {
  const since = start - NOTICE_DAYS * DAY_MS;
  const versions = recordsOf(history).versionsOf(subscription['id']);
  const before = versions.filter((version) => at(version['at']) <= start - CLOCKS_DIFFER_MS);
  const last = before.findLastIndex((version) => at(version['at']) <= since);
  return (
    last >= 0 &&
    start - since > LATEST_BY_FAULTS_MS &&
    before.slice(last).every(({ status, cancelAtPeriodEnd }) => status === 'active' && !cancelAtPeriodEnd) &&
    !changesPlan(history, subscription['id'], since, start)
  );
};

const SHORTEST_MONTH_MS = 27 * DAY_MS;

/** True if the period before the renewal lasted a month. The current plan may have another interval. */
const isOfMonth = ({ items }: History, { subscription, start }: Renewal): boolean =>
  items.some(
    (item) =>
      item['pk'] === `SUB#${subscription['id']}` &&
      String(item['sk']).startsWith('PERIOD#') &&
      Math.abs(at(item['end']) - start) < CLOCKS_DIFFER_MS &&
      at(item['end']) - at(item['start']) >= SHORTEST_MONTH_MS,
  );

export const renewalsNoticed: Oracle = {
  sentence: 'A monthly renewal by the service has a notice',
  atRestOnly: true,
  violations: (history) => {
    const notices = noticesOf(history);
    return renewalsOf(history)
      .filter((renewal) => isOfMonth(history, renewal) && wasDue(history, renewal))
      .filter(
        ({ subscription, start }) =>
          !notices.some(
            ({ subscriptionId, renewal }) =>
              subscriptionId === subscription['id'] && Math.abs(renewal - start) < CLOCKS_DIFFER_MS,
          ),
      )
      .map(({ subscription, start }) => `${subscription['id']} at ${start} has none`);
  },
};
