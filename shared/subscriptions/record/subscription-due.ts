/** @module The due work of a subscription. The record alone determines the due step and its time. */

import { DAY_MS, type Instant, instant, iso, MINUTE_MS } from '../../core/time.ts';
import { endsWithPeriod, isLive, type Subscription } from './subscription.ts';
import { firstChargeEnds, hasOpenAttempt, isFirst, noticeTime } from './subscription-states.ts';

export type Step =
  /** Check once that customer and method still exist, before the provider's next charge. */
  | 'confirm'
  /** Look up the outcome of a started attempt. */
  | 'check charge'
  /** Mark an imported subscription at its provider. */
  | 'adopt'
  /** Continue a plan change. */
  | 'change'
  /** Send a price possibly missing at the billing provider. */
  | 'send price'
  /** Apply the scheduled plan at the end of a provider-billed period. */
  | 'open plan'
  /** Continue the transfer to another customer of the provider. */
  | 'transfer'
  /** Cancel after a first charge has been pending for too long. */
  | 'expire first charge'
  /** Carry out a scheduled cancellation. */
  | 'cancel'
  /** Announce the end of the trial. */
  | 'trial notice'
  /** Bill the next period, because the current period is over. */
  | 'bill'
  /** Retry a failed renewal. */
  | 'retry'
  /** Cancel or pause after the last retry. */
  | 'end dunning'
  /** Read the subscription at its billing provider, because an event may have been lost. */
  | 'sync'
  /** Resume a paused subscription on its resume date. */
  | 'resume'
  /** Announce the renewal, or the expiry of the charged card. */
  | 'notices';

/** Wait until concurrent creations and deletions have ended. */
const CONFIRM_AFTER_MS = MINUTE_MS;

interface DueStep {
  readonly step: Step;
  readonly at: Instant;
}

/** The due steps. If several are due, the first in the list runs. */
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

/** True unless an earlier resumption has an unknown outcome, which its own step looks up. */
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

/** Maximum wait of a renewal for a plan change with an unknown payment outcome. */
const WAIT_FOR_CHANGE_MS = DAY_MS;

const serviceBilledSteps = (subscription: Subscription): readonly DueStep[] => {
  const { status, charge, cancelAtPeriodEnd, currentPeriodEnd } = subscription;
  // An open attempt charges the next period, so no step is due before its outcome is known.
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

/** The ISO time of the next due work; undefined without due work. */
export const nextSubscriptionDue = (subscription: Subscription): string | undefined => {
  const times = dueSteps(subscription).map(({ at }) => at);
  return times.length === 0 ? undefined : iso(Math.min(...times));
};

export const dueStep = (subscription: Subscription, now: Instant): Step | undefined =>
  dueSteps(subscription).find(({ at }) => at <= now)?.step;
