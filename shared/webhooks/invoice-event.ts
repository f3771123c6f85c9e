/** @module Applies a provider's event about an invoice. Records the payment and updates the subscription. */

import { epochSeconds, instant } from '../core/time.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import type { ProviderEvent } from '../providers/event-port.ts';
import type { EventInvoice, ProviderInvoice } from '../providers/subscription-port.ts';
import { subscriptionsPortOf } from '../subscriptions/at-provider/provider-biller.ts';
import {
  nextAttemptAt,
  paidPeriodBy,
  recordInvoicePayment,
  skipsTime,
} from '../subscriptions/at-provider/provider-invoices.ts';
import { applyReport, isAboutFormer, type SubscriptionReport } from '../subscriptions/at-provider/provider-report.ts';
import { isLive, type Subscription } from '../subscriptions/record/subscription.ts';
import type { EventResult } from './inbound-event.ts';
import {
  ageOf,
  isOverruled,
  noteFollowed,
  resultOf,
  resultOfChange,
  type SubscriptionEventContext,
  syncSubscription,
} from './subscription-context.ts';

/** Applies an event about a paid or failed invoice. */
export const applyInvoice = async (context: SubscriptionEventContext, type: InvoiceEventType): Promise<EventResult> => {
  const { subscription, event } = context;
  const news = event.object.invoice;
  if (event.isOfInterface && ageOf(event, subscription) === 'older') return resultOf(context, 'ignored', 'stale');
  // The event cannot change the status of this subscription, so the provider is read.
  if (event.isOfInterface && !runs(subscription)) return syncSubscription(context, news?.subscriptionId);
  // The creation got no response. The event names the provider's subscription, so a read can report the rest.
  if (subscription.providerSubscriptionId === undefined && news?.subscriptionId && isLive(subscription)) {
    return syncSubscription(context, news.subscriptionId);
  }
  // A zero invoice does not prove a payment. Providers also send one for a trial, and for time already paid by a
  // plan change.
  const isFree = news?.amountCents === 0 && news.reason !== 'cycle';
  if (isFree && subscription.totalCents > 0) return resultOf(context, 'ignored', 'asks for nothing');
  return applyOutcome(context, type, news);
};

type InvoiceEventType = 'invoice.payment_succeeded' | 'invoice.payment_failed';

/**
 * Applies the outcome of an invoice. The invoice's period decides, not the order of the events, so a paid period is
 * never owed again.
 */
const applyOutcome = async (
  context: SubscriptionEventContext,
  type: InvoiceEventType,
  news: EventInvoice | undefined,
): Promise<EventResult> => {
  const { deps, store, event } = context;
  const invoice = news && (await wholeInvoice(context, news));
  const recorded = invoice && (await recordInvoicePayment(deps, context.subscription, invoice));
  if (recorded?.kind === 'mismatch') return resultOf(context, 'quarantined', recorded.reason);
  if (!invoice && !event.isOfInterface && event.createdAt <= (context.subscription.knownAt ?? 0)) {
    return syncSubscription(context, undefined);
  }
  const outcome: InvoiceOutcome = {
    invoice,
    // The current state of the invoice counts, not its state at the time of the event.
    isPaid: invoice ? invoice.status === 'succeeded' : type === 'invoice.payment_succeeded',
    isFailed: invoice ? invoice.status === 'failed' : type === 'invoice.payment_failed',
    payment: recorded?.kind === 'payment' ? recorded.payment : undefined,
  };
  let isUndecided = false;
  const changed = await store.change(context.subscription, (current) => {
    // The payer may have canceled and returned in the meantime.
    if (isAboutFormer(current, invoice?.subscriptionId)) return current;
    isUndecided = !decidesAlone(event, current, outcome);
    return isUndecided ? current : afterInvoice(context, current, outcome);
  });
  return isUndecided ? syncSubscription(context, invoice?.subscriptionId) : resultOfChange(context, changed);
};

interface InvoiceOutcome {
  readonly invoice: ProviderInvoice | undefined;
  readonly isPaid: boolean;
  readonly isFailed: boolean;
  readonly payment: VisiblePayment | undefined;
}

/** False if only a read shows which invoices are still owed, and which invoices were never reported. */
const decidesAlone = (event: ProviderEvent, current: Subscription, { invoice, isPaid }: InvoiceOutcome): boolean =>
  invoice === undefined || event.isOfInterface || isOverruled(event, current) || !needsRead(current, invoice, isPaid);

const afterInvoice = (
  { deps, event }: SubscriptionEventContext,
  current: Subscription,
  { invoice, isPaid, isFailed, payment }: InvoiceOutcome,
): Subscription => {
  const reported = reportOf(current, invoice, { isPaid, isFailed });
  const said =
    reported && isPaid && invoice ? { ...reported, paidPeriod: paidPeriodBy(current, invoice, payment) } : reported;
  const report = isOverruled(event, current) ? said && { ...said, status: undefined } : said;
  const at = event.isOfInterface ? event.createdAt : (current.knownAt ?? 0);
  const next = report && applyReport(current, { ...report, at }, deps.now());
  return next === undefined || next === current
    ? current
    : noteFollowed(event, {
        ...next,
        ...paymentsAfter(next, { paymentId: payment?.id, owedInvoice: isFailed ? invoice : undefined }),
      });
};

