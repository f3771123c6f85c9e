import { allows } from '../../core/states.ts';
import { type Instant, iso } from '../../core/time.ts';
import { SUBSCRIPTION_TRANSITIONS, type SubscriptionCause } from './states.ts';
import type { Reason, StoredStatus, Subscription } from './subscription.ts';

/** The next version of a subscription, pure. The store commits it if the record has not changed meanwhile. */
export interface VersionChange {
  readonly to: StoredStatus;
  readonly cause: SubscriptionCause;
  readonly reason: Reason;
  readonly now: Instant;
}

/** The next version: readers see the change. */
export const advanceSubscription = (
  subscription: Subscription,
  { to, cause, reason, now }: VersionChange,
  changed: Partial<Subscription> = {},
): Subscription => {
  const from = subscription.status;
  if (!allows(SUBSCRIPTION_TRANSITIONS, { from, to, cause })) {
    throw new Error(`no transition of a subscription from ${from} to ${to} by ${cause}`);
  }
  return {
    ...subscription,
    busyUntil: undefined,
    ...changed,
    status: to,
    reason,
    version: subscription.version + 1,
    updatedAt: iso(now),
  };
};

/** The next version with the same status. */
export const edit = (
  subscription: Subscription,
  { reason, now }: Pick<VersionChange, 'reason' | 'now'>,
  changed: Partial<Subscription>,
): Subscription =>
  advanceSubscription(subscription, { to: subscription.status, cause: 'provider', reason, now }, changed);
