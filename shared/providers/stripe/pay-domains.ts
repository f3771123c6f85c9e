/** @module The hosts on which Stripe shows Apple Pay. */

import type Stripe from 'stripe';
import type { Outcome } from '../../core/outcome.ts';
import type { PayDomain } from '../provider.ts';
import type { StripeCall } from './outcome.ts';

/** Registers a host. Registering a known host changes nothing. */
export const registerStripeDomain = (stripe: Stripe, call: StripeCall, host: string): Promise<Outcome<PayDomain>> =>
  call(
    () => stripe.paymentMethodDomains.create({ domain_name: host }),
    ({ apple_pay: applePay }) => ({
      isActive: applePay.status === 'active',
      problem: applePay.status_details?.error_message,
    }),
  );
