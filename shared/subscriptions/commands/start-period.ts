import type { Caller } from '../../access/caller.ts';
import { DomainError } from '../../core/errors.ts';
import { requireHeld, type UsableMethod } from '../../payment-methods/use.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { startFirstPeriod } from '../billing/periods.ts';
import { claimCreation, createAtProvider } from '../provider-billed/create.ts';
import { hasOpenAttempt } from '../record/states.ts';
import { subscriptionStore } from '../record/store.ts';
import { isProviderBilled, type Subscription } from '../record/subscription.ts';
import { attemptCharge } from '../service-billed/collect.ts';

/**
 * May this caller start the subscription again? The method that it holds is charged from then on, now or at the next
 * period, so the rule of use is asked even where nothing is charged now (decisions 15.5).
 * @throws DomainError PAYMENT_IN_PROGRESS while the outcome of an earlier charge is unknown; PAYMENT_METHOD_REQUIRED or
 * INSUFFICIENT_PERMISSIONS
 */
export const requireStartable = async (
  { table }: BillingDeps,
  subscription: Subscription,
  { caller, needsMethod }: { readonly caller: Caller; readonly needsMethod: boolean },
): Promise<UsableMethod> => {
  const { charge, paymentMethodId, totalCents } = subscription;
  if (hasOpenAttempt(charge)) throw new DomainError('PAYMENT_IN_PROGRESS');
  if (needsMethod && totalCents > 0 && paymentMethodId === undefined) throw new DomainError('PAYMENT_METHOD_REQUIRED');
  return requireHeld({ table, caller }, subscription, subscription);
};

/**
 * Starts a new period now, and charges it while its payer waits; where the provider bills, it is made there once more.
 * @throws DomainError PAYMENT_DECLINED, or why nothing could be charged: then everything is as it was.
 */
export const startPeriod = async (
  deps: BillingDeps,
  subscription: Subscription,
  { cause, method }: { readonly cause: 'reactivate' | 'resume'; readonly method: UsableMethod },
): Promise<Subscription> => {
  const store = subscriptionStore(deps.table);
  const start = isProviderBilled(subscription) ? claimCreation : startFirstPeriod;
  const begun = await store.commit(subscription, start(subscription, cause, deps.now()));
  if (!begun.ok) throw new DomainError('VERSION_CONFLICT');
  if (!begun.subscription.charge) return begun.subscription;
  const tried = isProviderBilled(subscription)
    ? await createAtProvider(deps, store, begun.subscription)
    : await attemptCharge(deps, store, begun.subscription, { method, attended: true });
  if (tried.error) throw tried.error;
  if (tried.declined && tried.subscription.status === subscription.status) {
    throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: tried.declined } });
  }
  return tried.subscription;
};
