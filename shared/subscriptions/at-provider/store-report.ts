/** @module Reads a subscription at its billing provider, and stores its state and its invoices as payments. */

import type { CallKind, CallParts } from '../../calls/call-kind.ts';
import { DomainError } from '../../core/errors.ts';
import type { Outcome, Refusal } from '../../core/outcome.ts';
import { epochSeconds, instant } from '../../core/time.ts';
import { findUnattended } from '../../payment-methods/usable-method.ts';
import { refusalError } from '../../payments/create-intent.ts';
import { putAlias } from '../../platform/alias.ts';
import type { EventSubscription, ProviderSubscription, SubscriptionsPort } from '../../providers/subscription-port.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { openScheduledPlan } from '../billing/scheduled-plan.ts';
import { isLive, type Subscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { withMethod } from '../record/subscription-versions.ts';
import { requireAnswer, subscriptionsPortOf } from './provider-biller.ts';
import { invoicesOf, nextRetryAt, recordInvoices } from './provider-invoices.ts';
import { applyReport, isAboutFormer, type SubscriptionReport } from './provider-report.ts';

/**
 * Stores the status in a provider's response, and its invoices as payments. If another commit came first, the response
 * may be outdated, so the provider is read again.
 * @param subscription as it was before the provider was called
 * @throws DomainError if the provider cannot be read again, or VERSION_CONFLICT
 */
export const storeReport = async (
  deps: BillingDeps,
  subscription: Subscription,
  answer: ProviderSubscription,
): Promise<Subscription> => (await storeNewest(deps, subscription, { answer })).stored;

/**
 * Stores the newest invoice of the former subscription if the invoice is paid and missing from the record. Called after
 * a transfer has paused collection, because events are not applied during a transfer. Readers do not see the pause.
 */
export const storeRenewal = (
  deps: BillingDeps,
  subscription: Subscription,
  former: ProviderSubscription,
): Promise<Subscription> =>
  subscriptionStore(deps.table).change(subscription, (current) => {
    if (isAboutFormer(current, former.subscriptionId) || !isNewlyPaid(current, former)) return current;
    return withAnswer(deps, current, { ...former, status: former.owed.length > 0 ? 'past_due' : 'active' });
  });

const isNewlyPaid = ({ paidUntil }: Subscription, { latestInvoice }: ProviderSubscription): boolean =>
  latestInvoice?.status === 'succeeded' &&
  (paidUntil === undefined || epochSeconds(instant(paidUntil)) < latestInvoice.periodEnd);

interface Answered {
  readonly answer: ProviderSubscription;
  /** Set for a read; absent for a command. */
  readonly isRead?: true;
}

/**
 * Applies the scheduled plan before a report of its period is stored, so the period's payment belongs to that plan.
 * @param periodStart epoch seconds; undefined if the report has no period
 */
export const openPlanAt = async (
  deps: BillingDeps,
  subscription: Subscription,
  periodStart: number | undefined,
): Promise<Subscription> => {
  const isDue = ({ scheduledChange, currentPeriodEnd }: Subscription): boolean =>
    scheduledChange !== undefined &&
    periodStart !== undefined &&
    periodStart >= epochSeconds(instant(currentPeriodEnd));
  if (!isDue(subscription)) return subscription;
  return subscriptionStore(deps.table).change(subscription, (current) =>
    isDue(current) ? openScheduledPlan(current, deps.now()) : current,
  );
};

/** Like `storeReport`. @returns also the stored response */
const storeNewest = async (
  deps: BillingDeps,
  known: Subscription,
  { answer, isRead }: Answered,
): Promise<{ readonly stored: Subscription; readonly newest: ProviderSubscription }> => {
  let newest = answer;
  const subscription = await openPlanAt(deps, known, answer.currentPeriodStart);
  const stored = await subscriptionStore(deps.table).change(subscription, async (current) => {
    if (current === subscription) return withAnswer(deps, current, answer);
    // The record has switched to another subscription at the provider, so the response is about the former one.
    if (isAboutFormer(current, answer.subscriptionId)) return current;
    // An event in the interface's format was applied during the read, and is newer.
    if (isRead && current.followedAt !== subscription.followedAt) return current;
    const port = await subscriptionsPortOf(deps, current);
    newest = requireAnswer(await port.find(answer.subscriptionId), current);
    return withAnswer(deps, current, newest);
  });
  return { stored, newest };
};

/**
 * Stores a read of the provider. If the provider charges another known method, a method change may have lost its
 * response, so the record adopts that method.
 * @throws DomainError like `storeReport`
 */
export const storeState = async (
  deps: BillingDeps,
  subscription: Subscription,
  answer: ProviderSubscription,
): Promise<Subscription> => {
  const { stored, newest } = await storeNewest(deps, subscription, { answer, isRead: true });
  if (!namesOtherMethod(stored, newest)) return stored;
  const method = await findUnattended(deps.table, stored, { methodRef: newest.methodId });
  if (!method?.paymentMethodId || method.providerCustomerId !== stored.providerCustomerId) return stored;
  const store = subscriptionStore(deps.table);
  const followed = await store.commit(stored, withMethod(stored, method, deps.now()), method.onlyIf);
  return followed.ok ? followed.record : (followed.found ?? stored);
};

/** True if the provider charges a method other than the record's. False while collection is paused. */
export const namesOtherMethod = (
  subscription: Subscription,
  { subscriptionId, methodId = subscription.methodRef }: Pick<EventSubscription, 'subscriptionId' | 'methodId'>,
): boolean => {
  const { methodRef, providerSubscriptionId, transfer, held } = subscription;
  const isOther = methodId !== methodRef && !held && !transfer;
  return isOther && isLive(subscription) && providerSubscriptionId === subscriptionId;
};

const withAnswer = async (
  deps: BillingDeps,
  subscription: Subscription,
  answer: ProviderSubscription,
): Promise<Subscription> => {
  if (subscription.providerSubscriptionId !== answer.subscriptionId) {
    await putAlias(
      deps.table,
      { providerId: subscription.providerId, externalId: answer.subscriptionId },
      { kind: 'SUB', id: subscription.id },
    );
  }
  // Date the response now, before its payments are stored, so an event that arrives meanwhile counts as newer.
  const at = epochSeconds(deps.now());
  const { latestPaymentId, owed, ...money } = await recordInvoices(deps, subscription, answer);
  const next = applyReport(subscription, { ...reportOf(answer), ...money, at }, deps.now());
  if (next === subscription) return next;
  const isNewer = latestPaymentId !== undefined && !isKnownPaid(subscription, answer);
  return { ...next, owed, latestPaymentId: isNewer ? latestPaymentId : (next.latestPaymentId ?? latestPaymentId) };
};

/**
 * True if the newest invoice is already recorded as paid. The payment of a plan change may be later than that invoice,
 * so the record keeps its latest payment.
 */
const isKnownPaid = (
  { paidUntil, currentPeriodStart }: Subscription,
  { latestInvoice: invoice }: ProviderSubscription,
): boolean =>
  invoice?.status === 'succeeded' &&
  epochSeconds(instant(currentPeriodStart)) >= invoice.periodStart &&
  paidUntil !== undefined &&
  epochSeconds(instant(paidUntil)) >= invoice.periodEnd;

/** The report from a read, except for the fields determined by its invoices. */
export const reportOf = (answer: ProviderSubscription): Omit<SubscriptionReport, 'paidUntil' | 'isPaid' | 'at'> => {
  const { subscriptionId, status, currentPeriodStart, currentPeriodEnd, trialEnd, isBridge } = answer;
  const { cancelAtPeriodEnd, cancelAt, isUnpaid, price, latestInvoice } = answer;
  const isCollecting = ['processing', 'pending'].includes(latestInvoice?.status ?? '');
  const retryAt = nextRetryAt(answer);
  const period = { currentPeriodStart, currentPeriodEnd, trialEnd, isBridge };
  return { subscriptionId, status, ...period, cancelAtPeriodEnd, cancelAt, isUnpaid, price, isCollecting, retryAt };
};

/** A subscription known to exist at its billing provider. */
export type AtProvider = Subscription & { readonly providerSubscriptionId: string };

export const isAtProvider = (subscription: Subscription): subscription is AtProvider =>
  subscription.providerSubscriptionId !== undefined;

/**
 * An authoritative read. The value is undefined only if the provider refuses the id as unknown. Any other failure is
 * returned, because the caller may charge a new period after the read.
 */
export const findAt = async (
  port: SubscriptionsPort,
  subscriptionId: string,
): Promise<Outcome<ProviderSubscription | undefined>> => {
  const found = await port.find(subscriptionId);
  return found.kind === 'refused' ? { kind: 'done', value: undefined } : found;
};

/** Dependencies of a call about a subscription at its billing provider. */
export interface PartsAtProvider extends CallParts {
  readonly deps: BillingDeps;
  readonly port: SubscriptionsPort;
}

export type CallAtProvider<Claim extends AtProvider, Report> = CallKind<
  PartsAtProvider,
  Subscription,
  Claim,
  Report,
  ProviderSubscription | undefined
>;

/** How every call about a subscription reads it at its billing provider, and ends without effect. */
export const READ_AT_PROVIDER: Pick<CallAtProvider<AtProvider, never>, 'find' | 'end' | 'takeBack'> = {
  find: ({ port }, { providerSubscriptionId }) => findAt(port, providerSubscriptionId),
  end: async ({ deps }, claim, { refusal, found }) => ({
    record: found ? await storeState(deps, claim, found) : claim,
    refusal,
  }),
  takeBack: async (_, record, notDone) => ({ record, notDone }),
};

/** Reads the provider and stores its state as authoritative. @throws DomainError if the provider cannot be read now */
export const syncFromProvider = async (
  deps: BillingDeps,
  subscription: Subscription,
  providerSubscriptionId = subscription.providerSubscriptionId,
): Promise<Subscription> => {
  if (providerSubscriptionId === undefined) return subscription;
  const port = await subscriptionsPortOf(deps, subscription);
  return storeState(deps, subscription, requireAnswer(await port.find(providerSubscriptionId), subscription));
};

/** Like `syncFromProvider`, but returns undefined if the provider does not have the subscription. */
export const syncIfKnown = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription | undefined> => {
  if (!isAtProvider(subscription)) return undefined;
  const port = await subscriptionsPortOf(deps, subscription);
  const found = requireAnswer(await findAt(port, subscription.providerSubscriptionId), subscription);
  return found && storeState(deps, subscription, found);
};

/**
 * Reads the provider before a canceled subscription is created again, to find a period already charged without an event
 * yet. The charge may come from a creation whose response was lost and whose subscription was canceled later.
 * @throws DomainError PAYMENT_IN_PROGRESS while a charge is under way
 */
export const syncBeforeReturn = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const { providerSubscriptionId, formerProviderIds = [] } = subscription;
  const port = await subscriptionsPortOf(deps, subscription);
  let synced = subscription;
  for (const id of providerSubscriptionId === undefined ? formerProviderIds : [providerSubscriptionId]) {
    const answer = requireAnswer(await findAt(port, id), subscription);
    if (!answer) continue;
    synced = await storeReport(deps, synced, answer);
    requireSettled(answer);
  }
  return synced;
};

/** Reads the provider before a new period is charged. @throws DomainError PAYMENT_IN_PROGRESS during a charge */
export const syncBeforeCharge = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  if (!isAtProvider(subscription)) return subscription;
  const port = await subscriptionsPortOf(deps, subscription);
  const answer = requireAnswer(await port.find(subscription.providerSubscriptionId), subscription);
  const synced = await storeReport(deps, subscription, answer);
  requireSettled(answer);
  return synced;
};

/** @throws DomainError PAYMENT_IN_PROGRESS while an invoice is being charged; the payer could otherwise pay twice */
export const requireSettled = (answer: ProviderSubscription): void => {
  if (invoicesOf(answer).some(({ status }) => status === 'processing')) throw new DomainError('PAYMENT_IN_PROGRESS');
};

/** @throws DomainError for the refusal, unless the read after it shows a changed state */
export const requireChanged = (was: Subscription, synced: Subscription, refusal: Refusal): void => {
  if (!hasOtherState(was, synced)) throw refusalError(refusal);
};

export const hasOtherState = (subscription: Subscription, synced: Subscription): boolean =>
  synced.status !== subscription.status || synced.cancelAtPeriodEnd !== subscription.cancelAtPeriodEnd;
