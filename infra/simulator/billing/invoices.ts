/**
 * @module Collects the invoice of one subscription period. The provider charges immediately, and retries on the owner's
 * chosen days after the first failure. After the last retry the subscription ends, becomes unpaid, or stays past due.
 * An invoice has one payment for all attempts. A card with a final decline is not retried.
 */

import type { DeclineReason } from '../ledger/behaviours.ts';
import type { LedgerInvoice, LedgerSubscription } from '../ledger/billing-documents.ts';
import type { LedgerMethod, LedgerPayment } from '../ledger/documents.ts';
import { attemptPayment, type ChargeOutcome, settleLedgerPayment } from '../ledger/payments.ts';
import type { Unit } from '../ledger/unit.ts';
import {
  cancelOfVoid,
  changeSubscription,
  endSubscription,
  statusByInvoices,
  stopCollecting,
} from './subscription-end.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/**
 * After a decline with one of these reasons, Stripe does not retry the card. After `authentication_required`, only the
 * customer can continue.
 */
const FOR_GOOD: readonly DeclineReason[] = [
  'lost_card',
  'stolen_card',
  'pickup_card',
  'invalid_account',
  'account_closed',
  'authorization_revoked',
  'payment_stopped',
  'never_again',
  'agreement_canceled',
  'authentication_required',
];

export interface Collecting {
  /** The method to charge instead of the subscription's own method. */
  readonly method?: LedgerMethod | undefined;
  /** Identifies the caller's attempt; undefined for the provider's own attempt. */
  readonly attempt: string | undefined;
  /** True if the customer is present and can authenticate. */
  readonly onSession?: boolean;
}

export interface Collected {
  readonly invoice: LedgerInvoice;
  readonly declined?: ChargeOutcome['declined'];
  /** Set if the payment waits for its customer. */
  readonly asked?: LedgerPayment;
}

/** Expects an open or written-off invoice without a payment under way. An invoice of 0 is paid without a charge. */
export const collectInvoice = (
  unit: Unit,
  invoice: LedgerInvoice,
  { method, attempt, onSession = false }: Collecting,
): Collected => {
  if (invoice.amount === 0) return { invoice: pay(unit, invoice) };
  const subscription = subscriptionOf(unit, invoice);
  const payment = paymentOf(unit, invoice, subscription);
  const byItself = attempt === undefined;
  const counts = byItself || invoice.attempts === 0;
  const tried = unit.documents.invoices.put({
    ...invoice,
    paymentId: payment.id,
    attempts: invoice.attempts + (counts ? 1 : 0),
  });
  const source = method ?? methodOf(unit, subscription);
  if (!source) {
    unit.documents.payments.put(payment);
    return { invoice: fail(unit, tried, { refused: undefined, byItself }) };
  }
  const { payment: after, declined } = attemptPayment(
    unit,
    { payment, method: source },
    { offSession: !onSession, waitsForCustomer: true, attempt, byItself },
  );
  const invoiceAfter = declined
    ? fail(unit, tried, { refused: declined, byItself })
    : after.status === 'succeeded'
      ? pay(unit, tried)
      : tried;
  if (after.status === 'requires_action') {
    unit.announce({ kind: 'invoice.payment_action_required', invoice: invoiceAfter });
  }
  return {
    invoice: invoiceAfter,
    ...(declined && { declined }),
    ...(after.status === 'requires_action' && { asked: after }),
  };
};

/** Creates an invoice's payment for the customer to confirm. */
export const awaitConfirmation = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  const subscription = subscriptionOf(unit, invoice);
  const method = methodOf(unit, subscription);
  const payment = unit.documents.payments.put({
    ...paymentOf(unit, invoice, subscription),
    status: method ? 'requires_confirmation' : 'requires_payment_method',
    methodId: method?.id ?? null,
  });
  unit.announce({ kind: 'payment.created', payment });
  return unit.documents.invoices.put({ ...invoice, paymentId: payment.id });
};

/**
 * Runs when a retry is due. Skips an invoice that was paid meanwhile, or whose subscription was canceled. A canceled
 * payment or a method with a final decline is not charged again. The next retry is scheduled instead.
 */
