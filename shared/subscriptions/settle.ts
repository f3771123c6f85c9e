import type { DeclineCode } from '../core/outcome.ts';
import type { Instant } from '../core/time.ts';
import type { PaymentStatus } from '../payments/payment.ts';
import { chargeFailed, chargePaid, chargeUnclear } from './changes.ts';
import type { Subscription } from './subscription.ts';
import type { DunningPolicy } from './transitions.ts';

/** What the open charge takes from its payment. */
export interface ChargedPayment {
  readonly id: string;
  readonly status: PaymentStatus;
  /** Attempts so far. */
  readonly attempt: number;
  readonly failureCode?: DeclineCode | undefined;
}

/** The subscription after its payment: whoever hears of it first, and however often, it ends the same. */
export const settled = (
  subscription: Subscription,
  payment: ChargedPayment,
  now: Instant,
  policy: DunningPolicy,
): Subscription => {
  const { charge } = subscription;
  if (charge?.paymentId !== payment.id) return subscription;
  const code = payment.failureCode ?? 'processing_error';
  switch (payment.status) {
    case 'succeeded':
      return chargePaid(subscription, now);
    case 'failed':
      if (payment.attempt <= charge.attempts) return subscription;
      return chargeFailed(subscription, { code, attempts: payment.attempt, spent: false }, now, policy);
    case 'canceled':
      return chargeFailed(subscription, { code, attempts: payment.attempt, spent: true }, now, policy);
    case 'pending':
    case 'processing':
      return chargeUnclear(subscription, now);
    case 'created':
    case 'requires_payment_method':
      return subscription;
  }
};
