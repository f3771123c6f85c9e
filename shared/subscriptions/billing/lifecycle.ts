/** @module Changes of a subscription's status that several commands share, as pure functions. */

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
 * Withdraws a reactivation or resumption whose charge is not settled. A canceled subscription stays canceled, and a
 * paused subscription stays paused. Readers do not see the change.
 */
export const withdrawReturn = (subscription: Subscription, now: Instant): Subscription =>
  subscription.charge && !subscription.charge.abandoned
    ? { ...subscription, ...abandonCharge(subscription, now) }
    : subscription;

/** Pauses a subscription whose trial has ended without a method to charge. */
export const pauseAfterTrial = (subscription: Subscription, now: Instant): Subscription =>
  advanceSubscription(subscription, { to: 'paused', cause: 'trial', reason: 'paused', now });

export const resumeInPaidPeriod = (subscription: Subscription, now: Instant): Subscription =>
  advanceSubscription(subscription, { to: 'active', cause: 'resume', reason: 'resumed', now });

export const reactivateInPaidPeriod = (subscription: Subscription, now: Instant): Subscription => {
  const { period, importedAt, trialEnd } = subscription;
  // Another biller was paid for the time before the first period.
  const isPaidElsewhere = importedAt !== undefined && trialEnd === undefined;
  const to = period < 0 && !isPaidElsewhere ? 'trialing' : 'active';
  const changed = { cancelAtPeriodEnd: false, canceledAt: undefined };
  return advanceSubscription(subscription, { to, cause: 'reactivate', reason: 'reactivated', now }, changed);
};
