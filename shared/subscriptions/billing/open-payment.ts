/** @module The open payment of a past-due subscription, which the payer can still pay. */

import { DomainError } from '../../core/errors.ts';
import type { Instant } from '../../core/time.ts';
import { type CollectDeps, findCollectedPayment } from '../../payments/collect-payment.ts';
import { keptSecret, type VisiblePayment } from '../../payments/payment.ts';
import { isSettled } from '../../payments/payment-states.ts';
import { nextActionView } from '../../payments/payment-view.ts';
import { recordKey } from '../../platform/keys.ts';
import type { Table, TransactionStep } from '../../platform/table.ts';
import { changeOpenCondition } from '../record/plan-change.ts';
import { isProviderBilled, type Subscription } from '../record/subscription.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { chargeOpenCondition } from './subscription-charge.ts';

/**
 * Finds the open payment, a first charge waiting for the payer or the oldest renewal in dunning. The payer pays it in
 * the browser with its client secret, or confirms it. The subscription is then updated from the payment.
 */
export const findOpenPayment = async (
  deps: Pick<CollectDeps, 'table' | 'now'>,
  { status, latestPaymentId, owed }: Subscription,
): Promise<VisiblePayment | undefined> => {
  const openId = owed?.[0]?.paymentId ?? latestPaymentId;
  if (status !== 'past_due' || openId === undefined) return undefined;
  const payment = await findCollectedPayment(deps, openId);
  return payment && !isSettled(payment.status) ? payment : undefined;
};

export const openPaymentView = (payment: VisiblePayment, now: Instant) => ({
  id: payment.id,
  status: payment.status,
  next_action: nextActionView(payment)?.next_action ?? null,
  client_secret: keptSecret(payment, now) ?? null,
});

/** Requires that the subscription still waits for this payment. @throws DomainError INVALID_STATE */
export const requireOpenPayment = async (
  table: Table,
  { id, subscriptionId }: VisiblePayment,
): Promise<readonly TransactionStep[]> => {
  if (subscriptionId === undefined) return [];
  const subscription = await subscriptionStore(table).load(subscriptionId);
  const change = subscription?.change;
  if (change?.paymentId === id && change.step === 'awaiting_payment') {
    return [changeOpenCondition(subscriptionId, change.id)];
  }
  if (!subscription || !isOpen(subscription, id)) {
    throw new DomainError('INVALID_STATE', {
      message: 'This is no longer the open payment of the subscription',
      details: { subscription_id: subscriptionId },
    });
  }
  return [
    isProviderBilled(subscription) ? invoiceOpenCondition(subscription, id) : chargeOpenCondition(subscriptionId, id),
  ];
};

/** The payment of a plan change that waits for its payer. */
export const findChangePayment = async (
  deps: Pick<CollectDeps, 'table' | 'now'>,
  { change }: Subscription,
): Promise<VisiblePayment | undefined> =>
  change?.step === 'awaiting_payment' && change.paymentId !== undefined
    ? findCollectedPayment(deps, change.paymentId)
    : undefined;

const isOpen = (subscription: Subscription, paymentId: string): boolean => {
  const { status, charge, latestPaymentId } = subscription;
  if (status !== 'past_due') return false;
  if (isProviderBilled(subscription)) return latestPaymentId === paymentId || owes(subscription, paymentId);
  return charge?.paymentId === paymentId && !charge.abandoned;
};

const owes = ({ owed = [] }: Subscription, paymentId: string): boolean =>
  owed.some((open) => open.paymentId === paymentId);

/**
 * The write condition that the subscription still owes this payment. It does not check that the invoice is still open,
 * because the provider itself refuses to charge a void invoice.
 */
const invoiceOpenCondition = (subscription: Subscription, paymentId: string): TransactionStep => ({
  check: recordKey('SUB', subscription.id),
  if: [
    { equals: ['status', 'past_due'] },
    ...(owes(subscription, paymentId) ? [] : [{ equals: ['latestPaymentId', paymentId] } as const]),
  ],
});
