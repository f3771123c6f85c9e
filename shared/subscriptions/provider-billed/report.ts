import { DAY, epochSeconds, HOUR, type Instant, instant, iso, SECOND } from '../../core/time.ts';
import { isFirst, type SubscriptionCause } from '../record/states.ts';
import type { Charge, Reason, Subscription, SubscriptionStatus } from '../record/subscription.ts';
import { advance } from '../record/versions.ts';

/**
 * A subscription that its provider bills, as the provider has it: pure. What is canceled here stays so, unless its payer
 * has it made anew.
 */
export interface SubscriptionReport {
  readonly subscriptionId?: string | undefined;
  readonly status?: SubscriptionStatus | undefined;
  /** Epoch seconds, as all times here. */
  readonly currentPeriodStart?: number | undefined;
  readonly currentPeriodEnd?: number | undefined;
  readonly trialEnd?: number | undefined;
  readonly cancelAtPeriodEnd?: boolean | undefined;
  /** The end of a period that an invoice has paid for. */
  readonly paidUntil?: number | undefined;
  /** An invoice has been paid, of whatever period. */
  readonly isPaid?: boolean | undefined;
  /** Its newest invoice is being collected: nobody knows yet whether it is paid. */
  readonly isCollecting?: boolean | undefined;
  /** When it is tried again; null: no more, undefined: nothing is said of it. */
  readonly retryAt?: number | null | undefined;
  /** As of when it is so. */
  readonly at: number;
}

export const applyReport = (subscription: Subscription, report: SubscriptionReport, now: Instant): Subscription => {
  const { charge } = subscription;
  const said = heldBack(subscription, report);
  const isOver =
    subscription.status === 'declined' || (subscription.status === 'canceled' && !awaitsFirstCharge(charge));
  if (isOver) return paidAfterAll(subscription, said, now);
  const { status, bridges } = begun(subscription, said, statusOf(subscription, said));
  const paidUntil = paidUntilOf(subscription, said, status);
  const hasBegun = subscription.trialEnd === undefined || paidUntil !== undefined || said.isPaid === true;
  const isPending = status === 'past_due' && charge !== undefined && isFirst(charge);
  const heard: Subscription = {
    ...subscription,
    providerSubscriptionId: subscription.providerSubscriptionId ?? said.subscriptionId,
    knownAt: Math.max(said.at, subscription.knownAt ?? 0),
    cancelAtPeriodEnd: said.cancelAtPeriodEnd ?? subscription.cancelAtPeriodEnd,
    ...(bridges ? {} : periodOf(subscription, said, status)),
    paidUntil,
    retryAt: status === 'past_due' && !isPending ? retryTime(subscription, said) : undefined,
    charge: isPending ? { ...charge, lookAt: iso(now + LATE_MS) } : undefined,
    // A trial that has ended gives nothing before its first charge is paid.
    ...(status === 'active' && hasBegun && { activeSince: subscription.activeSince ?? activeFrom(subscription, said) }),
    canceledAt: status === 'canceled' ? iso(now) : isPending ? subscription.canceledAt : undefined,
  };
  const next = { ...heard, syncAt: syncTime({ ...heard, status }, now) };
  const reason = reasonOf(subscription, next, status);
  return reason === undefined ? next : advance(next, { to: status, cause: causeOf(subscription, status), reason, now });
};

/** What is held back for want of a method is not paused: it runs as long as it is paid for, then it is past due. */
const heldBack = (subscription: Subscription, said: SubscriptionReport): SubscriptionReport => {
  if (!subscription.held || said.status !== 'paused') return said;
  const paidUntil = instant(subscription.paidUntil ?? subscription.currentPeriodEnd);
  const isUnpaid = said.currentPeriodStart !== undefined && said.currentPeriodStart * SECOND >= paidUntil;
  return { ...said, status: isUnpaid ? 'past_due' : standing(subscription) };
};

/** The money moved before it ended: what was paid for is said, and is not asked for again; the state stays. */
const paidAfterAll = (subscription: Subscription, said: SubscriptionReport, now: Instant): Subscription => {
  const { status } = subscription;
  if (status !== 'canceled') return subscription;
  const paidUntil = paidUntilOf(subscription, said, status);
  if (paidUntil === subscription.paidUntil) return subscription;
  const paid = { ...periodOf(subscription, said, status), paidUntil };
  return advance(subscription, { to: status, cause: 'charge', reason: 'renewed', now }, paid);
};

/** Should nothing be heard by then, the provider is read. */
const LATE_MS = HOUR;
const DAILY_MS = DAY;

/** Whoever waits for it has asked for a new one at the provider. */
export const awaitsFirstCharge = (charge: Charge | undefined): boolean =>
  charge !== undefined && isFirst(charge) && !charge.abandoned;

