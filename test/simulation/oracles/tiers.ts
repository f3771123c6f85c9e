/** @module Invariants about the tier and the trial of an unpaid subscription. Every product has the tier. */
import type { History, HistoryItem, Oracle } from '../model/history.ts';
import { actsOnSubscriptions } from '../model/outside.ts';
import { plansStarted } from '../model/plans.ts';
import { at, recordsOf } from '../model/records.ts';
import { PRODUCTS } from '../world/people.ts';

/** The subscriptions with a payment for a product. Every renewal and plan change names the product. */
export const paidTiers = (history: Pick<History, 'items'>): ReadonlySet<string> =>
  new Set(
    recordsOf(history)
      .payments.filter(({ status, productId }) => status === 'succeeded' && productId !== undefined)
      .map(({ subscriptionId }) => subscriptionId),
  );

/** The subscriptions with an invoice paid by a coupon, by a balance or outside the provider. */
const paidOtherwise = ({ ledger }: History): ReadonlySet<string> => {
  const ours = new Map(ledger.subscriptions.map(({ id, subscription_id }) => [id, subscription_id] as const));
  return new Set(
    ledger.invoices
      .filter(({ status, subtotal }) => status === 'paid' && subtotal > 0)
      .filter(({ amount, paid_out_of_band: isElsewhere }) => amount === 0 || isElsewhere)
      .map(({ subscription }) => ours.get(subscription)),
  );
};

/** The actors of requests. If the service bills, a free change is applied by its request, and names no amount. */
const REQUESTED = new Set(['user', 'admin', 'staff', 'key', 'guest']);

/** True if an immediate change was free, because paid credit covered it or the merchant waived the difference. */
const isCovered = (history: History, id: string): boolean =>
  plansStarted(history, id).some(
    ({ dueCents, status, actor }) =>
      status === 'active' && (dueCents === 0 || (dueCents === undefined && REQUESTED.has(actor?.type))),
  );

export const tierHasItsMoney: Oracle = {
  sentence: 'No tier is active without its money',
  atRestOnly: false,
  violations: (history) => {
    const { memberships, subscriptions } = recordsOf(history);
    const paid = new Set([...paidTiers(history), ...paidOtherwise(history)]);
    const priced = new Map(subscriptions.map(({ id, totalCents }) => [id, totalCents > 0]));
    return memberships
      .filter(({ status, subscriptionId: id }) => status === 'active' && priced.get(id) === true && !paid.has(id))
      .filter(({ subscriptionId }) => !isCovered(history, subscriptionId))
      .map(({ id, subscriptionId }) => `${id} is active, and no payment of ${subscriptionId} covers it`);
  },
};

const TRIAL_DAYS: ReadonlyMap<string, number> = new Map(
  Object.values(PRODUCTS).map(({ id, trial_days }) => [id, trial_days]),
);
const DAY_MS = 86_400_000;

/**
 * Ignores a trial that has ended. A change scheduled for its end has applied then, and while the provider is out of
 * reach, the subscription stays `trialing`.
 */
const hasLongerTrial = ({ status, productId, trialEnd, createdAt }: HistoryItem, now: number): boolean => {
  const days = TRIAL_DAYS.get(productId);
  const isTrying = status === 'trialing' && at(trialEnd) > now;
  return isTrying && days !== undefined && at(trialEnd) > at(createdAt) + days * DAY_MS;
};

export const trialIsOfProduct: Oracle = {
  sentence: 'A trial of a product is never longer than the product gives, unless a person extends it at the provider',
  atRestOnly: false,
  violations: (history) => {
    const acts = actsOnSubscriptions(history);
    return recordsOf(history)
      .subscriptions.filter(
        (subscription) => hasLongerTrial(subscription, history.now) && !acts.has(subscription['id']),
      )
      .map(({ id, productId, trialEnd }) => `${id} tries ${productId} until ${trialEnd}`);
  },
};
