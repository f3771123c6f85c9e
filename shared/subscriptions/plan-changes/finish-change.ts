/**
 * @module Completes a claimed plan change. It charges the payment once, sends the new price to the billing provider,
 * and then applies the plan. Every step is safe to repeat, and due work retries it.
 */

import { DomainError } from '../../core/errors.ts';
import { type Instant, instant } from '../../core/time.ts';
import { collect, findCollectedPayment, releasePayment } from '../../payments/collect-payment.ts';
import type { VisiblePayment } from '../../payments/payment.ts';
import { FAILURE_OF } from '../../platform/command-end.ts';
import { sendPrice, sendPriceLater } from '../at-provider/price-at-provider.ts';
import { type AttendedCharge, type BillingDeps, nowOrLater } from '../billing/biller.ts';
import { periodPaymentRequest } from '../billing/periods.ts';
import { changeOpenCondition, type PlanChange } from '../record/plan-change.ts';
import { isLive, type Subscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import {
  applyChange,
  asLeftOpen,
  dropChange,
  dropIfOver,
  isChangeOver,
  lookLater,
  removeChange,
  settleChange,
} from './plan-change-steps.ts';

export interface ChargedChange {
  readonly subscription: Subscription;
  readonly payment: VisiblePayment;
}

/** Charges the amount due while the payer waits. @throws DomainError why nothing was charged; the change is dropped */
export const chargeChange = async (
  deps: BillingDeps,
  subscription: Subscription,
  { method, right }: AttendedCharge,
): Promise<ChargedChange> => {
  const { change } = subscription;
  if (change?.paymentId === undefined) throw new Error('no change with a payment');
  const collected = await collect(deps, {
    payment: {
      ...periodPaymentRequest({ ...subscription, ...change.plan, ...change.due }, change.paymentId),
      billingReason: 'subscription_change',
      // The amount due is a difference of two prices, so no part of it is attributed to the discount code.
      discount: undefined,
    },
    method,
    attempts: 0,
    onlyIf: [changeOpenCondition(subscription.id, change.id)],
    right,
  });
  if (collected.kind === 'payment') {
    const { payment } = collected;
    const { next } = await settle(deps, subscription, { payment });
    return { subscription: await continueChange(deps, next), payment };
  }
  const drop = (current: Subscription) => dropChange(current, undefined, deps.now());
  await continueChange(deps, await changeWhileOpen(deps, subscription, { change, decide: drop }));
  throw nothingChargedError(collected.error);
};

/** A payment not created in time was not charged either, so report a known failure, not a timeout. */
const nothingChargedError = (error: DomainError): DomainError =>
  error.code === 'PROVIDER_TIMEOUT' ? new DomainError('PROVIDER_UNAVAILABLE', { cause: error }) : error;

interface OpenChange {
  readonly change: PlanChange;
  readonly decide: (current: Subscription) => Subscription;
}

/** Changes the subscription while this plan change is open. Does nothing if the plan change has ended. */
const changeWhileOpen = (
  { table }: BillingDeps,
  subscription: Subscription,
  { change, decide }: OpenChange,
): Promise<Subscription> =>
  subscriptionStore(table).change(subscription, (current) =>
    current.change?.id === change.id ? decide(current) : current,
  );

interface Continuation {
  /** Set if the request that claimed the change has ended, so a failure must be reported by an event. */
  readonly isLate?: true;
}

/**
 * Applies a paid change, and cancels the payment of a dropped change. If a provider cannot be called now, due work
 * retries.
 */
export const continueChange = async (
  deps: BillingDeps,
  subscription: Subscription,
  continuation: Continuation = {},
): Promise<Subscription> => {
  switch (subscription.change?.step) {
    case 'paid':
      return applyAtProvider(deps, subscription, continuation);
    case 'dropped':
      return releaseChange(deps, subscription);
    default:
      return subscription;
  }
};

/** Sends the new price to the billing provider, then applies the new plan to the subscription. */
const applyAtProvider = async (
  deps: BillingDeps,
  paid: Subscription,
  { isLate }: Continuation,
): Promise<Subscription> => {
  const { change } = paid;
  const { subscription, result } = await sendPrice(deps, paid);
  if (result === 'unclear' || change === undefined) return subscription;
  if (result === 'sent' && isLive(subscription)) {
    warnIfRenewed(deps, subscription, change);
    return changeWhileOpen(deps, subscription, { change, decide: (current) => applyChange(current, deps.now()) });
  }
  if (result === 'refused' && isLive(subscription) && change.paymentId !== undefined) {
    logAnomaly(deps, subscription, change, 'the provider refuses the price of a paid change');
    return sendPriceLater(deps, subscription);
  }
  if (change.paymentId !== undefined) warnOfEnd(deps, subscription, change);
  const reason = change.paymentId === undefined && !isLate ? undefined : FAILURE_OF.change.reason;
  const remove = (current: Subscription) => removeChange({ ...current, priceUpdate: undefined }, reason, deps.now());
  return changeWhileOpen(deps, subscription, { change, decide: remove });
};

/** Cancels the payment of a dropped change. Applies the change if the payment succeeded after all. */
const releaseChange = async (deps: BillingDeps, dropped: Subscription): Promise<Subscription> => {
  const { change } = dropped;
  if (change?.paymentId === undefined) return dropped;
  const { paymentId, dropReason } = change;
  const released = await nowOrLater(() => releasePayment(deps, paymentId));
  if (!released) return dropped;
  if (!released.value) {
    const decide = (current: Subscription) => removeChange(current, dropReason, deps.now());
    return changeWhileOpen(deps, dropped, { change, decide });
  }
  const { next } = await settle(deps, dropped, { payment: released.value });
  return next.change?.step === 'paid' ? continueChange(deps, next) : next;
};

/** Records the payment of the change, then continues the change. */
export const followChange = async (
  deps: BillingDeps,
  subscription: Subscription,
  followed: FollowedPayment,
): Promise<Subscription> => {
  const { was, next } = await settle(deps, subscription, followed);
  return isSending(was, deps.now()) ? next : continueChange(deps, next);
};

interface FollowedPayment extends Continuation {
  readonly payment: VisiblePayment;
}

/** Records the payment of the change. Logs an anomaly if the money has no effect. */
const settle = async (
  deps: BillingDeps,
  subscription: Subscription,
  { payment, isLate }: FollowedPayment,
): Promise<{ readonly was: Subscription; readonly next: Subscription }> => {
  let was = subscription;
  const next = await subscriptionStore(deps.table).change(subscription, (current) => {
    was = current;
    return settleChange(isLate ? asLeftOpen(current) : current, payment, deps.now());
  });
  const { change } = was;
  if (payment.status === 'succeeded' && change && next.change === undefined) {
    if (next.status === 'canceled') warnOfEnd(deps, next, change);
    else warnIfRenewed(deps, was, change);
  }
  return { was, next };
};

/** True while the function that recorded the payment may still be sending the price. Due work takes over afterwards. */
const isSending = ({ change, priceUpdate }: Subscription, now: Instant): boolean =>
  change?.step === 'paid' && priceUpdate !== undefined && instant(priceUpdate.lookAt) > now;

/**
 * The due work of a plan change that has expired, whose payment has an unknown outcome, or whose function may have
 * ended.
 */
export const lookAtChange = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const { change } = subscription;
  if (!change) return subscription;
  const settled = isChangeOver(subscription, deps.now())
    ? await subscriptionStore(deps.table).change(subscription, (current) => dropIfOver(asLeftOpen(current), deps.now()))
    : await readPayment(deps, subscription, change);
  const next = await continueChange(deps, settled, { isLate: true });
  return next.change?.id === change.id && next.change.lookAt <= change.lookAt
    ? changeWhileOpen(deps, next, { change, decide: (current) => lookLater(current, deps.now()) })
    : next;
};

