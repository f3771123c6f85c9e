/** @module The claim, charge, apply and drop steps of a plan change, as pure functions. */

import { FIRST_LOOK_MS } from '../../calls/call-times.ts';
import { subscriptionPaymentId } from '../../core/ids.ts';
import { type Instant, instant, iso, MINUTE_MS } from '../../core/time.ts';
import { type IdempotentRequest, isUnderKey } from '../../http/idempotency.ts';
import type { VisiblePayment } from '../../payments/payment.ts';
import { type PaidChange, paidAfterChange } from '../billing/paid-period.ts';
import { abandonCharge } from '../billing/subscription-charge.ts';
import { changedPlan, syncAfterChange } from '../record/held-plan.ts';
import type { PaidPeriod } from '../record/paid-period-record.ts';
import { unpaidOncePaid } from '../record/paid-tier.ts';
import {
  type ChangeKey,
  type ChangeLine,
  hasSameInterval,
  type PlanChange,
  type PriceUpdate,
  type SubscriptionPlan,
} from '../record/plan-change.ts';
import { isProviderBilled, isStopped, type Subscription } from '../record/subscription.ts';
import { afterPeriod } from '../record/subscription-discount.ts';
import { EVENT_LATE_MS, PAYERS_TIME_MS } from '../record/subscription-states.ts';
import { advanceSubscription, edit } from '../record/subscription-versions.ts';
import type { ChangePrice } from './plan-change-price.ts';

/** The payer's time to authenticate ends this long before the period does. */
const BEFORE_PERIOD_END_MS = 10 * MINUTE_MS;

/** A plan change, priced for one moment. */
export interface PricedChange {
  readonly plan: SubscriptionPlan;
  /** The moment for which the price is computed. */
  readonly at: Instant;
  /** What the change costs now. */
  readonly price: ChangePrice;
  readonly lines: readonly ChangeLine[];
  /** The current period after the change. */
  readonly period: { readonly start: Instant; readonly end: Instant };
  /** True if a new period begins with the change. */
  readonly startsPeriod: boolean;
  /**
   * Determines the period's payments after the change. Undefined if the change pays for no time, as in a continuing
   * trial.
   */
  readonly paying?: Omit<PaidChange, 'part' | 'dueCents'> | undefined;
  /** The new end of a trial that the change shortens or ends. */
  readonly trialEnd?: Instant | undefined;
}

interface Claim {
  readonly id: string;
  readonly now: Instant;
  /** The stored mark of the request's Idempotency-Key. */
  readonly key?: string | undefined;
}

/** Claims a change with immediate effect. If nothing is due and the service bills, applies the change immediately. */
export const claimChange = (
  subscription: Subscription,
  wanted: PricedChange,
  { id, now, key }: Claim,
): Subscription => {
  const { plan, at, price, lines, startsPeriod, period, trialEnd } = wanted;
  // Derived from subscription and change, so two runs cannot charge twice.
  const paymentId = price.due.totalCents > 0 ? subscriptionPaymentId(subscription.id, id) : undefined;
  const change: PlanChange = {
    id,
    ...(key !== undefined && { claimedUnder: { key, at: iso(now) } }),
    plan,
    step: 'claimed',
    at: iso(at),
    periodStart: subscription.currentPeriodStart,
    periodEnd: subscription.currentPeriodEnd,
    ...(startsPeriod && { nextPeriodEnd: iso(period.end) }),
    ...(trialEnd !== undefined && { trialEnd: iso(trialEnd) }),
    ...(subscription.status === 'trialing' && { inTrial: true as const }),
    due: price.due,
    paidPeriod: paidByChange(wanted, paymentId),
    lines: [...lines],
    ...(paymentId !== undefined && { paymentId }),
    lookAt: iso(now + FIRST_LOOK_MS),
  };
  const claimed = { ...subscription, change };
  return paymentId === undefined ? recordChangePaid(claimed, now) : claimed;
};

