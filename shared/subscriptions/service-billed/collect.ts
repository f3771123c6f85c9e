import { type CollectResult, collect, publishPayment } from '../../payments/attempts/collect.ts';
import type { BillingDeps, ChargeAttempt, ChargeWith } from '../billing/biller.ts';
import { chargeOpenCondition, dropCharge, recordFailed, settleCharge } from '../billing/charge.ts';
import { periodPaymentRequest } from '../billing/periods.ts';
import { isFirst } from '../record/states.ts';
import type { SubscriptionStore } from '../record/store.ts';
import { type Charge, isVisibleSubscription, type Subscription } from '../record/subscription.ts';

/** Makes one attempt at the open charge, which the caller has claimed, and records what came of it. */
export const attemptCharge = async (
  deps: BillingDeps,
  store: SubscriptionStore,
  subscription: Subscription,
  { method, attended }: ChargeWith,
): Promise<ChargeAttempt> => {
  const { charge } = subscription;
  if (!charge || subscription.billingOwner !== 'service') throw new Error('nothing of ours is to be charged');
  const collected = await collect(deps, {
    payment: {
      ...periodPaymentRequest(subscription, charge.paymentId),
      ...(!attended && { offSession: true }),
      ...(!isVisibleSubscription(subscription) && { withheld: true }),
    },
    method,
    attempts: charge.attempts,
    onlyIf: [chargeOpenCondition(subscription.id, charge.paymentId)],
  });
  const next = await store.change(subscription, (current) => recorded(deps, current, charge, collected));
  if (collected.kind !== 'payment') return { subscription: next, error: collected.error };
  if (collected.payment.withheld && isVisibleSubscription(next)) await publishPayment(deps, charge.paymentId);
  const { status, failureCode } = collected.payment;
  return { subscription: next, ...(status === 'failed' && { declined: failureCode ?? 'processing_error' }) };
};

const recorded = (deps: BillingDeps, current: Subscription, charge: Charge, collected: CollectResult): Subscription => {
  if (current.charge?.paymentId !== charge.paymentId) return current;
  if (collected.kind === 'payment') return settleCharge(current, collected.payment, deps.now(), deps.dunning);
  // Whoever waits for a creation is told, and it is forgotten.
  if (current.status === 'creating') return current;
  if (isFirst(charge) && current.status !== 'past_due') return dropCharge(current);
  if (collected.kind === 'not yet') return current;
  return recordFailed(current, { code: 'processing_error', attempts: 0, spent: true }, deps.now(), deps.dunning);
};
