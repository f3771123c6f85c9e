import { describe, expect, test } from 'vitest';
import { iso } from '../../shared/core/time.ts';
import { claimHoldCall, withoutHoldCall } from '../../shared/payments/holds/hold-versions.ts';
import { PAYMENT_STATUSES, type Payment, type PaymentStatus } from '../../shared/payments/payment.ts';
import { paymentEvents } from '../../shared/payments/payment-events.ts';
import { NOON, payment } from '../builders/payment.ts';

const names = (before: Payment | undefined, after: Payment) => paymentEvents(before, after).map(({ type }) => type);
const next = (before: Payment, status: PaymentStatus): Payment => ({ ...before, status, version: before.version + 1 });
const creating: Payment = { ...payment(), status: 'creating', version: 0 };

describe('the events of a payment’s change', () => {
  test('are not published while the payment is being created', () => {
    expect(paymentEvents(undefined, creating)).toEqual([]);
  });

  test('include payment.created when readers can see the payment', () => {
    expect(names(creating, payment())).toEqual(['payment.created']);
  });

  test('are not published while the payment is withheld, and include payment.created when it is shown', () => {
    const withheld: Payment = { ...payment({ status: 'processing' }), withheld: true };
    const { withheld: _, ...shown } = withheld;
    expect(names(creating, withheld)).toEqual([]);
    expect(names(withheld, next(withheld, 'failed'))).toEqual([]);
    expect(names(withheld, next(shown, 'succeeded'))).toEqual(['payment.created', 'payment.succeeded']);
    expect(names(withheld, next(shown, 'processing'))).toEqual(['payment.created']);
  });

  test('are payment.created and the outcome if one change creates and settles the payment', () => {
    expect(names(undefined, payment({ status: 'succeeded' }))).toEqual(['payment.created', 'payment.succeeded']);
    expect(names(creating, payment({ status: 'failed' }))).toEqual(['payment.created', 'payment.failed']);
  });

  test.each(PAYMENT_STATUSES.flatMap((from) => PAYMENT_STATUSES.map((to) => [from, to] as const)))(
    'report only a new success, failure or hold, or the end of a hold, when the status changes from %s to %s',
    (from, to) => {
      const news: Readonly<Record<string, string>> = {
        succeeded: 'payment.succeeded',
        failed: 'payment.failed',
        requires_capture: 'payment.authorized',
        ...(from === 'requires_capture' && { canceled: 'payment.released' }),
      };
      const before = payment({ status: from });
      expect(names(before, next(before, to))).toEqual(from === to || !news[to] ? [] : [news[to]]);
    },
  );

  test('include the reminder of a hold once, also with the hold itself', () => {
    const held = payment({ status: 'requires_capture', captureMethod: 'manual' });
    const reminded: Payment = { ...next(held, 'requires_capture'), captureDueSent: true };
    expect(names(payment({ status: 'processing' }), reminded)).toEqual(['payment.authorized', 'payment.capture_due']);
    expect(names(held, reminded)).toEqual(['payment.capture_due']);
    expect(names(reminded, next(reminded, 'requires_capture'))).toEqual([]);
  });

  test('report the added amount of each further capture, but no second success', () => {
    const before = payment({ status: 'succeeded', captureMethod: 'manual', totalCents: 600 });
    const grown: Payment = { ...next(before, 'succeeded'), totalCents: 900 };
    expect(paymentEvents(before, grown)).toMatchObject([
      { type: 'payment.captured_more', detail: { payload: { data: { amount: 300, captured_amount: 900 } } } },
    ]);
    expect(names(payment({ status: 'requires_capture', captureMethod: 'manual' }), grown)).toEqual([
      'payment.succeeded',
    ]);
    expect(names(grown, next(grown, 'succeeded'))).toEqual([]);
  });

  test('report a failed capture only with the version that releases its claim', () => {
    const held = payment({ status: 'requires_capture', captureMethod: 'manual' });
    const call = { kind: 'capture', totalCents: 1_000, taxCents: 0, discountCents: 0, claimedAt: iso(NOON) } as const;
    const claimed = claimHoldCall(held, call);
    const failed = withoutHoldCall(claimed, NOON, { call: 'capture', reason: 'not_done' });
    expect(names(claimed, failed)).toEqual(['payment.capture_failed']);
    expect(names(claimed, withoutHoldCall(claimed, NOON))).toEqual([]);
    expect(names(failed, next(failed, 'requires_capture'))).toEqual([]);
    const again = claimHoldCall(failed, call);
    expect([...names(failed, again), ...names(again, withoutHoldCall(again, NOON))]).toEqual([]);
  });

  test('are not published for leases and due times, which make no version', () => {
    const before = payment({ status: 'processing' });
    expect(paymentEvents(before, { ...before, status: 'succeeded' })).toEqual([]);
    expect(paymentEvents(before, { ...before, reconcileAt: iso(NOON) })).toEqual([]);
  });

  test('have the same id in a replay, and a different id for each other change', () => {
    const processing = payment({ status: 'processing', version: 4 });
    const paid = next(processing, 'succeeded');
    const [once] = paymentEvents(processing, paid);
    const [again] = paymentEvents(processing, paid);
    expect(once?.id).toBe(`${paid.id}:5:payment.succeeded`);
    expect(again).toEqual(once);
    const [later] = paymentEvents(next(paid, 'processing'), next(next(paid, 'processing'), 'succeeded'));
    expect(later?.id).not.toBe(once?.id);
  });
});