export const retryInvoice = (unit: Unit, invoiceId: string): void => {
  const invoice = unit.documents.invoices.get(unit.slot, invoiceId);
  if (invoice?.status !== 'open' || !invoice.collects) return;
  if (invoice.nextAttemptAt === null || invoice.nextAttemptAt > unit.at) return;
  const subscription = subscriptionOf(unit, invoice);
  const isRefused = invoice.refusedMethodId !== null && invoice.refusedMethodId === methodOf(unit, subscription)?.id;
  const isCanceled = unit.documents.payments.get(unit.slot, invoice.paymentId ?? '')?.status === 'canceled';
  if (!isRefused && !isCanceled) collectInvoice(unit, invoice, { attempt: undefined });
  else goOn(unit, unit.documents.invoices.put({ ...invoice, nextAttemptAt: nextRetry(unit, invoice) }));
};

/** Settles a processing payment and its invoice. */
export const settlePayment = (unit: Unit, paymentId: string): void => {
  settleLedgerPayment(unit, paymentId);
  const payment = unit.documents.payments.get(unit.slot, paymentId);
  if (payment) settleInvoice(unit, payment, true);
};

/** Applies the outcome of a payment to its invoice, after the payment was confirmed, authenticated or settled. */
export const settleInvoice = (unit: Unit, payment: LedgerPayment, byItself = false): void => {
  const { invoice: invoiceId } = payment.wire;
  const invoice = typeof invoiceId === 'string' ? unit.documents.invoices.get(unit.slot, invoiceId) : undefined;
  if (invoice?.status === 'void') cancelOfVoid(unit, payment);
  if (invoice?.status !== 'open' && invoice?.status !== 'uncollectible') return;
  if (payment.status === 'succeeded') pay(unit, invoice);
  if (payment.status !== 'requires_payment_method' || payment.failure === null) return;
  const { reason, methodId } = payment.failure;
  const method = unit.documents.methods.get(unit.slot, methodId ?? '');
  fail(unit, invoice, { refused: method && { reason, method }, byItself });
};

/** Turns the provider's automatic collection of the invoice on or off. */
export const setCollection = (unit: Unit, invoice: LedgerInvoice, collects: boolean): LedgerInvoice => {
  const changed = unit.documents.invoices.put({ ...invoice, collects });
  if (collects && changed.status === 'draft') unit.schedule(unit.at + HOUR_MS, 'finalize_invoice', changed.id);
  if (collects && changed.nextAttemptAt !== null) {
    unit.schedule(Math.max(changed.nextAttemptAt, unit.at), 'retry_invoice', changed.id);
  }
  return changed;
};

/** The subscription's own method, or else its customer's default. Undefined if the customer has neither method. */
export const methodOf = (
  unit: Unit,
  subscription: Pick<LedgerSubscription, 'customerId' | 'methodId'>,
): LedgerMethod | undefined => {
  const customer = unit.documents.customers.get(unit.slot, subscription.customerId);
  return [subscription.methodId, customer?.defaultMethodId ?? null]
    .map((id) => unit.documents.methods.get(unit.slot, id ?? ''))
    .find((method) => method?.customerId === subscription.customerId);
};

const subscriptionOf = (unit: Unit, { id, subscriptionId }: LedgerInvoice): LedgerSubscription => {
  const subscription = unit.documents.subscriptions.get(unit.slot, subscriptionId);
  if (!subscription) throw new Error(`Invoice ${id} has no subscription`);
  return subscription;
};

/** The invoice's payment, or a new payment. A new payment has our id only after the service adds it. */
const paymentOf = (unit: Unit, invoice: LedgerInvoice, subscription: LedgerSubscription): LedgerPayment =>
  unit.documents.payments.get(unit.slot, invoice.paymentId ?? '') ?? {
    id: unit.newId('payment'),
    provider: unit.slot,
    metadata: {},
    wire: { invoice: invoice.id, subscription: subscription.id },
    createdAt: unit.at,
    amount: invoice.amount,
    currency: invoice.currency,
    status: 'requires_payment_method',
    captures: 'at_once',
    description: invoice.reason === 'subscription_create' ? 'Subscription creation' : 'Subscription update',
    customerId: invoice.customerId,
    methodId: null,
    saveMethod: 'off_session',
    amountReceived: 0,
    latestChargeId: null,
    failure: null,
    returnUrl: null,
    canceledAt: null,
    cancellationReason: null,
  };

