import type { LedgerInvoice, LedgerSubscription } from '../ledger/billing-documents.ts';
import type { LedgerPayment } from '../ledger/documents.ts';
import { cancelLedgerPayment } from '../ledger/payments.ts';
import type { Unit } from '../ledger/unit.ts';
import { returnBalance } from './billing.ts';

const LIVE: readonly LedgerSubscription['status'][] = [
  'incomplete',
  'trialing',
  'active',
  'past_due',
  'unpaid',
  'paused',
];
export const isLedgerSubscriptionLive = ({ status }: LedgerSubscription): boolean => LIVE.includes(status);

/**
 * Ends a subscription for good and stops collecting its unpaid invoices. An incomplete subscription expires instead.
 */
export const endSubscription = (
  unit: Unit,
  subscription: LedgerSubscription,
  reason: NonNullable<LedgerSubscription['endReason']>,
): LedgerSubscription => {
  if (subscription.status === 'incomplete') return expire(unit, subscription);
  stopCollecting(unit, subscription);
  const ended = unit.documents.subscriptions.put({
    ...subscription,
    status: 'canceled',
    canceledAt: subscription.canceledAt ?? unit.at,
    endedAt: unit.at,
    endReason: reason,
  });
  unit.announce({ kind: 'subscription.deleted', subscription: ended });
  return ended;
};

/** Runs at a subscription's scheduled end. The date may have been cleared or moved since. */
export const cancelWhenDue = (unit: Unit, subscriptionId: string): void => {
  const subscription = unit.documents.subscriptions.get(unit.slot, subscriptionId);
  if (!subscription || !isLedgerSubscriptionLive(subscription)) return;
  if (endsNow(unit, subscription)) endSubscription(unit, subscription, 'cancellation_requested');
};

/** True once the scheduled end has passed. */
export const endsNow = (unit: Unit, { cancelAt }: LedgerSubscription): boolean =>
  cancelAt !== null && cancelAt <= unit.at;

export const stopCollecting = (unit: Unit, subscription: LedgerSubscription): void => {
  for (const invoice of invoicesOf(unit, subscription)) {
    if (invoice.status === 'open' || invoice.status === 'draft') {
      unit.documents.invoices.put({ ...invoice, collects: false, nextAttemptAt: null });
    }
  }
};

/** Newest first. */
const invoicesOf = (unit: Unit, { id }: LedgerSubscription): LedgerInvoice[] =>
  unit.documents.invoices.list(unit.slot, { holder: id, limit: MANY });

/**
 * The status according to the newest finalized, non-void invoice. An uncollectible invoice counts as paid
 * (docs.stripe.com/billing/subscriptions/overview).
 */
export const statusByInvoices = (unit: Unit, subscription: LedgerSubscription): LedgerSubscription['status'] => {
  if (subscription.status !== 'past_due' && subscription.status !== 'unpaid') return subscription.status;
  const newest = invoicesOf(unit, subscription).find(({ status }) => status !== 'void' && status !== 'draft');
  return newest?.status === 'paid' || newest?.status === 'uncollectible' ? 'active' : subscription.status;
};

/** Updates the subscription's status after an invoice changed without a payment. */
export const followInvoices = (unit: Unit, subscriptionId: string): void => {
  const subscription = unit.documents.subscriptions.get(unit.slot, subscriptionId);
  if (!subscription) return;
  const status = statusByInvoices(unit, subscription);
  if (status !== subscription.status) changeSubscription(unit, subscription, { status });
};

const HOUR_MS = 3_600_000;

/** Runs at the deadline for the first charge. The subscription may have become active or expired since. */
export const expireSubscription = (unit: Unit, subscriptionId: string): void => {
  const subscription = unit.documents.subscriptions.get(unit.slot, subscriptionId);
  if (subscription?.status !== 'incomplete') return;
  const invoice = unit.documents.invoices.get(unit.slot, subscription.latestInvoiceId ?? '');
  const payment = unit.documents.payments.get(unit.slot, invoice?.paymentId ?? '');
  // A running charge decides, so check again later.
  if (payment?.status === 'processing') unit.schedule(unit.at + HOUR_MS, 'expire_subscription', subscriptionId);
  else expire(unit, subscription);
};

const expire = (unit: Unit, subscription: LedgerSubscription): LedgerSubscription => {
  const invoice = unit.documents.invoices.get(unit.slot, subscription.latestInvoiceId ?? '');
  if (invoice?.status === 'open') putVoid(unit, invoice);
  return changeSubscription(unit, subscription, {
    status: 'incomplete_expired',
    canceledAt: unit.at,
    endedAt: unit.at,
  });
};

/** Voids an invoice for good and cancels its payment. If it was the first invoice, the subscription expires. */
export const voidInvoice = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  const voided = putVoid(unit, invoice);
  const subscription = unit.documents.subscriptions.get(unit.slot, invoice.subscriptionId);
  if (subscription?.status === 'incomplete') expire(unit, subscription);
  else followInvoices(unit, invoice.subscriptionId);
  return voided;
};

const putVoid = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  const payment = unit.documents.payments.get(unit.slot, invoice.paymentId ?? '');
  if (payment) cancelOfVoid(unit, payment);
  const voided = unit.documents.invoices.put({
    ...invoice,
    status: 'void',
    voidedAt: unit.at,
    collects: false,
    nextAttemptAt: null,
  });
  returnBalance(unit, invoice);
  unit.announce({ kind: 'invoice.voided', invoice: voided });
  return voided;
};

/** Cancels a void invoice's payment. If its charge is still running, the payment is canceled when the charge fails. */
export const cancelOfVoid = (unit: Unit, payment: LedgerPayment): void => {
  if (payment.status.startsWith('requires_')) cancelLedgerPayment(unit, payment, 'void_invoice');
};

const MANY = 1_000;

export const changeSubscription = (
  unit: Unit,
  before: LedgerSubscription,
  changes: Partial<LedgerSubscription>,
): LedgerSubscription => {
  const subscription = unit.documents.subscriptions.put({ ...before, ...changes });
  unit.announce({ kind: 'subscription.updated', subscription, before });
  return subscription;
};