/** The latest payment and the owed invoice after the event. Only the event's own invoice can be owed. */
const paymentsAfter = (
  { latestPaymentId }: Subscription,
  {
    paymentId,
    owedInvoice,
  }: { readonly paymentId: string | undefined; readonly owedInvoice: ProviderInvoice | undefined },
): Pick<Subscription, 'latestPaymentId' | 'owed'> =>
  paymentId === undefined
    ? { latestPaymentId }
    : { latestPaymentId: paymentId, owed: owedInvoice && [{ invoiceId: owedInvoice.invoiceId, paymentId }] };

const needsRead = (subscription: Subscription, invoice: ProviderInvoice, isPaid: boolean): boolean =>
  // A trial needs a read. It may have ended earlier than recorded, and other charges may have followed.
  subscription.status === 'trialing' ||
  skipsTime(subscription, invoice.periodStart) ||
  endsLater(subscription, invoice) ||
  owesOthers(subscription, invoice, isPaid);

/**
 * True if the invoice's period starts before the recorded period but ends after it, because the schedule has changed.
 */
const endsLater = (
  { currentPeriodStart, currentPeriodEnd }: Subscription,
  { periodStart, periodEnd }: ProviderInvoice,
): boolean =>
  periodStart < epochSeconds(instant(currentPeriodStart)) && periodEnd > epochSeconds(instant(currentPeriodEnd));

const owesOthers = (subscription: Subscription, { invoiceId }: ProviderInvoice, isPaid: boolean): boolean => {
  const { status, charge, owed = [] } = subscription;
  return owed.some((one) => one.invoiceId !== invoiceId) || (isPaid && status === 'past_due' && charge === undefined);
};

/** Records the payment of an invoice of a replaced provider subscription. */
export const recordFormerInvoice = async (context: SubscriptionEventContext): Promise<EventResult> => {
  const { deps, subscription, event } = context;
  const news = event.object.invoice;
  const invoice = news && (await wholeInvoice(context, news));
  const recorded =
    invoice?.status === 'succeeded' ? await recordInvoicePayment(deps, subscription, invoice) : undefined;
  if (recorded?.kind === 'mismatch') return resultOf(context, 'quarantined', recorded.reason);
  return resultOf(context, recorded?.kind === 'payment' ? 'applied' : 'ignored', FORMER);
};

export const FORMER = 'an earlier subscription at the provider';

/** True if the event reports an unpaid invoice that may have been voided since. */
const isOutdated = ({ subscription, event }: SubscriptionEventContext, { status }: EventInvoice): boolean =>
  status !== 'succeeded' && (!isLive(subscription) || ageOf(event, subscription) === 'older');

/**
 * Reads the invoice at the provider if the event lacks fields or is old, unless the event has the shape of the
 * interface.
 * @returns undefined if the provider has no such invoice, or is not read
 */
const wholeInvoice = async (
  context: SubscriptionEventContext,
  news: EventInvoice,
): Promise<ProviderInvoice | undefined> => {
  const { deps, subscription } = context;
  const { subscriptionId, status, amountCents, currency, periodStart, periodEnd, intentId } = news;
  const isWhole =
    context.event.isOfInterface &&
    subscriptionId &&
    status &&
    amountCents !== undefined &&
    currency &&
    periodStart &&
    periodEnd &&
    intentId;
  if (isWhole && !isOutdated(context, news)) {
    const { invoiceId, isVoid, attempts = 1, failureCode, nextAttempt } = news;
    return {
      ...{ invoiceId, intentId, subscriptionId, status, isVoid, amountCents, currency },
      ...{ periodStart, periodEnd, attempts, failureCode, nextAttempt },
    };
  }
  if (context.event.isOfInterface) return undefined;
  const port = await subscriptionsPortOf(deps, subscription);
  const found = await port.findInvoice(news.invoiceId);
  if (found.kind === 'unknown' || found.kind === 'not_done') throw new Error('the provider cannot be read now');
  return found.kind === 'done' ? found.value : undefined;
};

/** The subscription's change reported by the invoice. Undefined if nothing changes. */
const reportOf = (
  current: Subscription,
  invoice: ProviderInvoice | undefined,
  { isPaid, isFailed }: { readonly isPaid: boolean; readonly isFailed: boolean },
): Omit<SubscriptionReport, 'at'> | undefined => {
  const periodEnds = epochSeconds(instant(current.currentPeriodEnd));
  const isCurrent = invoice === undefined || invoice.periodEnd >= periodEnds;
  const isKnownPaid =
    current.paidUntil !== undefined && epochSeconds(instant(current.paidUntil)) >= (invoice?.periodEnd ?? periodEnds);
  if (isFailed) {
    // A failure without an invoice can only be about the next period.
    return isCurrent && runs(current) && !(invoice && isKnownPaid)
      ? { status: 'past_due', retryAt: invoice && nextAttemptAt(invoice), ...periodOf(current, invoice) }
      : undefined;
  }
  if (!isPaid) return undefined;
  const paidUntil = invoice?.periodEnd;
  return isCurrent && runs(current)
    ? { status: 'active', isPaid: true, paidUntil, ...periodOf(current, invoice) }
    : { paidUntil, ...periodOf(current, invoice) };
};

const runs = ({ status }: Subscription): boolean =>
  status === 'trialing' || status === 'active' || status === 'past_due';

const periodOf = (current: Subscription, invoice: ProviderInvoice | undefined): Partial<SubscriptionReport> =>
  invoice && invoice.periodEnd > epochSeconds(instant(current.currentPeriodEnd))
    ? { currentPeriodStart: invoice.periodStart, currentPeriodEnd: invoice.periodEnd }
    : {};
