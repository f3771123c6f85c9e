/** @module Applies a report of the billing provider. Pure. Only the payer's reactivation undoes a cancellation. */

import { DAY_MS, epochSeconds, HOUR_MS, type Instant, instant, iso, SECOND_MS } from '../../core/time.ts';
import type { ProviderSubscription } from '../../providers/subscription-port.ts';
import type { PaidPeriod } from '../record/paid-period-record.ts';
import { isPeriodPaid, unpaidAfterReport } from '../record/paid-tier.ts';
import {
  type Charge,
  listCentsOf,
  type Reason,
  type Subscription,
  type SubscriptionStatus,
} from '../record/subscription.ts';
import { EVENT_LATE_MS, isFirst, type SubscriptionCause } from '../record/subscription-states.ts';
import { advanceSubscription } from '../record/subscription-versions.ts';

export interface SubscriptionReport {
  readonly subscriptionId?: string | undefined;
  readonly status?: SubscriptionStatus | undefined;
  /** Epoch seconds, like all times of a report. */
  readonly currentPeriodStart?: number | undefined;
  readonly currentPeriodEnd?: number | undefined;
  readonly trialEnd?: number | undefined;
  /** True if this service set the trial, to cover already paid time. */
  readonly isBridge?: boolean | undefined;
  readonly cancelAtPeriodEnd?: boolean | undefined;
  /** The date on which the subscription ends. Null if it has no end date, undefined if not reported. */
  readonly cancelAt?: number | null | undefined;
  /** True if the provider has given up collecting. */
  readonly isUnpaid?: boolean | undefined;
  /** The current price of a period, from a read of the provider. */
  readonly price?: ProviderSubscription['price'];
  /** End of the period paid by an invoice. */
  readonly paidUntil?: number | undefined;
  /** How that period was paid. */
  readonly paidPeriod?: PaidPeriod | undefined;
  /** True if an invoice of any period has been paid; false if a read of the provider finds no paid invoice. */
  readonly isPaid?: boolean | undefined;
  /** True while the newest invoice is being collected and its outcome is unknown. */
  readonly isCollecting?: boolean | undefined;
  /** The next retry. Null if no retry is planned, undefined if not reported. */
  readonly retryAt?: number | null | undefined;
  /** The time of the report. */
  readonly at: number;
}

export const applyReport = (subscription: Subscription, reported: SubscriptionReport, now: Instant): Subscription => {
  const report = withoutHold(subscription, reported, now);
  const { status: before, charge } = subscription;
  if (before === 'declined' || (before === 'canceled' && !awaitsFirstCharge(charge))) {
    return recordLatePayment(subscription, report, now);
  }
  const effective = effectiveStatus(subscription, report);
  const { status } = effective;
  const fields = reportedFields(subscription, report, { ...effective, now });
  const held = collects(subscription, reported) ? undefined : holdOf(subscription, reported);
  const next = { ...subscription, ...fields, held };
  const synced = { ...next, syncAt: syncTime({ ...next, status }, now) };
  const reason = reasonOf(subscription, synced, { status, isPaid: report.isPaid });
  if (reason === undefined) return synced;
  const isRecovery = subscription.status === 'past_due' && reason === 'renewed';
  const recoveredAt = isRecovery ? iso(now) : subscription.recoveredAt;
  const move = { to: status, cause: causeOf(subscription, status), reason, now };
  return advanceSubscription(synced, move, { recoveredAt });
};

interface EffectiveStatus {
  readonly status: SubscriptionStatus;
  /** True if the provider's trial only covers already paid time. */
  readonly isBridge: boolean;
}

const reportedFields = (
  subscription: Subscription,
  report: SubscriptionReport,
  { status, isBridge, now }: EffectiveStatus & { readonly now: Instant },
): Partial<Subscription> => {
  const { charge } = subscription;
  const isPending = status === 'past_due' && charge !== undefined && isFirst(charge);
  const trial = isBridge ? {} : trialOf(subscription, report);
  return {
    providerSubscriptionId: subscription.providerSubscriptionId ?? report.subscriptionId,
    knownAt: Math.max(report.at, subscription.knownAt ?? 0),
    ...endOf(subscription, report),
    ...(isBridge ? {} : periodOf(subscription, report, status)),
    ...trial,
    ...pricesAt(subscription, report.price),
    paidUntil: paidUntilOf(subscription, report, status),
    paidPeriod: newerPaidPeriod(subscription, report),
    retryAt: status === 'past_due' && !isPending ? retryTime(subscription, report) : undefined,
    isUnpaid: status === 'past_due' && (report.isUnpaid ?? subscription.isUnpaid) ? true : undefined,
    charge: isPending ? { ...charge, lookAt: iso(now + EVENT_LATE_MS) } : undefined,
    activeSince: activeSinceOf(subscription, report, status),
    ...unpaidAfterReport({ ...subscription, ...trial }, report),
    canceledAt: canceledAtOf(subscription, { status, isPending, now }),
  };
};

