import { DomainError } from '../../core/errors.ts';
import type { Refusal } from '../../core/outcome.ts';
import { epochSeconds } from '../../core/time.ts';
import { refusalError } from '../../payments/attempts/create-intent.ts';
import type { ProviderSubscription } from '../../providers/port/subscriptions.ts';
import { putAlias } from '../../table/alias.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { type SubscriptionStore, subscriptionStore } from '../record/store.ts';
import type { Subscription } from '../record/subscription.ts';
import { invoicePayment } from './invoice-payment.ts';
import { requireDone, subscriptionsPortOf } from './port.ts';
import { applyReport, type SubscriptionReport } from './report.ts';

const READ_TRIES = 5;

/**
 * Takes the provider's word for it: its newest invoice is a payment here, its state the subscription's. Where that has
 * changed since the provider was asked, its answer may be the older one, and it is asked again.
 * @param subscription as it stood before the provider was asked
 * @throws DomainError where it has to be asked again and cannot be
 */
export const storeReport = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
  report: ProviderSubscription,
): Promise<Subscription> => {
  let [current, answer] = [subscription, report];
  for (let tries = 0; tries < READ_TRIES; tries += 1) {
    const next = await adopted(deps, current, answer);
    if (next === current) return current;
    const committed = await store.commit(current, next);
    if (committed.ok) return committed.subscription;
    if (!committed.found) break;
    current = committed.found;
    // Made once more there meanwhile: what this one says is no longer about ours.
    if (current.formerProviderIds?.includes(report.subscriptionId)) return current;
    const native = await subscriptionsPortOf(deps, current);
    answer = requireDone(await native.find(report.subscriptionId), current);
  }
  throw new DomainError('VERSION_CONFLICT');
};

const adopted = async (
  deps: BillingDeps,
  subscription: Subscription,
  report: ProviderSubscription,
): Promise<Subscription> => {
  if (subscription.providerSubscriptionId !== report.subscriptionId) {
    await putAlias(
      deps.table,
      { providerId: subscription.providerId, externalId: report.subscriptionId },
      { kind: 'SUB', id: subscription.id },
    );
  }
  const { latestInvoice } = report;
  // What is told while its payment is stored is news.
  const at = epochSeconds(deps.now());
  const recorded = latestInvoice && (await invoicePayment(deps, subscription, latestInvoice));
  const payment = recorded?.kind === 'payment' ? recorded.payment : undefined;
  const paidUntil = payment?.status === 'succeeded' ? latestInvoice?.periodEnd : undefined;
  const next = applyReport(subscription, saidOf(report, paidUntil, at), deps.now());
  return next === subscription ? next : { ...next, latestPaymentId: payment?.id ?? next.latestPaymentId };
};

const saidOf = (report: ProviderSubscription, paidUntil: number | undefined, at: number): SubscriptionReport => {
  const { subscriptionId, status, currentPeriodStart, currentPeriodEnd, trialEnd, cancelAtPeriodEnd } = report;
  const isCollecting = ['processing', 'pending'].includes(report.latestInvoice?.status ?? '');
  const period = { currentPeriodStart, currentPeriodEnd, trialEnd };
  const retryAt = report.latestInvoice?.nextAttempt;
  return { subscriptionId, status, ...period, cancelAtPeriodEnd, paidUntil, isCollecting, retryAt, at };
};

/** An authoritative read. @throws DomainError where the provider cannot be read now. */
export const syncFromProvider = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
  providerSubscriptionId = subscription.providerSubscriptionId,
): Promise<Subscription> => {
  if (providerSubscriptionId === undefined) return subscription;
  const native = await subscriptionsPortOf(deps, subscription);
  const report = requireDone(await native.find(providerSubscriptionId), subscription);
  return storeReport(deps, store, subscription, report);
};

/** The same; undefined where the provider has none, or none any more. */
export const syncIfKnown = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
): Promise<Subscription | undefined> => {
  const { providerSubscriptionId } = subscription;
  if (providerSubscriptionId === undefined) return undefined;
  const found = await (await subscriptionsPortOf(deps, subscription)).find(providerSubscriptionId);
  return found.kind === 'refused'
    ? undefined
    : storeReport(deps, store, subscription, requireDone(found, subscription));
};

/**
 * After the provider refused a command: its subscription may have moved on (canceled in its dashboard, say), so it is
 * read and stored. @returns the subscription where it has moved on. @throws DomainError the refusal where it has not
 */
export const syncAfterRefusal = async (
  deps: BillingDeps,
  subscription: Subscription,
  refusal: Refusal,
): Promise<Subscription> => {
  const stands = await syncIfKnown(deps, subscriptionStore(deps.table), subscription);
  const { status, cancelAtPeriodEnd } = subscription;
  if (stands && (stands.status !== status || stands.cancelAtPeriodEnd !== cancelAtPeriodEnd)) return stands;
  throw refusalError(refusal);
};
