/**
 * @module Holds at Stripe. A hold is a PaymentIntent with the capture method `manual`. A capture releases the rest of
 * the amount.
 */

import type Stripe from 'stripe';
import type { FingerprintOf } from '../card-fingerprint.ts';
import type { HoldsPort } from '../hold-port.ts';
import { stripeAmounts } from './currencies.ts';
import type { StripeCall } from './outcome.ts';
import { readStripePayment } from './report.ts';

const BANK_ACCOUNT = /^(?:btok|ba)_/;

export const stripeHolds = (stripe: Stripe, callFor: StripeCall, fingerprintOf: FingerprintOf): HoldsPort => {
  const call = (send: () => Promise<Stripe.PaymentIntent>) =>
    callFor(send, (intent) => readStripePayment(intent, undefined, fingerprintOf));
  const expand = ['latest_charge'];
  return {
    takes: ({ id, kind }) => kind !== 'bank_account' && !BANK_ACCOUNT.test(id),
    capture: async (input) => {
      const amount = stripeAmounts.toProvider(input);
      if (amount === undefined) return stripeAmounts.refused(input);
      const { intentId, idempotencyKey } = input;
      return call(() =>
        stripe.paymentIntents.capture(intentId, { amount_to_capture: amount, expand }, { idempotencyKey }),
      );
    },
    release: ({ intentId, idempotencyKey }) =>
      call(() => stripe.paymentIntents.cancel(intentId, { expand }, { idempotencyKey })),
  };
};
