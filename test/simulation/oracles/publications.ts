/** @module Invariants about events. Each change of a record has one event, with correct amounts in a possible order. */
import type { History, HistoryEvent, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { changedThere } from '../model/outside.ts';
import { plansStarted } from '../model/plans.ts';
import { at, isVisible, recordsOf } from '../model/records.ts';
import { canonical, partsOf } from './events.ts';

/** The events of each record by their ids, which are `record:version:event`. */
const publishedOf = (history: History): ReadonlyMap<string, ReadonlyMap<string, HistoryEvent>> => {
  const found = new Map<string, Map<string, HistoryEvent>>();
  for (const event of canonical(history)) {
    const { record } = partsOf(event);
    const own = found.get(record) ?? new Map<string, HistoryEvent>();
    if (!own.has(event.detail.id)) own.set(event.detail.id, event);
    found.set(record, own);
  }
  return found;
};

const versionOf = ({ sk }: HistoryItem): number => Number(String(sk).split('#')[1]);
const numberOf = (id: string): number => Number(id.split(':')[1]);

/** The difference as a line; empty if there is none. */
const difference = (id: string, wanted: readonly string[], found: Iterable<string>): readonly string[] => {
  const [changes, events] = [wanted.toSorted().join(), [...found].toSorted().join()];
  return changes === events ? [] : [`${id} has the changes [${changes}] and the events [${events}]`];
};

const subscriptionName = (version: HistoryItem, before: HistoryItem | undefined): string => {
  if (!before) return 'subscription.created';
  const isEnd = version['status'] === 'canceled' && before['status'] !== 'canceled';
  return isEnd ? 'subscription.cancelled' : 'subscription.updated';
};

/** One expected event per version of a subscription, including versions hidden in the history. */
const eventsOfSubscription = ({ id, version }: HistoryItem, versions: readonly HistoryItem[]): readonly string[] => {
  const shown = new Map(versions.map((one) => [versionOf(one), one]));
  return Array.from({ length: version }, (_, index) => {
    const entry = shown.get(index + 1);
    return `${id}:${index + 1}:${entry ? subscriptionName(entry, shown.get(index)) : 'of a version that its history lacks'}`;
  });
};

const eventsOfCustomer = ({ id, version }: HistoryItem): readonly string[] =>
  Array.from({ length: version }, (_, index) => `${id}:${index + 1}:customer.${index === 0 ? 'created' : 'updated'}`);

const MEMBERSHIP: Readonly<Record<string, string>> = {
  trialing: 'pending',
  active: 'active',
  canceled: 'cancelled',
  paused: 'expired',
};
const MEMBERSHIP_EVENT: Readonly<Record<string, string>> = {
  pending: 'membership.pending',
  active: 'membership.activated',
  cancelled: 'membership.cancelled',
  expired: 'membership.cancelled',
};

/** An already ended membership gets no event when its subscription pauses. */
const membershipEvent = (is: string | undefined, was: string | undefined): string | undefined =>
  is === 'expired' && was !== 'active' && was !== 'pending' ? undefined : MEMBERSHIP_EVENT[is ?? ''];

/**
 * True for the version of a change that states the paid period. A free period is paid at its start. A payment may
 * become known after the end of its subscription.
 */
const isPaidBy = ({ status, paymentId, cause, periodEnd }: HistoryItem, isFree: boolean, until: string): boolean => {
  if (status === 'canceled') return cause === 'renewed';
  return status === 'active' && (isFree ? periodEnd > until : paymentId !== undefined && cause !== 'payment_failed');
};

interface MembershipBefore {
  readonly was: string | undefined;
  readonly wasActive: boolean;
  /** True if no period is paid, including the current period. */
  readonly isUnpaid: boolean;
  /** True if the provider has stopped collecting. The membership then ends as after dunning. */
  readonly isGivenUp: boolean;
}

/** The status of the membership. It is pending until its first activation, and stays unchanged during retries. */
const membershipAt = (
  status: string,
  { was, wasActive, isUnpaid, isGivenUp }: MembershipBefore,
): string | undefined => {
  if (isGivenUp) return 'cancelled';
  if (status === 'past_due') return wasActive ? was : 'pending';
  return status === 'active' && isUnpaid ? 'pending' : MEMBERSHIP[status];
};

/** A membership is active with its subscription from the first paid period on. Each later period extends it. */
const eventsOfMembership = (subscription: HistoryItem, versions: readonly HistoryItem[]): readonly string[] => {
  let [was, until, wasActive]: [string | undefined, string, boolean] = [undefined, '', false];
  return versions.flatMap((version) => {
    const { status, periodEnd } = version;
    const isPaid = isPaidBy(version, subscription['totalCents'] === 0, until);
    const is = membershipAt(status, {
      was,
      wasActive,
      isUnpaid: until === '' && !isPaid,
      isGivenUp: version['isUnpaid'] === true,
    });
    const isLonger = isPaid && periodEnd > until;
    const extended = isLonger && is === 'active' ? 'membership.extended' : undefined;
    const name = is === was ? extended : membershipEvent(is, was);
    was = is;
    wasActive ||= is === 'active';
    if (isLonger) until = periodEnd;
    return name === undefined ? [] : [`${versionOf(version)}:${name}`];
  });
};

interface OfMembership {
  readonly events: ReadonlyMap<string, HistoryEvent> | undefined;
  /** The versions of the membership's subscription. */
  readonly versions: readonly HistoryItem[];
}

/**
 * The provider's dashboard may give free time or settle an invoice without a payment, and another plan may begin a
 * membership. In these cases the last event counts.
 */
const lastOfMembership = ({ id, status }: HistoryItem, { events, versions }: OfMembership): readonly string[] => {
  const last = [...(events?.values() ?? [])].toSorted((one, other) => partsOf(other).version - partsOf(one).version)[0];
  const name = last === undefined ? 'no event' : partsOf(last).name;
  const wanted = status === 'active' ? ['membership.activated', 'membership.extended'] : [MEMBERSHIP_EVENT[status]];
  // A plan that takes effect in a pause begins a membership that was never active, so it has no event.
  const startsPaused = versions.some(
    (version) => version['cause'] === 'plan_changed' && version['status'] === 'paused',
  );
  if (last === undefined && startsPaused && status === 'expired') return [];
  return wanted.includes(name) ? [] : [`${id} is ${status}, and its last event is ${name}`];
};

export const changesPublished: Oracle = {
  sentence:
    'At rest every change of a subscription, a membership or a customer has its event, and every event its change',
  atRestOnly: true,
  violations: (history) => {
    const { subscriptions, memberships, customers, versionsOf } = recordsOf(history);
    const published = publishedOf(history);
    const found = (id: string): Iterable<string> => published.get(id)?.keys() ?? [];
    const shown = subscriptions.filter(({ status }) => !['creating', 'declined'].includes(status));
    const memberOf = new Map(memberships.map((one) => [one['subscriptionId'], one]));
    const changed = changedThere(history);
    const kept = new Set([...shown, ...customers].map(({ id }) => id));
    return [
      ...shown.flatMap((one) => {
        const versions = versionsOf(one['id']);
        const own = memberOf.get(one['id']);
        const membership = own?.['id'] ?? 'its membership';
        const ofSubscription = difference(one['id'], eventsOfSubscription(one, versions), found(one['id']));
        if (own && (changed.has(one['id']) || plansStarted(history, one['id']).length > 0))
          return [...ofSubscription, ...lastOfMembership(own, { events: published.get(own['id']), versions })];
        const wanted = one['tierId'] === undefined ? [] : eventsOfMembership(one, versions);
        return [
          ...ofSubscription,
          ...difference(
            membership,
            wanted.map((event) => `${membership}:${event}`),
            found(membership),
          ),
        ];
      }),
      ...customers.flatMap((one) => difference(one['id'], eventsOfCustomer(one), found(one['id']))),
      // A deleted record had an event for each version until its deletion.
      ...[...published].flatMap(([id, events]) => {
        if (kept.has(id) || !/^(subs|cust)_/.test(id)) return [];
        const versions = [...events.keys()].map(numberOf).toSorted((one, other) => one - other);
        return versions.every((version, index) => version === index + 1)
          ? []
          : [`${id}, which is deleted, has the events ${[...events.keys()].join()}`];
      }),
    ];
  },
};

const REFUND_EVENT: Readonly<Record<string, string>> = {
  succeeded: 'payment.refunded',
  failed: 'payment.refund_failed',
  canceled: 'payment.refund_failed',
};
const OPEN_DISPUTE = new Set(['needs_response', 'under_review']);

const refundName = (status: string, was: string | undefined): string | undefined =>
  status === was ? undefined : REFUND_EVENT[status];

/**
 * Each opening, each decision, each new amount or date, and each repeated request for evidence has an event.
 */
const disputeName = (is: HistoryJson, was: HistoryJson | undefined): string | undefined => {
  const [isOpen, wasOpen] = [OPEN_DISPUTE.has(is.status), OPEN_DISPUTE.has(was?.status)];
  if (isOpen && !wasOpen) return 'payment.dispute_opened';
  if (!isOpen && is.status !== was?.status) return 'payment.dispute_closed';
  const isAskedAgain = is.status === 'needs_response' && was.status !== is.status;
  const isOther = is.amountCents !== was.amountCents || is.evidenceDueBy !== was.evidenceDueBy;
  return isAskedAgain || isOther ? 'payment.dispute_updated' : undefined;
};

/** The events expected for the changes of a payment's refunds and disputes, and their last statuses. */
const moneyBackOf = (id: string, versions: readonly HistoryItem[]) => {
  const last = new Map<string, HistoryJson>();
  const events = versions.flatMap((version) => {
    const { cause } = version;
    const changed: HistoryJson = cause === 'refund' || cause === 'dispute' ? version[cause] : undefined;
    if (!changed) return [];
    const was = last.get(changed.id);
    last.set(changed.id, changed);
    const name = cause === 'refund' ? refundName(changed.status, was?.status) : disputeName(changed, was);
    return name === undefined ? [] : [`${id}:${versionOf(version)}:${name}`];
  });
  return { events, statusOf: (one: HistoryItem): string | undefined => last.get(one['id'])?.status };
};

const OF_MONEY_BACK = /:payment\.(refunded|refund_failed|dispute_\w+)$/;

export const moneyBackPublished: Oracle = {
  sentence: 'At rest every outcome of a refund or a dispute has its event, and every event its outcome',
  atRestOnly: true,
  violations: (history) => {
    const { payments, refunds, disputes, versionsOf } = recordsOf(history);
    const published = publishedOf(history);
    const byPayment = Map.groupBy([...refunds, ...disputes], ({ paymentId }) => String(paymentId));
    return payments.filter(isVisible).flatMap(({ id }) => {
      const { events, statusOf } = moneyBackOf(id, versionsOf(id));
      const found = [...(published.get(id)?.keys() ?? [])].filter((event) => OF_MONEY_BACK.test(event));
      const unseen = (byPayment.get(id) ?? []).filter((one) => statusOf(one) !== one['status']);
      return [
        ...difference(id, events, found),
        ...unseen.map((one) => `${one['id']} is ${one['status']}, ${id} shows it as ${statusOf(one)}`),
      ];
    });
  },
};

/** The records that events name, by their ids. */
interface Named {
  readonly payments: ReadonlyMap<string, HistoryItem>;
  readonly subscriptions: ReadonlyMap<string, HistoryItem>;
  readonly refunds: ReadonlyMap<string, HistoryItem>;
  /** The amount of a dispute may change, so each payment version shows the amount at that time. */
  readonly versionsOf: (id: string) => readonly HistoryItem[];
  /** Payments that an update may have changed after their creation, each with the version of its last update. */
  readonly updated: ReadonlyMap<string, number>;
  /** Subscriptions whose price may have changed at the provider. */
  readonly repriced: ReadonlySet<string>;
}

const INTENTS = '/payments/intents/';

const namedIn = (history: History): Named => {
  const { payments, subscriptions, refunds, versionsOf } = recordsOf(history);
  const lastUpdate = (id: string): number => {
    const update = versionsOf(id).findLast(({ cause }) => cause === 'update');
    return Number(String(update?.['sk'] ?? '#0').split('#')[1]);
  };
  const byId = (all: readonly HistoryItem[]) => new Map(all.map((one) => [String(one['id']), one]));
  const updates = history.exchanges.filter(({ method, path }) => method === 'PUT' && path.startsWith(INTENTS));
  return {
    ...{ payments: byId(payments), subscriptions: byId(subscriptions), refunds: byId(refunds), versionsOf },
    repriced: changedThere(history),
    updated: new Map(updates.map(({ path }) => path.slice(INTENTS.length)).map((id) => [id, lastUpdate(id)])),
  };
};

const sumOf = (stored: HistoryItem | undefined): string => `${stored?.['totalCents']} ${stored?.['currency']}`;

/** The amount required in the payment's event. Before a capture that is the held amount, even after a failure. */
const statedBy = (
  named: Named,
  stored: HistoryItem | undefined,
  { record, name, version }: ReturnType<typeof partsOf>,
): string => {
  const isBeforeHold = named
    .versionsOf(record)
    .some((one) => one['status'] === 'requires_capture' && versionOf(one) > version);
  const isHeld = stored?.['authorizedCents'] !== undefined && (isBeforeHold || OF_HOLD.has(name));
  return sumOf(isHeld ? { ...stored, totalCents: stored['authorizedCents'] } : stored);
};

const OF_HOLD = new Set([
  ...['payment.created', 'payment.authorized', 'payment.capture_due', 'payment.released'],
  ...['payment.capture_failed', 'payment.release_failed'],
]);

/** The price at this version, which is the price before a later plan change, else the current price. */
const atVersion = (named: Named, subscription: HistoryItem | undefined, version: number): HistoryItem | undefined => {
  const next = named
    .versionsOf(subscription?.['id'])
    .find((one) => one['wasPlan'] !== undefined && versionOf(one) > version);
  return subscription && next ? { ...subscription, totalCents: next['wasPlan'].totalCents } : subscription;
};

/** True during a run if the history still lacks the newest version, which may have changed the amount. */
const isBehind = (named: Named, stored: HistoryItem | undefined): boolean => {
  const last = named.versionsOf(stored?.['id']).at(-1);
  return last !== undefined && versionOf(last) < stored?.['version'];
};

const wrongIn = (named: Named, event: HistoryEvent): readonly string[] => {
  const parts = partsOf(event);
  const { record, name, version } = parts;
  const { amount, currency, refund, dispute, reason } = event.detail.payload.data;
  const stored = named.payments.get(record) ?? atVersion(named, named.subscriptions.get(record), version);
  const lastUpdate = named.updated.get(record);
  const isEarlierPrice = named.repriced.has(record) && version < stored?.['version'];
  const mayDiffer =
    // The notice of a renewal states the price of the next period.
    reason === 'renewal_due' ||
    isEarlierPrice ||
    isBehind(named, stored) ||
    (lastUpdate !== undefined && (name === 'payment.created' || version < lastUpdate));
  const stated = statedBy(named, stored, parts);
  const whole =
    stored === undefined || amount === undefined || mayDiffer || stated === `${amount} ${currency}`
      ? []
      : [`${record} is ${stated}, its ${name} says ${amount} ${currency}`];
  const part = refund ?? dispute;
  const shown = dispute && named.versionsOf(record).find((one) => versionOf(one) === version)?.['dispute'];
  const cents = refund ? named.refunds.get(refund.id)?.['amountCents'] : shown?.amountCents;
  const isPartRight = part === undefined || cents === undefined || part.amount === cents;
  return isPartRight ? whole : [...whole, `${part.id} is ${cents}, its ${name} says ${part.amount}`];
};

export const eventAmounts: Oracle = {
  sentence: 'An event states the amount and currency of its payment or subscription, refund or dispute',
  atRestOnly: false,
  violations: (history) => {
    const named = namedIn(history);
    return canonical(history).flatMap((event) => wrongIn(named, event));
  },
};

/**
 * Events may arrive in any order, so receivers compare their timestamps. The timestamps must be in order even if the
 * clocks of two instances differ.
 */
export const eventsInOrder: Oracle = {
  sentence: 'The events of a record begin with its creation, and a later version has no earlier timestamp',
  atRestOnly: false,
  violations: (history) =>
    [...publishedOf(history)].flatMap(([id, events]) => {
      const inOrder = [...events.keys()].toSorted((one, other) => numberOf(one) - numberOf(other));
      const timeOf = (event: string): number => at(events.get(event)?.detail.payload.timestamp);
      const created = inOrder.find((event) => event.endsWith('.created'));
      const isFirst = created === undefined || numberOf(inOrder[0] ?? '') === numberOf(created);
      const back = inOrder.slice(1).filter((event, index) => timeOf(event) < timeOf(inOrder[index] ?? event));
      return [
        ...(isFirst ? [] : [`${inOrder[0]} was published for a version before ${created}`]),
        ...back.map((event) => `${event} has an earlier timestamp than the event before it`),
      ].map((line) => `${id}: ${line}`);
    }),
};
