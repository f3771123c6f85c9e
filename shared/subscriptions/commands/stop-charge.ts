import { DomainError } from '../../core/errors.ts';
import type { VisiblePayment } from '../../payments/record/payment.ts';
import { type BillingDeps, settlementOf } from '../billing/biller.ts';
import { dropCharge, settleCharge } from '../billing/charge.ts';
import { subscriptionStore } from '../record/store.ts';
import type { Subscription } from '../record/subscription.ts';
import { billerOf } from './billers.ts';

/**
 * Stops an abandoned charge where that is still possible, and records its outcome. Where the provider cannot be called
 * now, the charge stays, and due work checks it later.
 */
export const stopAbandonedCharge = async (deps: BillingDeps, subscription: Subscription): Promise<Subscription> => {
  const { charge } = subscription;
  if (!charge?.abandoned) return subscription;
  let payment: VisiblePayment | undefined;
  try {
    payment = await billerOf(subscription).releaseCharge(deps, subscription);
  } catch (error) {
    if (error instanceof DomainError) return subscription;
    throw error;
  }
  return subscriptionStore(deps.table).change(subscription, (current) => {
    if (current.charge?.paymentId !== charge.paymentId) return current;
    // No attempt can be claimed any more: the claim requires a charge that is not abandoned.
    return payment && payment.status !== 'failed'
      ? settleCharge(current, payment, settlementOf(deps))
      : dropCharge(current);
  });
};
