import { type Instant, iso } from '../../core/time.ts';
import { maySubscriptionChange, type SubscriptionCause } from './states.ts';
import type { Reason, StoredStatus, Subscription } from './subscription.ts';

/** Pure next states of a subscription. Each returns a whole record; the store commits it under the one it came from. */
export interface Transition {
  readonly to: StoredStatus;
  readonly cause: SubscriptionCause;
  readonly reason: Reason;
  readonly now: Instant;
}

/** The next version: a change that readers see. */
export const advance = (
  subscription: Subscription,
  { to, cause, reason, now }: Transition,
  changed: Partial<Subscription> = {},
): Subscription => {
  if (!maySubscriptionChange(subscription.status, to, cause)) {
    throw new Error(`a ${subscription.status} subscription does not become ${to} by ${cause}`);
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

/** A change that leaves status and billing as they are. */
export const edit = (
  subscription: Subscription,
  reason: Reason,
  now: Instant,
  changed: Partial<Subscription>,
): Subscription => advance(subscription, { to: subscription.status, cause: 'provider', reason, now }, changed);
