import { DomainError } from '../core/errors.ts';
import type { Reply } from '../http/reply.ts';
import type { ApiRequest } from '../http/request.ts';
import { followAbandoned } from './abandon.ts';
import { begin, requireStartable } from './begin.ts';
import { pausedNow, resumedFree } from './changes.ts';
import type { BillingDeps } from './deps.ts';
import * as atProvider from './native-commands.ts';
import { inState, isNative } from './native-port.ts';
import { isPaidFor } from './periods.ts';
import { subscriptionStore } from './store.ts';
import type { Subscription, VisibleSubscription } from './subscription.ts';
import { mayChange } from './transitions.ts';
import { shown } from './view.ts';

/** Nothing is charged while a subscription is paused. Repeated, it answers the same. */
export const pauseSubscription = async (
  deps: BillingDeps,
  { record }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  const store = subscriptionStore(deps.table);
  if (isNative(record) && record.status !== 'paused') {
    requireState(record, mayChange(record.status, 'paused', 'pause'));
    requireNotHeld(record);
    return { data: shown(await atProvider.changeAtProvider(deps, record, atProvider.pause)) };
  }
  const paused = await store.change(record, (current) => {
    if (current.status === 'paused') return current;
    requireState(current, mayChange(current.status, 'paused', 'pause'));
    return pausedNow(current, deps.now());
  });
  return { data: shown(await followAbandoned(deps, store, paused)) };
};

/** Runs on where its period is still paid for; else a new one starts now, and is charged. */
export const resumeSubscription = async (
  deps: BillingDeps,
  { record, caller }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  if (record.status === 'active') return { data: shown(record) };
  requireState(record, record.status === 'paused');
  const isFree = isPaidFor(record, deps.now());
  // Where the provider bills, it charges the method by itself from here on.
  const method = await requireStartable(deps, record, { caller, needsMethod: !isFree || isNative(record) });
  if (isNative(record)) {
    if (method.paymentMethodId === undefined) throw new DomainError('PAYMENT_METHOD_REQUIRED');
    const running = isFree
      ? atProvider.changeAtProvider(deps, record, atProvider.resume)
      : atProvider.resumeAnewAtProvider(deps, record);
    return { data: shown(await running) };
  }
  if (!isFree) return { data: shown(await begin(deps, record, { cause: 'resume', method })) };
  const resumed = await subscriptionStore(deps.table).change(record, (current) => {
    requireState(current, current.status === 'paused');
    return resumedFree(current, deps.now());
  });
  return { data: shown(resumed) };
};

/** @throws DomainError INVALID_STATE while the provider holds it back for want of a payment method. */
const requireNotHeld = ({ held }: Subscription): void => {
  if (held) throw new DomainError('INVALID_STATE', { message: 'Its payment method is gone: name another one first' });
};

const requireState = (subscription: Subscription, allowed: boolean): void => {
  if (!allowed) throw inState(subscription);
};
