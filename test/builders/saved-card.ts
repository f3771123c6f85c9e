import { iso } from '../../shared/core/time.ts';
import type { PaymentMethod } from '../../shared/payment-methods/payment-method.ts';
import { NOON } from './payment.ts';

/** A user's saved card at provider_a; a test overrides only relevant fields. */
export const savedCard = (fields: Partial<PaymentMethod> = {}): PaymentMethod => ({
  id: 'pmt_00000000000000000000000a',
  version: 1,
  createdAt: iso(NOON),
  updatedAt: iso(NOON),
  providerId: 'provider_a',
  providerMethodId: 'pm_1',
  providerCustomerId: 'cus_1',
  type: 'card',
  cardBrand: 'Visa',
  lastFour: '4242',
  expiryMonth: '07',
  expiryYear: '2031',
  userId: 'user_1',
  ...fields,
});
