import { assertNever } from '../../core/errors.ts';
import type { Outcome } from '../../core/outcome.ts';
import { epochSeconds, type Instant, instant } from '../../core/time.ts';
import { refusalError } from '../../payments/attempts/create-intent.ts';
import type { NewProviderSubscription } from '../../providers/port/subscriptions.ts';
import { unavailableError } from '../../providers/registry/unwrap.ts';
import type { BillingDeps, ChargeAttempt } from '../billing/biller.ts';
import { dropCharge, openCharge, recordFailed, recordPending, UNANSWERED_LOOK_MS } from '../billing/charge.ts';
import { cancel } from '../billing/lifecycle.ts';
import { firstPeriod } from '../billing/periods.ts';
import type { SubscriptionStore } from '../record/store.ts';
import type { Charge, Subscription } from '../record/subscription.ts';
import { providerInterval, subscriptionsPortOf } from './port.ts';
import { storeReport } from './sync.ts';

/** A subscription is to be made at the provider: claimed here before it is asked. Nothing that a reader sees. */
export const claimCreation = (subscription: Subscription, cause: Charge['cause'], now: Instant): Subscription => {
  const { anchor, period, trialEnd, providerSubscriptionId, formerProviderIds = [] } = subscription;
  const isTrial = cause === 'create' && trialEnd !== undefined;
  const trial = { anchor, period, start: now, end: instant(trialEnd ?? anchor) };
  return {
    ...openCharge(subscription, cause, isTrial ? trial : firstPeriod(subscription, now), now),
    latestPaymentId: subscription.latestPaymentId,
    providerSubscriptionId: undefined,
    ...(providerSubscriptionId && { formerProviderIds: [...formerProviderIds, providerSubscriptionId] }),
    providerGeneration: (subscription.providerGeneration ?? 0) + 1,
  };
};

/** Has it made at the provider, under a key that stays the same however often this is called. */
export const createAtProvider = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
): Promise<ChargeAttempt> => {
  const native = await subscriptionsPortOf(deps, subscription);
  const outcome = await native.create(wantedOf(subscription));
  switch (outcome.kind) {
    case 'done':
      return { subscription: await storeReport(deps, store, subscription, outcome.value) };
    case 'declined':
      return {
        subscription: await store.change(subscription, (current) => notMade(deps, current, outcome)),
        declined: outcome.code,
      };
    case 'refused':
      return {
        subscription: await store.change(subscription, (current) => notMade(deps, current, outcome)),
        error: refusalError(outcome),
      };
    case 'not_done':
      return {
        subscription: await store.change(subscription, notBegun),
        error: unavailableError(outcome, { subscription_id: subscription.id }),
      };
    case 'unknown':
      return {
        subscription: await store.change(subscription, (current) =>
          recordPending(current, deps.now(), UNANSWERED_LOOK_MS),
        ),
      };
    default:
      return assertNever(outcome);
  }
};

/** Nothing stands at the provider. Whoever still waits is told; one that is shown already is over. */
const notMade = (
  deps: BillingDeps,
  current: Subscription,
  outcome: Extract<Outcome<never>, { kind: 'declined' | 'refused' }>,
): Subscription => {
  if (!current.charge || current.providerSubscriptionId !== undefined) return current;
  if (current.status === 'past_due') return cancel(dropCharge(current), deps.now());
  if (outcome.kind === 'declined') {
    return recordFailed(current, { code: outcome.code, attempts: 1, spent: true }, deps.now(), deps.dunning);
  }
  // A creation is forgotten by whoever waits for it.
  return current.status === 'creating' ? current : dropCharge(current);
};

/** The provider did nothing: a creation, or one whose earlier call may have arrived, is tried again; a return is not. */
const notBegun = (current: Subscription): Subscription => {
  if (!current.charge || current.providerSubscriptionId !== undefined) return current;
  return current.status === 'creating' || current.status === 'past_due' ? current : dropCharge(current);
};

/** Decided when it was claimed: what is sent again is the same. */
const wantedOf = (subscription: Subscription): NewProviderSubscription => {
  const { charge } = subscription;
  const until = freeUntil(subscription);
  const isFree = until !== undefined && charge !== undefined && until > charge.start;
  return creationRequest(subscription, isFree ? epochSeconds(instant(until)) : undefined);
};

/** @param trialEnd epoch seconds: nothing is charged before */
export const creationRequest = (subscription: Subscription, trialEnd: number | undefined): NewProviderSubscription => {
  const { id, providerCustomerId, methodRef, totalCents, currency, providerGeneration } = subscription;
  return {
    ourSubscriptionId: id,
    customerId: providerCustomerId ?? '',
    methodId: methodRef ?? '',
    amountCents: totalCents,
    currency,
    ...providerInterval(subscription),
    trialEnd,
    description: subscription.description ?? subscription.concept,
    idempotencyKey: `${id}:create:${providerGeneration ?? 1}`,
  };
};

/** A trial of ours; or what is paid for already, where it is made once more. */
const freeUntil = ({ charge, trialEnd, paidUntil, period, currentPeriodEnd }: Subscription): string | undefined => {
  if (charge?.cause === 'create') return trialEnd;
  return period < 0 ? currentPeriodEnd : paidUntil;
};
