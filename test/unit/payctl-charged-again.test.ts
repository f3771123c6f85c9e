import { describe, expect, test } from 'vitest';
import { splitListed } from '../../infra/payctl/compare/charged-again.ts';
import { asRestorable, type Restorable } from '../../shared/payments/restore-payment.ts';
import type { ReportedStatus } from '../../shared/providers/payment-port.ts';

const PAYMENT = 'pay_0123456789abcdef01234567';

/** A charge that names our payment, as the provider lists it. */
const charge = (intentId: string, status: ReportedStatus): Restorable => {
  const restorable = asRestorable({
    slot: 'provider_a',
    listed: {
      report: {
        ...{ intentId, paymentId: intentId, status, amountCents: 1_900, currency: 'USD', attemptRef: intentId },
        ...{ failureCode: undefined, clientSecret: undefined, nextAction: undefined, methodId: undefined },
        ourPaymentId: PAYMENT,
      },
      createdAt: '2026-11-26T11:00:00.000Z',
      ...{ attemptedAt: undefined, customerId: undefined, description: undefined, captureMethod: undefined },
    },
  });
  if (!restorable) throw new Error('the charge names no payment');
  return restorable;
};

/** A restored table without the payment. */
const reader = {
  deps: { table: { getMany: async () => [undefined] }, providers: { find: async () => undefined } },
} as never;

const restoredOf = async (...listed: readonly Restorable[]) => {
  const { unknown, again } = await splitListed(reader, listed);
  const ids = (some: readonly Restorable[]) => some.map((one) => one.listed.report.intentId);
  return { restored: ids(unknown), again: ids(again) };
};

describe('the charge from which a lost payment is restored', () => {
  test.each(['succeeded', 'processing', 'requires_capture'] as const)(
    'is the charge that takes or holds money (%s), not an older failed charge',
    async (status) => {
      const found = await restoredOf(charge('pi_1', 'failed'), charge('pi_2', 'canceled'), charge('pi_3', status));
      expect(found).toEqual({ restored: ['pi_3'], again: [] });
    },
  );

  test('is the successful charge, not a later failed charge', async () => {
    const found = await restoredOf(charge('pi_1', 'succeeded'), charge('pi_2', 'failed'));
    expect(found).toEqual({ restored: ['pi_1'], again: [] });
  });

  test('is the oldest of several successful charges, and the others are reported', async () => {
    const found = await restoredOf(charge('pi_1', 'failed'), charge('pi_2', 'succeeded'), charge('pi_3', 'succeeded'));
    expect(found).toEqual({ restored: ['pi_2'], again: ['pi_3'] });
  });

  test('is the oldest charge if no charge succeeded', async () => {
    const found = await restoredOf(charge('pi_1', 'failed'), charge('pi_2', 'failed'));
    expect(found).toEqual({ restored: ['pi_1'], again: [] });
  });
});
