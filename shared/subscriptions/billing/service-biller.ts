/** @module The service as biller opens the periods and charges the saved method for each. */

import { type CollectResult, collect, publishPayment, releasePayment } from '../../payments/collect-payment.ts';
import { type Charge, isVisibleSubscription, type Subscription } from '../record/subscription.ts';
import { isFirst } from '../record/subscription-states.ts';
import { subscriptionStore } from '../record/subscription-store.ts';
import { advanceSubscription } from '../record/subscription-versions.ts';
import { type Biller, type BillingDeps, type BillingResult, type ChargeRequest, settlementOf } from './biller.ts';
import { periodPaymentRequest, startFirstPeriod } from './periods.ts';
import { chargeOpenCondition, dropCharge, recordFailed, settleCharge } from './subscription-charge.ts';

const BILLING_REASON_OF = {
  create: 'subscription_create',
  renew: 'subscription_cycle',
  reactivate: 'subscription_create',
  resume: 'subscription_resume',
} as const;

/** Makes one attempt at the open charge, and records its outcome. The caller has claimed the attempt. */
export const attemptCharge = async (
  deps: BillingDeps,
  subscription: Subscription,
  { method, right }: ChargeRequest,
): Promise<BillingResult> => {
  const { charge } = subscription;
  if (!charge || subscription.billingOwner !== 'service') throw new Error('no open charge that the service bills');
  const collected = await collect(deps, {
    payment: {
      ...periodPaymentRequest(subscription, charge.paymentId),
      billingReason: BILLING_REASON_OF[charge.cause],
      ...(!right && { offSession: true }),
      ...(!isVisibleSubscription(subscription) && { withheld: true }),
    },
    method,
    attempts: charge.attempts,
    onlyIf: [chargeOpenCondition(subscription.id, charge.paymentId)],
    right,
  });
  const next = await subscriptionStore(deps.table).change(subscription, (current) =>
    current.charge?.paymentId === charge.paymentId ? recordResult(deps, current, { charge, collected }) : current,
  );
  if (collected.kind !== 'payment') return { subscription: next, error: collected.error };
  if (collected.payment.withheld && isVisibleSubscription(next)) await publishPayment(deps, charge.paymentId);
  const { status, failureCode } = collected.payment;
  return { subscription: next, ...(status === 'failed' && { declined: failureCode ?? 'processing_error' }) };
};

const recordResult = (
  deps: BillingDeps,
  current: Subscription,
  { charge, collected }: { readonly charge: Charge; readonly collected: CollectResult },
): Subscription => {
  if (collected.kind === 'payment') return settleCharge(current, collected.payment, settlementOf(deps));
  // The create request returns the error and removes the record.
  if (current.status === 'creating') return current;
  if (isFirst(charge) && current.status !== 'past_due') return dropCharge(current);
  if (collected.kind === 'not yet') return current;
  return recordFailed(current, { code: 'processing_error', attempts: 0, spent: true }, settlementOf(deps));
};

export const serviceBiller: Biller = {
  openFirstPeriod: (subscription, cause, now) =>
    cause === 'create' && subscription.trialEnd !== undefined
      ? advanceSubscription(subscription, { to: 'trialing', cause: 'open', reason: 'created', now })
      : startFirstPeriod(subscription, cause, now),
  collect: attemptCharge,
  releaseCharge: async (deps, { charge }) => charge && releasePayment(deps, charge.paymentId),
};
