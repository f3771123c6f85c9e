/** @module Reads Stripe's subscriptions and invoices in responses, which have all fields. */

import type Stripe from 'stripe';
import { readEventInvoice, readEventSubscription } from '../subscription-payloads.ts';
import type { InvoicePrices, ProviderInvoice, ProviderSubscription } from '../subscription-port.ts';
import { failureDecline } from './charge-facts.ts';
import { reportedAmount } from './currencies.ts';
import { stripeDeclineCode } from './decline-codes.ts';
import { idOf, nextActionOf } from './report.ts';

export const readStripeSubscription = (subscription: Stripe.Subscription): Omit<ProviderSubscription, 'owed'> => {
  const { subscriptionId, ourSubscriptionId, trialEnd, methodId, changeId, ...news } = requirePresent(
    readEventSubscription(subscription),
  );
  return {
    subscriptionId,
    ourSubscriptionId,
    status: requirePresent(news.status),
    currentPeriodStart: requirePresent(news.currentPeriodStart),
    currentPeriodEnd: requirePresent(news.currentPeriodEnd),
    trialEnd,
    isBridge: news.isBridge === true,
    cancelAtPeriodEnd: requirePresent(news.cancelAtPeriodEnd),
    cancelAt: news.cancelAt ?? null,
    isUnpaid: subscription.status === 'unpaid',
    price: news.price && reportedAmount({ amount: news.price.amountCents, currency: news.price.currency }),
    methodId,
    changeId,
    isIncomplete: NEVER_PAID.has(subscription.status),
    latestInvoice: newestOf(subscription),
  };
};

const NEVER_PAID: ReadonlySet<string> = new Set(['incomplete', 'incomplete_expired']);

/** The newest invoice, except a trial's zero invoice and a paused period's invoice, which is voided unpaid. */
const newestOf = ({ latest_invoice: newest, status }: Stripe.Subscription): ProviderInvoice | undefined => {
  if (newest === null || typeof newest === 'string') return undefined;
  const isOfTrial = status === 'trialing' || newest.billing_reason === 'subscription_create';
  if (newest.amount_due === 0 && isOfTrial) return undefined;
  return newest.status === 'void' && newest.attempt_count === 0 ? undefined : readStripeInvoice(newest);
};

export const readStripeInvoice = (invoice: Stripe.Invoice): ProviderInvoice => {
  const { invoiceId, intentId, ...news } = requirePresent(readEventInvoice(invoice));
  const intent = intentOf(invoice);
  const charged = chargedAs(invoice, intent);
  // True if the invoice was paid outside Stripe. No money moved at Stripe, and Stripe canceled the intent.
  const isPaidElsewhere = invoice.status === 'paid' && invoice.payments?.data[0]?.status === 'canceled';
  return {
    invoiceId,
    intentId,
    ...(isPaidElsewhere && { isPaidElsewhere }),
    subscriptionId: requirePresent(news.subscriptionId),
    status: charged ?? requirePresent(news.status),
    ...(invoice.status === 'open' && { isOpen: true }),
    ...(news.isVoid && charged === undefined && { isVoid: true }),
    ...reportedAmount({ amount: requirePresent(news.amountCents), currency: requirePresent(news.currency) }),
    periodStart: requirePresent(news.periodStart),
    periodEnd: requirePresent(news.periodEnd),
    createdAt: invoice.created,
    paidAt: news.paidAt,
    attempts: requirePresent(news.attempts),
    nextAttempt: news.nextAttempt,
    ...(invoice.status === 'paid' ? { failureCode: undefined } : failureOf(intent)),
    totalCents: reportedAmount({ amount: invoice.total, currency: invoice.currency }).amountCents,
    prices: pricesOf(invoice),
    reason: news.reason,
    ...(intent && { methodId: idOf(intent.payment_method) }),
    ...(invoice.status === 'open' && intent && { clientSecret: intent.client_secret ?? undefined }),
    ...(invoice.status === 'open' && intent && { nextAction: nextActionOf(intent) }),
  };
};

/**
 * The prices of the amount due. The subtotal includes any balance that the customer owed before. The discount includes
 * any credit balance.
 */
const pricesOf = (invoice: Stripe.Invoice): InvoicePrices => {
  const inCents = (amount: number): number =>
    requirePresent(reportedAmount({ amount, currency: invoice.currency }).amountCents);
  const taxCents = inCents((invoice.total_taxes ?? []).reduce((sum, { amount }) => sum + amount, 0));
  const subtotalCents = inCents(invoice.subtotal_excluding_tax ?? invoice.subtotal);
  const less = subtotalCents + taxCents - inCents(invoice.amount_due);
  return { subtotalCents: subtotalCents + Math.max(0, -less), taxCents, discountCents: Math.max(0, less) };
};

const failureOf = (intent: Stripe.PaymentIntent | undefined): Pick<ProviderInvoice, 'failureCode' | 'decline'> => {
  const error = intent?.last_payment_error;
  if (!error) return { failureCode: undefined };
  return { failureCode: stripeDeclineCode(error), decline: failureDecline(error) };
};

/** Stripe must return this; absence is a bug. */
const requirePresent = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error("a required field is missing in Stripe's response");
  return value;
};

/** The intent of the invoice; undefined unless the request expanded it. */
const intentOf = ({ payments }: Stripe.Invoice): Stripe.PaymentIntent | undefined => {
  const intent = payments?.data[0]?.payment.payment_intent;
  return typeof intent === 'object' ? intent : undefined;
};

/**
 * The status of the payment intent, if this status decides the status of an open or void invoice. At a first charge or
 * a payment by the payer, an intent that requires action waits for the present payer. At a renewal, such an intent has
 * failed. A charge in progress continues after its invoice is voided, and collects the money for its period.
 */
const chargedAs = (
  { status, billing_reason: reason }: Stripe.Invoice,
  intent: Stripe.PaymentIntent | undefined,
): ProviderInvoice['status'] | undefined => {
  if (status !== 'open' && status !== 'void') return undefined;
  if (intent?.status === 'processing') return 'processing';
  if (status === 'void') return intent?.status === 'succeeded' ? 'succeeded' : undefined;
  if (intent?.status !== 'requires_action') return undefined;
  return reason === 'subscription_create' || intent.last_payment_error === null ? 'pending' : 'failed';
};
