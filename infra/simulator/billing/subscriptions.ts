/**
 * @module Subscriptions billed by the provider. Each period is billed at its start, on a calendar counted from the
 * anchor. Invoices are collected immediately, unless the settings first keep renewal invoices as drafts. Stripe keeps
 * drafts for an hour.
 */

import type { LedgerInvoice, LedgerLine, LedgerSubscription } from '../ledger/billing-documents.ts';
import type { Unit } from '../ledger/unit.ts';
import { applyBalance, billOf, keptDiscounts } from './billing.ts';
import { startOfPeriod } from './calendar.ts';
import { awaitConfirmation, type Collected, type Collecting, collectInvoice, methodOf } from './invoices.ts';
import { changeSubscription, endSubscription, endsNow } from './subscription-end.ts';

const MINUTE_MS = 60_000;
const TRIAL_NOTICE_MS = 3 * 86_400_000;
/** Time limit for the first charge. */
const FIRST_CHARGE_MS = 23 * 3_600_000;

/** Rounds down to whole seconds, as in the providers' times. */
export const wholeSecond = (at: number): number => Math.floor(at / 1_000) * 1_000;

export type NewSubscription = Omit<
  LedgerSubscription,
  'status' | 'anchor' | 'period' | 'periodStart' | 'periodEnd' | 'trialStart' | 'latestInvoiceId'
>;

export type Started = Omit<Collected, 'invoice'> & { readonly subscription: LedgerSubscription };

export interface FirstCharge extends Collecting {
  /**
   * If a `required` charge does not succeed, the caller must roll back. An `attempted` charge may fail. An `awaited`
   * charge needs the customer's confirmation.
   */
  readonly outcome: 'required' | 'attempted' | 'awaited';
}

/**
 * Starts a subscription and charges it now, or after the trial. Without a trial, a subscription with a price is
 * incomplete until a charge succeeds. With a `required` charge, it is active immediately.
 */
export const startSubscription = (unit: Unit, wanted: NewSubscription, first: FirstCharge): Started => {
  const from = wholeSecond(unit.at);
  const { trialEnd } = wanted;
  const anchor = trialEnd ?? from;
  const drafted: LedgerSubscription = {
    ...wanted,
    status: firstStatus(wanted, first),
    anchor,
    period: trialEnd === null ? 0 : -1,
    periodStart: from,
    periodEnd: trialEnd ?? startOfPeriod({ ...wanted, anchor }, 1),
    trialStart: trialEnd === null ? null : from,
    latestInvoiceId: null,
  };
  const { subscription, invoice } = issue(unit, drafted, { reason: 'subscription_create', usedFrom: from });
  unit.announce({ kind: 'subscription.created', subscription });
  unit.schedule(subscription.periodEnd, 'bill_subscription', subscription.id);
  if (subscription.cancelAt !== null) unit.schedule(subscription.cancelAt, 'cancel_subscription', subscription.id);
  if (trialEnd !== null) scheduleNotice(unit, subscription.id, trialEnd);
  if (subscription.status === 'incomplete') {
    unit.schedule(unit.at + FIRST_CHARGE_MS, 'expire_subscription', subscription.id);
  }
  return collectFirst(unit, { subscription, invoice }, first);
};

const firstStatus = (
  { trialEnd, amount }: NewSubscription,
  { outcome }: FirstCharge,
): 'incomplete' | 'trialing' | 'active' => {
  if (trialEnd !== null) return 'trialing';
  return amount === 0 || outcome === 'required' ? 'active' : 'incomplete';
};

const collectFirst = (unit: Unit, { subscription, invoice }: Issued, first: FirstCharge): Started => {
  if (first.outcome === 'awaited' && invoice.status === 'open' && invoice.amount > 0) {
    awaitConfirmation(unit, invoice);
    if (subscription.status === 'active') changeSubscription(unit, subscription, { status: 'past_due' });
    return { subscription: current(unit, subscription) };
  }
  const { declined, asked } = collectIssued(unit, invoice, first);
  const tried = current(unit, subscription);
  if (asked && tried.status === 'active') changeSubscription(unit, tried, { status: 'past_due' });
  return { subscription: current(unit, subscription), ...(declined && { declined }), ...(asked && { asked }) };
};

