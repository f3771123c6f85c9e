import { describe, expect, test } from 'vitest';
import { decideReading } from '../../shared/payments/attempts/reconcile.ts';
import type { ProviderPayment } from '../../shared/providers/port/payments.ts';
import { NOON, payment } from '../builders/payment.ts';

describe('money that went back at the provider', () => {
  const read = (report: Partial<ProviderPayment>) => {
    const warned: string[] = [];
    const paid = payment({ status: 'succeeded', providerIntentId: 'O1', providerPaymentId: 'C1', attemptRef: 'C1' });
    const decision = decideReading(
      {
        now: () => NOON,
        log: { info: () => {}, warn: (message) => warned.push(message), error: (message) => warned.push(message) },
      },
      {
        payment: paid,
        cause: 'sync',
        report: {
          intentId: 'O1',
          paymentId: 'C1',
          status: 'succeeded',
          amountCents: paid.totalCents,
          currency: paid.currency,
          attemptRef: 'C1',
          failureCode: undefined,
          clientSecret: undefined,
          nextAction: undefined,
          methodId: undefined,
          ourPaymentId: paid.id,
          ...report,
        },
      },
    );
    return { decision, warned };
  };

  test('leaves the payment succeeded, and the log warns of it', () => {
    expect(read({ isRefunded: true })).toEqual({
      decision: { outcome: 'same' },
      warned: ['payment refunded at the provider'],
    });
  });

  test('is not said of a payment whose money stayed', () => {
    expect(read({})).toEqual({ decision: { outcome: 'same' }, warned: [] });
  });
});
