import { epochSeconds } from '../core/time.ts';
import type { ProviderSubscription } from '../providers/native-subscriptions.ts';
import { putAlias } from '../table/alias.ts';
import type { BillingDeps } from './deps.ts';
import { invoicePayment } from './invoices.ts';
import { mirrored, type Said } from './mirror.ts';
import { answerOf, nativeOf } from './native-port.ts';
import type { SubscriptionStore } from './store.ts';
import type { Subscription } from './subscription.ts';

/** Takes the provider's word for it: its newest invoice is a payment here, its state the subscription's. */
export const adopt = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
  report: ProviderSubscription,
): Promise<Subscription> => {
  if (subscription.providerSubscriptionId !== report.subscriptionId) {
    await putAlias(deps.table, subscription.providerId, report.subscriptionId, { kind: 'SUB', id: subscription.id });
  }
  const { latestInvoice } = report;
  // What is told while its payment is stored is news.
  const at = epochSeconds(deps.now());
  const recorded = latestInvoice && (await invoicePayment(deps, subscription, latestInvoice));
  const payment = recorded?.kind === 'payment' ? recorded.payment : undefined;
  const paidUntil = payment?.status === 'succeeded' ? latestInvoice?.periodEnd : undefined;
  const said = saidOf(report, paidUntil, at);
  return store.change(subscription, (current) => {
    const next = mirrored(current, said, deps.now());
    return next === current ? current : { ...next, latestPaymentId: payment?.id ?? next.latestPaymentId };
  });
};

const saidOf = (report: ProviderSubscription, paidUntil: number | undefined, at: number): Said => {
  const { subscriptionId, status, currentPeriodStart, currentPeriodEnd, trialEnd, cancelAtPeriodEnd } = report;
  const isCollecting = ['processing', 'pending'].includes(report.latestInvoice?.status ?? '');
  const period = { currentPeriodStart, currentPeriodEnd, trialEnd };
  return { subscriptionId, status, ...period, cancelAtPeriodEnd, paidUntil, isCollecting, at };
};

/** An authoritative read. @throws DomainError where the provider cannot be read now. */
export const readProvider = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
  providerSubscriptionId = subscription.providerSubscriptionId,
): Promise<Subscription> => {
  if (providerSubscriptionId === undefined) return subscription;
  const native = await nativeOf(deps, subscription);
  const report = answerOf(await native.find(providerSubscriptionId), subscription);
  return adopt(deps, store, subscription, report);
};

/** The same; undefined where the provider has none, or none any more. */
export const readWhereKnown = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
): Promise<Subscription | undefined> => {
  const { providerSubscriptionId } = subscription;
  if (providerSubscriptionId === undefined) return undefined;
  const found = await (await nativeOf(deps, subscription)).find(providerSubscriptionId);
  return found.kind === 'refused' ? undefined : adopt(deps, store, subscription, answerOf(found, subscription));
};
