import { describe, expect, test } from 'vitest';
import { readPayPalEvent } from '../../shared/providers/paypal/events.ts';

const AT = '2030-01-01T00:00:01.500Z';
const event = (event_type: string, resource: unknown) => ({ id: 'WH-1', event_type, create_time: AT, resource });

const CAPTURE = {
  id: 'C1',
  status: 'COMPLETED',
  amount: { currency_code: 'USD', value: '25.00' },
  custom_id: 'pay_1',
  supplementary_data: { related_ids: { order_id: 'O1' } },
};
const ORDER = {
  id: 'O1',
  status: 'APPROVED',
  purchase_units: [{ amount: { currency_code: 'JPY', value: '900' }, custom_id: 'pay_1' }],
};
const TOKEN = {
  id: 'vt1',
  customer: { id: 'customer-1' },
  payment_source: { card: { brand: 'VISA', last_digits: '1111', expiry: '2034-12' } },
};

describe('a PayPal event', () => {
  test.each([
    ['PAYMENT.CAPTURE.COMPLETED', 'payment_intent.succeeded'],
    ['PAYMENT.CAPTURE.PENDING', 'payment_intent.processing'],
    ['PAYMENT.CAPTURE.DENIED', 'payment_intent.failed'],
    ['PAYMENT.CAPTURE.DECLINED', 'payment_intent.failed'],
  ])('%s is read as %s, with the capture, its order and our payment', (rawType, type) => {
    expect(readPayPalEvent(event(rawType, CAPTURE))).toEqual({
      id: 'WH-1',
      rawType,
      type,
      createdAt: 1_893_456_001,
      object: {
        id: 'C1',
        intentId: 'O1',
        amountCents: 2_500,
        currency: 'USD',
        attemptRef: 'C1',
        failureCode: type === 'payment_intent.failed' ? 'do_not_honor' : undefined,
        ourPaymentId: 'pay_1',
        method: undefined,
        customer: undefined,
      },
    });
  });

  test.each([
    ['CHECKOUT.ORDER.APPROVED', 'payment_intent.processing', true],
    ['CHECKOUT.ORDER.VOIDED', 'payment_intent.canceled', undefined],
  ])('%s is read as %s, and an approval awaits our capture: %s', (rawType, type, awaitsCapture) => {
    const { type: read, object } = readPayPalEvent(event(rawType, ORDER)) ?? {};
    expect(read).toBe(type);
    expect(object).toMatchObject({ id: 'O1', amountCents: 900, currency: 'JPY', ourPaymentId: 'pay_1' });
    expect(object?.awaitsCapture).toBe(awaitsCapture);
  });

  test.each([
    ['VAULT.PAYMENT-TOKEN.CREATED', 'payment_method.attached'],
    ['VAULT.PAYMENT-TOKEN.DELETED', 'payment_method.detached'],
  ])('%s is read as %s', (rawType, type) => {
    expect(readPayPalEvent(event(rawType, TOKEN))).toMatchObject({
      type,
      object: {
        id: 'vt1',
        method: { type: 'card', cardBrand: 'visa', lastFour: '1111', expiryMonth: '12', expiryYear: '2034' },
      },
    });
  });

  test('has no type for a completed order, because its capture can be pending or declined', () => {
    expect(readPayPalEvent(event('CHECKOUT.ORDER.COMPLETED', ORDER))).toMatchObject({ type: undefined });
  });

  test.each([
    ['BILLING.SUBSCRIPTION.CREATED', { id: 'I-1' }],
    ['constructor', CAPTURE],
    ['PAYMENT.CAPTURE.COMPLETED', { status: 'COMPLETED' }],
    ['CHECKOUT.ORDER.APPROVED', { id: 'O1' }],
    ['SOMETHING.NEW', undefined],
  ])('%s with %j is ignored', (rawType, resource) => {
    expect(readPayPalEvent(event(rawType, resource))).toMatchObject({ id: 'WH-1', rawType, type: undefined });
  });

  test.each([
    ['5110', 'incorrect_cvc'],
    ['5120', 'insufficient_funds'],
    ['5400', 'expired_card'],
    ['9520', 'lost_card'],
    ['5910', 'processing_error'],
    ['7710', 'authentication_required'],
    ['0500', 'do_not_honor'],
    ['toString', 'do_not_honor'],
    [undefined, 'do_not_honor'],
  ])('with the decline %s of a card reports the failure %s', (code, failureCode) => {
    const declined = { ...CAPTURE, status: 'DECLINED', ...(code && { processor_response: { response_code: code } }) };
    expect(readPayPalEvent(event('PAYMENT.CAPTURE.DECLINED', declined))?.object.failureCode).toBe(failureCode);
  });

  test.each(['25', '25.5', '25.501', '-25.00', '1e3', ' 25.00', '٢٥.٠٠', ''])(
    'has the amount %j exactly, or no amount if PayPal does not use that format',
    (value) => {
      const meant: Readonly<Record<string, number>> = { 25: 2_500, '25.5': 2_550, '25.501': 2_550.1, '-25.00': -2_500 };
      const amount = { currency_code: 'USD', value };
      expect(readPayPalEvent(event('PAYMENT.CAPTURE.COMPLETED', { ...CAPTURE, amount }))?.object.amountCents).toBe(
        meant[value],
      );
    },
  );

  test.each([
    null,
    'x',
    [],
    {},
    event('X', CAPTURE).resource,
    { ...event('X', {}), create_time: 'soon' },
    { id: 'WH-1' },
  ])('is not read from the body %j', (body) => {
    expect(readPayPalEvent(body)).toBeUndefined();
  });
});