const endOf = (
  subscription: Subscription,
  { cancelAtPeriodEnd = subscription.cancelAtPeriodEnd, cancelAt }: SubscriptionReport,
): Pick<Subscription, 'cancelAtPeriodEnd' | 'cancelAt'> => {
  const reported = cancelAt === undefined ? subscription.cancelAt : cancelAt === null ? undefined : time(cancelAt);
  return { cancelAtPeriodEnd, cancelAt: cancelAtPeriodEnd ? reported : undefined };
};

/**
 * Keeps the known paid period if it is newer or more complete. Plan changes may have added payments to the payment of
 * the period's invoice. An invoice for part of a period, such as for a change on the provider's dashboard, must not
 * replace them.
 */
const newerPaidPeriod = (
  { paidPeriod: known, currentPeriodStart }: Subscription,
  { paidPeriod: reported, currentPeriodStart: start }: SubscriptionReport,
): Subscription['paidPeriod'] => {
  if (!known || !reported) return reported ?? known;
  const isUnpaid = known.totalCents === 0 && reported.start === known.start;
  const isOfPart = known.start === currentPeriodStart && start !== undefined && reported.start !== time(start);
  if (isOfPart) return known;
  return isUnpaid || reported.start > known.start ? reported : known;
};

/** The end of the trial after a report. If the end moves, the trial notice is sent again. */
const trialOf = (
  { trialEnd: known, trialNoticed }: Subscription,
  { trialEnd, isBridge }: SubscriptionReport,
): Pick<Subscription, 'trialEnd' | 'trialNoticed'> => {
  // The provider also reports the end of a past trial, including a trial that this service set.
  const reported = trialEnd === undefined || isBridge ? known : time(trialEnd);
  const isMoved = reported !== known && !(known && reported && epochSeconds(instant(known)) === trialEnd);
  return isMoved ? { trialEnd: reported, trialNoticed: undefined } : { trialEnd: known, trialNoticed };
};

/** After a price change at the provider, tax and discount keep their share of the total, and the discount code ends. */
const pricesAt = (
  subscription: Subscription,
  price: SubscriptionReport['price'],
): Pick<Subscription, 'subtotalCents' | 'taxCents' | 'discountCents' | 'totalCents' | 'listCents' | 'discount'> => {
  const { subtotalCents, taxCents, discountCents, totalCents, currency, discount: code } = subscription;
  const known = listCentsOf(subscription);
  // During a change or before a scheduled change, the provider has the price of another plan.
  const isChanging = subscription.change ?? subscription.priceUpdate ?? subscription.scheduledChange;
  if (!price || isChanging || price.currency !== currency || price.amountCents === known) {
    return { subtotalCents, taxCents, discountCents, totalCents, listCents: subscription.listCents, discount: code };
  }
  const share = (part: number): number => (known === 0 ? 0 : Math.round((part * price.amountCents) / known));
  const [tax, discount] = [share(taxCents), share(discountCents)];
  // An imported subscription with a discount at the provider has a total below the provider's list price.
  const total = subscription.listCents === undefined ? price.amountCents : share(totalCents);
  return {
    subtotalCents: total - tax + discount,
    taxCents: tax,
    discountCents: discount,
    totalCents: total,
    listCents: subscription.listCents === undefined ? undefined : price.amountCents,
    discount: undefined,
  };
};

/**
 * True if the provider collects again, which ends a hold. This requires a method and a reported status other than
 * paused. An invoice alone is no proof.
 */
const collects = (
  { paymentMethodId }: Subscription,
  { subscriptionId, status = 'paused' }: SubscriptionReport,
): boolean => paymentMethodId !== undefined && subscriptionId !== undefined && status !== 'paused';

/**
 * Updates the hold after a report. The provider may resume collection although the record has no method, such as after
 * a change on the provider's dashboard.
 */
const holdOf = (
  { held, paymentMethodId }: Subscription,
  { subscriptionId, status }: SubscriptionReport,
): Subscription['held'] => {
  if (!held || paymentMethodId !== undefined || subscriptionId === undefined || status === undefined) return held;
  const isCollecting = status !== 'paused' && status !== 'canceled';
  return isCollecting === (held.isCollecting ?? false) ? held : { ...held, isCollecting: isCollecting || undefined };
};

