/** @module Invariants about charges, amounts and refunds. */
import type { History, HistoryAct, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { amountOfCharge, wasHeld } from '../model/holds.ts';
import { actsOnSubscriptions, PRICING, TRIAL_MOVED } from '../model/outside.ts';
import { isOfChange, planVersions } from '../model/plans.ts';
import { at, isChargeTaken, isVisible, recordsOf } from '../model/records.ts';

const grouped = <T>(
  all: readonly T[],
  keyOf: (one: T) => string | null | undefined,
): ReadonlyMap<string, readonly T[]> => {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const key = keyOf(one);
    if (key) groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return groups;
};

const sum = (all: readonly HistoryJson[], of: (one: HistoryJson) => number): number =>
  all.reduce((total, one) => total + of(one), 0);

export const chargedOnce: Oracle = {
  sentence: 'A payment is charged at most once',
  atRestOnly: false,
  violations: ({ ledger }) => {
    const taken = ledger.charges.filter(isChargeTaken);
    const byPayment = grouped(taken, ({ payment_id }) => payment_id);
    const byIntent = grouped(taken, ({ provider, payment_intent }) => `${provider} ${payment_intent}`);
    return [...byPayment, ...byIntent].flatMap(([key, charges]) =>
      charges.length > 1 ? [`${key} has the charges ${charges.map(({ id }) => id).join(', ')}`] : [],
    );
  },
};

/** A paid period. Times are epoch ms. */
interface PaidPeriod {
  /** Our id, or the provider's id if ours is missing. */
  readonly subscription: string;
  /** The payment or the provider's invoice. */
  readonly by: string;
  readonly start: number;
  readonly end: number;
}

/**
 * The periods billed by the provider. Each paid invoice names its period, even if the invoice was voided later.
 */
const invoicedPeriods = ({ ledger }: History): readonly PaidPeriod[] => {
  const ours = new Map(ledger.subscriptions.map(({ id, subscription_id }) => [id, subscription_id ?? id]));
  const taken = new Set(ledger.charges.filter(isChargeTaken).map(({ payment_intent }) => payment_intent));
  return (
    ledger.invoices
      // Excludes invoices with the total 0, which collect a customer's debt and pay for no period.
      .filter(({ amount, total }) => amount > 0 && total !== 0)
      .filter(({ status, payment_intent }) => status === 'paid' || taken.has(payment_intent))
      .map(({ id, subscription, period_start, period_end }) => ({
        ...{ subscription: ours.get(subscription) ?? subscription, by: id },
        ...{ start: at(period_start), end: at(period_end) },
      }))
  );
};

/** The periods billed by the service. A payment belongs to the period claimed for it. */
const claimedPeriods = (history: History, paid: readonly HistoryItem[]): readonly PaidPeriod[] => {
  const claims = new Map(
    history.items.filter(({ sk }) => String(sk).startsWith('PERIOD#')).map((claim) => [claim['paymentId'], claim]),
  );
  return paid.flatMap(({ id, subscriptionId }) => {
    const claim = claims.get(id);
    return claim ? [{ subscription: subscriptionId, by: id, start: at(claim['start']), end: at(claim['end']) }] : [];
  });
};

/** The maximum difference between two clocks. A new billing calendar begins at the time of an instance's clock. */
const CLOCKS_DIFFER_MS = 5_000;

export const periodPaidOnce: Oracle = {
  sentence: 'A period of a subscription is paid at most once',
  atRestOnly: false,
  violations: (history) => {
    const { payments, subscriptions } = recordsOf(history);
    const kept = new Set(subscriptions.map(({ id }) => id));
    const charges = grouped(history.ledger.charges.filter(isChargeTaken), ({ payment_id }) => payment_id);
    const paid = payments.filter(
      (payment) =>
        payment['subscriptionId'] !== undefined &&
        payment['providerInvoiceId'] === undefined &&
        !isOfChange(payment) &&
        charges.has(payment['id']),
    );
    const claimed = claimedPeriods(history, paid);
    const named = new Set(claimed.map(({ by }) => by));
    const periods = grouped([...claimed, ...invoicedPeriods(history)], ({ subscription }) => subscription);
    const acts = actsOnSubscriptions(history);
    return [
      // Excludes deleted subscriptions, because their period claims were deleted, too.
      ...paid
        .filter(({ id, subscriptionId }) => !named.has(id) && kept.has(subscriptionId))
        .map(({ id, subscriptionId }) => `${id} of ${subscriptionId} was paid for no period, or for one that is paid`),
      ...[...periods].flatMap(([id, all]) => paidTwice(id, all, beginnings(history, id, acts.get(id) ?? []))),
    ];
  },
};

/**
 * The times at which another period may have started before the end of the paid period. A seller on the provider's
 * dashboard or a change to another interval can start a period.
 */
const beginnings = (history: History, id: string, acts: readonly HistoryAct[]): readonly number[] => [
  ...acts.filter(({ name }) => name === TRIAL_MOVED || name === PRICING).map(({ at: time }) => time),
  ...planVersions(history, id).map((version) => at(version['at'])),
];

const isStarted = (times: readonly number[], before: PaidPeriod, next: PaidPeriod): boolean =>
  times.some((time) => time >= before.start && time <= next.start + CLOCKS_DIFFER_MS);

const paidTwice = (id: string, all: readonly PaidPeriod[], started: readonly number[]): readonly string[] => {
  const inOrder = all.toSorted((one, other) => one.start - other.start);
  return inOrder.slice(1).flatMap((next, index) => {
    const before = inOrder[index];
    if (!before || next.start > before.end - CLOCKS_DIFFER_MS || isStarted(started, before, next)) return [];
    return [`${id} was paid by ${before.by} and by ${next.by} for the same time`];
  });
};

export const amountsAgree: Oracle = {
  sentence: 'Amount and currency of a charge are those of its payment',
  atRestOnly: false,
  violations: (history) => {
    const records = recordsOf(history);
    return history.ledger.charges.filter(isChargeTaken).flatMap((charge) => {
      const { id, payment_id, currency } = charge;
      const payment = payment_id === null ? undefined : records.payment(payment_id);
      const amount = payment && amountOfCharge(charge, payment);
      if (!payment || (payment['totalCents'] === amount && payment['currency'] === currency)) return [];
      return [`${id} took ${amount} ${currency}, ${payment_id} says ${payment['totalCents']} ${payment['currency']}`];
    });
  },
};

/** A function may still send or apply an update for this long after its caller is gone. */
const UPDATE_UNDER_WAY_MS = 120_000;

const ORDER_KEPT_MS = 6 * 3_600_000;

/** True if PayPal has forgotten the unpaid order. A confirmation then makes a new order. */
const isForgotten = (intent: HistoryJson, now: number): boolean =>
  intent.provider === 'provider_b' &&
  intent.status.startsWith('requires_') &&
  at(intent.created_at) < now - ORDER_KEPT_MS;

export const intentsAgree: Oracle = {
  sentence: 'The amount and currency to charge at the provider are those of the payment',
  atRestOnly: false,
  violations: (history) => {
    const intents = new Map(history.ledger.payment_intents.map((one) => [`${one.provider} ${one.id}`, one]));
    return recordsOf(history).payments.flatMap((payment) => {
      const { id, providerId, providerIntentId, totalCents, currency, draft } = payment;
      const intent = intents.get(`${providerId} ${providerIntentId}`);
      const isSettling =
        (draft !== undefined && !history.atRest) || at(payment['updatedAt']) > history.now - UPDATE_UNDER_WAY_MS;
      if (!intent || isForgotten(intent, history.now) || isSettling || !isVisible(payment)) return [];
      // A concurrent update may have changed the provider's amount. The canceled intent can no longer be charged.
      if (payment['status'] === 'canceled') return [];
      // A hold may be captured in part, which the invariants about holds check.
      if (wasHeld(payment)) return [];
      if (intent.amount === totalCents && intent.currency === currency) return [];
      return [`${id} is ${totalCents} ${currency}, ${intent.id} is ${intent.amount} ${intent.currency}`];
    });
  },
};

const counts = ({ status }: HistoryJson): boolean => status === 'succeeded' || status === 'pending';

export const refundsWithinCharge: Oracle = {
  sentence: 'The refunds of a charge never exceed it',
  atRestOnly: false,
  violations: (history) => {
    const byCharge = grouped(history.ledger.refunds.filter(counts), ({ provider, charge }) => `${provider} ${charge}`);
    const atProvider = history.ledger.charges.flatMap((charge) => {
      const refunded = sum(byCharge.get(`${charge.provider} ${charge.id}`) ?? [], ({ amount }) => amount);
      const taken = charge.captured || charge.amount;
      return refunded > taken ? [`${charge.id} of ${taken} has refunds of ${refunded}`] : [];
    });
    const { payments, refunds } = recordsOf(history);
    const byDashboard = grouped(
      refunds.filter((refund) => refund['source'] === 'provider' && counts(refund)),
      ({ paymentId }) => String(paymentId),
    );
    const here = payments.flatMap(({ id, refundedCents = 0, refundingCents = 0, totalCents }) => {
      // The dashboard ignores our reserved amount, so both refunds count until the reserved refund is refused.
      const unasked = history.atRest ? 0 : sum(byDashboard.get(id) ?? [], ({ amountCents }) => amountCents);
      return Math.max(refundedCents, refundedCents + refundingCents - unasked) > totalCents
        ? [`${id} of ${totalCents} shows refunds of ${refundedCents} and reserves ${refundingCents}`]
        : [];
    });
    return [...atProvider, ...here];
  },
};

export const refundsAgree: Oracle = {
  sentence: 'At rest the refunds of a payment are those that its provider holds',
  atRestOnly: true,
  violations: (history) => {
    const { payments, refunds } = recordsOf(history);
    const held = grouped(history.ledger.refunds, ({ payment_id }) => payment_id);
    const stored = grouped(
      refunds.filter(({ providerRefundId }) => providerRefundId !== undefined),
      ({ paymentId }) => paymentId,
    );
    return payments.filter(isVisible).flatMap((payment) => {
      const { id } = payment;
      const there = (held.get(id) ?? []).map((one) => `${one.id} ${one.status} ${one.amount}`).sort();
      const here = (stored.get(id) ?? [])
        .map((one) => `${one['providerRefundId']} ${one['status']} ${one['amountCents']}`)
        .sort();
      const differs = there.join() !== here.join();
      return [
        ...(differs ? [`${id} has the refunds [${here.join()}], its provider [${there.join()}]`] : []),
        ...refundSums(payment, held.get(id) ?? []),
      ];
    });
  },
};

const refundSums = ({ id, refundedCents = 0 }: HistoryItem, held: readonly HistoryJson[]): readonly string[] => {
  const refunded = sum(
    held.filter(({ status }) => status === 'succeeded'),
    ({ amount }) => amount,
  );
  return refunded === refundedCents ? [] : [`${id} shows ${refundedCents} refunded, its provider ${refunded}`];
};

export const sumsAgree: Oracle = {
  sentence: 'At rest the summary is the sum of the payments',
  atRestOnly: true,
  violations: (history) => {
    if (!history.audit) return [];
    const paid = recordsOf(history).payments.filter(
      (payment) => isVisible(payment) && payment['status'] === 'succeeded',
    );
    const wanted = grouped(paid, ({ currency }) => currency);
    const shown = new Map(history.audit.sums.map((one) => [one.currency, one]));
    const currencies = new Set([...wanted.keys(), ...shown.keys()]);
    return [...currencies].flatMap((currency) => {
      const own = wanted.get(currency) ?? [];
      const line = sumLine(
        own.length,
        sum(own, ({ totalCents }) => totalCents),
        sum(own, ({ refundedCents = 0 }) => refundedCents),
      );
      const { count = 0, amount = 0, refunded = 0 } = shown.get(currency) ?? {};
      const said = sumLine(count, amount, refunded);
      return line === said ? [] : [`${currency}: the summary says ${said}, the payments are ${line}`];
    });
  },
};

const sumLine = (count: number, amount: number, refunded: number): string =>
  `${count} payments of ${amount}, ${refunded} refunded`;
