import { iso } from '../../shared/core/time.ts';
import type { Draft, VisiblePayment } from '../../shared/payments/payment.ts';

/** Noon of an ordinary day, the creation time of every record of these builders. */
export const NOON = Date.parse('2026-03-10T12:00:00.000Z');

/** A user's unconfirmed payment of 25.00 USD; a test overrides only relevant fields. */
export const payment = (fields: Partial<VisiblePayment> = {}): VisiblePayment => ({
  id: 'pay_00000000000000000000000a',
  version: 1,
  status: 'created',
  createdAt: iso(NOON),
  updatedAt: iso(NOON),
  subtotalCents: 2_500,
  taxCents: 0,
  discountCents: 0,
  totalCents: 2_500,
  currency: 'USD',
  providerId: 'provider_a',
  providerIntentId: 'pi_1',
  providerPaymentId: 'pi_1',
  userId: 'user_1',
  attempt: 0,
  ...fields,
});

export const draft = (fields: Partial<Draft> = {}): Draft => ({
  subtotalCents: 3_000,
  taxCents: 0,
  discountCents: 0,
  totalCents: 3_000,
  currency: 'USD',
  ...fields,
});