/** After a trial, the subscription is active from its first paid charge on. */
const activeSinceOf = (
  subscription: Subscription,
  report: SubscriptionReport,
  status: SubscriptionStatus,
): string | undefined => {
  const isStarted =
    subscription.trialEnd === undefined ||
    report.isPaid === true ||
    paidUntilOf(subscription, report, status) !== undefined;
  if (subscription.activeSince !== undefined || status !== 'active' || !isStarted) return subscription.activeSince;
  return report.currentPeriodStart === undefined ? subscription.currentPeriodStart : time(report.currentPeriodStart);
};

const canceledAtOf = (
  { canceledAt }: Subscription,
  {
    status,
    isPending,
    now,
  }: { readonly status: SubscriptionStatus; readonly isPending: boolean; readonly now: Instant },
): string | undefined => {
  if (status === 'canceled') return iso(now);
  return isPending ? canceledAt : undefined;
};

/**
 * Hides a pause caused by a missing method from readers. The subscription continues until its paid time or its trial
 * ends. After its paid time it is past due, and after a trial it is paused. A subscription paused before it lost its
 * method stays paused.
 */
const withoutHold = (subscription: Subscription, report: SubscriptionReport, now: Instant): SubscriptionReport => {
  const { status, held } = subscription;
  if (!held || report.status !== 'paused' || status === 'paused') return report;
  const trialEnd = trialOf(subscription, report).trialEnd;
  const isInTrial = !report.isBridge && trialEnd !== undefined && instant(trialEnd) > now;
  if (isInTrial) return { ...report, status: 'trialing' };
  if (status === 'trialing' && trialEnd !== undefined) return report;
  const paidUntil = instant(subscription.paidUntil ?? subscription.currentPeriodEnd);
  const begins = report.currentPeriodStart ?? 0;
  // The subscription is past due once its paid time is over. A provider may pause at that time instead of starting a
  // period.
  const isUnpaid = Math.max(begins * SECOND_MS, now) >= paidUntil;
  return { ...report, status: isUnpaid ? 'past_due' : visibleStatus(subscription) };
};

/** Records a payment that succeeded before the cancellation. The period counts as paid, and the status stays. */
const recordLatePayment = (subscription: Subscription, report: SubscriptionReport, now: Instant): Subscription => {
  const { status } = subscription;
  if (status !== 'canceled') return subscription;
  const paidUntil = paidUntilOf(subscription, report, status);
  if (paidUntil === subscription.paidUntil) return subscription;
  const paidPeriod = newerPaidPeriod(subscription, report);
  const paid = {
    ...periodOf(subscription, report, status),
    paidUntil,
    paidPeriod,
    ...unpaidAfterReport(subscription, report),
  };
  return advanceSubscription(subscription, { to: status, cause: 'charge', reason: 'renewed', now }, paid);
};

const DAILY_MS = DAY_MS;
/** A provider charges an invoice within about an hour of its period's start. */
const SOON_MS = 3 * HOUR_MS;

/** True while the payer waits for the first charge of a new subscription at the provider. */
export const awaitsFirstCharge = (charge: Charge | undefined): boolean =>
  charge !== undefined && isFirst(charge) && !charge.abandoned;

/**
 * True if the report is about a former subscription at the provider. The exception is a subscription canceled after a
 * creation without a response, and without a successor. Its reports settle the canceled record.
 */
export const isAboutFormer = (subscription: Subscription, namedId: string | undefined): boolean => {
  const { providerSubscriptionId: known, formerProviderIds = [], status, charge } = subscription;
  if (namedId === undefined) return false;
  if (known !== undefined && namedId !== known) return true;
  return (
    formerProviderIds.includes(namedId) && (known !== undefined || status !== 'canceled' || awaitsFirstCharge(charge))
  );
};

const time = (seconds: number): string => iso(seconds * SECOND_MS);

/**
 * A trial that only covers time already paid counts as active, except while a paid plan change ends our own trial. An
 * active subscription counts as past due while its first charge is being collected.
 */
const effectiveStatus = (
  subscription: Subscription,
  { status, isBridge = false, isCollecting }: SubscriptionReport,
): EffectiveStatus => {
  const { charge } = subscription;
  // At the provider a plan change has already ended the trial. Here the trial ends when that change is applied.
  const endsTrial = subscription.status === 'trialing' && subscription.change?.step === 'paid';
  if (status === 'trialing' && isBridge) return { status: endsTrial ? 'trialing' : 'active', isBridge };
  const current = status ?? visibleStatus(subscription);
  const isUnpaid = isCollecting && current === 'active' && charge !== undefined && isFirst(charge);
  return { status: isUnpaid ? 'past_due' : current, isBridge: false };
};