describe('the payload of a payment’s event', () => {
  const payloadOf = (after: Payment) => paymentEvents(creating, after)[0]?.detail;

  test('has the documented fields for a user’s payment', () => {
    const after = payment({ userEmail: 'ada@example.com', projectId: 'proj_1', organizationId: 'org_1' });
    expect(payloadOf(after)).toEqual({
      id: `${after.id}:1:payment.created`,
      organization_id: 'org_1',
      user_id: 'user_1',
      payload: {
        event: 'payment.created',
        provider: 'provider_a',
        timestamp: after.updatedAt,
        data: {
          payment_id: after.id,
          amount: 2_500,
          currency: 'USD',
          discount_code: null,
          status: 'created',
          user: { id: 'user_1', type: 'authenticated', email: 'ada@example.com' },
          project: { id: 'proj_1' },
          provider_payment_id: 'pi_1',
          organization_id: 'org_1',
          customer_id: null,
          subscription_id: null,
          failure_code: null,
          reference_code: null,
          metadata: {},
          product_id: null,
          quantity: 1,
          subtotal: 2_500,
          tax: 0,
          discount: 0,
          billing_address: null,
        },
      },
    });
  });

  test('carries the order and the amounts of the payment’s version', () => {
    const order = { referenceCode: 'R-1', metadata: { cart: 7 }, productId: 'prod_1', quantity: 3 };
    const amounts = { subtotalCents: 3_000, taxCents: 600, discountCents: 100, totalCents: 3_500 };
    expect(payloadOf(payment({ ...order, ...amounts }))).toMatchObject({
      payload: {
        data: {
          ...{ reference_code: 'R-1', metadata: { cart: 7 }, product_id: 'prod_1', quantity: 3 },
          ...{ amount: 3_500, subtotal: 3_000, tax: 600, discount: 100 },
        },
      },
    });
  });

  test.each([
    [
      'a guest',
      { userId: undefined, guestId: 'gst_1', guestEmail: 'ada@example.com' },
      { id: 'gst_1', type: 'guest', email: 'ada@example.com' },
    ],
    ['an unknown user', { userId: undefined }, null],
  ])('names %s', (_, fields, user) => {
    expect(payloadOf(payment(fields))).toMatchObject({ payload: { data: { user, project: null } } });
  });

  test('contains no secret and no internal field', () => {
    const after = payment({
      status: 'failed',
      clientSecret: 'CANARY-secret',
      methodRef: 'CANARY-method',
      requestHash: 'CANARY-hash',
      guestPhone: 'CANARY-phone',
      anomaly: 'CANARY-anomaly',
      failureCode: 'lost_card',
    });
    const text = JSON.stringify(paymentEvents(creating, after));
    expect(text).not.toContain('CANARY');
    expect(text).toContain('"failure_code":"lost_card"');
  });
});
