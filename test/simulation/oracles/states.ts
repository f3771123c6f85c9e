/** @module Invariants about the statuses of payments, subscriptions and memberships, and about the end of work. */
import { attachedMethods } from '../model/exchanges.ts';
import type { History, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { wasHeld } from '../model/holds.ts';
import { planVersions } from '../model/plans.ts';
import { at, isChargeTaken, isVisible, recordsOf } from '../model/records.ts';
import { paidTiers } from './tiers.ts';

export const statusesAgree: Oracle = {
  sentence: 'At rest a payment has succeeded if and only if its provider has collected the money',
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

/** The longest reconciliation schedule plus a margin. */
const LONGEST_SCHEDULE_MS = 26 * 3_600_000;
const UNCLEAR = new Set(['creating', 'processing']);
const UNCONFIRMED = new Set(['created', 'requires_payment_method']);
/** An unconfirmed intent is canceled after a day. */
const CONFIRMATION_MS = 24 * 3_600_000;

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
    const unsettled = payments
      .filter((payment) => isVisible(payment) && payment['draft'] !== undefined && isOld(payment))
      .map(({ id }) => `${id} still has an update without an outcome`);
    const uncaptured = payments
      .filter(({ holdCall }) => holdCall !== undefined && isOld({ claimedAt: holdCall.claimedAt }))
      .map(({ id, holdCall }) => `${id} still has a ${holdCall.kind} without an outcome`);
    const unconfirmed = payments
      .filter((payment) => isVisible(payment) && UNCONFIRMED.has(payment['status']))
      .filter(({ createdAt }) => history.now - at(createdAt) > CONFIRMATION_MS + LONGEST_SCHEDULE_MS)
      .map(({ id, status }) => `${id} is still ${status}, and its time to be confirmed is over`);
    const unfinished = subscriptions
      .filter(({ change, priceUpdate }) => change !== undefined || priceUpdate !== undefined)
      .map(({ id, change }) => `${id} still has a change of its plan, ${change?.step ?? 'scheduled'}`);
    return [
      ...unsettled,
      ...uncaptured,
      ...unfinished,
      ...unconfirmed,
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
  // `pending` before the first payment, `active` during retries, and otherwise unchanged during a first charge.
  past_due: ['pending', 'active', 'cancelled', 'expired'],
  paused: ['expired'],
  canceled: ['cancelled'],
};

/** A membership stays unchanged during a pending first charge, and continues during the retries of a renewal. */
const whilePastDue = (before: HistoryItem | undefined, billingOwner: string): readonly string[] => {
  // A provider may restart its own subscription at any time.
  const goesOn = billingOwner === 'provider' ? ['active'] : [];
  if (before?.['status'] === 'canceled') return ['cancelled', ...goesOn];
  return before?.['status'] === 'paused' ? ['expired', ...goesOn] : ['active'];
};

/**
 * The allowed statuses of the membership of a free trial, or of a provider-billed subscription that was active or that
 * the provider gave up. Undefined if the general rule applies.
 * @param versions at rest only
 */
const wantedByException = (
  subscription: HistoryItem,
  versions: readonly HistoryItem[] | undefined,
): readonly string[] | undefined => {
  const { status, totalCents, billingOwner, activeSince, isUnpaid } = subscription;
  // A free plan needs no payment, even in a trial.
  if (status === 'trialing' && totalCents === 0) return ['active'];
  if (billingOwner !== 'provider') return undefined;
  // The provider has given up collecting, possibly even the first charge.
  if (versions && isUnpaid) return ['cancelled'];
  if (activeSince === undefined) return undefined;
  // The provider's dashboard has given free time to a running subscription.
  if (status === 'trialing') return ['active'];
  // A coupon or credit may have paid for the earlier time.
  const before = versions?.findLast((one) => one['status'] !== 'past_due');
  return status === 'past_due' && versions ? whilePastDue(before, 'provider') : undefined;
};

export const membershipIfPaid: Oracle = {
  sentence: 'A membership is active if and only if its subscription is paid',
  atRestOnly: false,
  violations: (history) => {
    const { memberships, subscriptions, payments, versionsOf } = recordsOf(history);
    const bySubscription = new Map(memberships.map((one) => [one['subscriptionId'], one]));
    const paid = new Set(payments.filter(({ status }) => status === 'succeeded').map((one) => one['subscriptionId']));
    const forgiven = forgivenIn(history);
    const tiers = paidTiers(history);
    const wantedOf = (subscription: HistoryItem): readonly string[] | undefined => {
      const { id, status, billingOwner, activeSince } = subscription;
      const excepted = wantedByException(subscription, history.atRest ? versionsOf(id) : undefined);
      if (excepted) return excepted;
      // No period was ever paid, because the seller wrote off or voided the first charge.
      const isForgiven = forgiven.has(String(subscription['providerSubscriptionId']));
      if (status === 'active' && activeSince === undefined && isForgiven) return ['pending'];
      // The trial is over, and the payment of the first charge is not known yet.
      if (!history.atRest && status === 'active' && activeSince === undefined) return ['pending'];
      if (!history.atRest || status !== 'past_due') return MEMBERSHIP[status];
      if (!paid.has(id)) return ['pending'];
      const before = versionsOf(id).findLast((one) => one['status'] !== 'past_due');
      return whilePastDue(before, billingOwner);
    };
    const known = new Set(subscriptions.map(({ id }) => id));
    const orphans = memberships
      .filter(({ status, subscriptionId }) => status === 'active' && !known.has(subscriptionId))
      .map(({ id, subscriptionId }) => `${id} is active, and ${subscriptionId} is gone`);
    const wrong = subscriptions.flatMap((subscription) => {
      const { id, status, tierId } = subscription;
      const wanted = wantedOf(subscription);
      if (tierId === undefined || wanted === undefined) return [];
      const found = bySubscription.get(id)?.['status'];
      // The product came with a plan change with a still unknown payment.
      const isUnpaid = found === 'pending' && wanted.includes('active') && !(history.atRest && tiers.has(id));
      return isUnpaid || wanted.includes(found) ? [] : [`${id} is ${status}, its membership is ${found}`];
    });
    return [...orphans, ...wrong];
  },
};

/** True for an invoice of 0, or an invoice written off, voided or paid outside the provider. */
const isSettledOtherwise = ({ amount, status, paid_out_of_band: isElsewhere }: HistoryJson): boolean =>
  (status === 'paid' && (amount === 0 || isElsewhere)) || status === 'uncollectible' || status === 'void';

/** The provider's ids of subscriptions with a written-off or voided invoice. */
const forgivenIn = ({ ledger }: History): ReadonlySet<string> =>
  new Set(
    ledger.invoices
      .filter(({ status }) => status === 'uncollectible' || status === 'void')
      .map(({ subscription }) => subscription),
  );

/** The provider's ids of subscriptions without debt whose newest invoice was settled without a payment. */
const settledOtherwise = ({ ledger }: History): ReadonlySet<string> => {
  const newest = new Map(ledger.invoices.map((invoice) => [invoice.subscription, invoice] as const));
  const owing = new Set(owingIn(ledger));
  return new Set([...newest].filter(([id, one]) => isSettledOtherwise(one) && !owing.has(id)).map(([id]) => id));
};

const owingIn = ({ invoices }: History['ledger']): readonly string[] =>
  invoices.filter(({ status }) => status === 'open').map(({ subscription }) => subscription);

/**
 * The periods started with a free plan or a waived difference, by subscription and end. A platform admin may set a
 * price later.
 */
const freePeriods = ({ items }: History): ReadonlySet<string> =>
  new Set(
    items
      .filter(
        ({ pk, cause, wasPlan, paymentId, dueCents }) =>
          pk.startsWith('SUB#') &&
          (wasPlan?.totalCents === 0 || (cause === 'plan_changed' && paymentId === undefined && !dueCents)),
      )
      .map(({ pk, periodEnd }) => `${pk.slice('SUB#'.length)} ${periodEnd}`),
  );

export const activeIsPaid: Oracle = {
  sentence: 'At rest an active subscription has a paid period that is not over',
  atRestOnly: true,
  violations: (history) => {
    const { subscriptions, payment } = recordsOf(history);
    const settled = settledOtherwise(history);
    const free = freePeriods(history);
    return subscriptions.flatMap((subscription) => {
      const { id, status, totalCents, latestPaymentId, currentPeriodEnd, providerSubscriptionId } = subscription;
      if (status !== 'active') return [];
      const isPaid =
        totalCents === 0 ||
        free.has(`${id} ${currentPeriodEnd}`) ||
        payment(latestPaymentId ?? '')?.['status'] === 'succeeded' ||
        settled.has(providerSubscriptionId);
      const isOver = at(currentPeriodEnd) < history.now - LONGEST_SCHEDULE_MS;
      return isPaid && !isOver
        ? []
        : [`${id} is active until ${currentPeriodEnd}, paid by ${latestPaymentId ?? 'nothing'}`];
    });
  },
};

/**
 * The allowed statuses of our record, by the provider's status. A pause of collection does not change the provider's
 * status. `gone` means that no record names the subscription any more, because it was replaced.
 */
const NATIVE: Readonly<Record<string, readonly string[]>> = {
  trialing: ['trialing', 'paused'],
  active: ['active', 'paused'],
  past_due: ['past_due', 'paused'],
  paused: ['paused'],
  unpaid: ['past_due', 'paused'],
  incomplete: ['past_due'],
  incomplete_expired: ['canceled', 'gone'],
  canceled: ['canceled', 'gone'],
};
const LIVE = new Set(['trialing', 'active', 'past_due']);

export const nativeStatusesAgree: Oracle = {
  sentence: 'At rest a subscription that its provider bills has the status that it has there',
  atRestOnly: true,
  violations: (history) => {
    const { subscriptions } = recordsOf(history);
    const here = new Map(subscriptions.map((one) => [one['providerSubscriptionId'], one] as const));
    const there = new Set(history.ledger.subscriptions.map(({ id }) => id));
    const replaced = new Set<string>();
    const owing = new Set(owingIn(history.ledger));
    const wrong = history.ledger.subscriptions.flatMap(({ id, status, subscription_id }: HistoryJson) => {
      const record = here.get(id);
      const own = record?.['status'] ?? 'gone';
      // After a replacement or a change of interval, the provider shows a trial until the end of the paid time.
      const isPaidTrial =
        status === 'trialing' &&
        own === 'active' &&
        (replaced.has(subscription_id) || planVersions(history, record?.['id']).length > 0);
      replaced.add(subscription_id);
      // Without a method the provider pauses collection, and readers see past_due after the paid time.
      // An unpaid older invoice keeps the record past due, whatever the status of the newest invoice.
      const isOwing = status === 'active' && own === 'past_due' && owing.has(id);
      const isHeld = record?.['held'] !== undefined && own === 'past_due' && status !== 'canceled';
      return isPaidTrial || isHeld || isOwing || NATIVE[status]?.includes(own)
        ? []
        : [`${record?.['id'] ?? 'nothing'} is ${own}, ${id} is ${status}`];
    });
    const unknown = subscriptions
      .filter(({ providerSubscriptionId: id, status }) => id !== undefined && LIVE.has(status) && !there.has(id))
      .map(({ id, status }) => `${id} is ${status}, and its provider does not know it`);
    return [...wrong, ...unknown];
  },
};

/**
 * Compares only methods that are attached at the provider. After a change without a response, a method may be deleted
 * here before the provider's event arrives; the renewal then fails until the payer chooses a method. Paused
 * subscriptions are not compared, because nothing is charged in a pause.
 */
export const nativeMethodsAgree: Oracle = {
  sentence: 'At rest a subscription that its provider bills charges the method that its record names',
  atRestOnly: true,
  violations: (history) => {
    const { subscriptions: native, payment_methods: methods } = history.ledger;
    const charged = new Map(
      native.filter(({ status }) => status !== 'canceled').map((one) => [one['id'], one['payment_method']] as const),
    );
    const attached = new Set(methods.filter(({ customer }) => customer !== null).map(({ id }) => id));
    return recordsOf(history).subscriptions.flatMap(({ id, status, providerSubscriptionId, methodRef, held }) => {
      const there = charged.get(providerSubscriptionId);
      const isPaused = held !== undefined && methodRef === undefined;
      const isCompared = LIVE.has(status) && !isPaused && attached.has(there);
      return isCompared && there !== methodRef ? [`${id} names ${methodRef}, and its provider charges ${there}`] : [];
    });
  },
};

/**
 * A PayPal order cannot be canceled, so it expires without a capture. A Square hold does not pay its order, so the
 * order stays open.
 */
const isNeverCanceled = (payment: HistoryItem): boolean =>
  payment['providerId'] === 'provider_b' || (payment['providerId'] === 'provider_c' && wasHeld(payment));

export const canceledThereToo: Oracle = {
  sentence: 'At rest a payment is canceled if and only if its intent at the provider is canceled',
  atRestOnly: true,
  violations: (history) => {
    const intents = new Map(history.ledger.payment_intents.map((one) => [`${one.provider} ${one.id}`, one]));
    return recordsOf(history)
      .payments.filter((payment) => isVisible(payment) && !isNeverCanceled(payment))
      .flatMap(({ id, status, providerId, providerIntentId }) => {
        const intent = intents.get(`${providerId} ${providerIntentId}`);
        if (!intent || (status === 'canceled') === (intent.status === 'canceled')) return [];
        return [`${id} is ${status}, ${intent.id} is ${intent.status}`];
      });
  },
};

export const disputesAgree: Oracle = {
  sentence: 'At rest a dispute has the status that its provider decided',
  atRestOnly: true,
  violations: (history) => {
    const { disputes } = recordsOf(history);
    const here = new Map(disputes.map((one) => [`${one['providerId']} ${one['providerDisputeId']}`, one]));
    return history.ledger.disputes.flatMap(({ provider, id, status, payment_id }: HistoryJson) => {
      const record = here.get(`${provider} ${id}`);
      return record?.['status'] === status
        ? []
        : [`${id} of ${payment_id} is ${status}, here ${record?.['status'] ?? 'unknown'}`];
    });
  },
};

export const methodsAttached: Oracle = {
  sentence: 'At rest a method that is stored here is attached at its provider',
  atRestOnly: true,
  violations: (history) => {
    const attached = attachedMethods(history);
    return recordsOf(history)
      .methods.filter(({ providerId, providerMethodId }) => !attached.has(`${providerId} ${providerMethodId}`))
      .map(({ id, providerMethodId }) => `${id} is ${providerMethodId}, which is detached`);
  },
};

/** If two changes start from the same version, the history lacks one change, and the record lacks the other change. */
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
