import { describe, expect, test, vi } from 'vitest';
import { parseSettings } from '../../shared/core/settings.ts';
import type { KnownPayment } from '../../shared/providers/payment-port.ts';
import { readPayPalEvent } from '../../shared/providers/paypal/events.ts';
import { openPayPal } from '../../shared/providers/paypal/paypal.ts';
import { captureStatus, readPayPalOrder } from '../../shared/providers/paypal/report.ts';
import type { Authorization, Capture, Order } from '../../shared/providers/paypal/schemas.ts';

const money = (value: string) => ({ currency_code: 'USD', value });
const MADE = '2030-01-01T00:00:00Z';
const CHANGED = '2030-01-02T10:00:00Z';
const ENDS = '2030-01-30T00:00:00Z';
const GUARANTEED = '2030-01-04T00:00:00.000Z';

const authorization = (status: string, more: Partial<Authorization> = {}): Authorization => ({
  id: 'A1',
  status,
  amount: money('25.00'),
  create_time: MADE,
  update_time: CHANGED,
  expiration_time: ENDS,
  ...more,
});
const capture = (id: string, status: string, value = '25.00'): Capture => ({ id, status, amount: money(value) });
const order = (authorizations: Authorization[], captures: Capture[] = [], status = 'COMPLETED'): Order => ({
  id: 'O1',
  status,
  intent: 'AUTHORIZE',
  purchase_units: [{ amount: money('25.00'), payments: { authorizations, captures } }],
});
const read = (of: Order, status: KnownPayment['status'] = 'processing') => readPayPalOrder(of, { status, method: 'm' });

const HOLD = {
  authorizedCents: 2_500,
  capturableCents: 2_500,
  captureBefore: '2030-01-30T00:00:00.000Z',
  guaranteedUntil: GUARANTEED,
  endedAt: undefined,
};
const NOTHING_LEFT = { ...HOLD, capturableCents: 0 };
const ENDED = { ...NOTHING_LEFT, endedAt: '2030-01-02T10:00:00.000Z' };

