import { describe, expect, test } from 'vitest';
import { iso } from '../../shared/core/time.ts';
import { capturesReturning, captureToRefund } from '../../shared/payments/holds/several-captures.ts';
import type { VisiblePayment } from '../../shared/payments/payment.ts';
import { NOON, payment } from '../builders/payment.ts';

/** A payment with two captures of 1,000 and 900. The first capture has the payment's provider id. */
const captured = (fields: Partial<VisiblePayment> = {}): VisiblePayment =>
  payment({
    ...{ status: 'succeeded', captureMethod: 'manual', totalCents: 1_900, providerPaymentId: 'FIRST' },
    captures: [
      { id: 'FIRST', amountCents: 1_000, returnedCents: 0 },
      { id: 'SECOND', amountCents: 900, returnedCents: 0 },
    ],
    ...fields,
  });

const dispute = (fields: object = {}) => ({ id: 'dsp_1', amountCents: 400, ...fields });
const LOST = { lostAt: iso(NOON) };

describe('captureToRefund', () => {
  test('chooses the capture with the largest refundable amount', () => {
    expect(captureToRefund(captured(), 700)).toBe('FIRST');
  });

  test.each([
    ['that names no capture, which means the first capture', dispute(LOST), 'SECOND'],
    ['of the first capture', dispute({ ...LOST, captureId: 'FIRST' }), 'SECOND'],
    ['of the second capture', dispute({ ...LOST, captureId: 'SECOND' }), 'FIRST'],
    ['that is open, which has taken nothing', dispute(), 'FIRST'],
  ])('subtracts the amount lost in a dispute %s', (_, lost, from) => {
    expect(captureToRefund(captured({ disputes: [lost] }), 700)).toBe(from);
  });

  test('refuses an amount above what remains of each single capture', () => {
    const lost = captured({ disputes: [dispute(LOST)] });
    expect(captureToRefund(lost, 900)).toBe('SECOND');
    expect(() => captureToRefund(lost, 901)).toThrow('send several refunds');
  });
});

describe('capturesReturning', () => {
  test.each([
    [undefined, [300, 0]],
    ['FIRST', [300, 0]],
    ['SECOND', [0, 300]],
  ] as const)('adds a refund to the capture %s, by default to the first capture', (captureId, returned) => {
    const after = capturesReturning(captured(), { captureId }, 300);
    expect(after?.map(({ returnedCents }) => returnedCents)).toEqual(returned);
  });
});
