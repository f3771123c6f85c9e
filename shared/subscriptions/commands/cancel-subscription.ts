/** @module Cancels subscriptions, immediately or at the end of the period. */

import { requireFree } from '../../calls/exclusions.ts';
import type { ApiRequest, Reply } from '../../http/request.ts';
import { stopAbandonedCharge } from '../at-provider/billers.ts';
import {
  cancelProviderSubscription,
  carryOutAtProvider,
  scheduleCancelCommand,
} from '../at-provider/provider-commands.ts';
import { syncFromProvider } from '../at-provider/store-report.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { markCanceled, withdrawReturn } from '../billing/lifecycle.ts';
import { dropSchedule, endChange, withdrawSchedule } from '../plan-changes/end-change.ts';
import {
  endsWithPeriod,
  isProviderBilled,
  type Subscription,
  type VisibleSubscription,
} from '../record/subscription.ts';
import type { CancelBody } from '../record/subscription-requests.ts';
import { isFirst, openCallsOf } from '../record/subscription-states.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { edit } from '../record/subscription-versions.ts';
import { commandView } from '../record/subscription-view.ts';

/** Cancels immediately, or at the end of the period if the request asks for it. Idempotent. */
export const cancelSubscription = async (
  deps: BillingDeps,
  { record, body }: ApiRequest<unknown, unknown, CancelBody, VisibleSubscription>,
): Promise<Reply> => {
  const isAtPeriodEnd = body.cancel_at_period_end && !hasNoPeriodLeft(record);
  return { data: commandView(await (isAtPeriodEnd ? scheduleCancel : cancelNow)(deps, record)) };
};

/** True if no paid period is left, such as after a failed renewal. A pending first charge may still pay a period. */
const hasNoPeriodLeft = ({ status, charge }: Subscription): boolean =>
  status === 'canceled' || (status === 'past_due' && !(charge && isFirst(charge)));

/**
 * Withdraws a scheduled plan change, then schedules the cancellation. Also withdraws a plan change that another request
 * has scheduled meanwhile. Due work then sends the price to the provider.
 */
const scheduleCancel = async (deps: BillingDeps, found: Subscription): Promise<Subscription> =>
  dropSchedule(deps, await storeCancel(deps, await withdrawSchedule(deps, found)));

/**
 * Schedules the cancellation. If it already seems scheduled, the provider is read first, because a reactivation may
 * have lost its response. A later end date set at the provider is replaced by the end of the period.
 */
const storeCancel = async (deps: BillingDeps, read: Subscription): Promise<Subscription> => {
  const isKnown = isProviderBilled(read) && read.cancelAtPeriodEnd;
  const subscription = isKnown ? await syncFromProvider(deps, read) : read;
  if (isProviderBilled(subscription) && !endsWithPeriod(subscription))
    return carryOutAtProvider(deps, subscription, scheduleCancelCommand);
  return subscriptionStore(deps.table).change(subscription, (current) => {
    if (current.status === 'canceled') return withdrawReturn(current, deps.now());
    return current.cancelAtPeriodEnd
      ? current
      : edit(current, { reason: 'cancel_scheduled', now: deps.now() }, { cancelAtPeriodEnd: true });
  });
};

/**
 * Cancels immediately, without a refund. First drops an unpaid plan change and withdraws a scheduled change. Stops an
 * open charge if still possible, including the charge of a reactivation.
 * @throws DomainError PAYMENT_IN_PROGRESS during a transfer, or while the outcome of a change is unknown
 */
export const cancelNow = async (deps: BillingDeps, found: Subscription): Promise<Subscription> => {
  const subscription = await dropSchedule(deps, await endChange(deps, found));
  if (isProviderBilled(subscription) && subscription.status !== 'canceled')
    await cancelProviderSubscription(deps, subscription);
  let isWithdrawn = false;
  const canceled = await subscriptionStore(deps.table).change(subscription, (current) => {
    if (current.status !== 'canceled') {
      // A provider-billed subscription has already ended at its provider, so a change claimed since is never charged.
      if (!isProviderBilled(current)) requireFree('end', openCallsOf(current));
      return hasMoved(current, subscription) ? current : markCanceled(current, deps.now());
    }
    const withdrawn = withdrawReturn(current, deps.now());
    isWithdrawn = withdrawn !== current;
    return withdrawn;
  });
  if (canceled.status !== 'canceled') return cancelNow(deps, canceled);
  // The reactivating function may be about to call the provider, so due work ends the charge after that call.
  return isWithdrawn && isProviderBilled(canceled) ? canceled : stopAbandonedCharge(deps, canceled);
};

/** True if a concurrent event or transfer replaced the provider's subscription, so the new one must be canceled too. */
const hasMoved = ({ providerSubscriptionId, transfer }: Subscription, read: Subscription): boolean =>
  providerSubscriptionId !== read.providerSubscriptionId || transfer !== undefined;