const paidByChange = ({ paying, price }: PricedChange, paymentId: string | undefined): PaidPeriod | undefined =>
  paying && paidAfterChange({ ...paying, part: price.part, dueCents: price.due.totalCents }, paymentId);

/** Schedules a change for the next period. The billing provider gets the new price immediately. */
export const scheduleChange = (subscription: Subscription, plan: SubscriptionPlan, { id, now }: Claim): Subscription =>
  edit(
    subscription,
    { reason: 'plan_change_scheduled', now },
    { scheduledChange: { id, plan }, ...updateOfPrice(subscription, { id, now, plan, end: undefined }) },
  );

/** Withdraws the scheduled change, and restores the price at the billing provider by an update with its own id. */
export const withdrawScheduled = (subscription: Subscription, now: Instant): Subscription => {
  if (!subscription.scheduledChange) return subscription;
  const id = `${subscription.scheduledChange.id}_withdrawn`;
  const restored = updateOfPrice(subscription, { id, now, plan: subscription, end: undefined });
  return edit(subscription, { reason: 'plan_change_withdrawn', now }, { scheduledChange: undefined, ...restored });
};

interface NewPriceClaim extends Claim {
  readonly plan: SubscriptionPlan;
  /** End of the period beginning now, or of the trial shortened by the change. */
  readonly end: string | undefined;
}

/**
 * The price update to send to the provider. A provider starts a period immediately if the interval or paid time
 * changes, or if the price becomes or ceases to be 0. The update then forbids charges before `freeUntil`.
 */
const updateOfPrice = (
  subscription: Subscription,
  { id, now, plan, end }: NewPriceClaim,
): { readonly priceUpdate?: PriceUpdate } => {
  if (!isProviderBilled(subscription)) return {};
  const known = subscription.scheduledChange?.plan ?? subscription;
  const isSame = hasSameInterval(known, plan) && (known.totalCents === 0) === (plan.totalCents === 0);
  return {
    priceUpdate: {
      id,
      ...((!isSame || end !== undefined) && { freeUntil: end ?? subscription.currentPeriodEnd }),
      claimedAt: iso(now),
      lookAt: iso(now + FIRST_LOOK_MS),
    },
  };
};

/** Records the change as paid. A billing provider must get the price before the change is applied. */
const recordChangePaid = (subscription: Subscription, now: Instant): Subscription => {
  const { change } = subscription;
  if (!change || change.step === 'paid') return subscription;
  if (!isProviderBilled(subscription)) return applyChange(subscription, now);
  const { id, plan, nextPeriodEnd, trialEnd } = change;
  return {
    ...subscription,
    change: { ...change, step: 'paid', expiresAt: undefined, dropReason: undefined, lookAt: iso(now + FIRST_LOOK_MS) },
    ...updateOfPrice(subscription, { id, now, plan, end: nextPeriodEnd ?? trialEnd }),
  };
};

/** Applies the plan of the change from now on. This withdraws a scheduled change. */
export const applyChange = (subscription: Subscription, now: Instant): Subscription => {
  const { change, latestPaymentId } = subscription;
  if (!change) return subscription;
  const { plan, at, trialEnd, paymentId } = change;
  const inTrial = subscription.status === 'trialing';
  const period = periodOfChange(subscription, change);
  const trialGoesOn = inTrial && !period;
  // A change claimed in a trial is free. If the provider added the trial after the claim, the change has paid for its
  // tier.
  const isFree = trialGoesOn && change.inTrial;
  // The paid period also covers a renewal opened during the change, so abandon that renewal's charge.
  const covered = period && subscription.charge !== undefined && abandonCharge(subscription, now);
  const opened = changedPlan(subscription, plan, now);
  // A change that opens a period uses one period of the code.
  const changed = period ? { ...opened, ...afterPeriod(opened) } : opened;
  return advanceSubscription(
    subscription,
    {
      to: covered || (inTrial && period) ? 'active' : subscription.status,
      cause: 'charge',
      reason: 'plan_changed',
      now,
    },
    {
      ...changed,
      ...(!isFree && tierAfterChange(subscription, { ...subscription, ...changed }, change)),
      ...(trialGoesOn && trialEnd !== undefined && shorterTrial(trialEnd)),
      ...period,
      ...paidPeriodAfter(subscription, change, period !== undefined),
      ...covered,
      ...syncAfterChange(subscription, at, now),
      latestPaymentId: paymentId ?? latestPaymentId,
      appliedChangeKeys: withApplied(subscription, change),
      change: undefined,
      priceUpdate: undefined,
    },
  );
};