export const pay = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  const paid = unit.documents.invoices.put({ ...invoice, status: 'paid', paidAt: unit.at, nextAttemptAt: null });
  unit.announce({ kind: paid.paidElsewhere ? 'invoice.paid_elsewhere' : 'invoice.paid', invoice: paid });
  const subscription = subscriptionOf(unit, paid);
  const begins = subscription.status === 'incomplete' && subscription.latestInvoiceId === paid.id;
  const status = begins ? 'active' : statusByInvoices(unit, subscription);
  const changes: Partial<LedgerSubscription> = {
    ...(status !== subscription.status && { status }),
    ...(!paid.paidElsewhere && payerOf(unit, subscription, paid)),
  };
  if (Object.keys(changes).length > 0) changeSubscription(unit, subscription, changes);
  return paid;
};

const payerOf = (
  unit: Unit,
  { keepsPayingMethod, methodId: own }: LedgerSubscription,
  { paymentId }: LedgerInvoice,
): Pick<LedgerSubscription, 'methodId'> | undefined => {
  const methodId = unit.documents.payments.get(unit.slot, paymentId ?? '')?.methodId;
  return keepsPayingMethod && methodId && methodId !== own ? { methodId } : undefined;
};

interface Failing {
  /** Undefined if there was no method to charge. */
  readonly refused: { readonly reason: DeclineReason; readonly method: LedgerMethod } | undefined;
  readonly byItself: boolean;
}

/**
 * Records a failed attempt. A caller's attempt changes the schedule of retries only if it is the invoice's first
 * failure.
 */
const fail = (unit: Unit, invoice: LedgerInvoice, { refused, byItself }: Failing): LedgerInvoice => {
  const dated = { ...invoice, firstFailedAt: invoice.firstFailedAt ?? unit.at };
  const subscription = subscriptionOf(unit, invoice);
  // Until the subscription is active, its first invoice is retried only by a call.
  const isFirst = invoice.firstFailedAt === null;
  const planned = invoice.status === 'open' && subscription.status !== 'incomplete' && (byItself || isFirst);
  const failed = unit.documents.invoices.put({
    ...dated,
    nextAttemptAt: planned ? nextRetry(unit, dated) : invoice.nextAttemptAt,
    refusedMethodId: refused && FOR_GOOD.includes(refused.reason) ? refused.method.id : null,
  });
  unit.announce({ kind: 'invoice.payment_failed', invoice: failed });
  const isBehind = subscription.latestInvoiceId === failed.id && subscription.status === 'active';
  if (isBehind) changeSubscription(unit, subscription, { status: 'past_due' });
  return planned ? goOn(unit, failed) : failed;
};

/** Schedules the next retry. After the last retry, applies the owner's setting. */
const goOn = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  if (invoice.nextAttemptAt === null) {
    if (invoice.collects) giveUp(unit, subscriptionOf(unit, invoice));
    return unit.documents.invoices.get(unit.slot, invoice.id) ?? invoice;
  }
  unit.schedule(invoice.nextAttemptAt, 'retry_invoice', invoice.id);
  return invoice;
};

const giveUp = (unit: Unit, subscription: LedgerSubscription): void => {
  const { then } = unit.retries();
  if (then === 'cancel') endSubscription(unit, subscription, 'payment_failed');
  if (then === 'unpaid' && subscription.status === 'past_due') stopPaying(unit, subscription);
};

/** Makes the subscription unpaid. Its invoices are no longer collected, and later invoices stay drafts. */
export const stopPaying = (unit: Unit, subscription: LedgerSubscription): LedgerSubscription => {
  stopCollecting(unit, subscription);
  return changeSubscription(unit, subscription, { status: 'unpaid' });
};

const nextRetry = (unit: Unit, { firstFailedAt }: LedgerInvoice): number | null =>
  firstFailedAt === null
    ? null
    : (unit
        .retries()
        .days.map((days) => firstFailedAt + days * DAY_MS)
        .find((retry) => retry > unit.at) ?? null);
