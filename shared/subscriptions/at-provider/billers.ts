/** @module Selects a subscription's biller, stops an abandoned charge, and starts a new period. */

import type { Caller } from '../../access/caller.ts';
import { requireFree } from '../../calls/exclusions.ts';
import { DomainError } from '../../core/errors.ts';
import { requireHeld, type UsableMethod } from '../../payment-methods/usable-method.ts';
import { declinedError } from '../../providers/unwrap.ts';
import { type Biller, type BillingDeps, type ChargeRequest, nowOrLater, settlementOf } from '../billing/biller.ts';
import { serviceBiller } from '../billing/service-biller.ts';
import { dropCharge, settleCharge } from '../billing/subscription-charge.ts';
import { isLive, type Subscription } from '../record/subscription.ts';
import { openCallsOf } from '../record/subscription-states.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { providerBiller } from './create-at-provider.ts';

const BILLERS: Readonly<Record<Subscription['billingOwner'], Biller>> = {
  provider: providerBiller,
  service: serviceBiller,
};

export const billerOf = ({ billingOwner }: Pick<Subscription, 'billingOwner'>): Biller => BILLERS[billingOwner];

/** Stops an abandoned charge if possible, and records the outcome. If the provider is unavailable, due work retries. */
export const stopAbandonedCharge = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const { charge } = subscription;
  if (!charge?.abandoned) return subscription;
  const released = await nowOrLater(() => billerOf(subscription).releaseCharge(deps, subscription));
  if (!released) return subscription;
  const payment = released.value;
  return subscriptionStore(deps.table).change(subscription, (current) => {
    if (current.charge?.paymentId !== charge.paymentId) return current;
    // No further attempt can be claimed, because a claim requires a charge that is not abandoned.
    return payment && payment.status !== 'failed'
      ? settleCharge(current, payment, settlementOf(deps))
      : dropCharge(current);
  });
};

/**
 * Checks that this caller may restart the subscription. Its method is charged now or at the next period, so the caller
 * needs the right to use it even if nothing is due now.
 * @throws DomainError PAYMENT_IN_PROGRESS while the outcome of an earlier charge is unknown; PAYMENT_METHOD_REQUIRED or
 * INSUFFICIENT_PERMISSIONS
 */
export const requireStartable = async (
  { table }: BillingDeps,
  subscription: Subscription,
  { caller, needsMethod }: { readonly caller: Caller; readonly needsMethod: boolean },
): Promise<UsableMethod> => {
  const { paymentMethodId, totalCents } = subscription;
  requireFree('start', openCallsOf(subscription));
  if (needsMethod && totalCents > 0 && paymentMethodId === undefined) throw new DomainError('PAYMENT_METHOD_REQUIRED');
  return requireHeld({ table, caller }, subscription, subscription);
};

/**
 * The current record with the customer and the method that the caller has chosen. A provider report may have been
 * stored since the choice.
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

/** Without `right`, due work starts the period and charges it off-session. */
interface Start extends Pick<ChargeRequest, 'method' | 'right'> {
  readonly cause: 'reactivate' | 'resume';
}

/**
 * Starts a new period now, and charges it while the payer waits. A billing provider creates a new subscription. The
 * state is checked again, because another request may have restarted the subscription first.
 * @throws DomainError PAYMENT_DECLINED, or the reason why nothing could be charged. The subscription is then unchanged.
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
      requireFree('start', openCallsOf(current));
      const base = current === subscription ? current : reportedSince(subscription, current);
      return biller.openFirstPeriod(base, cause, deps.now());
    },
    right,
  );
  if (!opened.charge) return opened;
  const charged = await biller.collect(deps, opened, { method, right });
  if (charged.error) throw charged.error;
  if (charged.declined && charged.subscription.status === subscription.status) {
    throw declinedError({ code: charged.declined });
  }
  return charged.subscription;
};