/** Runs at a period's end. The subscription may have ended or restarted since this work was scheduled. */
export const billSubscription = (unit: Unit, subscriptionId: string): void => {
  const subscription = unit.documents.subscriptions.get(unit.slot, subscriptionId);
  if (!subscription || !BILLED.includes(subscription.status) || subscription.periodEnd > unit.at) return;
  if (subscription.cancelAtPeriodEnd || endsNow(unit, subscription)) {
    endSubscription(unit, subscription, 'cancellation_requested');
    return;
  }
  if (subscription.status === 'trialing' && !methodOf(unit, subscription)) {
    if (subscription.withoutMethod === 'cancel') {
      endSubscription(unit, subscription, 'payment_failed');
      return;
    }
    if (subscription.withoutMethod === 'pause') {
      const paused = unit.documents.subscriptions.put({ ...subscription, status: 'paused' });
      unit.announce({ kind: 'subscription.paused', subscription: paused });
      return;
    }
  }
  renew(unit, subscription);
};

const BILLED: readonly LedgerSubscription['status'][] = ['trialing', 'active', 'past_due', 'unpaid'];

const renew = (unit: Unit, before: LedgerSubscription): void => {
  const period = before.period + 1;
  const isForgiven = before.pausedCollection === 'mark_uncollectible' && before.status === 'past_due';
  const next: LedgerSubscription = {
    ...before,
    status: before.status === 'trialing' || isForgiven ? 'active' : before.status,
    period,
    periodStart: before.periodEnd,
    periodEnd: Math.min(startOfPeriod(before, period + 1), before.cancelAt ?? Number.POSITIVE_INFINITY),
  };
  const { subscription, invoice } = issue(unit, next, { reason: 'subscription_cycle', usedFrom: before.periodStart });
  unit.announce({ kind: 'subscription.updated', subscription, before });
  unit.schedule(subscription.periodEnd, 'bill_subscription', subscription.id);
  if (subscription.collection === undefined) collectIssued(unit, invoice, { attempt: undefined });
};

/** Resumes a subscription paused without a method. A new period starts and is charged immediately. */
export const resumeLedgerSubscription = (unit: Unit, before: LedgerSubscription, first: FirstCharge): Started => {
  const issued = issueFirstInvoice(unit, before);
  unit.announce({ kind: 'subscription.resumed', subscription: issued.subscription });
  return chargePeriod(unit, issued, first);
};

/** Starts a new calendar now and charges immediately. */
export const restartSubscription = (
  unit: Unit,
  { before, changes }: { readonly before: LedgerSubscription; readonly changes: Partial<LedgerSubscription> },
  first: FirstCharge,
): Started => {
  const issued = issueFirstInvoice(unit, { ...before, ...changes });
  unit.announce({ kind: 'subscription.updated', subscription: issued.subscription, before });
  return chargePeriod(unit, issued, first);
};

const issueFirstInvoice = (unit: Unit, before: LedgerSubscription): Issued => {
  const anchor = wholeSecond(unit.at);
  const next: LedgerSubscription = {
    ...before,
    status: 'active',
    anchor,
    period: 0,
    periodStart: anchor,
    periodEnd: startOfPeriod({ ...before, anchor }, 1),
  };
  return issue(unit, next, { reason: 'subscription_update', usedFrom: before.periodStart });
};

const chargePeriod = (unit: Unit, issued: Issued, first: FirstCharge): Started => {
  unit.schedule(issued.subscription.periodEnd, 'bill_subscription', issued.subscription.id);
  return collectFirst(unit, issued, first);
};

export const scheduleNotice = (unit: Unit, subscriptionId: string, trialEnd: number): void =>
  unit.schedule(Math.max(trialEnd - TRIAL_NOTICE_MS, unit.at), 'announce_trial_end', subscriptionId);

/** Runs three days before a trial's end. The trial may have been extended since. */
export const announceTrialEnd = (unit: Unit, subscriptionId: string): void => {
  const subscription = unit.documents.subscriptions.get(unit.slot, subscriptionId);
  if (subscription?.status !== 'trialing' || subscription.trialEnd === null) return;
  if (subscription.trialEnd - TRIAL_NOTICE_MS <= unit.at)
    unit.announce({ kind: 'subscription.trial_will_end', subscription });
};

const current = (unit: Unit, { id }: LedgerSubscription): LedgerSubscription => {
  const subscription = unit.documents.subscriptions.get(unit.slot, id);
  if (!subscription) throw new Error(`Subscription ${id} does not exist`);
  return subscription;
};

