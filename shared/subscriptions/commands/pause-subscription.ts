/** @module Pauses and resumes subscriptions. */

import { FIRST_LOOK_MS } from '../../calls/call-times.ts';
import { requireFree } from '../../calls/exclusions.ts';
import { DomainError, invalid } from '../../core/errors.ts';
import { allows } from '../../core/states.ts';
import { DAY_MS, HOUR_MS, type Instant, instant, iso } from '../../core/time.ts';
import type { ApiRequest, Reply } from '../../http/request.ts';
import { findUnattended, requireHeld, type UsableMethod } from '../../payment-methods/usable-method.ts';
import { requireStartable, startPeriod, stopAbandonedCharge } from '../at-provider/billers.ts';
import { invalidStateError } from '../at-provider/provider-biller.ts';
import { carryOutAtProvider, pauseCommand, resumeAtProvider } from '../at-provider/provider-commands.ts';
import { syncFromProvider } from '../at-provider/store-report.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { markPaused, resumeInPaidPeriod, withdrawReturn } from '../billing/lifecycle.ts';
import { isPaidFor } from '../billing/periods.ts';
import { endChange, endOvertakenChange } from '../plan-changes/end-change.ts';
import { isProviderBilled, type Subscription, type VisibleSubscription } from '../record/subscription.ts';
import type { PauseBody } from '../record/subscription-requests.ts';
import { openCallsOf, SUBSCRIPTION_TRANSITIONS } from '../record/subscription-states.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { edit } from '../record/subscription-versions.ts';
import { commandView, standingReply } from '../record/subscription-view.ts';

/** Pauses a subscription. Nothing is charged until it is resumed or until `resume_at`. Idempotent. */
export const pauseSubscription = async (
  deps: BillingDeps,
  { record: read, body }: ApiRequest<unknown, unknown, PauseBody, VisibleSubscription>,
): Promise<Reply> => {
  const resumeAt = resumeTime(body, deps.now());
  const record = await readAgainIf(deps, await endChange(deps, read), 'paused');
  if (isProviderBilled(record) && (record.status !== 'paused' || record.owed !== undefined)) {
    requireState(record, record.status === 'paused' || mayPause(record));
    requireNotHeld(record);
    const paused = await pauseUntil(deps, record, resumeAt);
    return { data: commandView(await endOvertakenChange(deps, paused)) };
  }
  const paused = await subscriptionStore(deps.table).change(record, (current) => {
    if (current.status === 'paused') return moveResumption(withdrawReturn(current, deps.now()), resumeAt, deps.now());
    requireFree('pause', openCallsOf(current));
    requireState(current, mayPause(current));
    return markPaused({ ...current, resumeAt }, deps.now());
  });
  return { data: commandView(await stopAbandonedCharge(deps, paused)) };
};

const SOONEST_MS = HOUR_MS;
const LATEST_MS = 400 * DAY_MS;

/** @returns undefined if the request names no date @throws DomainError VALIDATION_ERROR */
const resumeTime = ({ resume_at: sent }: PauseBody, now: Instant): string | undefined => {
  if (!sent) return undefined;
  const at = instant(sent);
  if (at >= now + SOONEST_MS && at <= now + LATEST_MS) return iso(at);
  const message = 'must be at least 1 hour and at most 400 days from now';
  throw invalid([{ path: 'resume_at', rule: 'range', message }]);
};

/** Another pause request moves the resume date, or keeps it if the request names no date. */
const moveResumption = (paused: Subscription, resumeAt: string | undefined, now: Instant): Subscription =>
  resumeAt === undefined || resumeAt === paused.resumeAt
    ? paused
    : edit(paused, { reason: 'paused', now }, { resumeAt });

/**
 * Stores the resume date before the provider pauses, so the date cannot get lost. Readers see it once the subscription
 * is paused. If the pause turns out to have failed, the open command clears the date.
 */
const pauseUntil = async (
  deps: BillingDeps,
  record: Subscription,
  resumeAt: string | undefined,
): Promise<Subscription> => {
  const store = subscriptionStore(deps.table);
  const dated = await store.change(record, (current) => {
    if (current.status === 'paused') return moveResumption(current, resumeAt, deps.now());
    if (resumeAt === undefined) return current.resumeAt === undefined ? current : { ...current, resumeAt };
    return { ...current, resumeAt, openCommand: { kind: 'pause', lookAt: iso(deps.now() + FIRST_LOOK_MS) } };
  });
  return carryOutAtProvider(deps, dated, pauseCommand);
};

/** Resumes in the current period if it is still paid. Otherwise starts and charges a new period now. */
export const resumeSubscription = async (
  deps: BillingDeps,
  { record: read, caller, right: { onlyIf }, idempotency }: ApiRequest<unknown, unknown, unknown, VisibleSubscription>,
): Promise<Reply> => {
  const record = await readAgainIf(deps, read, 'active');
  const isRepeat = idempotency?.isRepeat && record.status === 'past_due';
  if (isRepeat || record.status === 'active') return standingReply(record, idempotency);
  requireState(record, record.status === 'paused');
  const isPaid = isPaidFor(record, deps.now());
  // A billing provider charges the method later without a check here, so a method is required now.
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

/** If the record already has the wanted status, reads the provider, because a command may have lost its response. */
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

/**
 * Resumes like `resumeSubscription`, as due work without a caller.
 * @throws DomainError for a decline, or the reason why the subscription cannot be resumed
 */
export const resumeUnattended = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  requireFree('start', openCallsOf(subscription));
  const method = await unattendedMethod(deps, subscription);
  if (isProviderBilled(subscription)) {
    if (method?.paymentMethodId === undefined) throw new DomainError('PAYMENT_METHOD_REQUIRED');
    return resumeAtProvider(deps, subscription, method.onlyIf);
  }
  if (!isPaidFor(subscription, deps.now())) {
    if (method === undefined) throw new DomainError('PAYMENT_METHOD_REQUIRED');
    return startPeriod(deps, subscription, { cause: 'resume', method });
  }
  return subscriptionStore(deps.table).change(subscription, (current) =>
    current.status === 'paused' ? resumeInPaidPeriod(current, deps.now()) : current,
  );
};

/** The method to charge off-session. A free subscription needs none. */
const unattendedMethod = async (
  { table }: BillingDeps,
  subscription: Subscription,
): Promise<UsableMethod | undefined> => {
  if (subscription.paymentMethodId === undefined && subscription.totalCents === 0) {
    return requireHeld({ table, caller: { kind: 'anonymous' } }, subscription, {});
  }
  return findUnattended(table, subscription, subscription);
};
