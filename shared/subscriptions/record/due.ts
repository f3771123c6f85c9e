import { type Instant, instant, iso } from '../../core/time.ts';
import { firstChargeEnds, hasOpenAttempt, isFirst, noticeTime } from './states.ts';
import { isLive, type Subscription } from './subscription.ts';

/** What a subscription has to be looked after for, and when: from the record alone. */
export type Step =
  /** An attempt may be under way. */
  | 'look'
  /** It is being made once more at the provider. */
  | 'transfer'
  /** A first charge has been pending for too long. */
  | 'give up'
  /** A scheduled cancelation takes effect. */
  | 'end'
  /** The trial ends soon. */
  | 'notice'
  /** The current period is over. */
  | 'bill'
  | 'retry'
  /** Retries are used up. */
  | 'final'
  /** The provider bills, and may not have been heard. */
  | 'sync';

interface Appointment {
  readonly step: Step;
  readonly at: Instant;
}

/** In the order in which they are kept, where several are due. */
const appointments = (subscription: Subscription): readonly Appointment[] => {
  const { charge, syncAt, transfer } = subscription;
  const at = (step: Step, time: string | undefined): Appointment[] =>
    time === undefined ? [] : [{ step, at: instant(time) }];
  if (transfer) return at('transfer', transfer.lookAt);
  return [
    ...(charge && isFirst(charge) && subscription.status === 'past_due'
      ? [{ step: 'give up' as const, at: firstChargeEnds(charge) }]
      : []),
    ...(subscription.billingOwner === 'service' ? ownAppointments(subscription) : []),
    ...noticeOf(subscription),
    ...at('look', charge?.lookAt),
    ...(subscription.status === 'past_due' ? at('final', subscription.held?.finalAt) : []),
    ...(isLive(subscription) ? at('sync', syncAt) : []),
  ];
};

const ownAppointments = (subscription: Subscription): readonly Appointment[] => {
  const { status, charge, cancelAtPeriodEnd, currentPeriodEnd } = subscription;
  // What is under way pays for the next period: that one decides.
  if (!isLive(subscription) || hasOpenAttempt(charge)) return [];
  const periodEnd = instant(currentPeriodEnd);
  if (cancelAtPeriodEnd) return [{ step: 'end', at: periodEnd }];
  if (!charge) return status === 'trialing' || status === 'active' ? [{ step: 'bill', at: periodEnd }] : [];
  if (status !== 'past_due') return [];
  if (charge.retryAt !== undefined) return [{ step: 'retry', at: instant(charge.retryAt) }];
  return charge.finalAt === undefined ? [] : [{ step: 'final', at: instant(charge.finalAt) }];
};

const noticeOf = (subscription: Subscription): readonly Appointment[] => {
  const at = noticeTime(subscription);
  const awaited = subscription.status === 'trialing' && !subscription.trialNoticed;
  return awaited && at !== undefined ? [{ step: 'notice', at }] : [];
};

/** When it next needs somebody's attention; undefined: never. */
export const nextSubscriptionDue = (subscription: Subscription): string | undefined => {
  const times = appointments(subscription).map(({ at }) => at);
  return times.length === 0 ? undefined : iso(Math.min(...times));
};

/** What is due by now. */
export const dueStep = (subscription: Subscription, now: Instant): Step | undefined =>
  appointments(subscription).find(({ at }) => at <= now)?.step;
