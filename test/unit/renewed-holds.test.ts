import { expect, test } from 'vitest';
import { decideReading } from '../../shared/payments/apply-reading.ts';
import type { ProviderPayment } from '../../shared/providers/payment-port.ts';
import { payment } from '../builders/payment.ts';

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

test('a read of a renewed hold stores the id and the end of its newest authorization', () => {
  const [before, after] = ['2026-03-01T00:00:00.000Z', '2026-03-20T00:00:00.000Z'];
  const held = payment({
    ...{ captureMethod: 'manual', status: 'requires_capture', authorizedCents: 2_500, captureBefore: before },
    ...{ providerId: 'provider_b', providerIntentId: 'ORDER', providerPaymentId: 'FIRST', attemptRef: 'FIRST' },
  });
  const report: ProviderPayment = {
    ...{ intentId: 'ORDER', paymentId: 'SECOND', attemptRef: 'SECOND', status: 'requires_capture' },
    ...{ amountCents: 2_500, currency: 'USD', ourPaymentId: held.id },
    ...{ failureCode: undefined, clientSecret: undefined, nextAction: undefined, methodId: undefined },
    hold: { authorizedCents: 2_500, capturableCents: 2_500, captureBefore: after },
  };
  const decided = decideReading(
    { now: () => Date.parse('2026-02-20T00:00:00.000Z'), log: silent },
    { payment: held, report, cause: 'reconciliation' },
  );
  expect(decided).toMatchObject({
    outcome: 'store',
    next: { providerPaymentId: 'SECOND', attemptRef: 'SECOND', captureBefore: after },
  });
});
