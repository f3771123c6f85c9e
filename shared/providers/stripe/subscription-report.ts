import type Stripe from 'stripe';
import type { ProviderInvoice, ProviderSubscription } from '../port/subscriptions.ts';
import { readEventInvoice, readEventSubscription } from '../wire/subscription-payloads.ts';
import { reportedAmount } from './currencies.ts';
import { stripeDeclineCode } from './report.ts';

/** Stripe's subscriptions and invoices in answers, which have all fields. */
export const readStripeSubscription = (subscription: Stripe.Subscription): ProviderSubscription => {
  const { subscriptionId, ourSubscriptionId, trialEnd, methodId, ...news } = requirePresent(
    readEventSubscription(subscription),
  );
  return {
    subscriptionId,
    ourSubscriptionId,
    status: requirePresent(news.status),
    currentPeriodStart: requirePresent(news.currentPeriodStart),
    currentPeriodEnd: requirePresent(news.currentPeriodEnd),
    trialEnd,
    cancelAtPeriodEnd: requirePresent(news.cancelAtPeriodEnd),
    methodId,
    latestInvoice: newestOf(subscription),
  };
};

/** Ignores the zero invoice of a trial, and the invoice of a paused period, which is voided before a charge. */
const newestOf = ({ latest_invoice: newest }: Stripe.Subscription): ProviderInvoice | undefined => {
  if (newest === null || typeof newest === 'string' || newest.amount_due === 0) return undefined;
  return newest.status === 'void' && newest.attempt_count === 0 ? undefined : readStripeInvoice(newest);
};

export const readStripeInvoice = (invoice: Stripe.Invoice): ProviderInvoice => {
  const { invoiceId, intentId, ...news } = requirePresent(readEventInvoice(invoice));
  const intent = intentOf(invoice);
  return {
    invoiceId,
    intentId,
    subscriptionId: requirePresent(news.subscriptionId),
    status: collecting(invoice, intent) ?? requirePresent(news.status),
    ...reportedAmount({ amount: requirePresent(news.amountCents), currency: requirePresent(news.currency) }),
    periodStart: requirePresent(news.periodStart),
    periodEnd: requirePresent(news.periodEnd),
    attempts: requirePresent(news.attempts),
    nextAttempt: news.nextAttempt,
    failureCode:
      invoice.status !== 'paid' && intent?.last_payment_error
        ? stripeDeclineCode(intent.last_payment_error)
        : undefined,
  };
};

/** Stripe must return this; absence is a bug. */
const requirePresent = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('a required field is missing in the answer of Stripe');
  return value;
};

/** Set only if the request expanded it. */
const intentOf = ({ payments }: Stripe.Invoice): Stripe.PaymentIntent | undefined => {
  const intent = payments?.data[0]?.payment.payment_intent;
  return typeof intent === 'object' ? intent : undefined;
};

/** While an invoice is open, its intent has the more exact status. */
const collecting = (
  { status }: Stripe.Invoice,
  intent: Stripe.PaymentIntent | undefined,
): ProviderInvoice['status'] | undefined => {
  if (status !== 'open') return undefined;
  if (intent?.status === 'processing') return 'processing';
  // After a failed charge the intent waits for the payer too: the invoice is unpaid, as after any other decline.
  return intent?.status === 'requires_action' && intent.last_payment_error === null ? 'pending' : undefined;
};
