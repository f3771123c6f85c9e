import Stripe from 'stripe';
import { expect, test } from 'vitest';
import { STRIPE_API_VERSION } from '../../shared/providers/stripe/stripe.ts';

test('the version of Stripe’s API is that of the SDK: a newer SDK needs a look at Stripe’s changelog', () => {
  expect(STRIPE_API_VERSION).toBe(Stripe.API_VERSION);
});