const visibleStatus = ({ status }: Subscription): SubscriptionStatus =>
  status === 'creating' || status === 'declined' ? 'past_due' : status;

const periodOf = (
  { period }: Subscription,
  { currentPeriodStart: start, currentPeriodEnd: end }: SubscriptionReport,
  status: SubscriptionStatus,
): Partial<Subscription> => ({
  period: status === 'trialing' ? -1 : Math.max(period, 0),
  ...(start !== undefined && end !== undefined && { currentPeriodStart: time(start), currentPeriodEnd: time(end) }),
});

const retryTime = ({ retryAt }: Subscription, report: SubscriptionReport): string | undefined => {
  if (report.isUnpaid) return undefined;
  if (report.retryAt === undefined) return retryAt;
  return report.retryAt === null ? undefined : time(report.retryAt);
};

/** Only a paid invoice extends the paid time. If the total is 0, an active subscription counts as paid. */
const paidUntilOf = (
  { paidUntil, totalCents }: Subscription,
  report: SubscriptionReport,
  status: SubscriptionStatus,
): string | undefined => {
  const free = totalCents === 0 && status === 'active' ? report.currentPeriodEnd : undefined;
  const ends = [paidUntil, report.paidUntil && time(report.paidUntil), free && time(free)];
  return ends
    .filter((end) => typeof end === 'string')
    .toSorted()
    .at(-1);
};

const causeOf = ({ status }: Subscription, to: SubscriptionStatus): SubscriptionCause => {
  if (status !== 'canceled') return 'provider';
  return to === 'past_due' ? 'charge' : 'reactivate';
};

const syncTime = (subscription: Subscription, now: Instant): string | undefined => {
  const { status, currentPeriodStart, currentPeriodEnd, held } = subscription;
  if (status === 'canceled') return undefined;
  if (held?.isCollecting) return iso(now);
  const due = instant(currentPeriodEnd) + EVENT_LATE_MS;
  if (status === 'paused' || status === 'past_due' || due <= now) return iso(now + DAILY_MS);
  if (status !== 'active' || isPeriodPaid(subscription)) return iso(due);
  // The event about the period's invoice may be lost. So read again within an hour soon after the period's start, and
  // within a day later.
  return iso(now + (now < instant(currentPeriodStart) + SOON_MS ? EVENT_LATE_MS : DAILY_MS));
};

interface Outcome {
  readonly status: SubscriptionStatus;
  readonly isPaid: boolean | undefined;
}

/** The reason for the next version. Undefined if readers see no change. */
const reasonOf = (was: Subscription, next: Subscription, outcome: Outcome): Reason | undefined => {
  if (was.status === 'creating') return was.importedAt === undefined ? 'created' : 'imported';
  if (was.status === 'canceled') return 'reactivated';
  return was.status === outcome.status ? reasonOfFields(was, next, outcome) : reasonOfStatus(was, outcome);
};

const reasonOfFields = (was: Subscription, next: Subscription, outcome: Outcome): Reason | undefined => {
  if (next.cancelAtPeriodEnd !== was.cancelAtPeriodEnd)
    return next.cancelAtPeriodEnd ? 'cancel_scheduled' : 'reactivated';
  if (next.activeSince !== was.activeSince) return 'activated';
  if (next.paidUntil !== was.paidUntil) return renews(was, next, outcome) ? 'renewed' : 'updated';
  if (next.retryAt !== was.retryAt || next.isUnpaid !== was.isUnpaid) return 'payment_failed';
  if (was.discount && !next.discount) return 'discount_ended';
  return isShownOtherwise(was, next) ? 'updated' : undefined;
};

const isShownOtherwise = (was: Subscription, next: Subscription): boolean => {
  if (SHOWN.some((field) => next[field] !== was[field])) return true;
  const isNowKnown = was.providerSubscriptionId === undefined && next.providerSubscriptionId !== undefined;
  return isNowKnown || (was.charge !== undefined && next.charge === undefined);
};

/** True if no other invoice is owed and the payment's period began after the last announced recovery. */
const renews = ({ recoveredAt }: Subscription, { currentPeriodStart }: Subscription, { status }: Outcome): boolean =>
  status !== 'past_due' && (recoveredAt === undefined || currentPeriodStart > recoveredAt);

const SHOWN = ['currentPeriodStart', 'currentPeriodEnd', 'trialEnd', 'cancelAt', 'totalCents'] as const;

const reasonOfStatus = ({ status: was, charge, held }: Subscription, { status, isPaid }: Outcome): Reason => {
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
      if (charge && isFirst(charge)) return 'activated';
      return isPaid === false ? 'recovered_unpaid' : 'renewed';
  }
};
