/** @module Status changes that several commands share, as pure functions. */

import { type Instant, iso } from '../../core/time.ts';
import type { Subscription } from '../record/subscription.ts';
import { advanceSubscription } from '../record/subscription-versions.ts';
import { abandonCharge } from './subscription-charge.ts';

export const markCanceled = (subscription: Subscription, now: Instant): Subscription =>
  advanceSubscription(
    subscription,
    { to: 'canceled', cause: 'cancel', reason: 'canceled', now },
    { canceledAt: iso(now), ...abandonCharge(subscription, now), syncAt: undefined },
  );

export const markPaused = (subscription: Subscription, now: Instant): Subscription =>
  advanceSubscription(
    subscription,
    { to: 'paused', cause: 'pause', reason: 'paused', now },
    abandonCharge(subscription, now),
  );

/**
 * Abandons the unsettled charge of a reactivation or resumption. The subscription stays canceled or paused, and readers
 * do not see the change.
 */
export const withdrawReturn = (subscription: Subscription, now: Instant): Subscription =>
  subscription.charge && !subscription.charge.abandoned
    ? { ...subscription, ...abandonCharge(subscription, now) }
    : subscription;

/** Pauses a subscription after its trial has ended without a payment method. */
export const pauseAfterTrial = (subscription: Subscription, now: Instant): Subscription =>
  advanceSubscription(subscription, { to: 'paused', cause: 'trial', reason: 'paused', now });

export const resumeInPaidPeriod = (subscription: Subscription, now: Instant): Subscription =>
  advanceSubscription(subscription, { to: 'active', cause: 'resume', reason: 'resumed', now });

export const reactivateInPaidPeriod = (subscription: Subscription, now: Instant): Subscription => {
  const { period, importedAt, trialEnd } = subscription;
  // The time before the first period was paid to another biller, so it is not a trial.
  const isPaidElsewhere = importedAt !== undefined && trialEnd === undefined;
  const to = period < 0 && !isPaidElsewhere ? 'trialing' : 'active';
  const changed = { cancelAtPeriodEnd: false, canceledAt: undefined };
  return advanceSubscription(subscription, { to, cause: 'reactivate', reason: 'reactivated', now }, changed);
};
