import type Stripe from 'stripe';
import type { ProviderInvoice, ProviderSubscription } from '../port/subscriptions.ts';
import { invoiceNews, subscriptionNews } from '../wire/subscription-payloads.ts';
import { reportedAmount } from './currencies.ts';
import { stripeDeclineCode } from './report.ts';

/** Stripe's subscriptions and invoices, as an answer has them: whole. */
export const readStripeSubscription = (subscription: Stripe.Subscription): ProviderSubscription => {
  const { subscriptionId, ourSubscriptionId, trialEnd, methodId, ...news } = told(subscriptionNews(subscription));
  return {
    subscriptionId,
    ourSubscriptionId,
    status: told(news.status),
    currentPeriodStart: told(news.currentPeriodStart),
    currentPeriodEnd: told(news.currentPeriodEnd),
    trialEnd,
    cancelAtPeriodEnd: told(news.cancelAtPeriodEnd),
    methodId,
    latestInvoice: newestOf(subscription),
  };
};

/** A trial's invoice is of nothing, and one of a paused period is voided before anybody is charged. */
const newestOf = ({ latest_invoice: newest }: Stripe.Subscription): ProviderInvoice | undefined => {
  if (newest === null || typeof newest === 'string' || newest.amount_due === 0) return undefined;
  return newest.status === 'void' && newest.attempt_count === 0 ? undefined : readStripeInvoice(newest);
};

export const readStripeInvoice = (invoice: Stripe.Invoice): ProviderInvoice => {
  const { invoiceId, intentId, ...news } = told(invoiceNews(invoice));
  const intent = intentOf(invoice);
  return {
    invoiceId,
    intentId,
    subscriptionId: told(news.subscriptionId),
    status: collecting(invoice, intent) ?? told(news.status),
    ...reportedAmount({ amount: told(news.amountCents), currency: told(news.currency) }),
    periodStart: told(news.periodStart),
    periodEnd: told(news.periodEnd),
    attempts: told(news.attempts),
    nextAttempt: news.nextAttempt,
    failureCode:
      invoice.status !== 'paid' && intent?.last_payment_error
        ? stripeDeclineCode(intent.last_payment_error)
        : undefined,
  };
};

/** An answer that lacks it is none that can be built upon. */
const told = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('Stripe left out what every subscription and invoice has');
  return value;
};

/** Only where it was asked for in place of its id. */
const intentOf = ({ payments }: Stripe.Invoice): Stripe.PaymentIntent | undefined => {
  const intent = payments?.data[0]?.payment.payment_intent;
  return typeof intent === 'object' ? intent : undefined;
};

/** While it is open, its intent knows more. */
const collecting = (
  { status }: Stripe.Invoice,
  intent: Stripe.PaymentIntent | undefined,
): ProviderInvoice['status'] | undefined => {
  if (status !== 'open') return undefined;
  if (intent?.status === 'processing') return 'processing';
  return intent?.status === 'requires_action' ? 'pending' : undefined;
};
