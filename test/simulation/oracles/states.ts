import type { HistoryItem, HistoryJson, HistoryOutage, Oracle } from '../model/history.ts';
import { at, isChargeTaken, isVisible, recordsOf } from '../model/records.ts';

/** Sentences about statuses: of payments, subscriptions and memberships, and of work that must end. */
export const statusesAgree: Oracle = {
  sentence: 'At rest a payment has succeeded exactly where its provider has taken the money',
  atRestOnly: true,
  violations: (history) => {
    const settled = new Set(
      history.ledger.charges
        .filter((one) => isChargeTaken(one) && one.status !== 'pending')
        .map(({ payment_id }) => payment_id),
    );
    return recordsOf(history)
      .payments.filter(isVisible)
      .flatMap(({ id, status }) => {
        if (settled.has(id) === (status === 'succeeded')) return [];
        return [`${id} is ${status}, and its provider has ${settled.has(id) ? '' : 'not '}taken the money`];
      });
  },
};

export const chargesKnown: Oracle = {
  sentence: 'At rest every charge belongs to a payment that readers see',
  atRestOnly: true,
  violations: (history) => {
    const records = recordsOf(history);
    return history.ledger.charges.filter(isChargeTaken).flatMap(({ id, payment_id, payment_intent }) => {
      const payment = records.payment(payment_id ?? '');
      const isKnown = payment !== undefined && isVisible(payment);
      return isKnown ? [] : [`${id} of ${payment_intent} belongs to ${payment_id}, which no reader sees`];
    });
  },
};

/** The longest schedule of reconciliation, and a margin. */
const LONGEST_SCHEDULE_MS = 26 * 3_600_000;
const UNCLEAR = new Set(['creating', 'processing']);

export const nothingWaits: Oracle = {
  sentence: 'Nothing waits for ever: at rest no outcome is unclear',
  atRestOnly: true,
  violations: (history) => {
    const { payments, refunds, subscriptions, erasures } = recordsOf(history);
    const isOld = ({ updatedAt, claimedAt, createdAt }: HistoryItem): boolean =>
      history.now - at(claimedAt ?? updatedAt ?? createdAt ?? new Date(history.startedAt).toISOString()) >
      LONGEST_SCHEDULE_MS;
    const pendingThere = new Set(
      history.ledger.refunds.filter(({ status }) => status === 'pending').map(({ id }) => id),
    );
    const stuck = (all: readonly HistoryItem[], statuses: ReadonlySet<string>): string[] =>
      all
        .filter((item) => statuses.has(item['status']) && isOld(item))
        .map(({ id, status }) => `${id} is still ${status}`);
    return [
      ...stuck(payments, UNCLEAR),
      ...stuck(
        refunds.filter(({ providerRefundId }) => !pendingThere.has(providerRefundId)),
        new Set(['pending']),
      ),
      ...stuck(subscriptions, new Set(['creating'])),
      ...stuck(erasures, new Set(['pending', 'running'])),
    ];
  },
};

export const queuesEmpty: Oracle = {
  sentence: 'At rest no queue holds a message, and no work was given up',
  atRestOnly: true,
  violations: ({ queues }) =>
    Object.entries(queues).flatMap(([name, { visible, delayed, in_flight }]) => {
      const held = visible + delayed + in_flight;
      return held === 0 ? [] : [`${name} holds ${held}`];
    }),
};

const MEMBERSHIP: Readonly<Record<string, readonly string[]>> = {
  trialing: ['pending'],
  active: ['active'],
  // Before the first payment, or while a renewal is retried.
  past_due: ['pending', 'active', 'cancelled', 'expired'],
  paused: ['expired'],
  canceled: ['cancelled'],
};

export const membershipIfPaid: Oracle = {
  sentence: 'A membership is active if and only if its subscription is paid',
  atRestOnly: false,
  violations: (history) => {
    const { memberships, subscriptions } = recordsOf(history);
    const bySubscription = new Map(memberships.map((one) => [one['subscriptionId'], one]));
    return subscriptions.flatMap(({ id, status, tierId }) => {
      const wanted = MEMBERSHIP[status];
      if (tierId === undefined || wanted === undefined) return [];
      const found = bySubscription.get(id)?.['status'];
      return wanted.includes(found) ? [] : [`${id} is ${status}, its membership is ${found}`];
    });
  },
};

