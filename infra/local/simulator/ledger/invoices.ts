import type { DeclineReason } from './behaviours.ts';
import type { LedgerInvoice, LedgerSubscription } from './billing-documents.ts';
import type { LedgerMethod, LedgerPayment } from './documents.ts';
import { attemptPayment, type ChargeOutcome, settleLedgerPayment } from './payments.ts';
import { changeSubscription, endSubscription } from './subscription-end.ts';
import type { Unit } from './unit.ts';

/**
 * The invoice of one period of a subscription, and how the provider collects it: at once, then 1, 3, 7 and 14 days after
 * the first failure, then the subscription ends. An invoice has one payment, however often it is tried; a card with a
 * final decline is not tried again.
 */
const DAY_MS = 86_400_000;
const RETRY_DAYS = [1, 3, 7, 14];
const FOR_GOOD: readonly DeclineReason[] = ['lost_card', 'stolen_card'];

export interface Collecting {
  /** Charged in place of the subscription's own method. */
  readonly method?: LedgerMethod | undefined;
  /** Names the call that requests the attempt; undefined: the provider's own attempt. */
  readonly attempt: string | undefined;
}

export interface Collected {
  readonly invoice: LedgerInvoice;
  readonly declined?: ChargeOutcome['declined'];
}

/** The invoice is open, and no payment of it is under way. */
export const collectInvoice = (unit: Unit, invoice: LedgerInvoice, { method, attempt }: Collecting): Collected => {
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
  if (!source) return { invoice: fail(unit, tried, { refused: undefined, byItself }) };
  const { payment: after, declined } = attemptPayment(
    unit,
    { payment, method: source },
    { offSession: true, attempt, byItself },
  );
  if (declined) return { invoice: fail(unit, tried, { refused: declined, byItself }), declined };
  return { invoice: after.status === 'succeeded' ? pay(unit, tried) : tried };
};

/** Runs when a retry is due. The invoice may have been paid, or its subscription canceled, since it was scheduled. */
export const retryInvoice = (unit: Unit, invoiceId: string): void => {
  const invoice = unit.documents.invoices.get(unit.slot, invoiceId);
  if (invoice?.status !== 'open' || !invoice.collects) return;
  if (invoice.nextAttemptAt === null || invoice.nextAttemptAt > unit.at) return;
  const subscription = subscriptionOf(unit, invoice);
  const isRefused = invoice.refusedMethodId !== null && invoice.refusedMethodId === methodOf(unit, subscription)?.id;
  if (!isRefused) collectInvoice(unit, invoice, { attempt: undefined });
  else goOn(unit, unit.documents.invoices.put({ ...invoice, nextAttemptAt: nextRetry(invoice, unit.at) }));
};

/** Settles a processing payment and its invoice. */
export const settlePayment = (unit: Unit, paymentId: string): void => {
  settleLedgerPayment(unit, paymentId);
  const payment = unit.documents.payments.get(unit.slot, paymentId);
  const invoiceId = payment?.wire['invoice'];
  const invoice = typeof invoiceId === 'string' ? unit.documents.invoices.get(unit.slot, invoiceId) : undefined;
  if (!payment || invoice?.status !== 'open') return;
  if (payment.status === 'succeeded') pay(unit, invoice);
  if (payment.failure === null) return;
  const { reason, methodId } = payment.failure;
  const method = unit.documents.methods.get(unit.slot, methodId ?? '');
  fail(unit, invoice, { refused: method && { reason, method }, byItself: true });
};

/** Whether the provider continues to collect the invoice without a call. */
export const setCollection = (unit: Unit, invoice: LedgerInvoice, collects: boolean): LedgerInvoice => {
  const changed = unit.documents.invoices.put({ ...invoice, collects });
  if (collects && changed.nextAttemptAt !== null) {
    unit.schedule(Math.max(changed.nextAttemptAt, unit.at), 'retry_invoice', changed.id);
  }
  return changed;
};

/** The subscription's own method, or its customer's default; undefined where that was removed. */
export const methodOf = (unit: Unit, subscription: LedgerSubscription): LedgerMethod | undefined => {
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

/** The payment gets our id only when the service labels it. */
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
    saveMethod: null,
    amountReceived: 0,
    latestChargeId: null,
    failure: null,
    returnUrl: null,
    canceledAt: null,
    cancellationReason: null,
  };

export const pay = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  const paid = unit.documents.invoices.put({ ...invoice, status: 'paid', paidAt: unit.at, nextAttemptAt: null });
  unit.announce({ kind: 'invoice.paid', invoice: paid });
  const subscription = subscriptionOf(unit, paid);
  const isSettled = subscription.latestInvoiceId === paid.id && subscription.status === 'past_due';
  if (isSettled) changeSubscription(unit, subscription, { status: 'active' });
  return paid;
};

interface Failing {
  /** undefined: there was no method to try. */
  readonly refused: { readonly reason: DeclineReason; readonly method: LedgerMethod } | undefined;
  readonly byItself: boolean;
}

/** An attempt that a caller requests does not change the schedule of retries. */
const fail = (unit: Unit, invoice: LedgerInvoice, { refused, byItself }: Failing): LedgerInvoice => {
  const begun = { ...invoice, firstFailedAt: invoice.firstFailedAt ?? unit.at };
  const planned = byItself || invoice.firstFailedAt === null;
  const failed = unit.documents.invoices.put({
    ...begun,
    nextAttemptAt: planned ? nextRetry(begun, unit.at) : invoice.nextAttemptAt,
    refusedMethodId: refused && FOR_GOOD.includes(refused.reason) ? refused.method.id : null,
  });
  unit.announce({ kind: 'invoice.payment_failed', invoice: failed });
  const subscription = subscriptionOf(unit, failed);
  const isBehind = subscription.latestInvoiceId === failed.id && subscription.status === 'active';
  if (isBehind) changeSubscription(unit, subscription, { status: 'past_due' });
  return planned ? goOn(unit, failed) : failed;
};

/** Schedules the next retry; after the last one the subscription ends. */
const goOn = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  if (invoice.nextAttemptAt === null) {
    endSubscription(unit, subscriptionOf(unit, invoice), 'payment_failed');
    return unit.documents.invoices.get(unit.slot, invoice.id) ?? invoice;
  }
  unit.schedule(invoice.nextAttemptAt, 'retry_invoice', invoice.id);
  return invoice;
};

const nextRetry = ({ firstFailedAt }: LedgerInvoice, at: number): number | null =>
  firstFailedAt === null
    ? null
    : (RETRY_DAYS.map((days) => firstFailedAt + days * DAY_MS).find((retry) => retry > at) ?? null);
