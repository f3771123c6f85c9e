import { DomainError } from '../core/errors.ts';
import { letGo } from '../payments/collect.ts';
import { chargeDropped } from './changes.ts';
import type { BillingDeps } from './deps.ts';
import { endWhatWasMade } from './native-commands.ts';
import { isNative } from './native-port.ts';
import { settled } from './settle.ts';
import type { SubscriptionStore } from './store.ts';
import type { Subscription } from './subscription.ts';

/**
 * A charge that nobody wants any more, while an attempt may be under way: it is stopped where it still can be, and what
 * cannot be stopped is followed. Its appointment comes back to what is not clear yet.
 */
export const followAbandoned = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
): Promise<Subscription> => {
  const { charge } = subscription;
  if (!charge?.abandoned) return subscription;
  const stopped = isNative(subscription)
    ? await stopThere(deps, subscription)
    : await stop(() => letGo(deps, charge.paymentId));
  if (stopped === 'not now') return subscription;
  return store.change(subscription, (current) => {
    if (current.charge?.paymentId !== charge.paymentId) return current;
    // An attempt that is not claimed by now can no longer be: the claim asks whether it is still wanted.
    return stopped ? settled(current, stopped, deps.now(), deps.dunning) : chargeDropped(current);
  });
};

/** Where the provider bills, there is no payment to be let go, but perhaps a subscription that nobody heard of. */
const stopThere = (deps: BillingDeps, subscription: Subscription): Promise<undefined | 'not now'> =>
  stop(async () => {
    await endWhatWasMade(deps, subscription);
    return undefined;
  });

const stop = async <T>(attempt: () => Promise<T>): Promise<T | 'not now'> => {
  try {
    return await attempt();
  } catch (error) {
    if (error instanceof DomainError) return 'not now';
    throw error;
  }
};