export const activeIsPaid: Oracle = {
  sentence: 'At rest an active subscription has a paid period that is not over',
  atRestOnly: true,
  violations: (history) => {
    const { subscriptions, payment } = recordsOf(history);
    return subscriptions.flatMap(({ id, status, totalCents, latestPaymentId, currentPeriodEnd }) => {
      if (status !== 'active') return [];
      const isPaid = totalCents === 0 || payment(latestPaymentId ?? '')?.['status'] === 'succeeded';
      const isOver = at(currentPeriodEnd) < history.now - LONGEST_SCHEDULE_MS;
      return isPaid && !isOver
        ? []
        : [`${id} is active until ${currentPeriodEnd}, paid by ${latestPaymentId ?? 'nothing'}`];
    });
  },
};

export const nativeStatusesAgree: Oracle = {
  sentence: 'At rest a subscription lives here exactly where it lives at the provider that bills it',
  atRestOnly: true,
  violations: (history) => {
    const here = new Map(recordsOf(history).subscriptions.map((one) => [one['providerSubscriptionId'], one] as const));
    return history.ledger.subscriptions.flatMap(({ id, status }: HistoryJson) => {
      const record = here.get(id);
      const livesThere = status === 'active' || status === 'trialing' || status === 'past_due';
      // Stripe pauses the collection, and keeps the status.
      if (record?.['status'] === 'paused') return [];
      const livesHere = ['active', 'trialing', 'past_due'].includes(record?.['status']);
      return livesThere === livesHere
        ? []
        : [`${record?.['id'] ?? 'nothing'} is ${record?.['status']}, ${id} is ${status}`];
    });
  },
};

/** Two changes that were made from the same version leave one of them in the history, and the other in the record. */
export const historyIsWhole: Oracle = {
  sentence: 'At rest the newest entry in the history of a payment or subscription is the record itself',
  atRestOnly: true,
  violations: (history) => {
    const { payments, subscriptions, versionsOf } = recordsOf(history);
    const shown = [
      ...payments.filter(isVisible),
      ...subscriptions.filter(({ status }) => !['creating', 'declined'].includes(status)),
    ];
    return shown.flatMap((record) => {
      const { id, version, status } = record;
      const newest = versionsOf(id).at(-1);
      const [own, entry] = [[version, status, record['updatedAt']].join(' '), newest && entryLine(newest)];
      return own === entry ? [] : [`${id} is at ${own}, its history ends with ${entry}`];
    });
  },
};

const entryLine = ({ sk, status, at: time }: HistoryItem): string =>
  [Number(String(sk).split('#')[1]), status, time].join(' ');

const RETRY_DAYS = [0, 1, 3, 7, 14];
const DAY_MS = 86_400_000;
const TOLERANCE_MS = 2 * 3_600_000;
/** Each failure of the table, and each function that is killed, makes due work some minutes later. */
const LATEST_BY_FAULTS_MS = 12 * 3_600_000;

interface Hindrances {
  readonly isCalm: boolean;
  /** Of the provider that collects. */
  readonly outage: HistoryOutage | undefined;
}

/** A retry that its provider cannot receive waits for the end of the outage. */
const isPlanned = (first: number, time: number, { isCalm, outage }: Hindrances): boolean =>
  RETRY_DAYS.some((days) => {
    const planned = first + days * DAY_MS;
    const isAway = outage !== undefined && planned > outage.from - TOLERANCE_MS;
    const latest = isAway ? Math.max(planned, outage.until) : planned;
    return time >= planned - TOLERANCE_MS && time <= latest + (isCalm ? TOLERANCE_MS : LATEST_BY_FAULTS_MS);
  });

/** Of subscriptions that the service bills: a claim, then a failure, then the next claim. */
export const dunningDays: Oracle = {
  sentence: 'A failed renewal is retried 1, 3, 7 and 14 days later, and not in between',
  atRestOnly: false,
  violations: (history) => {
    const { payments, versionsOf } = recordsOf(history);
    return payments
      .filter(
        ({ subscriptionId, providerInvoiceId }) => subscriptionId !== undefined && providerInvoiceId === undefined,
      )
      .flatMap(({ id, providerId }) => {
        const versions = versionsOf(id);
        const claims = versions.filter(({ cause, actor }) => cause === 'claim' && actor?.type === 'system');
        const [first = 0, ...retries] = claims.map((claim) => at(claim['at']));
        // An unclear outcome is looked up for a day: the days count from the failure, not from the attempt.
        const failed = versions.find((one) => one['status'] === 'failed' && at(one['at']) >= first);
        const since = failed ? at(failed['at']) : first;
        const outage = history.outage?.providerId === providerId ? history.outage : undefined;
        return retries
          .filter((time) => !isPlanned(since, time, { isCalm: history.isCalm, outage }))
          .map((time) => `${id} was tried again ${Math.round((time - since) / 3_600_000)} h after its first failure`);
      });
  },
};
