import { describe, expect, test } from 'vitest';
import type { VisiblePayment } from '../../shared/payments/payment.ts';
import { paymentEvents } from '../../shared/payments/payment-events.ts';
import {
  asRestorable,
  type KnownOfRestored,
  type Restorable,
  restoredPayment,
} from '../../shared/payments/restore-payment.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const PAYMENT = 'pay_0123456789abcdef01234567';

/** A PayPal order that names our payment. */
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

describe('a restored payment', () => {
  test('has the prices of its subscription if they add up to the paid amount', () => {
    const { anomaly, subtotalCents, totalCents } = restoredPayment(order(1_900), RENEWAL, NOW);
    expect({ anomaly, subtotalCents, totalCents }).toEqual({
      ...{ anomaly: undefined, subtotalCents: 2_000, totalCents: 1_900 },
    });
  });

  test('is marked if a renewal paid another amount, because a PayPal payer can set both id and amount', () => {
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

/** The record versions of a held payment that is captured at the provider and then refunded. */
const changesFrom = (first: VisiblePayment): readonly VisiblePayment[] => {
  const { refund, ...held } = { ...first, status: 'requires_capture', authorizedCents: 1_900 } as const;
  const taken = { ...held, cause: 'event', status: 'succeeded' } as const;
  const returned = {
    id: 'ref_1',
    amountCents: 100,
    status: 'succeeded',
    was: 'pending',
    failureCode: undefined,
  } as const;
  return [
    { ...held, cause: 'answer' },
    { ...held, cause: 'capture_due', captureDueSent: true },
    { ...taken, captureDueSent: true },
    { ...taken, cause: 'refund', refund: returned },
  ].map((version, index) => ({ ...version, version: first.version + index }) as VisiblePayment);
};

const eventIdsOf = (versions: readonly VisiblePayment[]): readonly string[] =>
  versions.flatMap((after, index) => paymentEvents(versions[index - 1] ?? undefined, after).map(({ id }) => id));

describe('the events of a restored payment', () => {
  const restored = restoredPayment(order(1_900), RENEWAL, NOW);
  const later = changesFrom({ ...restored, version: restored.version + 1 });

  test('reuse no event id of the lost record, whatever its version', () => {
    const ids = eventIdsOf([restored, ...later]);
    expect(ids.map((id) => id.split(':')[2])).toEqual(
      expect.arrayContaining(['payment.capture_due', 'payment.succeeded', 'payment.refunded']),
    );
    for (let version = 1; version <= 500; version += 1) {
      const published = eventIdsOf(changesFrom({ ...restored, version }));
      expect(published.filter((id) => ids.includes(id))).toEqual([]);
    }
  });

  test('exclude its creation and its outcome', () => {
    expect(paymentEvents(undefined, restored)).toEqual([]);
  });
});