const time = (seconds: number): string => iso(seconds * SECOND);

/** A trial at the provider that only bridges what is paid for already is none to its payer. */
const statusOf = (
  subscription: Subscription,
  { status, trialEnd }: SubscriptionReport,
): { readonly status: SubscriptionStatus; readonly bridges: boolean } => {
  if (status === undefined) return { status: standing(subscription), bridges: false };
  const ours = subscription.trialEnd === undefined ? undefined : epochSeconds(instant(subscription.trialEnd));
  const bridges = status === 'trialing' && trialEnd !== undefined && trialEnd !== ours;
  return { status: bridges ? 'active' : status, bridges };
};

/** A provider may call it active while its first charge is still under way: it is not, until it is paid. */
const begun = (
  { charge }: Subscription,
  { isCollecting }: SubscriptionReport,
  heard: ReturnType<typeof statusOf>,
): ReturnType<typeof statusOf> =>
  isCollecting && heard.status === 'active' && !heard.bridges && charge && isFirst(charge)
    ? { status: 'past_due', bridges: false }
    : heard;

const standing = ({ status }: Subscription): SubscriptionStatus =>
  status === 'creating' || status === 'declined' ? 'past_due' : status;

const periodOf = (
  { period }: Subscription,
  { currentPeriodStart: start, currentPeriodEnd: end }: SubscriptionReport,
  status: SubscriptionStatus,
): Partial<Subscription> => ({
  period: status === 'trialing' ? -1 : Math.max(period, 0),
  ...(start !== undefined && end !== undefined && { currentPeriodStart: time(start), currentPeriodEnd: time(end) }),
});

const retryTime = ({ retryAt }: Subscription, said: SubscriptionReport): string | undefined => {
  if (said.retryAt === undefined) return retryAt;
  return said.retryAt === null ? undefined : time(said.retryAt);
};

/** Only an invoice says what is paid for; what costs nothing is, while it runs. */
const paidUntilOf = (
  { paidUntil, totalCents }: Subscription,
  said: SubscriptionReport,
  status: SubscriptionStatus,
): string | undefined => {
  const free = totalCents === 0 && status === 'active' ? said.currentPeriodEnd : undefined;
  const ends = [paidUntil, said.paidUntil && time(said.paidUntil), free && time(free)];
  return ends
    .filter((end) => typeof end === 'string')
    .toSorted()
    .at(-1);
};

const activeFrom = ({ currentPeriodStart }: Subscription, said: SubscriptionReport): string =>
  said.currentPeriodStart === undefined ? currentPeriodStart : time(said.currentPeriodStart);

const causeOf = ({ status }: Subscription, to: SubscriptionStatus): SubscriptionCause => {
  if (status !== 'canceled') return 'provider';
  return to === 'past_due' ? 'charge' : 'reactivate';
};

const syncTime = (
  { status, currentPeriodEnd }: Pick<Subscription, 'status' | 'currentPeriodEnd'>,
  now: Instant,
): string | undefined => {
  if (status === 'canceled') return undefined;
  const due = instant(currentPeriodEnd) + LATE_MS;
  return iso(status === 'paused' || status === 'past_due' || due <= now ? now + DAILY_MS : due);
};

/** What has changed for its readers; undefined: nothing. */
const reasonOf = (was: Subscription, is: Subscription, status: SubscriptionStatus): Reason | undefined => {
  if (was.status === 'creating') return 'created';
  if (was.status === 'canceled') return 'reactivated';
  if (was.status !== status) return reasonOfStatus(was, status);
  if (is.cancelAtPeriodEnd !== was.cancelAtPeriodEnd) return is.cancelAtPeriodEnd ? 'cancel_scheduled' : 'reactivated';
  if (is.activeSince !== was.activeSince) return 'activated';
  if (is.paidUntil !== was.paidUntil) return 'renewed';
  if (is.retryAt !== was.retryAt) return 'payment_failed';
  const moves = is.currentPeriodStart !== was.currentPeriodStart || is.currentPeriodEnd !== was.currentPeriodEnd;
  const isKnown = was.providerSubscriptionId !== undefined || is.providerSubscriptionId === undefined;
  return moves || !isKnown || (was.charge && !is.charge) ? 'updated' : undefined;
};

const reasonOfStatus = ({ status: was, charge, held }: Subscription, status: SubscriptionStatus): Reason => {
  switch (status) {
    case 'canceled':
    case 'paused':
      return status;
    case 'past_due':
      return held ? 'payment_method_unavailable' : 'payment_failed';
    case 'trialing':
      return 'updated';
    case 'active':
      if (was === 'trialing') return 'trial_ended';
      if (was === 'paused') return 'resumed';
      return charge && isFirst(charge) ? 'activated' : 'renewed';
  }
};