interface Issuing {
  readonly reason: LedgerInvoice['reason'];
  readonly usedFrom: number;
}

interface Issued {
  readonly subscription: LedgerSubscription;
  readonly invoice: LedgerInvoice;
}

/** Issues the invoice for the subscription's current period. @returns the invoice, and the subscription with its id. */
export const issue = (unit: Unit, subscription: LedgerSubscription, { reason, usedFrom }: Issuing): Issued => {
  const { customerId, currency } = subscription;
  const bill = billOf(unit, subscription, [lineOf(subscription)]);
  const draftMs = reason === 'subscription_cycle' ? unit.drafts().minutes * MINUTE_MS : 0;
  const status = firstInvoiceStatus(subscription, draftMs);
  const owed =
    status === 'open' || status === 'uncollectible'
      ? applyBalance(unit, { customerId, currency, bill })
      : { amount: bill.total, startingBalance: 0, endingBalance: status === 'draft' ? null : 0 };
  const invoice = unit.documents.invoices.put({
    id: unit.newId('invoice'),
    provider: unit.slot,
    metadata: {},
    wire: {},
    createdAt: unit.at,
    subscriptionId: subscription.id,
    customerId,
    number: numberOf(unit, customerId),
    bill,
    ...owed,
    currency,
    status,
    reason,
    periodStart: subscription.periodStart,
    periodEnd: subscription.periodEnd,
    usedFrom,
    paymentId: null,
    attempts: 0,
    firstFailedAt: null,
    nextAttemptAt: null,
    refusedMethodId: null,
    collects: isCollected(subscription, status),
    paidAt: null,
    paidElsewhere: false,
    voidedAt: status === 'void' ? unit.at : null,
    uncollectibleAt: status === 'uncollectible' ? unit.at : null,
  });
  if (status === 'draft' && invoice.collects) unit.schedule(unit.at + draftMs, 'finalize_invoice', invoice.id);
  const discountIds = keptDiscounts(unit, subscription, bill);
  const latestInvoiceId = invoice.id;
  return { invoice, subscription: unit.documents.subscriptions.put({ ...subscription, discountIds, latestInvoiceId }) };
};

/** The invoice line of the current period. A period that ends early costs only its share of the price. */
const lineOf = (subscription: LedgerSubscription): LedgerLine => {
  const { status, period, periodStart, periodEnd, priceId, quantity } = subscription;
  const wholeEnd = startOfPeriod(subscription, period + 1);
  const share = periodEnd < wholeEnd ? (periodEnd - periodStart) / (wholeEnd - periodStart) : 1;
  const amount = status === 'trialing' ? 0 : Math.round(subscription.amount * share);
  return { amount, quantity, priceId, periodStart, periodEnd };
};

/**
 * An invoice's first status. While collection is paused, the owner's setting decides. An unpaid subscription's invoices
 * stay drafts.
 */
const firstInvoiceStatus = (
  { pausedCollection, status }: LedgerSubscription,
  draftMs: number,
): LedgerInvoice['status'] => {
  if (pausedCollection !== null) return HELD[pausedCollection];
  return status === 'unpaid' || draftMs > 0 ? 'draft' : 'open';
};

/** True if the invoice is collected, now or at the end of its draft time. */
const isCollected = ({ pausedCollection, status: of }: LedgerSubscription, status: LedgerInvoice['status']): boolean =>
  (status === 'open' && of !== 'incomplete') || (status === 'draft' && pausedCollection === null && of !== 'unpaid');

const HELD = { void: 'void', keep_as_draft: 'draft', mark_uncollectible: 'uncollectible' } as const;

const numberOf = (unit: Unit, customerId: string): string =>
  `${customerId.slice(-8).toUpperCase()}-${String(unit.count(`invoices:${customerId}`)).padStart(4, '0')}`;

export const collectIssued = (unit: Unit, invoice: LedgerInvoice, collecting: Collecting): Collected => {
  if (invoice.status === 'void') unit.announce({ kind: 'invoice.voided', invoice });
  if (invoice.status === 'uncollectible') unit.announce({ kind: 'invoice.marked_uncollectible', invoice });
  return invoice.status === 'open' ? collectInvoice(unit, invoice, collecting) : { invoice };
};
