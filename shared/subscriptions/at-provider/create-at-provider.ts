/** @module Creates subscriptions at a billing provider. A claim comes first, so that every retry is identical. */

import { RETRY_MS } from '../../calls/call-times.ts';
import { assertNever } from '../../core/errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import { epochSeconds, type Instant, instant } from '../../core/time.ts';
import { refusalError } from '../../payments/create-intent.ts';
import type { NewProviderSubscription } from '../../providers/subscription-port.ts';
import { unavailableError } from '../../providers/unwrap.ts';
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

/** Creates the claimed subscription at the provider. Idempotent, because repeated calls send the same key. */
export const createAtProvider = async (deps: BillingDeps, subscription: Subscription): Promise<BillingResult> => {
  const port = await subscriptionsPortOf(deps, subscription);
  const outcome = await port.create(claimedRequest(subscription));
  const change = (decide: (current: Subscription) => Subscription) =>
    subscriptionStore(deps.table).change(subscription, decide);
  switch (outcome.kind) {
    case 'done':
      return { subscription: await storeReport(deps, subscription, outcome.value) };
    case 'declined':
      return {
        subscription: await change((current) => recordRefusal(deps, current, outcome)),
        declined: outcome.code,
      };
    case 'refused':
      return {
        subscription: await change((current) => recordRefusal(deps, current, outcome)),
        error: refusalError(outcome),
      };
    case 'not_done':
      return {
        subscription: await change(dropReturn),
        error: unavailableError(outcome, { subscription_id: subscription.id }),
      };
    case 'unknown':
      // The provider may not have received the call, and then no event arrives.
      return { subscription: await change((current) => recordPending(current, deps.now(), RETRY_MS)) };
    default:
      return assertNever(outcome);
  }
};

/**
 * Records that the provider has no subscription. A past-due subscription ends, a reactivated subscription stays
 * canceled, and a new subscription is declined.
 */
const recordRefusal = (
  deps: BillingDeps,
  current: Subscription,
  outcome: Extract<Outcome<never>, { kind: 'declined' | 'refused' }>,
): Subscription => {
  if (!current.charge || current.providerSubscriptionId !== undefined) return current;
  if (current.status === 'past_due') return markCanceled(dropCharge(current), deps.now());
  if (outcome.kind === 'declined') {
    return recordFailed(current, { code: outcome.code, attempts: 1, spent: true }, settlementOf(deps));
  }
  // The create request returns the refusal and removes the record.
  return current.status === 'creating' ? current : dropCharge(current);
};

/**
 * The call did nothing. The charge of a reactivation or resumption is dropped. A creation that may be retried keeps its
 * charge.
 */
const dropReturn = (current: Subscription): Subscription => {
  if (!current.charge || current.providerSubscriptionId !== undefined) return current;
  return current.status === 'creating' || current.status === 'past_due' ? current : dropCharge(current);
};

/** Builds the request from the claimed record, so that a retry sends the same request. */
const claimedRequest = (subscription: Subscription): NewProviderSubscription => {
  const { charge } = subscription;
  const until = freeUntil(subscription);
  const isFree = until !== undefined && charge !== undefined && until > charge.start;
  const trialEnd = isFree ? epochSeconds(instant(until)) : undefined;
  const isBridge = charge?.cause !== 'create' && subscription.period >= 0;
  return { ...creationRequest(subscription, trialEnd), isBridge, isAttended: true };
};

/** A request by the service, without a payer. @param trialEnd epoch seconds; no charge before this time */
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

/** The end of our trial. For a reactivation, the end of the paid time. */
const freeUntil = ({ charge, trialEnd, paidUntil, period, currentPeriodEnd }: Subscription): string | undefined => {
  if (charge?.cause === 'create') return trialEnd;
  return period < 0 ? currentPeriodEnd : paidUntil;
};

export const providerBiller: Biller = {
  openFirstPeriod: claimCreation,
  collect: createAtProvider,
  releaseCharge: async (deps, subscription) => {
    await cancelEarlierCreations(deps, subscription);
    return undefined;
  },
};
