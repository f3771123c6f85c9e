/** @module Pauses and resumes subscriptions. */

import { requireFree } from '../../calls/exclusions.ts';
import { DomainError } from '../../core/errors.ts';
import { allows } from '../../core/states.ts';
import type { ApiRequest, Reply } from '../../http/request.ts';
import { requireStartable, startPeriod, stopAbandonedCharge } from '../at-provider/billers.ts';
import { invalidStateError } from '../at-provider/provider-biller.ts';
import { carryOutAtProvider, pauseCommand, resumeAtProvider } from '../at-provider/provider-commands.ts';
import { syncFromProvider } from '../at-provider/store-report.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { markPaused, resumeInPaidPeriod, withdrawReturn } from '../billing/lifecycle.ts';
import { isPaidFor } from '../billing/periods.ts';
import { endChange, endOvertakenChange } from '../plan-changes/end-change.ts';
import { isProviderBilled, type Subscription, type VisibleSubscription } from '../record/subscription.ts';
import { openCallsOf, SUBSCRIPTION_TRANSITIONS } from '../record/subscription-states.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { commandView, standingReply } from '../record/subscription-view.ts';

/** Pauses a subscription, so that nothing is charged until it is resumed. Idempotent. */
export const pauseSubscription = async (
  deps: BillingDeps,
  { record: read }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  const record = await readAgainIf(deps, await endChange(deps, read), 'paused');
  if (isProviderBilled(record) && (record.status !== 'paused' || record.owed !== undefined)) {
    requireState(record, record.status === 'paused' || mayPause(record));
    requireNotHeld(record);
    const paused = await carryOutAtProvider(deps, record, pauseCommand);
    return { data: commandView(await endOvertakenChange(deps, paused)) };
  }
  const paused = await subscriptionStore(deps.table).change(record, (current) => {
    if (current.status === 'paused') return withdrawReturn(current, deps.now());
    requireFree('pause', openCallsOf(current));
    requireState(current, mayPause(current));
    return markPaused(current, deps.now());
  });
  return { data: commandView(await stopAbandonedCharge(deps, paused)) };
};

/** Resumes in the current period if it is still paid for. Otherwise starts a new period now, and charges it. */
export const resumeSubscription = async (
  deps: BillingDeps,
  { record: read, caller, right: { onlyIf }, idempotency }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  const record = await readAgainIf(deps, read, 'active');
  const isRepeat = idempotency?.isRepeat && record.status === 'past_due';
  if (isRepeat || record.status === 'active') return standingReply(record, idempotency);
  requireState(record, record.status === 'paused');
  const isPaid = isPaidFor(record, deps.now());
  // A billing provider charges the method later by itself, so a method is required now.
  const method = await requireStartable(deps, record, { caller, needsMethod: !isPaid || isProviderBilled(record) });
  if (isProviderBilled(record)) {
    if (method.paymentMethodId === undefined) throw new DomainError('PAYMENT_METHOD_REQUIRED');
    return { data: commandView(await resumeAtProvider(deps, record, onlyIf)) };
  }
  if (!isPaid) return standingReply(await startPeriod(deps, record, { cause: 'resume', method, right: onlyIf }));
  const resumed = await subscriptionStore(deps.table).change(
    record,
    (current) => {
      requireState(current, current.status === 'paused');
      return resumeInPaidPeriod(current, deps.now());
    },
    onlyIf,
  );
  return { data: commandView(resumed) };
};

/** If the status is already as wanted, reads the provider, because an earlier command may have lost its response. */
const readAgainIf = async (
  deps: BillingDeps,
  record: Subscription,
  status: Subscription['status'],
): Promise<Subscription> =>
  isProviderBilled(record) && record.status === status ? syncFromProvider(deps, record) : record;

const mayPause = ({ status }: Subscription): boolean =>
  allows(SUBSCRIPTION_TRANSITIONS, { from: status, to: 'paused', cause: 'pause' });

/** @throws DomainError INVALID_STATE while collection is paused at the provider because no payment method is set */
const requireNotHeld = ({ held }: Subscription): void => {
  if (held)
    throw new DomainError('INVALID_STATE', {
      message: 'The payment method was removed; set another payment method first',
    });
};

const requireState = (subscription: Subscription, allowed: boolean): void => {
  if (!allowed) throw invalidStateError(subscription);
};
