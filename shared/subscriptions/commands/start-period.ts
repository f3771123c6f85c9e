import type { Caller } from '../../access/caller.ts';
import { DomainError } from '../../core/errors.ts';
import { requireHeld, type UsableMethod } from '../../payment-methods/use.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { hasOpenAttempt } from '../record/states.ts';
import { subscriptionStore } from '../record/store.ts';
import type { Subscription } from '../record/subscription.ts';
import { billerOf } from './billers.ts';

/**
 * May this caller start the subscription again? Its method is charged from now on, at once or at the next period, so the
 * rule of use is checked even where nothing is charged now (decisions 15.5).
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
 * Starts a new period now, and charges it while the payer waits. Where the provider bills, it gets a new subscription.
 * @throws DomainError PAYMENT_DECLINED, or why nothing could be charged: then the subscription stays as it was.
 */
export const startPeriod = async (
  deps: BillingDeps,
  subscription: Subscription,
  { cause, method }: { readonly cause: 'reactivate' | 'resume'; readonly method: UsableMethod },
): Promise<Subscription> => {
  const biller = billerOf(subscription);
  const opened = await subscriptionStore(deps.table).commit(
    subscription,
    biller.openFirstPeriod(subscription, cause, deps.now()),
  );
  if (!opened.ok) throw new DomainError('VERSION_CONFLICT');
  if (!opened.record.charge) return opened.record;
  const charged = await biller.collect(deps, opened.record, { method, attended: true });
  if (charged.error) throw charged.error;
  if (charged.declined && charged.subscription.status === subscription.status) {
    throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: charged.declined } });
  }
  return charged.subscription;
};
