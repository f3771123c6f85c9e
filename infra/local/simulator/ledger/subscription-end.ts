import type { LedgerInvoice, LedgerSubscription } from './billing-documents.ts';
import { cancelLedgerPayment } from './payments.ts';
import type { Unit } from './unit.ts';

const LIVE: readonly LedgerSubscription['status'][] = ['incomplete', 'trialing', 'active', 'past_due', 'paused'];
export const isLedgerSubscriptionLive = ({ status }: LedgerSubscription): boolean => LIVE.includes(status);

/** A canceled subscription is final, and its unpaid invoices are no longer collected. One that never began expires. */
export const endSubscription = (
  unit: Unit,
  subscription: LedgerSubscription,
  reason: NonNullable<LedgerSubscription['endReason']>,
): LedgerSubscription => {
  if (subscription.status === 'incomplete') return expire(unit, subscription);
  for (const invoice of unit.documents.invoices.list(unit.slot, { holder: subscription.id, limit: MANY })) {
    if (invoice.status === 'open' || invoice.status === 'draft') {
      unit.documents.invoices.put({ ...invoice, collects: false, nextAttemptAt: null });
    }
  }
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

const HOUR_MS = 3_600_000;

/** Runs when the time for the first charge is over; the subscription may have become active or expired since. */
export const expireSubscription = (unit: Unit, subscriptionId: string): void => {
  const subscription = unit.documents.subscriptions.get(unit.slot, subscriptionId);
  if (subscription?.status !== 'incomplete') return;
  const invoice = unit.documents.invoices.get(unit.slot, subscription.latestInvoiceId ?? '');
  const payment = unit.documents.payments.get(unit.slot, invoice?.paymentId ?? '');
  // A charge that is under way decides.
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

/** A void invoice is final, and its payment is canceled. A subscription whose first invoice is void expires. */
export const voidInvoice = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  const voided = putVoid(unit, invoice);
  const subscription = unit.documents.subscriptions.get(unit.slot, invoice.subscriptionId);
  if (subscription?.status === 'incomplete') expire(unit, subscription);
  return voided;
};

const putVoid = (unit: Unit, invoice: LedgerInvoice): LedgerInvoice => {
  const payment = unit.documents.payments.get(unit.slot, invoice.paymentId ?? '');
  if (payment?.status.startsWith('requires_')) cancelLedgerPayment(unit, payment, 'void_invoice');
  const voided = unit.documents.invoices.put({
    ...invoice,
    status: 'void',
    voidedAt: unit.at,
    collects: false,
    nextAttemptAt: null,
  });
  unit.announce({ kind: 'invoice.voided', invoice: voided });
  return voided;
};

/** An upper bound on unpaid invoices: the oldest one ends its subscription before there are more. */
const MANY = 100;

export const changeSubscription = (
  unit: Unit,
  before: LedgerSubscription,
  changes: Partial<LedgerSubscription>,
): LedgerSubscription => {
  const subscription = unit.documents.subscriptions.put({ ...before, ...changes });
  unit.announce({ kind: 'subscription.updated', subscription, before });
  return subscription;
};
