/** @module The state of the hosted page of one subscription. */

import { setupSecretView, setupStatusView } from '../payment-methods/method-setup.ts';
import { type PaymentMethod, paymentMethodShape } from '../payment-methods/payment-method.ts';
import type { VisiblePayment } from '../payments/payment.ts';
import { nextActionView } from '../payments/payment-view.ts';
import { versionedRecord } from '../platform/versioned-record.ts';
import { findChangePayment, findOpenPayment } from '../subscriptions/billing/open-payment.ts';
import type { VisibleSubscription } from '../subscriptions/record/subscription.ts';
import { subscriptionView } from '../subscriptions/record/subscription-view.ts';
import { methodOnPage, type PaymentPageDeps, pageDeclineOf, pageSecretOf, productNamed } from './page-of-payment.ts';
import { type PageState, pageState } from './page-state.ts';

export const subscriptionPage = async (
  deps: PaymentPageDeps,
  subscription: VisibleSubscription,
): Promise<PageState> => {
  const [product, method, open, setUp] = await Promise.all([
    productNamed(deps, subscription.productId),
    subscription.paymentMethodId === undefined ? null : methodOnPage(deps, subscription.paymentMethodId, subscription),
    openPaymentOf(deps, subscription),
    openSetupOf(deps, subscription),
  ]);
  const view = subscriptionView(subscription);
  return pageState(deps.pages, {
    kind: 'subscription',
    status: subscription.status,
    slots: [subscription.providerId],
    returnUrl: subscription.linkReturnUrl,
    amount_cents: subscription.totalCents,
    currency: subscription.currency,
    description: subscription.description ?? null,
    product,
    quantity: subscription.productId === undefined ? null : subscription.quantity,
    method,
    decline: open ? pageDeclineOf(open) : null,
    ...(setUp && setupFields(setUp, deps.now())),
    interval: {
      billing_interval: subscription.billingInterval,
      interval_multiplier: subscription.intervalMultiplier,
    },
    next_billing_date: view.next_billing_date,
    cancel_at_period_end: view.cancel_at_period_end,
    open_payment: open ? await openPaymentFields(deps, open) : null,
  });
};

const openPaymentOf = async (
  deps: PaymentPageDeps,
  subscription: VisibleSubscription,
): Promise<VisiblePayment | undefined> =>
  (await findOpenPayment(deps, subscription)) ?? (await findChangePayment(deps, subscription));

const openPaymentFields = async (deps: PaymentPageDeps, payment: VisiblePayment) => ({
  payment_id: payment.id,
  status: payment.status,
  next_action: nextActionView(payment)?.next_action ?? null,
  client_secret: (await pageSecretOf(deps, payment)) ?? null,
});

/** The method that the page has saved and that its payer has not authenticated yet. */
const openSetupOf = async (
  deps: PaymentPageDeps,
  { wantedMethodId }: VisibleSubscription,
): Promise<PaymentMethod | undefined> => {
  if (wantedMethodId === undefined) return undefined;
  const method = await versionedRecord(deps, paymentMethodShape).load(wantedMethodId);
  return method?.setup && method;
};

const setupFields = (method: PaymentMethod, now: number) => ({
  next_action: setupStatusView(method).next_action ?? null,
  client_secret: setupSecretView(method, now).client_secret ?? null,
});