/**
 * Records the payment of the change. If the payment was never attempted, drops the change. The request of such a change
 * has failed, so the payment must never be charged later.
 */
const readPayment = async (
  deps: BillingDeps,
  subscription: Subscription,
  change: PlanChange,
): Promise<Subscription> => {
  if (change.paymentId === undefined) return subscription;
  const payment = await findCollectedPayment(deps, change.paymentId);
  if (payment) return followChange(deps, subscription, { payment, isLate: true });
  const drop = (current: Subscription) => dropChange(current, FAILURE_OF.change.reason, deps.now());
  return changeWhileOpen(deps, subscription, { change, decide: drop });
};

const warnOfEnd = (deps: BillingDeps, ended: Subscription, change: PlanChange): void =>
  logAnomaly(deps, ended, change, 'a change of the plan is paid, and the subscription has ended');

/** Logs a renewal at the old price during the change. The new price applies from now on, without a second proration. */
const warnIfRenewed = (deps: BillingDeps, before: Subscription, change: PlanChange): void => {
  if (before.currentPeriodStart === change.periodStart && before.charge === undefined) return;
  logAnomaly(deps, before, change, 'renewed at the old price during a change of the plan');
};

const logAnomaly = (deps: BillingDeps, { id }: Subscription, change: PlanChange, reason: string): void =>
  deps.log.error('subscription anomaly', { subscription_id: id, payment_id: change.paymentId ?? '', reason });