/** Maximum number of remembered keys; older keys are dropped. */
const MOST_APPLIED_KEYS = 5;

const withApplied = (
  { appliedChangeKeys = [] }: Subscription,
  { claimedUnder }: PlanChange,
): ChangeKey[] | undefined => {
  const keys = claimedUnder ? [...appliedChangeKeys, claimedUnder].slice(-MOST_APPLIED_KEYS) : appliedChangeKeys;
  return keys.length > 0 ? keys : undefined;
};

/**
 * The state of the change claimed under the request's key. A failed change leaves no trace, so the request may try
 * again.
 */
export const changeUnderKey = (
  { change, appliedChangeKeys = [] }: Subscription,
  request: IdempotentRequest | undefined,
  now: Instant,
): 'open' | 'applied' | undefined => {
  const isOwn = (claimed: ChangeKey): boolean => isUnderKey(claimed, request, now);
  if (change?.claimedUnder && change.step !== 'dropped' && isOwn(change.claimedUnder)) return 'open';
  return appliedChangeKeys.some(isOwn) ? 'applied' : undefined;
};

/** Treats a change as left open after its request has ended, so that due work reports its failure. */
export const asLeftOpen = (subscription: Subscription): Subscription =>
  subscription.change?.step === 'claimed'
    ? { ...subscription, change: { ...subscription.change, step: 'processing' } }
    : subscription;

/**
 * If the trial has ended since the claim, a change without a payment pays for no tier. The current period was paid at
 * the old price, so a different tier stays unpaid until a later period is paid.
 */
const tierAfterChange = (
  before: Subscription,
  changed: Subscription,
  { inTrial, paymentId }: PlanChange,
): Partial<Subscription> => {
  if (!inTrial || paymentId !== undefined || changed.totalCents === 0) return unpaidOncePaid(changed);
  return before.tierId === changed.tierId ? {} : { tierUnpaidSince: changed.currentPeriodEnd };
};

/** Ignores the change's paid period if a renewal came first, because that renewal was paid at the old price. */
const paidPeriodAfter = (
  { currentPeriodStart }: Subscription,
  { periodStart, paidPeriod }: PlanChange,
  beginsPeriod: boolean,
): Pick<Subscription, 'paidPeriod'> =>
  paidPeriod && (beginsPeriod || currentPeriodStart === periodStart) ? { paidPeriod } : {};

/** The period that begins with the change. In a trial, only a change that ends the trial begins a period. */
const periodOfChange = (
  { status, paidUntil = '', activeSince }: Subscription,
  { at, nextPeriodEnd, trialEnd }: PlanChange,
): Partial<Subscription> | undefined => {
  const goesOn = status === 'trialing' && trialEnd === undefined;
  if (nextPeriodEnd === undefined || goesOn) return undefined;
  return {
    anchor: at,
    period: 0,
    currentPeriodStart: at,
    currentPeriodEnd: nextPeriodEnd,
    paidUntil: paidUntil > nextPeriodEnd ? paidUntil : nextPeriodEnd,
    activeSince: activeSince ?? at,
    ...(trialEnd !== undefined && { trialEnd: at }),
  };
};

