import { DomainError } from '../../core/errors.ts';
import type { Reply } from '../../http/reply.ts';
import type { ApiRequest } from '../../http/request.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { pause, resumeInPaidPeriod } from '../billing/lifecycle.ts';
import { isPaidFor } from '../billing/periods.ts';
import * as atProvider from '../provider-billed/commands.ts';
import { invalidStateError } from '../provider-billed/port.ts';
import { maySubscriptionChange } from '../record/states.ts';
import { subscriptionStore } from '../record/store.ts';
import { isProviderBilled, type Subscription, type VisibleSubscription } from '../record/subscription.ts';
import { commandView } from '../record/view.ts';
import { requireStartable, startPeriod } from './start-period.ts';
import { stopAbandonedCharge } from './stop-charge.ts';

/** Nothing is charged while a subscription is paused. Repeated, it answers the same. */
export const pauseSubscription = async (
  deps: BillingDeps,
  { record }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  const store = subscriptionStore(deps.table);
  if (isProviderBilled(record) && record.status !== 'paused') {
    requireState(record, maySubscriptionChange(record.status, 'paused', 'pause'));
    requireNotHeld(record);
    return { data: commandView(await atProvider.carryOutAtProvider(deps, record, atProvider.pauseCommand)) };
  }
  const paused = await store.change(record, (current) => {
    if (current.status === 'paused') return current;
    requireState(current, maySubscriptionChange(current.status, 'paused', 'pause'));
    return pause(current, deps.now());
  });
  return { data: commandView(await stopAbandonedCharge(deps, store, paused)) };
};

/** Runs on where its period is still paid for; else a new one starts now, and is charged. */
export const resumeSubscription = async (
  deps: BillingDeps,
  { record, caller }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  if (record.status === 'active') return { data: commandView(record) };
  requireState(record, record.status === 'paused');
  const isFree = isPaidFor(record, deps.now());
  // Where the provider bills, it charges the method by itself from here on.
  const method = await requireStartable(deps, record, { caller, needsMethod: !isFree || isProviderBilled(record) });
  if (isProviderBilled(record)) {
    if (method.paymentMethodId === undefined) throw new DomainError('PAYMENT_METHOD_REQUIRED');
    const running = isFree
      ? atProvider.carryOutAtProvider(deps, record, atProvider.resumeCommand)
      : atProvider.resumeInNewPeriod(deps, record);
    return { data: commandView(await running) };
  }
  if (!isFree) return { data: commandView(await startPeriod(deps, record, { cause: 'resume', method })) };
  const resumed = await subscriptionStore(deps.table).change(record, (current) => {
    requireState(current, current.status === 'paused');
    return resumeInPaidPeriod(current, deps.now());
  });
  return { data: commandView(resumed) };
};

/** @throws DomainError INVALID_STATE while the provider holds it back for want of a payment method. */
const requireNotHeld = ({ held }: Subscription): void => {
  if (held) throw new DomainError('INVALID_STATE', { message: 'Its payment method is gone: name another one first' });
};

const requireState = (subscription: Subscription, allowed: boolean): void => {
  if (!allowed) throw invalidStateError(subscription);
};
