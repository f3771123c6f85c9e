/** @module Invariants about plan changes of subscriptions. */
import { type Code, codesAtCreation, listPriceOf, reducedBy, totalOf } from '../model/codes.ts';
import { isCarriedOut, SKEW_MS } from '../model/exchanges.ts';
import type { History, HistoryExchange, HistoryItem, HistoryJson, Oracle } from '../model/history.ts';
import { isOfMerchant } from '../model/merchants.ts';
import { actsOnSubscriptions } from '../model/outside.ts';
import { changeRequests, isMerchantsChange, isOfChange, plansStarted } from '../model/plans.ts';
import { at, isChargeTaken, recordsOf } from '../model/records.ts';

const chargesOf = ({ ledger }: History): ReadonlyMap<string, HistoryJson> =>
  new Map(ledger.charges.filter(isChargeTaken).map((charge) => [String(charge.payment_id), charge]));

const isSettled = (charge: HistoryJson): boolean => charge !== undefined && charge.status !== 'pending';

export const paidIsApplied: Oracle = {
  sentence: 'At rest what a change of a plan has charged is applied once, unless the subscription has ended',
  atRestOnly: true,
  violations: (history) => {
    const { payments, subscriptions, versionsOf } = recordsOf(history);
    const charges = chargesOf(history);
    const kept = new Set(subscriptions.map(({ id }) => id));
    return payments
      .filter((payment) => isOfChange(payment) && isSettled(charges.get(payment['id'])))
      .filter(({ subscriptionId }) => kept.has(subscriptionId))
      .flatMap(({ id, subscriptionId }) => {
        const times = plansStarted(history, subscriptionId).filter(({ paymentId }) => paymentId === id).length;
        const hasEnded = versionsOf(subscriptionId).some(({ status }) => status === 'canceled');
        return times === 1 || (times === 0 && hasEnded)
          ? []
          : [`${id} of ${subscriptionId} was applied ${times} times`];
      });
  },
};

export const appliedIsPaid: Oracle = {
  sentence: 'A change of a plan that costs something takes effect only if exactly that was paid',
  atRestOnly: false,
  violations: (history) => {
    const charges = chargesOf(history);
    return recordsOf(history).subscriptions.flatMap(({ id }) =>
      plansStarted(history, id)
        .filter(({ dueCents = 0, paymentId }) => dueCents > 0 && charges.get(paymentId)?.amount !== dueCents)
        .map(
          ({ dueCents, paymentId, at: time }) =>
            `${id} changed at ${time} for ${dueCents}, and ${paymentId} took ${charges.get(paymentId)?.amount}`,
        ),
    );
  },
};

/** The product's prices without and with the subscription's original code. */
const pricesOf = (productId: string | undefined, quantity: number, code: Code | undefined): readonly number[] => {
  const full = listPriceOf(productId, quantity);
  if (!full) return [];
  return [totalOf(full), ...(code ? [totalOf(reducedBy(code, full, true))] : [])];
};

/** True if the request asks for the version's new plan. */
const isAsked = (
  { sent, sentAt }: HistoryExchange,
  { plan, wasPlan, at: time }: HistoryItem,
  code: Code | undefined,
): boolean => {
  const { product_id: product, quantity, total_cents: total } = sent ?? {};
  const isFree = product === undefined && (total !== undefined || sent?.billing_interval !== undefined);
  const prices = isFree ? [total ?? plan.totalCents] : pricesOf(plan.productId, plan.quantity, code);
  return (
    sentAt <= at(time) + SKEW_MS &&
    (product === undefined || product === plan.productId) &&
    (quantity === undefined || quantity === plan.quantity) &&
    (isFree || quantity !== undefined || product !== undefined || plan.quantity === wasPlan.quantity) &&
    prices.includes(plan.totalCents)
  );
};

export const appliedIsAsked: Oracle = {
  sentence: 'A change of a plan brings the product, the quantity and the price that a request has asked for',
  atRestOnly: false,
  violations: (history) => {
    const requests = changeRequests(history);
    const codes = codesAtCreation(history);
    return recordsOf(history).subscriptions.flatMap(({ id }) =>
      plansStarted(history, id)
        .filter((version) => !(requests.get(id) ?? []).some((one) => isAsked(one, version, codes.get(id))))
        .map(({ plan, at: time }) => `${id} has ${JSON.stringify(plan)} since ${time}, and no one asked for it`),
    );
  },
};

/** The due or paid amount in the response to a change. */
const amountOf = (history: History, { sentAt, body }: HistoryExchange): number | undefined => {
  if (body?.pending_change) return body.pending_change.due_now_cents;
  const paid = recordsOf(history).payment(body?.latest_payment_id ?? '');
  const isOwn = paid !== undefined && isOfChange(paid) && at(paid['createdAt']) >= sentAt - SKEW_MS;
  return isOwn ? paid['totalCents'] : undefined;
};

