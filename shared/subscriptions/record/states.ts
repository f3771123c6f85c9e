import { DAY, HOUR, type Instant, instant } from '../../core/time.ts';
import type { Charge, StoredStatus, Subscription } from './subscription.ts';

/** The one table of a subscription's states. Commands, charges, appointments and the provider's word all decide here. */
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

const PROVIDER_SAYS: readonly StoredStatus[] = ['trialing', 'active', 'past_due', 'canceled', 'paused'];

/** Every legal change, by its cause. */
export const SUBSCRIPTION_TRANSITIONS: Readonly<
  Record<StoredStatus, Readonly<Partial<Record<SubscriptionCause, readonly StoredStatus[]>>>>
> = {
  // `open`: nothing is to be paid now. `provider`: it bills, and has answered.
  creating: {
    open: ['trialing', 'active'],
    charge: ['active', 'past_due', 'declined'],
    provider: PROVIDER_SAYS,
  },
  declined: {},
  trialing: {
    charge: ['active', 'past_due'],
    dunning: ['canceled', 'paused'],
    trial: ['paused'],
    cancel: ['canceled'],
    provider: PROVIDER_SAYS,
  },
  active: {
    charge: ['past_due'],
    dunning: ['canceled', 'paused'],
    cancel: ['canceled'],
    pause: ['paused'],
    provider: PROVIDER_SAYS,
  },
  past_due: {
    charge: ['active'],
    dunning: ['canceled', 'paused'],
    cancel: ['canceled'],
    pause: ['paused'],
    provider: PROVIDER_SAYS,
  },
  paused: { charge: ['active', 'past_due'], resume: ['active'], cancel: ['canceled'], provider: PROVIDER_SAYS },
  // Only by its payer's wish, never by an event.
  canceled: { charge: ['active', 'past_due'], reactivate: ['active', 'trialing', 'paused'] },
};

export const maySubscriptionChange = (from: StoredStatus, to: StoredStatus, cause: SubscriptionCause): boolean =>
  from === to || (SUBSCRIPTION_TRANSITIONS[from][cause]?.includes(to) ?? false);

/** A first charge that is still pending then has failed. */
const FIRST_CHARGE_MS = 23 * HOUR;
export const firstChargeEnds = (charge: Charge): Instant => instant(charge.start) + FIRST_CHARGE_MS;

/** Somebody waits for its answer, and the period that it pays for begins the calendar anew. */
export const isFirst = (charge: Charge): boolean => charge.cause !== 'renew';

/** An attempt may be under way, or has come to nobody knows what. */
export const hasOpenAttempt = (charge: Charge | undefined): boolean => charge?.lookAt !== undefined;

const TRIAL_NOTICE_MS = 3 * DAY;

/** Three days before the trial's end, at once for a shorter trial. */
export const noticeTime = ({ trialEnd, createdAt }: Subscription): Instant | undefined =>
  trialEnd === undefined ? undefined : Math.max(instant(createdAt), instant(trialEnd) - TRIAL_NOTICE_MS);
