import { type Instant, iso } from '../../core/time.ts';
import { hasOpenAttempt } from '../record/states.ts';
import type { Subscription } from '../record/subscription.ts';
import { advanceSubscription } from '../record/versions.ts';
import { withoutCharge } from './charge.ts';

/** An open attempt stays until its outcome is known, without retries; a charge without one is dropped. */
const abandonCharge = (subscription: Subscription): Pick<Subscription, 'charge' | 'lapsed'> => {
  const { charge, lapsed } = subscription;
  if (!charge || !hasOpenAttempt(charge)) return withoutCharge(subscription);
  return { charge: { ...charge, abandoned: true, retryAt: undefined, finalAt: undefined }, lapsed };
};

export const markCanceled = (subscription: Subscription, now: Instant): Subscription =>
  advanceSubscription(
    subscription,
    { to: 'canceled', cause: 'cancel', reason: 'canceled', now },
    { canceledAt: iso(now), ...abandonCharge(subscription), syncAt: undefined },
  );

export const markPaused = (subscription: Subscription, now: Instant): Subscription =>
  advanceSubscription(
    subscription,
    { to: 'paused', cause: 'pause', reason: 'paused', now },
    abandonCharge(subscription),
  );

/** The trial has ended, and there is no method to charge. */
export const pauseAfterTrial = (subscription: Subscription, now: Instant): Subscription =>
  advanceSubscription(subscription, { to: 'paused', cause: 'trial', reason: 'paused', now });

export const resumeInPaidPeriod = (subscription: Subscription, now: Instant): Subscription =>
  advanceSubscription(subscription, { to: 'active', cause: 'resume', reason: 'resumed', now });

export const reactivateInPaidPeriod = (subscription: Subscription, now: Instant): Subscription => {
  const to = subscription.period < 0 ? 'trialing' : 'active';
  const changed = { cancelAtPeriodEnd: false, canceledAt: undefined };
  return advanceSubscription(subscription, { to, cause: 'reactivate', reason: 'reactivated', now }, changed);
};
