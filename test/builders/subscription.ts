import { DAY_MS, iso } from '../../shared/core/time.ts';
import type { Subscription } from '../../shared/subscriptions/record/subscription.ts';
import { NOON } from './payment.ts';

/**
 * A user's monthly subscription of 19.00 USD, created at noon and not charged yet; a test overrides only relevant
 * fields.
 */
export const subscription = (fields: Partial<Subscription> = {}): Subscription => ({
  id: 'subs_00000000000000000000000a',
  version: 0,
  lock: 0,
  status: 'creating',
  createdAt: iso(NOON),
  updatedAt: iso(NOON),
  billingOwner: 'service',
  userId: 'user_1',
  userEmail: 'ann@example.com',
  customerId: 'cust_00000000000000000000000a',
  paymentMethodId: 'pmt_00000000000000000000000a',
  methodRef: 'pm_1',
  providerCustomerId: 'cus_1',
  providerId: 'provider_a',
  quantity: 1,
  subtotalCents: 1_900,
  taxCents: 0,
  discountCents: 0,
  totalCents: 1_900,
  currency: 'USD',
  billingInterval: 'monthly',
  intervalMultiplier: 1,
  anchor: iso(NOON),
  period: 0,
  currentPeriodStart: iso(NOON),
  currentPeriodEnd: iso(NOON),
  cancelAtPeriodEnd: false,
  tierId: 'gold',
  ...fields,
});

/** The same subscription with a trial of this many days. */
export const trial = (days: number, fields: Partial<Subscription> = {}): Subscription => {
  const trialEnd = iso(NOON + days * DAY_MS);
  return subscription({ anchor: trialEnd, period: -1, currentPeriodEnd: trialEnd, trialEnd, ...fields });
};

export const DUNNING = { days: [1, 3, 7, 14], finalAction: 'cancel' } as const;

/** The fields overridden by a test in a valid body of POST /subscriptions. */
type Fields = Readonly<Record<string, unknown>>;

export const subscriptionBody = (fields: Fields = {}): Fields => ({
  subtotal_cents: fields['total_cents'] ?? 1_900,
  total_cents: 1_900,
  currency: 'USD',
  billing_interval: 'monthly',
  ...fields,
});