export const previewIsCharge: Oracle = {
  sentence: 'A change of a plan costs what its preview has said, to the cent',
  atRestOnly: false,
  violations: (history) => {
    const previews = new Map(
      history.exchanges
        .filter(({ path, status }) => path.endsWith('/change/preview') && status === 200)
        .map(({ path, body }) => [`${path} ${body.proration_at}`, body.due_now_cents]),
    );
    return [...changeRequests(history).values()].flat().flatMap((exchange) => {
      const { number, path, sent, status } = exchange;
      const said = previews.get(`${path}/preview ${sent?.proration_at}`);
      const amount = status === 200 || status === 202 ? amountOf(history, exchange) : undefined;
      // A free change shows the payment of an earlier change.
      if (!said || amount === undefined || amount === said) return [];
      return [`answer ${number}: POST ${path} costs ${amount}, its preview said ${said}`];
    });
  },
};

const LEAST_BEFORE_END_MS = 600_000;

const isTooLate = ({ expires_at: expires, period_end: end }: HistoryJson): boolean =>
  at(expires) > at(end) - LEAST_BEFORE_END_MS;

/** The subscriptions in the body with an open change that expires. */
const waitingIn = (body: HistoryJson): readonly HistoryJson[] =>
  [body, body?.data]
    .flat()
    .filter((one) => typeof one?.pending_change?.expires_at === 'string')
    .map((one) => ({ id: one.id, expires_at: one.pending_change.expires_at, period_end: one.current_period_end }));

/** A payer who paid after the period's end would get the new plan's next period for the difference alone. */
export const waitsWithinPeriod: Oracle = {
  sentence: 'A change of a plan that waits for its payer expires 10 minutes before the period ends',
  atRestOnly: false,
  violations: (history) => {
    const acts = actsOnSubscriptions(history);
    const stored = recordsOf(history)
      .subscriptions.filter(({ change }) => change?.step === 'awaiting_payment')
      .map(({ id, change, currentPeriodEnd }) => ({ id, expires_at: change.expiresAt, period_end: currentPeriodEnd }));
    const shown = history.exchanges.filter(isCarriedOut).flatMap(({ body }) => waitingIn(body));
    const late = [...stored, ...shown].filter((one) => isTooLate(one) && !acts.has(one.id));
    return [...new Set(late.map((one) => `${one.id} may be paid until ${one.expires_at}, and ends ${one.period_end}`))];
  },
};

/** True if a scheduled change took effect, without a request at that moment. */
const isBySchedule = ({ actor, dueCents }: HistoryItem): boolean =>
  dueCents === undefined && !['user', 'admin', 'key'].includes(actor?.type);

/** The acts that end a schedule. */
const SCHEDULE_ENDS = new Set(['cancel_scheduled', 'canceled']);
const CLOCKS_DIFFER_MS = 5_000;

const switchedWrongly = (versions: readonly HistoryItem[]): readonly string[] => {
  let effectiveAt: number | undefined;
  return versions.flatMap((version) => {
    const { cause, periodEnd, at: time } = version;
    if (cause === 'plan_change_scheduled') effectiveAt = at(periodEnd);
    if (SCHEDULE_ENDS.has(cause)) effectiveAt = undefined;
    if (cause !== 'plan_changed') return [];
    const isDue = effectiveAt !== undefined && at(time) >= effectiveAt - CLOCKS_DIFFER_MS;
    const isEarly = isBySchedule(version) && !isDue;
    effectiveAt = undefined;
    return isEarly ? [time] : [];
  });
};

export const scheduledOnce: Oracle = {
  sentence: 'A scheduled change takes effect once, when the next period opens',
  atRestOnly: false,
  violations: (history) => {
    const acts = actsOnSubscriptions(history);
    const { subscriptions, versionsOf } = recordsOf(history);
    return subscriptions
      .filter(({ id }) => !acts.has(id))
      .flatMap(({ id }) =>
        switchedWrongly(versionsOf(id)).map((time) => `${id} changed at ${time}, and no change was due then`),
      );
  },
};

export const merchantSetsPrices: Oracle = {
  sentence: 'Only the merchant sets a price, or changes a plan without its difference',
  atRestOnly: false,
  violations: (history) => {
    const merchants = new Set(history.people.filter(isOfMerchant).map(({ name }) => name));
    return [...changeRequests(history).values()]
      .flat()
      .filter((one) => !merchants.has(one.person) && isMerchantsChange(one.sent) && isCarriedOut(one))
      .map(({ number, person, path, status }) => `answer ${number}: ${person} did POST ${path}: ${status}`);
  },
};
