import Stripe from 'stripe';
import { expect, test } from 'vitest';
import { STRIPE_API_VERSION } from '../../shared/providers/stripe/stripe.ts';

test('our version of Stripe’s API is the SDK’s version (read Stripe’s changelog before an SDK update)', () => {
  expect(STRIPE_API_VERSION).toBe(Stripe.API_VERSION);
});
