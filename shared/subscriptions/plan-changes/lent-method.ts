/**
 * @module A lent method is a member's own method, used to pay an organization's subscription. Only the lender may
 * change the plan. Others may cancel, pause or set another method, and the merchant may lower the price.
 */

import type { Caller } from '../../access/caller.ts';
import { DomainError } from '../../core/errors.ts';
import type { PaymentMethod } from '../../payment-methods/payment-method.ts';
import { lenderOf } from '../../payment-methods/usable-method.ts';
import type { SubscriptionPlan } from '../record/plan-change.ts';
import type { VisibleSubscription } from '../record/subscription.ts';

/** True if the paying method is lent and the caller is not its lender. */
export const isLentByOther = (
  caller: Caller,
  record: VisibleSubscription,
  method: PaymentMethod | undefined,
): boolean => {
  const lender = method && lenderOf(record, method);
  return lender !== undefined && !(caller.kind === 'session' && caller.userId === lender.userId);
};

const KEPT = ['productId', 'quantity', 'billingInterval', 'intervalMultiplier'] as const;

/** True if only the price changes, and exceeds neither the current price nor the scheduled one. */
export const isLowered = (record: VisibleSubscription, plan: SubscriptionPlan): boolean =>
  [record, record.scheduledChange?.plan].every(
    (known) =>
      known === undefined ||
      (KEPT.every((field) => known[field] === plan[field]) && plan.totalCents <= known.totalCents),
  );

export const lentError = (): DomainError =>
  new DomainError('INSUFFICIENT_PERMISSIONS', {
    message: 'Only the member who lent the payment method may change the plan; or set another payment method',
    details: { reason: 'lent_method' },
  });
