/** @module The only state table of subscriptions. The store refuses any status change not in the table. */

import type { OpenCall } from '../../calls/exclusions.ts';
import { keysOf } from '../../core/rows.ts';
import type { Transitions } from '../../core/states.ts';
import { DAY_MS, HOUR_MS, type Instant, instant } from '../../core/time.ts';
import { type Charge, mayExistAtProvider, type StoredStatus, type Subscription } from './subscription.ts';

export type SubscriptionCause =
  | 'open'
  | 'charge'
  | 'dunning'
  | 'trial'
  | 'cancel'
  | 'pause'
  | 'resume'
  | 'reactivate'
  | 'provider';

const PROVIDER_STATUSES: readonly StoredStatus[] = ['trialing', 'active', 'past_due', 'canceled', 'paused'];

/** The allowed status changes, by cause. */
export const SUBSCRIPTION_TRANSITIONS: Transitions<StoredStatus, SubscriptionCause> = {
  // `open` means that nothing is due now. `provider` means that the provider bills the subscription and reports its
  // status.
  creating: {
    open: ['trialing', 'active'],
    charge: ['active', 'past_due', 'declined'],
    provider: PROVIDER_STATUSES,
  },
  declined: {},
  trialing: {
    charge: ['active', 'past_due'],
    dunning: ['canceled', 'paused'],
    trial: ['paused'],
    cancel: ['canceled'],
    provider: PROVIDER_STATUSES,
  },
  active: {
    charge: ['past_due'],
    dunning: ['canceled', 'paused'],
    cancel: ['canceled'],
    pause: ['paused'],
    provider: PROVIDER_STATUSES,
  },
  past_due: {
    charge: ['active'],
    dunning: ['canceled', 'paused'],
    cancel: ['canceled'],
    pause: ['paused'],
    provider: PROVIDER_STATUSES,
  },
  paused: { charge: ['active', 'past_due'], resume: ['active'], cancel: ['canceled'], provider: PROVIDER_STATUSES },
  // Only the payer can restart a canceled subscription; a provider event never does.
  canceled: { charge: ['active', 'past_due'], reactivate: ['active', 'trialing', 'paused'] },
};

/** @throws Error if the table does not allow the status change. This is a bug, and nothing may be written. */
export const requireSubscriptionTransition = (from: StoredStatus, to: StoredStatus): void => {
  if (from === to || Object.values(SUBSCRIPTION_TRANSITIONS[from]).some((states) => states.includes(to))) return;
  throw new Error(`no transition of a subscription from ${from} to ${to}`);
};

/** Due work looks up a payment or subscription if no event arrives within this time. */
export const EVENT_LATE_MS = HOUR_MS;

/** The payer's time to authenticate a first charge or a plan change, which fails afterwards. */
export const PAYERS_TIME_MS = 23 * HOUR_MS;
export const firstChargeEnds = (charge: Charge): Instant => instant(charge.start) + PAYERS_TIME_MS;

/** True if the charge starts a new calendar, such as at a creation or a resumption. */
export const isFirst = (charge: Charge): boolean => charge.cause !== 'renew';

/** True if an attempt is in progress or has an unknown outcome. */
export const hasOpenAttempt = (charge: Charge | undefined): boolean => charge?.lookAt !== undefined;

const TRIAL_NOTICE_MS = 3 * DAY_MS;

/** The trial notice's time, three days before the trial ends or immediately for a shorter trial. */
export const noticeTime = ({ trialEnd, createdAt }: Subscription): Instant | undefined =>
  trialEnd === undefined ? undefined : Math.max(instant(createdAt), instant(trialEnd) - TRIAL_NOTICE_MS);

/**
 * The open charges and calls of a subscription. A paid change counts as an open price update, because the provider must
 * get the price before the new plan applies.
 */
export const openCallsOf = (subscription: Subscription): readonly OpenCall[] => {
  const { charge, change, priceUpdate, transfer } = subscription;
  const open = {
    charge: charge !== undefined,
    attempt: hasOpenAttempt(charge),
    creation: mayExistAtProvider(subscription),
    'plan change': change !== undefined,
    'price update': change?.step === 'paid' || priceUpdate !== undefined,
    transfer: transfer !== undefined,
  };
  return keysOf(open).filter((call) => open[call]);
};
