import * as z from 'zod';
import { findCollectedPayment } from '../../payments/attempts/collect.ts';
import { type BillingDeps, settlementOf } from '../billing/biller.ts';
import { settleCharge } from '../billing/charge.ts';
import { subscriptionStore } from '../record/store.ts';
import { isProviderBilled } from '../record/subscription.ts';

const messageSchema = z.object({
  detail: z.object({ payload: z.object({ data: z.object({ payment_id: z.string(), subscription_id: z.string() }) }) }),
});

/** Settles the charge of a subscription that the service bills when an event reports that its payment has changed. */
export const followPayment = async (deps: BillingDeps, message: unknown): Promise<'done'> => {
  const { payment_id: paymentId, subscription_id: subscriptionId } = messageSchema.parse(message).detail.payload.data;
  const store = subscriptionStore(deps.table);
  const subscription = await store.load(subscriptionId);
  // A provider that bills reports the outcome itself.
  if (subscription?.charge?.paymentId !== paymentId || isProviderBilled(subscription)) return 'done';
  // The event may be old: the stored payment decides.
  const payment = await findCollectedPayment(deps, paymentId);
  if (!payment) return 'done';
  const next = await store.change(subscription, (current) => settleCharge(current, payment, settlementOf(deps)));
  deps.log.info('payment followed', {
    payment_id: paymentId,
    subscription_id: subscriptionId,
    outcome: next.status,
  });
  return 'done';
};
