/** @module Updates a subscription after this service reports a change of its payment. */

import * as z from 'zod';
import { findCollectedPayment } from '../../payments/collect-payment.ts';
import type { VisiblePayment } from '../../payments/payment.ts';
import { isLeftToRequest, reportFailedReturn } from '../at-provider/open-command.ts';
import { payOwed } from '../at-provider/provider-commands.ts';
import { type BillingDeps, settlementOf } from '../billing/biller.ts';
import { settleCharge } from '../billing/subscription-charge.ts';
import { followChange } from '../plan-changes/finish-change.ts';
import { isProviderBilled, type Subscription } from '../record/subscription.ts';
import { type SubscriptionStore, subscriptionStore } from '../record/subscription-store.ts';
import { setWantedMethod } from './wanted-method.ts';

const messageSchema = z.object({
  detail: z.object({ payload: z.object({ data: z.object({ payment_id: z.string(), subscription_id: z.string() }) }) }),
});

/** Settles a service-billed charge. If the payer paid a provider's open invoice here, pays the other open invoices. */
export const followPayment = async (deps: BillingDeps, message: unknown): Promise<'done'> => {
  const { payment_id: paymentId, subscription_id: subscriptionId } = messageSchema.parse(message).detail.payload.data;
  await followOpenPayment(deps, { paymentId, subscriptionId });
  return 'done';
};

interface Followed {
  readonly paymentId: string;
  readonly subscriptionId: string;
}

/** Like `followPayment`, for a caller that has just paid the payment. */
export const followOpenPayment = async (deps: BillingDeps, { paymentId, subscriptionId }: Followed): Promise<void> => {
  const store = subscriptionStore(deps.table);
  const subscription = await store.load(subscriptionId);
  const isOfChange = subscription?.change?.paymentId === paymentId;
  if (!subscription || !(isOfChange || mayFollow(subscription, paymentId))) return;
  // The event may be old, so use the stored payment.
  const payment = await findCollectedPayment(deps, paymentId);
  if (!payment) return;
  const next = isOfChange
    ? await followChange(deps, subscription, { payment })
    : await follow({ deps, store, subscription }, payment);
  deps.log.info('payment followed', {
    payment_id: paymentId,
    subscription_id: subscriptionId,
    outcome: next.status,
  });
  const { wantedMethodId } = next;
  const isPaidWithIt = payment.status === 'succeeded' && payment.paymentMethodId === wantedMethodId;
  if (wantedMethodId !== undefined && isPaidWithIt) await setWantedMethod(deps, subscriptionId, wantedMethodId);
};

const mayFollow = (subscription: Subscription, paymentId: string): boolean =>
  isProviderBilled(subscription)
    ? subscription.wantedMethodId !== undefined ||
      subscription.owed?.some((open) => open.paymentId !== paymentId) === true
    : subscription.charge?.paymentId === paymentId;

interface Following {
  readonly deps: BillingDeps;
  readonly store: SubscriptionStore;
  readonly subscription: Subscription;
}

const follow = async ({ deps, store, subscription }: Following, payment: VisiblePayment): Promise<Subscription> => {
  if (!isProviderBilled(subscription)) {
    return store.change(subscription, (current) => {
      const settled = settleCharge(current, payment, settlementOf(deps));
      if (isLeftToRequest(current, settled, deps.now())) return current;
      return reportFailedReturn(current, settled, deps.now());
    });
  }
  const owesMore = subscription.owed?.some((open) => open.paymentId !== payment.id) === true;
  return owesMore && isPaidHere(payment) ? payOwed(deps, subscription, payment) : subscription;
};

/** True if the payer confirmed the payment here. A payment made at the provider pays only its own invoice. */
const isPaidHere = ({ status, claimedAt }: VisiblePayment): boolean =>
  status === 'succeeded' && claimedAt !== undefined;
