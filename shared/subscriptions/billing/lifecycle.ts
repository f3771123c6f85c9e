import { type Instant, iso } from '../../core/time.ts';
import { hasOpenAttempt } from '../record/states.ts';
import type { Subscription } from '../record/subscription.ts';
import { advance } from '../record/versions.ts';
import { withoutCharge } from './charge.ts';

/** What is under way is followed to its end; anything else is dropped. */
const abandoned = (subscription: Subscription): Pick<Subscription, 'charge' | 'lapsed'> => {
  const { charge, lapsed } = subscription;
  if (!charge || !hasOpenAttempt(charge)) return withoutCharge(subscription);
  return { charge: { ...charge, abandoned: true, retryAt: undefined, finalAt: undefined }, lapsed };
};

export const cancel = (subscription: Subscription, now: Instant): Subscription =>
  advance(
    subscription,
    { to: 'canceled', cause: 'cancel', reason: 'canceled', now },
    { canceledAt: iso(now), ...abandoned(subscription), syncAt: undefined },
  );

export const pause = (subscription: Subscription, now: Instant): Subscription =>
  advance(subscription, { to: 'paused', cause: 'pause', reason: 'paused', now }, abandoned(subscription));

/** The trial is over and there is nothing to charge it to. */
export const pauseAfterTrial = (subscription: Subscription, now: Instant): Subscription =>
  advance(subscription, { to: 'paused', cause: 'trial', reason: 'paused', now });

/** Running again in a period that is paid for. */
export const resumeInPaidPeriod = (subscription: Subscription, now: Instant): Subscription =>
  advance(subscription, { to: 'active', cause: 'resume', reason: 'resumed', now });

export const reactivateInPaidPeriod = (subscription: Subscription, now: Instant): Subscription => {
  const to = subscription.period < 0 ? 'trialing' : 'active';
  const changed = { cancelAtPeriodEnd: false, canceledAt: undefined };
  return advance(subscription, { to, cause: 'reactivate', reason: 'reactivated', now }, changed);
};
