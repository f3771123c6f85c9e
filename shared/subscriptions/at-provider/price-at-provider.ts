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
  const run = isRepeated || isLate(claim, deps.now()) ? lookUpCall : makeCall;
  const { record, refusal, notDone, isUnclear } = await run(PRICE_CALL, parts, claim);
  return { subscription: record, result: refusal ? 'refused' : notDone || isUnclear ? 'unclear' : 'sent' };
};

type PriceClaim = AtProvider & { readonly priceUpdate: PriceUpdate };

const PRICE_CALL: CallAtProvider<PriceClaim, Pick<ProviderSubscription, 'subscriptionId'>> &
  LookedUp<PartsAtProvider, Subscription, PriceClaim> = {
  ...READ_AT_PROVIDER,
  send: async ({ deps, port }, claim) => ({ claim, outcome: await port.changePrice(requestOf(deps, claim)) }),
  apply: async ({ deps }, claim, said) => {
    const isThere = said.by === 'response' || said.report?.changeId === claim.priceUpdate.id;
    if (isThere) return { state: 'settled', record: claim };
    if (!said.report || !renewsFirst(claim, deps.now())) return { state: 'absent', record: claim };
    if (isRenewing(said.report, deps.now())) return { state: 'open', record: claim, looked: 'still_under_way' };
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

/** True if the period in which nothing may be charged has ended, so the provider may have renewed at the old price. */
const isLate = ({ priceUpdate: { freeUntil } }: PriceClaim, now: Instant): boolean =>
  freeUntil !== undefined && instant(freeUntil) <= now;

/** True if the provider's renewal at the old price stands, and the new price begins only after the renewed period. */
const renewsFirst = (claim: PriceClaim, now: Instant): boolean => isLate(claim, now) && !coversRenewal(claim, now);

/**
 * True until the provider has renewed and has collected everything. Otherwise the payer could pay both prices. A trial
 * and a paused subscription are not renewed, and for an unpaid one the provider collects nothing more.
 */
const isRenewing = (there: ProviderSubscription, now: Instant): boolean => {
  const { status, isUnpaid, owed, latestInvoice, currentPeriodEnd } = there;
  if (status === 'canceled' || isUnpaid) return false;
  const isDue = ['active', 'past_due'].includes(status) && currentPeriodEnd <= epochSeconds(now);
  return isDue || owed.length > 0 || latestInvoice?.status === 'processing';
};

const requestOf = (deps: BillingDeps, subscription: PriceClaim): Parameters<SubscriptionsPort['changePrice']>[0] => {
  const plan = planAtProvider(subscription);
  const { change, currency, providerSubscriptionId } = subscription;
  const { id } = subscription.priceUpdate;
  const trialEnd = trialEndOf(subscription, deps.now());
  return {
    subscriptionId: providerSubscriptionId,
    changeId: id,
    amountCents: plan.totalCents,
    currency,
    ...providerInterval(plan),
    productId: plan.productId,
    productName: plan.productName,
    trialEnd,
    isBridge: subscription.status !== 'trialing' || change?.nextPeriodEnd !== undefined,
    ...(coversRenewal(subscription, deps.now()) && { dropsUnpaid: true }),
    idempotencyKey: `${subscription.id}:change:${id}:price${isLate(subscription, deps.now()) ? `:late:${trialEnd}` : ''}`,
  };
};

/** Until when the provider charges nothing. If the update is late and the change ends the trial, the trial ends now. */
const trialEndOf = (claim: PriceClaim, now: Instant): number | 'now' | undefined => {
  const { status, isUnpaid, change, paidUntil, currentPeriodEnd, priceUpdate } = claim;
  const inEpochSeconds = (time: string | undefined) => (time === undefined ? undefined : epochSeconds(instant(time)));
  if (!isLate(claim, now)) return inEpochSeconds(priceUpdate.freeUntil);
  const isTrying = status === 'trialing';
  const until = coversRenewal(claim, now) ? paidUntil : isTrying || isUnpaid ? undefined : currentPeriodEnd;
  if (until !== undefined && instant(until) > now) return inEpochSeconds(until);
  return isTrying && change?.trialEnd !== undefined ? 'now' : undefined;
};

/** True if the period of a paid change covers a renewal that the provider may still be collecting. */
const coversRenewal = ({ change }: Subscription, now: Instant): boolean =>
  change?.step === 'paid' && change.nextPeriodEnd !== undefined && instant(change.periodEnd) <= now;

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
