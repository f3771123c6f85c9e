/** @module Ends a plan change at the payer's request, or before the subscription is canceled or paused. */

import { requireFree } from '../../calls/exclusions.ts';
import { finishPriceUpdate } from '../at-provider/price-at-provider.ts';
import type { BillingDeps } from '../billing/biller.ts';
import type { Subscription } from '../record/subscription.ts';
import { openCallsOf } from '../record/subscription-states.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { continueChange } from './finish-change.ts';
import { dropChange, dropIfOver, withdrawScheduled } from './plan-change-steps.ts';

/** Checks the version that the write changes. Throws if the caller may not end the change. */
export type EndCheck = (current: Subscription) => void;

const NO_CHECK: EndCheck = () => {};

/**
 * Drops a change that waits for its payer, and cancels its payment. Applies a paid change.
 * @returns the subscription without a change
 * @throws DomainError PAYMENT_IN_PROGRESS while the outcome of the payment is unknown
 */
export const endChange = async (
  deps: BillingDeps,
  subscription: Subscription,
  check = NO_CHECK,
): Promise<Subscription> => {
  if (!subscription.change || subscription.status === 'canceled') return subscription;
  const dropped = await subscriptionStore(deps.table).change(subscription, (current) => {
    check(current);
    return current.change?.step === 'awaiting_payment'
      ? dropChange(current, 'plan_change_withdrawn', deps.now())
      : current;
  });
  const ended = await continueChange(deps, dropped);
  requireFree('end', openCallsOf(ended));
  return ended;
};

/** Drops an unpaid change of a subscription paused at its provider. Applies a paid change. */
export const endOvertakenChange = async (deps: BillingDeps, paused: Subscription): Promise<Subscription> => {
  if (!paused.change) return paused;
  const dropped = await subscriptionStore(deps.table).change(paused, (current) => dropIfOver(current, deps.now()));
  return continueChange(deps, dropped);
};

/** Withdraws the scheduled change and restores the current price at the billing provider. An unpaid change stays. */
export const withdrawSchedule = async (
  deps: BillingDeps,
  subscription: Subscription,
  check = NO_CHECK,
): Promise<Subscription> => {
  const withdrawn = await subscriptionStore(deps.table).change(subscription, (current) => {
    check(current);
    if (current.scheduledChange) requireFree('price update', openCallsOf(current));
    return withdrawScheduled(current, deps.now());
  });
  return withdrawn.priceUpdate ? finishPriceUpdate(deps, withdrawn) : withdrawn;
};

/**
 * Withdraws the scheduled change of a subscription that ends now or with its period. While the subscription continues,
 * due work restores the price at the provider.
 */
export const dropSchedule = (deps: BillingDeps, subscription: Subscription): Promise<Subscription> =>
  subscriptionStore(deps.table).change(subscription, (current) =>
    current.status === 'canceled' ? current : withdrawScheduled(current, deps.now()),
  );