describe('a PayPal order with an authorization', () => {
  test.each([
    ['CREATED', 'requires_capture', HOLD],
    ['PENDING', 'processing', undefined],
    ['DENIED', 'failed', undefined],
    ['VOIDED', 'canceled', ENDED],
    ['EXPIRED', 'canceled', ENDED],
    ['CAPTURED', 'requires_capture', NOTHING_LEFT],
    ['PARTIALLY_CAPTURED', 'requires_capture', NOTHING_LEFT],
    ['SOMETHING_NEW', 'processing', undefined],
    ['constructor', 'processing', undefined],
  ] as const)('with the status %s and no capture is %s', (status, expected, hold) => {
    const report = read(order([authorization(status)]));
    expect(report).toMatchObject({
      status: expected,
      intentId: 'O1',
      paymentId: 'A1',
      attemptRef: 'A1',
      amountCents: 2_500,
      failureCode: expected === 'failed' ? 'do_not_honor' : undefined,
    });
    expect(report.hold).toEqual(hold);
  });

  test.each([
    ['CAPTURED', ['COMPLETED'], 'succeeded', 'C1'],
    ['PARTIALLY_CAPTURED', ['DECLINED', 'COMPLETED'], 'succeeded', 'C2'],
    ['VOIDED', ['COMPLETED'], 'succeeded', 'C1'],
    ['CAPTURED', ['REFUNDED'], 'succeeded', 'C1'],
    ['CREATED', ['DECLINED', 'DECLINED'], 'requires_capture', 'A1'],
    ['CREATED', ['PENDING'], 'requires_capture', 'A1'],
    ['CAPTURED', ['DECLINED', 'PENDING'], 'requires_capture', 'A1'],
    ['VOIDED', ['DECLINED'], 'canceled', 'A1'],
  ] as const)('with the status %s and the captures %j is %s', (...[status, captures, expected, paymentId]) => {
    const taken = captures.map((one, index) => capture(`C${index + 1}`, one));
    expect(read(order([authorization(status)], taken))).toMatchObject({
      status: expected,
      paymentId,
      attemptRef: 'A1',
    });
  });

  test('has the captured amount after a success, and keeps the held amount', () => {
    const report = read(order([authorization('PARTIALLY_CAPTURED')], [capture('C1', 'COMPLETED', '10.00')]));
    expect(report).toMatchObject({ amountCents: 1_000, hold: NOTHING_LEFT });
  });

  test('with two captures from the dashboard has the sum of both, and no fee while one fee is unknown', () => {
    const fee = { paypal_fee: money('0.84'), net_amount: money('9.16') };
    const one = { ...capture('C1', 'COMPLETED', '10.00'), seller_receivable_breakdown: fee };
    const single = read(order([authorization('PARTIALLY_CAPTURED')], [one]));
    expect(single.facts?.settlement).toMatchObject({ feeCents: 84, netCents: 916 });
    const report = read(order([authorization('PARTIALLY_CAPTURED')], [one, capture('C2', 'REFUNDED', '5.00')]));
    expect(report).toMatchObject({ amountCents: 1_500, paymentId: 'C2', isRefunded: true });
    expect(report.facts?.settlement).toBeUndefined();
  });

  test('with two captures from the dashboard names both, and has the sum of the fees once both are known', () => {
    const settled = (one: Capture, fee: string, net: string): Capture => ({
      ...one,
      seller_receivable_breakdown: { paypal_fee: money(fee), net_amount: money(net) },
    });
    const captures = [
      settled(capture('C1', 'COMPLETED', '10.00'), '0.84', '9.16'),
      settled(capture('C2', 'COMPLETED', '5.00'), '0.66', '4.34'),
    ];
    const report = read(order([authorization('CAPTURED')], captures));
    expect(report).toMatchObject({
      amountCents: 1_500,
      captures: [
        { captureId: 'C1', amountCents: 1_000 },
        { captureId: 'C2', amountCents: 500 },
      ],
      facts: { settlement: { feeCents: 150, netCents: 1_350, currency: 'USD' } },
    });
    expect(read(order([authorization('CAPTURED')], captures.slice(1))).captures).toBeUndefined();
  });

  test('has nothing left to capture while a capture is pending', () => {
    expect(read(order([authorization('CREATED')], [capture('C1', 'PENDING', '10.00')]))).toMatchObject({
      amountCents: 2_500,
      hold: NOTHING_LEFT,
    });
  });

  test('with a renewed authorization has the newest hold', () => {
    const again = authorization('CREATED', { id: 'A2', create_time: '2030-01-06T00:00:00Z' });
    for (const authorizations of [
      [authorization('VOIDED'), again],
      [again, authorization('VOIDED')],
    ])
      expect(read(order(authorizations))).toMatchObject({ status: 'requires_capture', paymentId: 'A2' });
  });

  test('has a hold whose guarantee never lasts longer than the hold', () => {
    const report = read(order([authorization('CREATED', { expiration_time: '2030-01-01T01:00:00Z' })]));
    expect(report.hold).toMatchObject({
      captureBefore: '2030-01-01T01:00:00.000Z',
      guaranteedUntil: '2030-01-01T01:00:00.000Z',
    });
  });

  test('has a hold without end times if PayPal sends an unknown time format', () => {
    const event = { id: 'WH-1', event_type: 'PAYMENT.AUTHORIZATION.CREATED', create_time: MADE };
    const resource = authorization('CREATED', { expiration_time: 'soon', create_time: 'today' });
    expect(readPayPalEvent({ ...event, resource })?.object.hold).toEqual({
      ...HOLD,
      captureBefore: undefined,
      guaranteedUntil: undefined,
    });
  });

  test('names the processor’s reason for a denied card', () => {
    const denied = authorization('DENIED', { processor_response: { response_code: '5120' } });
    expect(read(order([denied]))).toMatchObject({
      failureCode: 'insufficient_funds',
      facts: { decline: { providerCode: '5120' } },
    });
  });
});

describe('a PayPal order without an authorization', () => {
  test.each(['CREATED', 'APPROVED', 'PAYER_ACTION_REQUIRED'])(
    'with the order status %s does not undo a hold that an event reported',
    (status) => {
      const report = read(order([], [], status), 'requires_capture');
      expect(report).toMatchObject({ status: 'requires_capture', amountCents: 2_500 });
      expect(report).not.toHaveProperty('awaitsCapture');
    },
  );
});

const event = (event_type: string, resource: unknown) =>
  readPayPalEvent({ id: 'WH-1', event_type, create_time: MADE, resource });
const RELATED = { supplementary_data: { related_ids: { order_id: 'O1' } }, custom_id: 'pay_1' };

describe('a PayPal event of an authorization', () => {
  test.each([
    ['CREATED', 'CREATED', 'payment_intent.amount_capturable_updated', HOLD],
    ['CREATED', 'PENDING', 'payment_intent.processing', undefined],
    ['CREATED', 'DENIED', 'payment_intent.failed', undefined],
    ['CREATED', 'VOIDED', 'payment_intent.canceled', ENDED],
    ['VOIDED', 'VOIDED', 'payment_intent.canceled', ENDED],
    ['VOIDED', 'CREATED', 'payment_intent.amount_capturable_updated', HOLD],
  ] as const)('PAYMENT.AUTHORIZATION.%s with the status %s is read as %s', (...[name, status, type, hold]) => {
    const read = event(`PAYMENT.AUTHORIZATION.${name}`, authorization(status, RELATED));
    expect(read?.type).toBe(type);
    expect(read?.object).toMatchObject({
      ...{ id: 'A1', intentId: 'O1', attemptRef: 'A1', amountCents: 2_500, currency: 'USD', ourPaymentId: 'pay_1' },
      failureCode: status === 'DENIED' ? 'do_not_honor' : undefined,
    });
    expect(read?.object.hold).toEqual(hold);
  });

  test.each([
    ['PAYMENT.AUTHORIZATION.VOIDED', authorization('PARTIALLY_CAPTURED')],
    ['PAYMENT.AUTHORIZATION.CREATED', authorization('CAPTURED')],
    ['PAYMENT.AUTHORIZATION.CREATED', { status: 'CREATED' }],
    ['PAYMENT.AUTHORIZATION.SOMETHING', authorization('CREATED')],
  ])('%s with %j is ignored, because captures have their own events', (name, resource) => {
    expect(event(name, resource)).toMatchObject({ type: undefined });
  });

  test('that is about a capture names the authorization as the attempt', () => {
    const related_ids = { order_id: 'O1', authorization_id: 'A1' };
    const captured = { ...capture('C1', 'COMPLETED', '10.00'), supplementary_data: { related_ids } };
    expect(event('PAYMENT.CAPTURE.COMPLETED', captured)).toMatchObject({
      type: 'payment_intent.succeeded',
      object: { id: 'C1', intentId: 'O1', attemptRef: 'A1', amountCents: 1_000 },
    });
  });
});

