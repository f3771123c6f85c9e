/**
 * @module Adds another integration's running subscription to the ledger. The current period of an active subscription
 * counts as paid elsewhere. Earlier periods are not billed. From then on the provider bills the subscription like any
 * other.
 */

import type { LedgerInvoice, LedgerSubscription } from '../ledger/billing-documents.ts';
import type { LedgerPayment } from '../ledger/documents.ts';
import type { Unit } from '../ledger/unit.ts';
import { startOfPeriod } from './calendar.ts';
import { awaitConfirmation, methodOf, pay } from './invoices.ts';
import { issue, scheduleNotice } from './subscriptions.ts';

export const FOREIGN_STATUSES = ['active', 'past_due', 'unpaid', 'incomplete'] as const;
type ForeignStatus = (typeof FOREIGN_STATUSES)[number];

type NewForeign = Omit<LedgerSubscription, 'status' | 'period' | 'periodStart' | 'periodEnd' | 'latestInvoiceId'>;

const DAY_MS = 86_400_000;
const FIRST_CHARGE_MS = 23 * 3_600_000;

/** @param status applies to a subscription without a trial */
export const addForeignSubscription = (unit: Unit, wanted: NewForeign, status: ForeignStatus): LedgerSubscription => {
  const isTrial = wanted.trialEnd !== null;
  const period = isTrial ? -1 : periodAt(wanted, unit.at);
  const periodStart = isTrial ? wanted.createdAt : startOfPeriod(wanted, period);
  const drafted: LedgerSubscription = {
    ...wanted,
    status: isTrial ? 'trialing' : status === 'incomplete' ? 'incomplete' : 'active',
    period,
    periodStart,
    periodEnd: wanted.trialEnd ?? startOfPeriod(wanted, period + 1),
    latestInvoiceId: null,
  };
  // Issue the invoice as of the start of its period.
  const past = { ...unit, at: periodStart };
  const reason = status === 'incomplete' || isTrial || period === 0 ? 'subscription_create' : 'subscription_cycle';
  const { invoice, subscription } = issue(past, drafted, { reason, usedFrom: periodStart });
  const put = unit.documents.subscriptions.put({ ...subscription, discountIds: wanted.discountIds });
  unit.announce({ kind: 'subscription.created', subscription: put });
  scheduleWork(unit, put);
  settle(unit, invoice, isTrial ? 'active' : status);
  return unit.documents.subscriptions.get(unit.slot, put.id) ?? put;
};

const periodAt = (schedule: Pick<LedgerSubscription, 'anchor' | 'unit' | 'count'>, at: number): number => {
  let period = 0;
  while (startOfPeriod(schedule, period + 1) <= at) period += 1;
  return period;
};

const scheduleWork = (unit: Unit, { id, periodEnd, cancelAt, trialEnd, status }: LedgerSubscription): void => {
  unit.schedule(periodEnd, 'bill_subscription', id);
  if (cancelAt !== null) unit.schedule(cancelAt, 'cancel_subscription', id);
  if (trialEnd !== null) scheduleNotice(unit, id, trialEnd);
  if (status === 'incomplete') unit.schedule(unit.at + FIRST_CHARGE_MS, 'expire_subscription', id);
};

/**
 * Brings the invoice and its subscription to the wanted status without a charge. A payment that was declined elsewhere
 * has no charge in this ledger.
 */
const settle = (unit: Unit, invoice: LedgerInvoice, status: ForeignStatus): void => {
  if (status === 'active') {
    if (invoice.status === 'open') pay(unit, { ...invoice, paidElsewhere: true });
    return;
  }
  const tried = awaitConfirmation(unit, invoice);
  if (status === 'incomplete') return;
  const collects = status === 'past_due';
  const nextAttemptAt = collects ? unit.at + (unit.retries().days[0] ?? 1) * DAY_MS : null;
  const failed = { attempts: 1, firstFailedAt: unit.at, nextAttemptAt, collects };
  unit.documents.invoices.put({ ...tried, ...failed });
  if (nextAttemptAt !== null) unit.schedule(nextAttemptAt, 'retry_invoice', invoice.id);
  const payment = unit.documents.payments.get(unit.slot, tried.paymentId ?? '');
  const subscription = unit.documents.subscriptions.get(unit.slot, invoice.subscriptionId);
  if (payment) unit.documents.payments.put(declined(payment));
  if (subscription) {
    const behind = unit.documents.subscriptions.put({ ...subscription, status });
    unit.announce({ kind: 'subscription.updated', subscription: behind, before: subscription });
  }
};

const declined = (payment: LedgerPayment): LedgerPayment => ({
  ...payment,
  status: 'requires_payment_method',
  failure: { reason: 'insufficient_funds', chargeId: null, methodId: payment.methodId },
});

/** True if the provider has a method to charge for the subscription. */
export const canBeCharged = (unit: Unit, subscription: Pick<LedgerSubscription, 'customerId' | 'methodId'>): boolean =>
  methodOf(unit, subscription) !== undefined;
