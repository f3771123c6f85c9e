import { DomainError } from '../core/errors.ts';
import type { UsableMethod } from '../payment-methods/use.ts';
import { attemptCharge } from './charge.ts';
import type { BillingDeps } from './deps.ts';
import { claimedAtProvider, createAtProvider } from './native.ts';
import { isNative } from './native-port.ts';
import { startedNow } from './periods.ts';
import { subscriptionStore } from './store.ts';
import type { Subscription } from './subscription.ts';
import { isUnclear } from './transitions.ts';

/** @throws DomainError PAYMENT_IN_PROGRESS while an earlier charge is not clear yet, or PAYMENT_METHOD_REQUIRED. */
export const requireChargeable = (
  { charge, paymentMethodId, totalCents }: Subscription,
  { needsMethod }: { readonly needsMethod: boolean },
): void => {
  if (isUnclear(charge)) throw new DomainError('PAYMENT_IN_PROGRESS');
  if (needsMethod && totalCents > 0 && paymentMethodId === undefined) throw new DomainError('PAYMENT_METHOD_REQUIRED');
};

/**
 * Starts a new period now, and charges it while its payer waits; where the provider bills, it is made there once more.
 * @throws DomainError PAYMENT_DECLINED, or why nothing could be charged: then everything is as it was.
 */
export const begin = async (
  deps: BillingDeps,
  subscription: Subscription,
  { cause, method }: { readonly cause: 'reactivate' | 'resume'; readonly method: UsableMethod },
): Promise<Subscription> => {
  const store = subscriptionStore(deps.table);
  const start = isNative(subscription) ? claimedAtProvider : startedNow;
  const begun = await store.commit(subscription, start(subscription, cause, deps.now()));
  if (!begun.ok) throw new DomainError('VERSION_CONFLICT');
  if (!begun.subscription.charge) return begun.subscription;
  const tried = isNative(subscription)
    ? await createAtProvider(deps, store, begun.subscription)
    : await attemptCharge(deps, store, begun.subscription, { method, attended: true });
  if (tried.error) throw tried.error;
  if (tried.declined && tried.subscription.status === subscription.status) {
    throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: tried.declined } });
  }
  return tried.subscription;
};
