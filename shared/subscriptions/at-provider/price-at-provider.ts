/** @module Sends a changed price to the billing provider, by a claimed call (calls/call-kind.ts). */

import type { LookedUp } from '../../calls/call-kind.ts';
import { nextLook } from '../../calls/call-times.ts';
import { lookUpCall } from '../../calls/look-up.ts';
import { makeCall } from '../../calls/run-call.ts';
import { epochSeconds, type Instant, instant, iso } from '../../core/time.ts';
import type { ProviderSubscription, SubscriptionsPort } from '../../providers/subscription-port.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { planAtProvider, syncAfterChange } from '../record/held-plan.ts';
import type { PriceUpdate } from '../record/plan-change.ts';
import { isLive, type Subscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { edit } from '../record/subscription-versions.ts';
import { providerInterval, subscriptionsPortOf } from './provider-biller.ts';
import {
  type AtProvider,
  type CallAtProvider,
  type PartsAtProvider,
  READ_AT_PROVIDER,
  storeState,
} from './store-report.ts';

export interface SentPrice {
  readonly subscription: Subscription;
  /** `unclear` if the outcome is unknown or the provider cannot be called now. Due work looks the outcome up. */
  readonly result: 'sent' | 'refused' | 'unclear';
}

/** Sends the price of `priceUpdate`. The caller removes the stored update. */
export const sendPrice = async (deps: BillingDeps, subscription: Subscription): Promise<SentPrice> => {
  const { priceUpdate, providerSubscriptionId } = subscription;
  if (!priceUpdate || providerSubscriptionId === undefined) return { subscription, result: 'sent' };
  const claim = { ...subscription, priceUpdate, providerSubscriptionId };
  const parts = { deps, port: await subscriptionsPortOf(deps, subscription) };
  const isRepeated = instant(priceUpdate.lookAt) <= deps.now();
  const run = isRepeated ? lookUpCall : makeCall;
  const { record, refusal, notDone, isUnclear } = await run(PRICE_CALL, parts, claim);
  return { subscription: record, result: refusal ? 'refused' : notDone || isUnclear ? 'unclear' : 'sent' };
};

type PriceClaim = AtProvider & { readonly priceUpdate: PriceUpdate };

const PRICE_CALL: CallAtProvider<PriceClaim, Pick<ProviderSubscription, 'subscriptionId'>> &
  LookedUp<PartsAtProvider, Subscription, PriceClaim> = {
  ...READ_AT_PROVIDER,
  send: async ({ deps, port }, claim) => ({ claim, outcome: await port.changePrice(requestOf(deps, claim)) }),
  apply: async ({ deps }, claim, said) => {
    if (said.by === 'response' || !said.report || said.report.changeId === claim.priceUpdate.id) {
      return { state: said.report ? 'settled' : 'absent', record: claim };
    }
    // The provider may have renewed at the old price. Until when the payer has paid decides when the new price begins.
    const record = await storeState(deps, claim, said.report);
    return isSamePrice(record, claim) ? { state: 'absent', record } : { state: 'settled', record };
  },
  claimedAt: ({ priceUpdate }) => instant(priceUpdate.claimedAt),
  step: () => -1,
  // Retry without limit, because the provider must never keep a wrong price.
  resendWithinMs: Number.POSITIVE_INFINITY,
  maySend: async () => true,
  setLook: ({ deps }, claim) => sendPriceLater(deps, claim),
  stuck: () => undefined,
  statusOf: ({ status }) => status,
};

const isSamePrice = (record: Subscription, { priceUpdate }: PriceClaim): record is PriceClaim =>
  record.priceUpdate?.id === priceUpdate.id && record.providerSubscriptionId !== undefined;

const requestOf = (deps: BillingDeps, subscription: PriceClaim): Parameters<SubscriptionsPort['changePrice']>[0] => {
  const plan = planAtProvider(subscription);
  const { change, currency, providerSubscriptionId, paidUntil = '' } = subscription;
  const { id, freeUntil } = subscription.priceUpdate;
  // The period of a late update has ended, and the next period may already be paid.
  const isLate = freeUntil !== undefined && instant(freeUntil) <= deps.now();
  const until = isLate ? (instant(paidUntil || freeUntil) > deps.now() ? paidUntil : undefined) : freeUntil;
  return {
    subscriptionId: providerSubscriptionId,
    changeId: id,
    amountCents: plan.totalCents,
    currency,
    ...providerInterval(plan),
    productId: plan.productId,
    productName: plan.productName,
    trialEnd: until === undefined ? endOfLateTrial(subscription, isLate) : epochSeconds(instant(until)),
    isBridge: subscription.status !== 'trialing' || change?.nextPeriodEnd !== undefined,
    dropsUnpaidFrom: replacedFrom(subscription, isLate && until === undefined, deps.now()),
    idempotencyKey: `${subscription.id}:change:${id}:price${isLate ? `:late:${until ?? 'now'}` : ''}`,
  };
};

/** Ends the provider's trial now if the update is late and the change has shortened or ended the trial. */
const endOfLateTrial = ({ status, change }: Subscription, isLate: boolean): 'now' | undefined =>
  isLate && status === 'trialing' && change?.trialEnd !== undefined ? 'now' : undefined;

/**
 * When the periods begin that the new price covers instead of the old price, in epoch seconds. The provider may still
 * collect their renewals at the old price.
 * @param startsNow true if a new period starts with the update
 */
const replacedFrom = ({ change, priceUpdate }: PriceClaim, startsNow: boolean, now: Instant): number | undefined => {
  const isCovered = change?.step === 'paid' && change.nextPeriodEnd !== undefined && instant(change.periodEnd) <= now;
  const from = isCovered ? change.periodEnd : startsNow ? priceUpdate.freeUntil : undefined;
  return from === undefined ? undefined : epochSeconds(instant(from));
};

/** Schedules the next lookup of the price update, with the usual intervals. */
export const sendPriceLater = (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const id = subscription.priceUpdate?.id;
  return subscriptionStore(deps.table).change(subscription, (current) => {
    const { priceUpdate } = current;
    if (!priceUpdate || priceUpdate.id !== id) return current;
    const { at } = nextLook(instant(priceUpdate.claimedAt), -1, deps.now());
    return { ...current, priceUpdate: { ...priceUpdate, lookAt: iso(at) } };
  });
};

/** Sends the price of a scheduled or withdrawn change, and removes the update once the provider has it. */
export const finishPriceUpdate = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const { priceUpdate } = subscription;
  const { subscription: sent, result } = await sendPrice(deps, subscription);
  if (!priceUpdate || result === 'unclear') return sent;
  const isRefused = result === 'refused' && isLive(sent);
  const isWithdrawal = sent.scheduledChange?.id !== priceUpdate.id;
  if (isRefused && isWithdrawal) {
    const reason = 'the provider refuses the present price';
    deps.log.error('subscription anomaly', { subscription_id: subscription.id, reason });
    return sendPriceLater(deps, sent);
  }
  return subscriptionStore(deps.table).change(sent, (current) => {
    if (current.priceUpdate?.id !== priceUpdate.id) return current;
    const without = {
      ...current,
      ...syncAfterChange(current, priceUpdate.claimedAt, deps.now()),
      priceUpdate: undefined,
    };
    return isRefused
      ? edit(without, { reason: 'plan_change_failed', now: deps.now() }, { scheduledChange: undefined })
      : without;
  });
};
