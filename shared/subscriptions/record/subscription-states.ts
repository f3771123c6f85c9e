/** @module The one table of a subscription's states. The store refuses a change of status that it does not allow. */

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

/** Every allowed change of status, by its cause. */
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
  // Only the payer can bring a subscription back, never a provider event.
  canceled: { charge: ['active', 'past_due'], reactivate: ['active', 'trialing', 'paused'] },
};

/** @throws Error if no cause leads from one status to the other. This is a bug, and nothing may be written. */
export const requireSubscriptionTransition = (from: StoredStatus, to: StoredStatus): void => {
  if (from === to || Object.values(SUBSCRIPTION_TRANSITIONS[from]).some((states) => states.includes(to))) return;
  throw new Error(`no transition of a subscription from ${from} to ${to}`);
};

/** Without an event of the payment or of the billing provider within this time, due work looks. */
export const EVENT_LATE_MS = HOUR_MS;

/** A payer has this long to authenticate a first charge or a change of the plan. It has failed then. */
export const PAYERS_TIME_MS = 23 * HOUR_MS;
export const firstChargeEnds = (charge: Charge): Instant => instant(charge.start) + PAYERS_TIME_MS;

/** True if the payer waits for the outcome, and the calendar starts with the period of this charge. */
export const isFirst = (charge: Charge): boolean => charge.cause !== 'renew';

/** True if an attempt is under way or its outcome is unknown. */
export const hasOpenAttempt = (charge: Charge | undefined): boolean => charge?.lookAt !== undefined;

const TRIAL_NOTICE_MS = 3 * DAY_MS;

/** Three days before the trial ends. Immediately for a shorter trial. */
export const noticeTime = ({ trialEnd, createdAt }: Subscription): Instant | undefined =>
  trialEnd === undefined ? undefined : Math.max(instant(createdAt), instant(trialEnd) - TRIAL_NOTICE_MS);

/** A paid change is applied by a price update at the billing provider. */
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
