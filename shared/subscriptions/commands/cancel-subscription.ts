/** @module Cancels subscriptions, at the end of the period or immediately. */

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

/** Idempotent. */
export const cancelSubscription = async (
  deps: BillingDeps,
  { record, body }: ApiRequest<unknown, unknown, CancelBody, VisibleSubscription>,
): Promise<Reply> => {
  const isAtPeriodEnd = body.cancel_at_period_end && !hasNoPeriodLeft(record);
  return { data: commandView(await (isAtPeriodEnd ? scheduleCancel : cancelNow)(deps, record)) };
};

/** A failed renewal leaves no paid period to wait for. A first charge that is pending may still pay its period. */
const hasNoPeriodLeft = ({ status, charge }: Subscription): boolean =>
  status === 'canceled' || (status === 'past_due' && !(charge && isFirst(charge)));

/** A change of the plan that was scheduled meanwhile is withdrawn too; due work gives the provider the price. */
const scheduleCancel = async (deps: BillingDeps, found: Subscription): Promise<Subscription> =>
  dropSchedule(deps, await storeCancel(deps, await withdrawSchedule(deps, found)));

/**
 * A scheduled cancellation is read at the provider first, because a reactivation may have lost its response. An end date
 * after the period, which was set at the provider, is replaced by the end of the period.
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
 * Cancels immediately, without a refund. An unpaid change of the plan is dropped first, and a scheduled one withdrawn.
 * An open charge is stopped if that is still possible, including the charge of a reactivation.
 * @throws DomainError PAYMENT_IN_PROGRESS during a transfer, and while the outcome of a change is unknown
 */
export const cancelNow = async (deps: BillingDeps, found: Subscription): Promise<Subscription> => {
  const subscription = await dropSchedule(deps, await endChange(deps, found));
  if (isProviderBilled(subscription) && subscription.status !== 'canceled')
    await cancelProviderSubscription(deps, subscription);
  let isWithdrawn = false;
  const canceled = await subscriptionStore(deps.table).change(subscription, (current) => {
    if (current.status !== 'canceled') {
      // The payment of a change that was claimed since is not made once the subscription has ended at its provider.
      if (!isProviderBilled(current)) requireFree('end', openCallsOf(current));
      return hasMoved(current, subscription) ? current : markCanceled(current, deps.now());
    }
    const withdrawn = withdrawReturn(current, deps.now());
    isWithdrawn = withdrawn !== current;
    return withdrawn;
  });
  if (canceled.status !== 'canceled') return cancelNow(deps, canceled);
  // The function that claimed the reactivation may be about to call the provider, so due work ends the charge after
  // that call.
  return isWithdrawn && isProviderBilled(canceled) ? canceled : stopAbandonedCharge(deps, canceled);
};

/** True if an event or a transfer was faster, so that another subscription must be canceled at the provider. */
const hasMoved = ({ providerSubscriptionId, transfer }: Subscription, read: Subscription): boolean =>
  providerSubscriptionId !== read.providerSubscriptionId || transfer !== undefined;
