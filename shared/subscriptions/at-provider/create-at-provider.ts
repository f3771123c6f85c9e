/** @module Creates subscriptions at a billing provider. The request is claimed first, so every retry is identical. */

import type { RefusedCall } from '../../calls/call-kind.ts';
import { RETRY_MS } from '../../calls/call-times.ts';
import { runCreation } from '../../calls/run-creation.ts';
import type { NotDone } from '../../core/outcome.ts';
import { epochSeconds, type Instant, instant } from '../../core/time.ts';
import { refusalError } from '../../payments/create-intent.ts';
import type { NewProviderSubscription, ProviderSubscription } from '../../providers/subscription-port.ts';
import { failedError } from '../../providers/unwrap.ts';
import { type Biller, type BillingDeps, type BillingResult, type StartCause, settlementOf } from '../billing/biller.ts';
import { markCanceled } from '../billing/lifecycle.ts';
import { firstPeriod } from '../billing/periods.ts';
import { dropCharge, openCharge, recordFailed, recordPending } from '../billing/subscription-charge.ts';
import { planAtProvider } from '../record/held-plan.ts';
import type { Subscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { providerInterval, subscriptionsPortOf } from './provider-biller.ts';
import { cancelEarlierCreations } from './provider-commands.ts';
import { storeReport } from './store-report.ts';

/** Claims a creation at the provider. Commit the claim before the call. Readers do not see the change. */
const claimCreation = (subscription: Subscription, cause: StartCause, now: Instant): Subscription => {
  const { anchor, period, trialEnd, providerSubscriptionId, formerProviderIds = [] } = subscription;
  const isTrial = cause === 'create' && trialEnd !== undefined;
  const trial = { anchor, period, start: now, end: instant(trialEnd ?? anchor) };
  return {
    ...openCharge(subscription, isTrial ? trial : firstPeriod(subscription, now), { cause, now }),
    latestPaymentId: subscription.latestPaymentId,
    providerSubscriptionId: undefined,
    held: undefined,
    ...(providerSubscriptionId && { formerProviderIds: [...formerProviderIds, providerSubscriptionId] }),
    providerGeneration: (subscription.providerGeneration ?? 0) + 1,
  };
};

/**
 * Creates the claimed subscription at the provider.
 * @param isFirstTry true if no earlier call can have reached the provider
 */
export const createAtProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  isFirstTry: boolean,
): Promise<BillingResult> => {
  const port = await subscriptionsPortOf(deps, subscription);
  const change = (decide: (current: Subscription) => Subscription) =>
    subscriptionStore(deps.table).change(subscription, decide);
  const errorOf = (reason: RefusedCall | NotDone) =>
    failedError(reason, refusalError, { subscription_id: subscription.id });
  return runCreation<ProviderSubscription, BillingResult>({
    isFirstTry,
    send: () => port.create(claimedRequest(subscription)),
    publish: async (report) => ({ subscription: await storeReport(deps, subscription, report) }),
    remove: async (reason) => ({
      subscription: await change((current) => withoutCreation(deps, current, reason)),
      ...(reason.kind === 'declined' ? { declined: reason.code } : { error: errorOf(reason) }),
    }),
    keep: async (reason) =>
      reason.kind === 'not_done'
        ? { subscription, error: errorOf(reason) }
        : { subscription: await change((current) => recordPending(current, deps.now(), RETRY_MS)) },
  });
};

/**
 * Records that the provider did not create the subscription. A refusal or decline cancels a past-due subscription. A
 * canceled or paused subscription stays as it is, and a decline makes a new subscription `declined`.
 */
const withoutCreation = (deps: BillingDeps, current: Subscription, reason: RefusedCall | NotDone): Subscription => {
  const { charge, providerSubscriptionId, status } = current;
  if (!charge || providerSubscriptionId !== undefined) return current;
  if (status === 'past_due')
    return reason.kind === 'not_done' ? current : markCanceled(dropCharge(current), deps.now());
  if (reason.kind === 'declined') {
    return recordFailed(current, { code: reason.code, attempts: 1, spent: true }, settlementOf(deps));
  }
  // The create request returns the reason and removes the record.
  return status === 'creating' ? current : dropCharge(current);
};

/** Builds the request from the claimed record, so a retry sends the same request. */
const claimedRequest = (subscription: Subscription): NewProviderSubscription => {
  const { charge } = subscription;
  const until = freeUntil(subscription);
  const isFree = until !== undefined && charge !== undefined && until > charge.start;
  const trialEnd = isFree ? epochSeconds(instant(until)) : undefined;
  const isBridge = charge?.cause !== 'create' && subscription.period >= 0;
  return { ...creationRequest(subscription, trialEnd), isBridge, isAttended: true };
};

/** The creation request for off-session use. @param trialEnd epoch seconds; no charge before this time */
export const creationRequest = (subscription: Subscription, trialEnd: number | undefined): NewProviderSubscription => {
  const { id, providerCustomerId, methodRef, currency, providerGeneration } = subscription;
  const plan = planAtProvider(subscription);
  return {
    ourSubscriptionId: id,
    customerId: providerCustomerId ?? '',
    methodId: methodRef ?? '',
    amountCents: plan.totalCents,
    currency,
    ...providerInterval(plan),
    trialEnd,
    description: subscription.description ?? subscription.concept,
    isAttended: false,
    productId: plan.productId,
    productName: plan.productName,
    idempotencyKey: `${id}:create:${providerGeneration ?? 1}`,
  };
};

/** End of the granted trial or, for a reactivation, of the paid time. Nothing is charged before this time. */
const freeUntil = ({ charge, trialEnd, paidUntil, period, currentPeriodEnd }: Subscription): string | undefined => {
  if (charge?.cause === 'create') return trialEnd;
  return period < 0 ? currentPeriodEnd : paidUntil;
};

export const providerBiller: Biller = {
  openFirstPeriod: claimCreation,
  collect: (deps, subscription, { isRepeat = false }) => createAtProvider(deps, subscription, !isRepeat),
  releaseCharge: async (deps, subscription) => {
    await cancelEarlierCreations(deps, subscription);
    return undefined;
  },
};