/** Shortens the trial, and schedules the notice of its end again. */
const shorterTrial = (trialEnd: string): Partial<Subscription> => ({
  trialEnd,
  anchor: trialEnd,
  currentPeriodEnd: trialEnd,
  trialNoticed: undefined,
});

/** Settles the change by its payment. Idempotent; ignores any other payment. */
export const settleChange = (subscription: Subscription, payment: VisiblePayment, now: Instant): Subscription => {
  const { change } = subscription;
  if (change === undefined || change.paymentId !== payment.id || change.step === 'paid') return subscription;
  switch (payment.status) {
    case 'succeeded':
      return subscription.status === 'canceled'
        ? removeChange(subscription, 'plan_change_failed', now)
        : recordChangePaid(subscription, now);
    case 'canceled':
      return removeChange(subscription, reasonOfEnd(change), now);
    case 'failed':
    case 'created':
    case 'requires_payment_method':
      return dropChange(subscription, reasonOfEnd(change), now);
    case 'pending':
    case 'processing':
    case 'requires_capture':
      return change.step === 'dropped' ? lookLater(subscription, now) : waitForPayment(subscription, payment, now);
  }
};

type DropReason = NonNullable<PlanChange['dropReason']>;

/** Readers never saw a change that failed within its own request, so that failure has no reason. */
const reasonOfEnd = ({ step, dropReason }: PlanChange): DropReason | undefined => {
  if (step === 'dropped') return dropReason;
  return step === 'claimed' ? undefined : 'plan_change_failed';
};

const waitForPayment = (subscription: Subscription, payment: VisiblePayment, now: Instant): Subscription => {
  const { change, currentPeriodEnd } = subscription;
  if (!change) return subscription;
  const lookAt = iso(now + EVENT_LATE_MS);
  if (payment.status !== 'pending' || payment.nextAction === undefined) {
    return { ...subscription, change: { ...change, step: 'processing', expiresAt: undefined, lookAt } };
  }
  const ends = Math.min(now + PAYERS_TIME_MS, instant(currentPeriodEnd) - BEFORE_PERIOD_END_MS);
  const expiresAt = change.expiresAt ?? iso(ends);
  return { ...subscription, change: { ...change, step: 'awaiting_payment', expiresAt, lookAt } };
};

export const lookLater = (subscription: Subscription, now: Instant): Subscription => {
  const { change } = subscription;
  return change ? { ...subscription, change: { ...change, lookAt: iso(now + EVENT_LATE_MS) } } : subscription;
};

/**
 * Drops an unpaid change. The change remains until its payment is canceled or has a known outcome, because the payer
 * could still pay it in the browser. A paid change stays.
 */
export const dropChange = (
  subscription: Subscription,
  dropReason: DropReason | undefined,
  now: Instant,
): Subscription => {
  const { change } = subscription;
  if (!change || change.step === 'dropped' || change.step === 'paid') return subscription;
  const dropped = { ...change, step: 'dropped' as const, expiresAt: undefined, dropReason };
  return { ...subscription, change: { ...dropped, lookAt: iso(now + FIRST_LOOK_MS) } };
};

/** True if the change may no longer be charged, because it has expired or the subscription is canceled or paused. */
export const isChangeOver = (subscription: Subscription, now: Instant): boolean => {
  const expiresAt = subscription.change?.expiresAt;
  return isStopped(subscription) || (expiresAt !== undefined && instant(expiresAt) <= now);
};

export const dropIfOver = (subscription: Subscription, now: Instant): Subscription =>
  subscription.change && isChangeOver(subscription, now)
    ? dropChange(subscription, reasonOfEnd(subscription.change), now)
    : subscription;

/** Removes the change. Without a reason, readers see no new version. */
export const removeChange = (
  subscription: Subscription,
  reason: DropReason | undefined,
  now: Instant,
): Subscription => {
  const { change } = subscription;
  const without = { ...subscription, ...(change && syncAfterChange(subscription, change.at, now)), change: undefined };
  return reason === undefined ? without : edit(without, { reason, now }, {});
};
