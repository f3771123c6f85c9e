import { describe, expect, test } from 'vitest';
import {
  asRestorable,
  type KnownOfRestored,
  type Restorable,
  restoredPayment,
} from '../../shared/payments/restore-payment.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const PAYMENT = 'pay_0123456789abcdef01234567';

/** An order of PayPal that names our payment. */
const order = (amountCents: number): Restorable => {
  const restorable = asRestorable({
    slot: 'provider_b',
    listed: {
      report: {
        intentId: 'ORDER',
        paymentId: 'CAPTURE',
        status: 'succeeded',
        amountCents,
        currency: 'USD',
        attemptRef: 'CAPTURE',
        failureCode: undefined,
        clientSecret: undefined,
        nextAction: undefined,
        methodId: undefined,
        ourPaymentId: PAYMENT,
      },
      createdAt: '2026-11-26T11:00:00.000Z',
      attemptedAt: undefined,
      customerId: undefined,
      description: undefined,
      captureMethod: undefined,
    },
  });
  if (!restorable) throw new Error('the order names no payment');
  return restorable;
};

const RENEWAL: KnownOfRestored = { userId: 'user_1', subtotalCents: 2_000, taxCents: 100, discountCents: 200 };

describe('restoredPayment', () => {
  test('has the prices of its subscription if they add up to what was paid', () => {
    const { anomaly, subtotalCents, totalCents } = restoredPayment(order(1_900), RENEWAL, NOW);
    expect({ anomaly, subtotalCents, totalCents }).toEqual({
      ...{ anomaly: undefined, subtotalCents: 2_000, totalCents: 1_900 },
    });
  });

  test('of a renewal is marked if another amount was paid, because a payer can choose both at PayPal', () => {
    const { anomaly, subtotalCents, totalCents } = restoredPayment(order(1), RENEWAL, NOW);
    expect({ anomaly, subtotalCents, totalCents }).toEqual({
      anomaly: 'restored with another amount than its subscription',
      ...{ subtotalCents: 1, totalCents: 1 },
    });
  });

  test('is marked if its owner is unknown', () => {
    expect(restoredPayment(order(1), {}, NOW).anomaly).toBe('restored without its owner');
  });
});