describe('a response of PayPal to the capture of a hold', () => {
  const ask = (status: number, body: unknown) => {
    const provider = openPayPal({
      slot: 'provider_b',
      settings: { ...parseSettings({}).slots.provider_b, CLIENT_ID: 'id', CLIENT_SECRET: 'secret' },
      timeoutMs: 1_000,
      log: { info: vi.fn(), warn: vi.fn(), error: vi.fn() },
      fetch: async (input) =>
        String(input).includes('oauth2')
          ? Response.json({ access_token: 't', expires_in: 3_600 })
          : Response.json(body, { status }),
    });
    return provider?.holds?.capture({
      ...{ idempotencyKey: 'pay_1:capture:0', paymentId: 'pay_1', providerPaymentId: 'A1', intentId: 'O1' },
      ...{ authorizedCents: 2_500, amountCents: 1_000, currency: 'USD', attemptRef: 'A1', method: 'm' },
      status: 'requires_capture',
    });
  };
  const issue = (name: string) => ({ name: 'UNPROCESSABLE_ENTITY', details: [{ issue: name }] });

  test.each([
    [201, { ...capture('C1', 'DECLINED'), processor_response: { response_code: '5120' } }, 'insufficient_funds'],
    [201, capture('C1', 'FAILED'), 'do_not_honor'],
    [402, {}, 'do_not_honor'],
    [402, issue('CARD_EXPIRED'), 'expired_card'],
    [422, issue('TRANSACTION_REFUSED'), 'do_not_honor'],
    [422, issue('PAYER_CANNOT_PAY'), 'do_not_honor'],
  ])('with the status %d and %j is a decline', async (status, body, code) => {
    expect(await ask(status, body)).toMatchObject({ kind: 'declined', code });
  });

  test.each([
    'AUTHORIZATION_ALREADY_CAPTURED',
    'AUTHORIZATION_EXPIRED',
    'AUTHORIZATION_VOIDED',
    'DUPLICATE_INVOICE_ID',
    'MAX_CAPTURE_AMOUNT_EXCEEDED',
  ])('that names %s is a refusal', async (name) => {
    expect(await ask(422, issue(name))).toMatchObject({ kind: 'refused', reason: name });
  });

  test.each([
    [200, 'COMPLETED', 'succeeded', 'C1'],
    [201, 'COMPLETED', 'succeeded', 'C1'],
    [202, 'PENDING', 'requires_capture', 'A1'],
    [201, 'SOMETHING_NEW', 'requires_capture', 'A1'],
  ])('with the status %d and a capture that is %s is %s', async (...[status, said, expected, paymentId]) => {
    expect(await ask(status, capture('C1', said, '10.00'))).toMatchObject({
      kind: 'done',
      value: {
        ...{ status: expected, paymentId, intentId: 'O1', attemptRef: 'A1', currency: 'USD' },
        amountCents: expected === 'succeeded' ? 1_000 : 2_500,
        hold: { authorizedCents: 2_500, capturableCents: 0 },
      },
    });
  });

  test.each([409, 500, 503])('with the status %d is an unknown outcome', async (status) => {
    expect(await ask(status, {})).toEqual({ kind: 'unknown', reason: 'error' });
  });
});

describe('the status of a capture at PayPal', () => {
  test.each([
    ['COMPLETED', 'succeeded'],
    ['PARTIALLY_REFUNDED', 'succeeded'],
    ['REFUNDED', 'succeeded'],
    ['PENDING', 'processing'],
    ['DECLINED', 'failed'],
    ['DENIED', 'failed'],
    ['FAILED', 'failed'],
    ['a status of tomorrow', 'processing'],
  ])('%s is stored as %s', (status, stored) => {
    expect(captureStatus({ id: 'CAP-1', status })).toBe(stored);
  });
});
