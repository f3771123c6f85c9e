import { describe, expect, test } from 'vitest';
import { findDifference } from '../../infra/payctl/compare/payment.ts';
import type { VisiblePayment } from '../../shared/payments/payment.ts';
import type { ProviderPayment } from '../../shared/providers/payment-port.ts';
import { NOON, payment } from '../builders/payment.ts';

const END = '2026-12-01T10:00:00.000Z';
const held: Partial<VisiblePayment> = {
  status: 'requires_capture',
  captureMethod: 'manual',
  authorizedCents: 2_500,
  captureBefore: END,
};

const compare = (here: Partial<VisiblePayment>, there: Partial<ProviderPayment>) => {
  const value: ProviderPayment = {
    intentId: 'pi_1',
    paymentId: 'pi_1',
    status: 'requires_capture',
    amountCents: 2_500,
    currency: 'USD',
    attemptRef: undefined,
    failureCode: undefined,
    clientSecret: undefined,
    nextAction: undefined,
    methodId: undefined,
    ourPaymentId: undefined,
    ...there,
  };
  return findDifference(payment(here), { kind: 'done', value }, NOON);
};

describe('the comparison of a held payment with its provider', () => {
  const hold = { authorizedCents: 2_500, capturableCents: 2_500, captureBefore: END };

  test('finds no difference if the same amount is held for the same time', () => {
    expect(compare(held, { hold })).toBeUndefined();
  });

  test('names a hold that was lowered, or ends earlier, at the provider', () => {
    const there = { amountCents: 1_800, hold: { ...hold, capturableCents: 1_800 } };
    expect(compare(held, there)).toMatchObject({
      kind: 'hold differs',
      here: `25.00 USD until ${END}`,
      there: `18.00 USD until ${END}`,
    });
    const earlier = '2026-11-30T10:00:00.000Z';
    expect(compare(held, { hold: { ...hold, captureBefore: earlier } })).toMatchObject({
      kind: 'hold differs',
      there: `25.00 USD until ${earlier}`,
    });
  });

  test('reports a partial capture at the provider as another status, not as another amount', () => {
    const captured = { status: 'succeeded', amountCents: 1_800, hold: { ...hold, capturableCents: 0 } } as const;
    expect(compare(held, captured)).toMatchObject({ kind: 'status differs', there: 'succeeded' });
  });

  test('finds no difference if the provider reports an automatic capture as held', () => {
    expect(compare({ status: 'processing' }, {})).toBeUndefined();
  });
});
