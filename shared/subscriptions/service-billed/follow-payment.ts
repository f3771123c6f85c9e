import * as z from 'zod';
import { findCollectedPayment } from '../../payments/attempts/collect.ts';
import type { BillingDeps } from '../billing/biller.ts';
import { settleCharge } from '../billing/charge.ts';
import { subscriptionStore } from '../record/store.ts';

const messageSchema = z.object({
  detail: z.object({ payload: z.object({ data: z.object({ payment_id: z.string(), subscription_id: z.string() }) }) }),
});

/** A payment of a subscription has settled, whoever made it: the subscription follows. */
export const followPayment = async (deps: BillingDeps, message: unknown): Promise<'done'> => {
  const { payment_id: paymentId, subscription_id: subscriptionId } = messageSchema.parse(message).detail.payload.data;
  const store = subscriptionStore(deps.table);
  const subscription = await store.load(subscriptionId);
  if (subscription?.charge?.paymentId !== paymentId) return 'done';
  // The event may be an old one: what counts is the payment as it is.
  const payment = await findCollectedPayment(deps, paymentId);
  if (!payment) return 'done';
  const next = await store.change(subscription, (current) => settleCharge(current, payment, deps.now(), deps.dunning));
  deps.log.info('payment followed', {
    payment_id: paymentId,
    subscription_id: subscriptionId,
    outcome: next.status,
  });
  return 'done';
};
