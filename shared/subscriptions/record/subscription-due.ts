/** @module The due work of a subscription. The record alone determines the due step and its time. */

import { DAY_MS, type Instant, instant, iso, MINUTE_MS } from '../../core/time.ts';
import { endsWithPeriod, isLive, type Subscription } from './subscription.ts';
import { firstChargeEnds, hasOpenAttempt, isFirst, noticeTime } from './subscription-states.ts';

export type Step =
  /** Check that customer and method still exist, before the provider charges again. */
  | 'confirm'
  /** Look up the outcome of an attempt that was started. */
  | 'check charge'
  /** Mark an imported subscription at its provider. */
  | 'adopt'
  /** Continue a change of the plan. */
  | 'change'
  /** Give the billing provider a price that it may lack. */
  | 'send price'
  /** The period of a billing provider is over, and the next one opens with the scheduled plan. */
  | 'open plan'
  /** Continue the move to another customer of the provider. */
  | 'transfer'
  /** Cancel, because a first charge has been pending for too long. */
  | 'expire first charge'
  /** A scheduled cancellation takes effect. */
  | 'cancel'
  /** Announce the end of the trial. */
  | 'trial notice'
  /** Bill the next period, because the current period is over. */
  | 'bill'
  /** Retry a renewal that failed. */
  | 'retry'
  /** The retries are exhausted. */
  | 'end dunning'
  /** Read the subscription at its billing provider, because an event may have been lost. */
  | 'sync'
  /** Resume a paused subscription at the date that its pause named. */
  | 'resume'
  /** Announce the renewal, or the expiry of the charged card. */
  | 'notices';

/** A creation or deletion that runs now has ended after this time. */
const CONFIRM_AFTER_MS = MINUTE_MS;

interface DueStep {
  readonly step: Step;
  readonly at: Instant;
}

/** If several steps are due, the order of the list decides. */
const dueSteps = (subscription: Subscription): readonly DueStep[] => {
  const { adoption, charge, openCommand, syncAt, transfer, unconfirmedSince } = subscription;
  const at = (step: Step, time: string | undefined): DueStep[] =>
    time === undefined ? [] : [{ step, at: instant(time) }];
  if (transfer) return at('transfer', transfer.lookAt);
  const isUnconfirmed = isLive(subscription) && unconfirmedSince !== undefined;
  return [
    ...(isUnconfirmed ? [{ step: 'confirm' as const, at: instant(unconfirmedSince) + CONFIRM_AFTER_MS }] : []),
    ...(charge && isFirst(charge) && subscription.status === 'past_due'
      ? [{ step: 'expire first charge' as const, at: firstChargeEnds(charge) }]
      : []),
    ...(subscription.billingOwner === 'service' ? serviceBilledSteps(subscription) : []),
    ...at('adopt', adoption?.lookAt),
    ...changeSteps(subscription),
    ...trialNoticeStep(subscription),
    ...at('check charge', charge?.lookAt),
    ...(subscription.status === 'past_due' ? at('end dunning', subscription.held?.finalAt) : []),
    ...(isLive(subscription) ? [...at('sync', openCommand?.lookAt), ...at('sync', syncAt)] : []),
    ...(mayResume(subscription) ? at('resume', subscription.resumeAt) : []),
    ...(subscription.status === 'active' && !endsWithPeriod(subscription) ? at('notices', subscription.noticesAt) : []),
  ];
};

/** While the outcome of an earlier resumption is unknown, its own step looks it up. */
const mayResume = ({ status, charge, openCommand }: Subscription): boolean =>
  status === 'paused' && charge === undefined && openCommand === undefined;

const changeSteps = (subscription: Subscription): readonly DueStep[] => {
  const { change, priceUpdate, scheduledChange, currentPeriodEnd, status, billingOwner } = subscription;
  if (change) {
    const times = change.step === 'paid' && priceUpdate ? [priceUpdate.lookAt] : [change.lookAt, change.expiresAt];
    const [first = change.lookAt] = times.filter((time) => time !== undefined).toSorted();
    return [{ step: 'change', at: instant(first) }];
  }
  const isOpening = billingOwner === 'provider' && (status === 'active' || status === 'trialing');
  return [
    ...(priceUpdate ? [{ step: 'send price' as const, at: instant(priceUpdate.lookAt) }] : []),
    ...(scheduledChange && isOpening ? [{ step: 'open plan' as const, at: instant(currentPeriodEnd) }] : []),
  ];
};

/** A renewal waits this long for a change of the plan whose payment has no known outcome. */
const WAIT_FOR_CHANGE_MS = DAY_MS;

const serviceBilledSteps = (subscription: Subscription): readonly DueStep[] => {
  const { status, charge, cancelAtPeriodEnd, currentPeriodEnd } = subscription;
  // An open attempt pays for the next period, so its outcome decides what is due.
  if (!isLive(subscription) || hasOpenAttempt(charge)) return [];
  const periodEnd = instant(currentPeriodEnd) + (subscription.change ? WAIT_FOR_CHANGE_MS : 0);
  if (cancelAtPeriodEnd) return [{ step: 'cancel', at: periodEnd }];
  if (!charge) return status === 'trialing' || status === 'active' ? [{ step: 'bill', at: periodEnd }] : [];
  if (status !== 'past_due') return [];
  if (charge.retryAt !== undefined) return [{ step: 'retry', at: instant(charge.retryAt) }];
  return charge.finalAt === undefined ? [] : [{ step: 'end dunning', at: instant(charge.finalAt) }];
};

const trialNoticeStep = (subscription: Subscription): readonly DueStep[] => {
  const at = noticeTime(subscription);
  const isPending = subscription.status === 'trialing' && !subscription.trialNoticed;
  return isPending && at !== undefined ? [{ step: 'trial notice', at }] : [];
};

/** The due time of the subscription, as ISO. Undefined if no work is planned. */
export const nextSubscriptionDue = (subscription: Subscription): string | undefined => {
  const times = dueSteps(subscription).map(({ at }) => at);
  return times.length === 0 ? undefined : iso(Math.min(...times));
};

export const dueStep = (subscription: Subscription, now: Instant): Step | undefined =>
  dueSteps(subscription).find(({ at }) => at <= now)?.step;
