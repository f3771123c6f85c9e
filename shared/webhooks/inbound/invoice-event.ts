import { epochSeconds, instant } from '../../core/time.ts';
import type { EventInvoice, ProviderInvoice } from '../../providers/port/subscriptions.ts';
import { invoicePayment } from '../../subscriptions/provider-billed/invoice-payment.ts';
import { subscriptionsPortOf } from '../../subscriptions/provider-billed/port.ts';
import { applyReport, type SubscriptionReport } from '../../subscriptions/provider-billed/report.ts';
import type { Subscription } from '../../subscriptions/record/subscription.ts';
import type { EventResult } from './result.ts';
import { resultOf, resultOfChange, type SubscriptionEventContext, syncSubscription } from './subscription-context.ts';

/**
 * An invoice that the provider has collected, or failed to: a payment here, and what it means for the subscription. Which
 * period it is of decides, not the order in which invoices are told of: what has been paid for is never owed again.
 */
export const applyInvoice = async (
  told: SubscriptionEventContext,
  type: 'invoice.payment_succeeded' | 'invoice.payment_failed',
): Promise<EventResult> => {
  const { deps, store, event } = told;
  const news = event.object.invoice;
  if (news?.amountCents === 0 && told.subscription.totalCents > 0) return resultOf(told, 'ignored', 'asks for nothing');
  const invoice = news && (await wholeInvoice(told, news));
  const recorded = invoice && (await invoicePayment(deps, told.subscription, invoice));
  if (recorded?.kind === 'mismatch') return resultOf(told, 'quarantined', recorded.reason);
  if (!invoice && event.createdAt <= (told.subscription.knownAt ?? 0)) return syncSubscription(told, undefined);
  // The invoice as it is counts, not as it was when this was told.
  const isPaid = invoice ? invoice.status === 'succeeded' : type === 'invoice.payment_succeeded';
  const isFailed = invoice ? invoice.status === 'failed' : type === 'invoice.payment_failed';
  const paymentId = recorded?.kind === 'payment' ? recorded.payment.id : undefined;
  const next = await store.change(told.subscription, (current) => {
    const said = saidOf(current, invoice, { isPaid, isFailed });
    const heard = said && applyReport(current, { ...said, at: current.knownAt ?? 0 }, deps.now());
    return heard === undefined || heard === current
      ? current
      : { ...heard, latestPaymentId: paymentId ?? heard.latestPaymentId };
  });
  return resultOfChange(told, next);
};

/** Paid for what is made anew meanwhile: its payment is kept all the same. */
export const recordFormerInvoice = async (told: SubscriptionEventContext): Promise<EventResult> => {
  const { deps, subscription, event } = told;
  const news = event.object.invoice;
  const invoice = news && (await wholeInvoice(told, news));
  const recorded = invoice?.status === 'succeeded' ? await invoicePayment(deps, subscription, invoice) : undefined;
  if (recorded?.kind === 'mismatch') return resultOf(told, 'quarantined', recorded.reason);
  return resultOf(told, recorded?.kind === 'payment' ? 'applied' : 'ignored', FORMER);
};

export const FORMER = 'an earlier subscription at the provider';

/** What the event left out is asked; undefined where the provider does not know it. */
const wholeInvoice = async (
  { deps, subscription }: SubscriptionEventContext,
  news: EventInvoice,
): Promise<ProviderInvoice | undefined> => {
  const { subscriptionId, status, amountCents, currency, periodStart, periodEnd, intentId } = news;
  const isWhole =
    subscriptionId && status && amountCents !== undefined && currency && periodStart && periodEnd && intentId;
  if (isWhole) {
    const { invoiceId, attempts = 1, failureCode, nextAttempt } = news;
    return {
      ...{ invoiceId, intentId, subscriptionId, status, amountCents, currency },
      ...{ periodStart, periodEnd, attempts, failureCode, nextAttempt },
    };
  }
  const native = await subscriptionsPortOf(deps, subscription);
  const found = await native.findInvoice(news.invoiceId);
  if (found.kind === 'unknown' || found.kind === 'not_done') throw new Error('the provider cannot be read now');
  return found.kind === 'done' ? found.value : undefined;
};

/** undefined: it changes nothing. */
const saidOf = (
  current: Subscription,
  invoice: ProviderInvoice | undefined,
  { isPaid, isFailed }: { readonly isPaid: boolean; readonly isFailed: boolean },
): Omit<SubscriptionReport, 'at'> | undefined => {
  const periodEnds = epochSeconds(instant(current.currentPeriodEnd));
  const isCurrent = invoice === undefined || invoice.periodEnd >= periodEnds;
  const isKnownPaid =
    current.paidUntil !== undefined && epochSeconds(instant(current.paidUntil)) >= (invoice?.periodEnd ?? periodEnds);
  const runs = current.status === 'trialing' || current.status === 'active' || current.status === 'past_due';
  if (isFailed) {
    // Without a period, it can only be of what comes next.
    return isCurrent && runs && !(invoice && isKnownPaid)
      ? { status: 'past_due', retryAt: invoice?.nextAttempt, ...periodOf(current, invoice) }
      : undefined;
  }
  if (!isPaid) return undefined;
  const paidUntil = invoice?.periodEnd;
  return isCurrent && runs
    ? { status: 'active', isPaid: true, paidUntil, ...periodOf(current, invoice) }
    : { paidUntil, ...periodOf(current, invoice) };
};

const periodOf = (current: Subscription, invoice: ProviderInvoice | undefined): Partial<SubscriptionReport> =>
  invoice && invoice.periodEnd > epochSeconds(instant(current.currentPeriodEnd))
    ? { currentPeriodStart: invoice.periodStart, currentPeriodEnd: invoice.periodEnd }
    : {};
