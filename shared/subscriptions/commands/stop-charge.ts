import { DomainError } from '../../core/errors.ts';
import { releasePayment } from '../../payments/attempts/collect.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { dropCharge, settleCharge } from '../billing/charge.ts';
import { cancelEarlierCreations } from '../provider-billed/commands.ts';
import type { SubscriptionStore } from '../record/store.ts';
import { isProviderBilled, type Subscription } from '../record/subscription.ts';

/**
 * A charge that nobody wants any more, while an attempt may be under way: it is stopped where it still can be, and what
 * cannot be stopped is followed. Its appointment comes back to what is not clear yet.
 */
export const stopAbandonedCharge = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
): Promise<Subscription> => {
  const { charge } = subscription;
  if (!charge?.abandoned) return subscription;
  const stopped = isProviderBilled(subscription)
    ? await stopThere(deps, subscription)
    : await stop(() => releasePayment(deps, charge.paymentId));
  if (stopped === 'not now') return subscription;
  return store.change(subscription, (current) => {
    if (current.charge?.paymentId !== charge.paymentId) return current;
    // An attempt that is not claimed by now can no longer be: the claim asks whether it is still wanted.
    return stopped ? settleCharge(current, stopped, deps.now(), deps.dunning) : dropCharge(current);
  });
};

/** Where the provider bills, there is no payment to be let go, but perhaps a subscription that nobody heard of. */
const stopThere = (deps: BillingDeps, subscription: Subscription): Promise<undefined | 'not now'> =>
  stop(async () => {
    await cancelEarlierCreations(deps, subscription);
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
