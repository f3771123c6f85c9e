import type { Caller } from '../access/caller.ts';
import { DomainError } from '../core/errors.ts';
import { requireHeld, type UsableMethod } from '../payment-methods/usable-method.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import { type AttendedCharge, type Biller, type BillingDeps, settlementOf } from './biller.ts';
import { providerBiller } from './create-at-provider.ts';
import { serviceBiller } from './service-biller.ts';
import { isLive, type Subscription } from './subscription.ts';
import { dropCharge, settleCharge } from './subscription-charge.ts';
import { hasOpenAttempt } from './subscription-states.ts';
import { subscriptionStore } from './subscription-store.ts';

const BILLERS: Readonly<Record<Subscription['billingOwner'], Biller>> = {
  provider: providerBiller,
  service: serviceBiller,
};

export const billerOf = ({ billingOwner }: Pick<Subscription, 'billingOwner'>): Biller => BILLERS[billingOwner];

/**
 * Stops an abandoned charge where that is still possible, and records its outcome. Where the provider cannot be called
 * now, the charge stays, and due work checks it later.
 */
export const stopAbandonedCharge = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const { charge } = subscription;
  if (!charge?.abandoned) return subscription;
  let payment: VisiblePayment | undefined;
  try {
    payment = await billerOf(subscription).releaseCharge(deps, subscription);
  } catch (error) {
    if (error instanceof DomainError) return subscription;
    throw error;
  }
  return subscriptionStore(deps.table).change(subscription, (current) => {
    if (current.charge?.paymentId !== charge.paymentId) return current;
    // No attempt can be claimed any more: the claim requires a charge that is not abandoned.
    return payment && payment.status !== 'failed'
      ? settleCharge(current, payment, settlementOf(deps))
      : dropCharge(current);
  });
};

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
 * The record that is started, after a report of the provider has been stored: what the caller chose stays.
 * @throws DomainError VERSION_CONFLICT if another request has changed the subscription
 */
const reportedSince = (chosen: Subscription, current: Subscription): Subscription => {
  const { customerId, paymentMethodId, methodRef, status, charge } = chosen;
  const isSame = current.status === status && current.charge?.paymentId === charge?.paymentId;
  if (!isSame || (current.methodRef !== methodRef && methodRef !== undefined)) {
    throw new DomainError('VERSION_CONFLICT');
  }
  return { ...current, customerId, paymentMethodId, methodRef };
};

interface Start extends AttendedCharge {
  readonly cause: 'reactivate' | 'resume';
}

/**
 * Starts a new period now, and charges it while the payer waits. Where the provider bills, it gets a new subscription. The record
 * may be newer than the one that the caller was allowed to start: another start may have been faster.
 * @throws DomainError PAYMENT_DECLINED, or why nothing could be charged: then the subscription stays as it was.
 */
export const startPeriod = async (
  deps: BillingDeps,
  subscription: Subscription,
  { cause, method, right }: Start,
): Promise<Subscription> => {
  const biller = billerOf(subscription);
  const opened = await subscriptionStore(deps.table).change(
    subscription,
    (current) => {
      if (cause === 'reactivate' && isLive(current)) throw new DomainError('SUBSCRIPTION_NOT_CANCELED');
      if (hasOpenAttempt(current.charge)) throw new DomainError('PAYMENT_IN_PROGRESS');
      const base = current === subscription ? current : reportedSince(subscription, current);
      return biller.openFirstPeriod(base, cause, deps.now());
    },
    right,
  );
  if (!opened.charge) return opened;
  const charged = await biller.collect(deps, opened, { method, right });
  if (charged.error) throw charged.error;
  if (charged.declined && charged.subscription.status === subscription.status) {
    throw new DomainError('PAYMENT_DECLINED', { details: { decline_code: charged.declined } });
  }
  return charged.subscription;
};
