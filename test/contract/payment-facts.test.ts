/** @module The facts of a payment that each adapter reads, from samples in the format of the vendor's documentation. */
import type Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import type { MethodDetails } from '../../shared/core/payment-facts.ts';
import { parseSettings } from '../../shared/core/settings.ts';
import { fingerprintsOf } from '../../shared/providers/card-fingerprint.ts';
import { readPayPalEvent } from '../../shared/providers/paypal/events.ts';
import { readPayPalRefund } from '../../shared/providers/paypal/refunds.ts';
import { readPayPalOrder } from '../../shared/providers/paypal/report.ts';
import { paypalOrderSchema, paypalRefundSchema } from '../../shared/providers/paypal/schemas.ts';
import { readSquareEvent } from '../../shared/providers/square/events.ts';
import { readSquareRefund } from '../../shared/providers/square/refunds.ts';
import { readSquarePayment } from '../../shared/providers/square/report.ts';
import { squarePaymentSchema, squareRefundSchema } from '../../shared/providers/square/schemas.ts';
import { readStripeEvent } from '../../shared/providers/stripe/events.ts';
import { readStripeRefund } from '../../shared/providers/stripe/refunds.ts';
import { readStripePayment } from '../../shared/providers/stripe/report.ts';
import { paymentIntent } from '../builders/stripe.ts';

const { slots } = parseSettings({ FINGERPRINT_SECRET: 'secret' });
const fingerprintOf = fingerprintsOf({ slot: 'provider_a', settings: slots.provider_a });
const OURS = expect.stringMatching(/^fp_[0-9a-f]{24}$/);

describe('our card fingerprint', () => {
  test('is equal for the same card and slot, and differs by card, slot and secret', () => {
    const other = parseSettings({ FINGERPRINT_SECRET: 'other' }).slots;
    const all = [
      fingerprintOf('a'),
      fingerprintOf('b'),
      fingerprintsOf({ slot: 'provider_b', settings: slots.provider_b })('a'),
      fingerprintsOf({ slot: 'provider_a', settings: other.provider_a })('a'),
    ];
    expect(new Set(all).size).toBe(4);
    expect(all).toEqual([OURS, OURS, OURS, OURS]);
    expect(fingerprintOf('a')).toBe(all[0]);
  });

  test('is undefined without a secret or without the provider’s fingerprint', () => {
    const { provider_a } = parseSettings({}).slots;
    expect(fingerprintsOf({ slot: 'provider_a', settings: provider_a })('a')).toBeUndefined();
    expect([null, undefined, ''].map(fingerprintOf)).toEqual([undefined, undefined, undefined]);
  });
});

const CARD = {
  ...{ brand: 'visa', last4: '4242', exp_month: 7, exp_year: 2031, funding: 'credit', country: 'US' },
  ...{ fingerprint: 'Xt5EWLLDS7FJjR1c', wallet: null, three_d_secure: null },
};
const VISA = {
  ...{ type: 'card', cardBrand: 'visa', lastFour: '4242', expiryMonth: '07', expiryYear: '2031' },
  ...{ funding: 'credit', country: 'US', fingerprint: OURS },
};
const charge = (details: object, more: object = {}) => ({
  id: 'ch_1',
  object: 'charge',
  status: 'succeeded',
  outcome: { network_decline_code: null },
  payment_method_details: details,
  balance_transaction: 'txn_1',
  ...more,
});
const charged = (details: object, more: object = {}) =>
  readStripePayment(
    paymentIntent({ status: 'succeeded', latest_charge: charge(details, more) }) as unknown as Stripe.PaymentIntent,
    undefined,
    fingerprintOf,
  );

describe('a Stripe charge', () => {
  test.each<[string, object, Partial<MethodDetails>]>([
    ['a card', {}, {}],
    ['a prepaid card', { funding: 'prepaid' }, { funding: 'prepaid' }],
    ['a card of unknown funding', { funding: 'unknown' }, { funding: undefined }],
    ['a card in Apple Pay', { wallet: { type: 'apple_pay', apple_pay: {} } }, { walletType: 'apple_pay' }],
    ['a card with a known issuer', { issuer: 'Bank of X' }, { bankName: 'Bank of X' }],
    ...(
      [
        ['authenticated', 'authenticated'],
        ['attempt_acknowledged', 'attempted'],
        ['exempted', 'exempted'],
        ['failed', 'failed'],
      ] as const
    ).map(([said, result]): [string, object, Partial<MethodDetails>] => [
      `a card whose 3-D Secure is ${said}`,
      { three_d_secure: { result: said, version: '2.2.0', exemption_indicator: null } },
      { threeDSecure: { result, version: '2.2.0' } },
    ]),
    ['a card without 3-D Secure', { three_d_secure: { result: 'not_supported' } }, { threeDSecure: undefined }],
  ])('shows the details of %s', (_, said, read) => {
    expect(charged({ type: 'card', card: { ...CARD, ...said } })).toMatchObject({ attemptRef: 'ch_1' });
    expect(charged({ type: 'card', card: { ...CARD, ...said } }).facts).toEqual({ details: { ...VISA, ...read } });
  });

  test.each<[string, object, MethodDetails]>([
    [
      'us_bank_account',
      { bank_name: 'STRIPE TEST BANK', last4: '6789', routing_number: '110000000', fingerprint: 'f' },
      { type: 'bank_account', bankName: 'STRIPE TEST BANK', lastFour: '6789', fingerprint: OURS },
    ],
    [
      'sepa_debit',
      { bank_code: '37040044', country: 'DE', last4: '3000', fingerprint: 'f' },
      { type: 'bank_account', country: 'DE', lastFour: '3000', fingerprint: OURS },
    ],
    ['link', { country: 'DE' }, { type: 'wallet', walletType: 'link' }],
    ['paypal', { payer_email: 'a@example.com' }, { type: 'wallet', walletType: 'paypal' }],
  ])('shows the details of %s', (type, said, details) => {
    expect(charged({ type, [type]: said }).facts).toEqual({ details });
  });

  test('shows fee and net amount in the settlement currency', () => {
    const balance_transaction = {
      ...{ id: 'txn_1', object: 'balance_transaction', amount: 2_710, fee: 109, net: 2_601, currency: 'usd' },
      ...{ exchange_rate: 1.0842, available_on: 1_893_628_800 },
    };
    expect(charged({ type: 'card', card: CARD }, { balance_transaction }).facts?.settlement).toEqual({
      feeCents: 109,
      netCents: 2_601,
      currency: 'USD',
      exchangeRate: '1.0842',
      availableOn: '2030-01-03T00:00:00.000Z',
    });
  });

  test('has no facts while it is pending', () => {
    expect(charged({ type: 'card', card: CARD }, { status: 'pending' }).facts).toBeUndefined();
  });
});

const ERROR = {
  ...{ type: 'card_error', code: 'card_declined', decline_code: 'insufficient_funds', network_decline_code: '51' },
  ...{ charge: 'ch_1', payment_method: { id: 'pm_1', type: 'card', card: CARD } },
};
const declined = (error: object, latest_charge: unknown = 'ch_1') =>
  readStripePayment(
    paymentIntent({
      status: 'requires_payment_method',
      last_payment_error: error,
      latest_charge,
    }) as unknown as Stripe.PaymentIntent,
    undefined,
    fingerprintOf,
  ).facts;

describe('a declined attempt at Stripe', () => {
  test('shows its method and the decline codes of Stripe and the card network', () => {
    const decline = { providerCode: 'insufficient_funds', networkCode: '51' };
    expect(declined(ERROR)).toEqual({ details: VISA, decline });
    const body = { id: 'evt_1', object: 'event', type: 'payment_intent.payment_failed', created: 1 };
    const object = { ...paymentIntent(), last_payment_error: ERROR };
    expect(readStripeEvent({ ...body, data: { object } }, fingerprintOf)?.object.facts).toEqual({
      details: VISA,
      decline,
    });
  });

  test('shows the details of its own charge instead of an earlier charge', () => {
    const authenticated = { ...CARD, three_d_secure: { result: 'authenticated', version: '2.2.0' } };
    const failed = charge({ type: 'card', card: authenticated }, { status: 'failed' });
    expect(declined(ERROR, failed)?.details).toMatchObject({ threeDSecure: { result: 'authenticated' } });
    expect(declined(ERROR, { ...failed, id: 'ch_0' })?.details).toEqual(VISA);
  });

  test('shows a failed authentication without a charge', () => {
    const { charge: _, decline_code: __, network_decline_code: ___, ...error } = ERROR;
    expect(declined({ ...error, code: 'payment_intent_authentication_failure' })).toEqual({
      details: { ...VISA, threeDSecure: { result: 'failed' } },
      decline: { providerCode: 'payment_intent_authentication_failure' },
    });
  });

  test('is read without facts if the event describes the method in an unknown form', () => {
    const object = { ...paymentIntent(), last_payment_error: { ...ERROR, payment_method: { card: 'visa' } } };
    const body = { id: 'evt_1', object: 'event', type: 'payment_intent.payment_failed', created: 1, data: { object } };
    expect(readStripeEvent(body)).toMatchObject({ type: 'payment_intent.failed' });
    expect(readStripeEvent(body)?.object.facts).toBeUndefined();
  });
});

test('a Stripe refund shows the fee of its balance transaction', () => {
  const refund = { id: 're_1', amount: 500, currency: 'usd', created: 1, status: 'succeeded' };
  const transaction = { fee: 0, net: -500, currency: 'usd', exchange_rate: null, available_on: 1_893_628_800 };
  expect(readStripeRefund({ ...refund, balance_transaction: transaction }).settlement).toMatchObject({
    feeCents: 0,
    netCents: -500,
    currency: 'USD',
  });
  expect(readStripeRefund({ ...refund, balance_transaction: 'txn_1' }).settlement).toBeUndefined();
});

const usd = (value: string) => ({ currency_code: 'USD', value });
const eur = (value: string) => ({ currency_code: 'EUR', value });
const capture = (more: object = {}) => ({ id: 'C1', status: 'COMPLETED', amount: usd('25.00'), ...more });
const paypalOrder = (payment_source: object, captures: readonly object[] = [capture()]) =>
  paypalOrderSchema.parse({
    id: 'O1',
    status: 'COMPLETED',
    payment_source,
    purchase_units: [{ amount: usd('25.00'), payments: { captures } }],
  });
const paypalFacts = (source: object, more?: object, status: 'processing' | 'failed' = 'processing') =>
  readPayPalOrder(paypalOrder(source, more === undefined ? [] : [capture(more)]), { status, method: undefined }).facts;

const PAYPAL_CARD = {
  ...{ name: 'John Doe', brand: 'VISA', last_digits: '1111', expiry: '2034-12', type: 'DEBIT' },
  bin_details: { bin: '411111', issuing_bank: 'Bank of X', bin_country_code: 'GB' },
};
const PAYPAL_VISA = {
  ...{ type: 'card', cardBrand: 'visa', lastFour: '1111', expiryMonth: '12', expiryYear: '2034' },
  ...{ funding: 'debit', country: 'GB', bankName: 'Bank of X' },
};

describe('a PayPal order', () => {
  test.each<[string, object, object]>([
    ['a card', { card: PAYPAL_CARD }, PAYPAL_VISA],
    ['a card in Apple Pay', { apple_pay: { card: PAYPAL_CARD } }, { ...PAYPAL_VISA, walletType: 'apple_pay' }],
    ['a card in Google Pay', { google_pay: { card: PAYPAL_CARD } }, { ...PAYPAL_VISA, walletType: 'google_pay' }],
    ['a PayPal account', { paypal: { account_id: 'X' } }, { type: 'wallet', walletType: 'paypal' }],
    ['a Venmo account', { venmo: { user_name: 'x' } }, { type: 'wallet', walletType: 'venmo' }],
  ])('shows the details of %s', (_, source, details) => {
    expect(paypalFacts(source, {})).toEqual({ details });
  });

  test.each([
    ['Y', 'Y', 'POSSIBLE', { result: 'authenticated' }],
    ['Y', 'Y', 'YES', { result: 'authenticated', liabilityShifted: true }],
    ['A', 'Y', 'POSSIBLE', { result: 'attempted' }],
    ['N', 'Y', 'NO', { result: 'failed', liabilityShifted: false }],
    ['R', 'Y', 'NO', { result: 'failed', liabilityShifted: false }],
    [undefined, 'N', 'NO', { result: 'attempted', liabilityShifted: false }],
    ['U', 'Y', 'NO', undefined],
    [undefined, 'U', 'UNKNOWN', undefined],
  ])(
    'shows the 3-D Secure result for status %s and enrollment %s',
    (...[status, enrolled, liability_shift, threeDSecure]) => {
      const three_d_secure = { authentication_status: status, enrollment_status: enrolled };
      const card = { ...PAYPAL_CARD, authentication_result: { liability_shift, three_d_secure } };
      expect(paypalFacts({ card }, {})?.details?.threeDSecure).toEqual(threeDSecure);
    },
  );

  test('shows its capture’s fee, and so does the capture’s event', () => {
    const seller_receivable_breakdown = {
      gross_amount: usd('25.00'),
      paypal_fee: usd('1.36'),
      net_amount: usd('23.64'),
    };
    const settlement = { feeCents: 136, netCents: 2_364, currency: 'USD' };
    expect(paypalFacts({ paypal: {} }, { seller_receivable_breakdown })?.settlement).toEqual(settlement);
    const event = { id: 'WH-1', event_type: 'PAYMENT.CAPTURE.COMPLETED', create_time: '2030-01-01T00:00:00Z' };
    expect(readPayPalEvent({ ...event, resource: capture({ seller_receivable_breakdown }) })?.object.facts).toEqual({
      settlement,
    });
  });

  test('shows the fee in the currency of the seller’s account', () => {
    const seller_receivable_breakdown = {
      ...{ gross_amount: usd('25.00'), paypal_fee: usd('1.36'), net_amount: usd('23.64') },
      ...{ paypal_fee_in_receivable_currency: eur('1.25'), receivable_amount: eur('21.80') },
      exchange_rate: { source_currency: 'USD', target_currency: 'EUR', value: '0.9223' },
    };
    expect(paypalFacts({ paypal: {} }, { seller_receivable_breakdown })?.settlement).toEqual({
      feeCents: 125,
      netCents: 2_180,
      currency: 'EUR',
      exchangeRate: '0.9223',
    });
  });

  test('shows the processor’s code for a declined card', () => {
    const more = { status: 'DECLINED', processor_response: { response_code: '5120' } };
    expect(paypalFacts({ card: PAYPAL_CARD }, more)).toEqual({
      details: PAYPAL_VISA,
      decline: { providerCode: '5120' },
    });
  });

  test('has no facts while its capture is pending, and shows its source after a refusal', () => {
    expect(paypalFacts({ card: PAYPAL_CARD }, { status: 'PENDING' })).toBeUndefined();
    expect(paypalFacts({ paypal: {} }, undefined, 'failed')).toBeUndefined();
    const refused = { ...paypalOrder({ paypal: {} }, []), status: 'APPROVED' };
    expect(readPayPalOrder(refused, { status: 'failed', method: undefined }).facts).toEqual({
      details: { type: 'wallet', walletType: 'paypal' },
    });
  });

  test('is read even if PayPal sends the facts in an unknown form', () => {
    const source = { card: { ...PAYPAL_CARD, type: 7, bin_details: 'x' }, apple_pay: [] };
    expect(paypalFacts(source, { seller_receivable_breakdown: { paypal_fee: 'x' } })).toEqual({
      details: { ...PAYPAL_VISA, funding: undefined, country: undefined, bankName: undefined },
    });
  });
});

test('a PayPal refund shows the fee that PayPal returns', () => {
  const refund = { id: 'R1', status: 'COMPLETED', amount: usd('10.00'), create_time: '2030-01-01T00:00:00Z' };
  const seller_payable_breakdown = { gross_amount: usd('10.00'), paypal_fee: usd('0.35'), net_amount: usd('9.65') };
  const read = (more: object) => readPayPalRefund(paypalRefundSchema.parse({ ...refund, ...more }))?.settlement;
  expect(read({ seller_payable_breakdown })).toEqual({ feeCents: -35, netCents: -965, currency: 'USD' });
  expect(read({})).toBeUndefined();
  expect(read({ seller_payable_breakdown, status: 'PENDING' })).toBeUndefined();
});

const SQUARE_PAYMENT = {
  ...{ id: 'SP1', status: 'COMPLETED', order_id: 'O1', source_type: 'CARD' },
  amount_money: { amount: 2_500, currency: 'USD' },
};
const SQUARE_CARD = {
  ...{ card_brand: 'AMERICAN_EXPRESS', last_4: '0005', exp_month: 3, exp_year: 2031, fingerprint: 'sq-1-x' },
  ...{ card_type: 'CREDIT', prepaid_type: 'NOT_PREPAID', bin: '371449' },
};
const AMEX = {
  ...{ type: 'card', cardBrand: 'amex', lastFour: '0005', expiryMonth: '03', expiryYear: '2031', funding: 'credit' },
  fingerprint: OURS,
};
const squareFacts = (more: object) =>
  readSquarePayment(squarePaymentSchema.parse({ ...SQUARE_PAYMENT, ...more }), fingerprintOf).facts;

describe('a Square payment', () => {
  test.each<[string, object, object]>([
    ['a card', { card_details: { card: SQUARE_CARD } }, AMEX],
    [
      'a prepaid card',
      { card_details: { card: { ...SQUARE_CARD, prepaid_type: 'PREPAID' } } },
      { ...AMEX, funding: 'prepaid' },
    ],
    [
      'a bank account',
      {
        bank_account_details: {
          ...{ bank_name: 'Bank of X', country: 'US', fingerprint: 'f', transfer_type: 'ACH' },
          ach_details: { routing_number: '110000000', account_number_suffix: '6789', account_type: 'CHECKING' },
        },
      },
      { type: 'bank_account', bankName: 'Bank of X', country: 'US', lastFour: '6789', fingerprint: OURS },
    ],
    ['Cash App', { wallet_details: { brand: 'CASH_APP' } }, { type: 'wallet', walletType: 'cash_app' }],
    ['an unknown wallet', { wallet_details: { brand: 'UNKNOWN' } }, { type: 'wallet' }],
  ])('shows the details of %s', (_, source, details) => {
    expect(squareFacts(source)).toEqual({ details });
  });

  test('shows the sum of Square’s fees once Square reports them', () => {
    const fee = (amount: number, type: string) => ({ type, amount_money: { amount, currency: 'USD' } });
    const processing_fee = [fee(103, 'INITIAL'), fee(-3, 'ADJUSTMENT')];
    const settlement = { feeCents: 100, netCents: 2_400, currency: 'USD' };
    expect(squareFacts({ processing_fee })).toEqual({ settlement });
    expect(squareFacts({ processing_fee: [] })).toBeUndefined();
    const event = { event_id: 'e1', type: 'payment.updated', created_at: '2030-01-01T00:00:00Z' };
    const data = { type: 'payment', id: 'SP1', object: { payment: { ...SQUARE_PAYMENT, processing_fee } } };
    expect(readSquareEvent({ ...event, data }, fingerprintOf)?.object.facts).toEqual({ settlement });
  });

  test('shows the decline codes of Square and the issuer for a declined card', () => {
    const card_details = { card: SQUARE_CARD, errors: [{ code: 'INSUFFICIENT_FUNDS' }], auth_result_code: '51' };
    expect(squareFacts({ status: 'FAILED', card_details })).toEqual({
      details: AMEX,
      decline: { providerCode: 'INSUFFICIENT_FUNDS', networkCode: '51' },
    });
  });

  test('has no facts while it is pending, and is read even if its facts have an unknown form', () => {
    expect(squareFacts({ status: 'PENDING', card_details: { card: SQUARE_CARD } })).toBeUndefined();
    expect(squareFacts({ card_details: { card: 'x' }, wallet_details: 'x', processing_fee: {} })).toBeUndefined();
  });
});

test('a Square refund shows the fee that Square returns', () => {
  const refund = { id: 'SR1', status: 'COMPLETED', amount_money: { amount: 1_000, currency: 'USD' } };
  const fees = [{ type: 'INITIAL', amount_money: { amount: -30, currency: 'USD' } }];
  const read = (more: object) =>
    readSquareRefund(squareRefundSchema.parse({ ...refund, created_at: '2030-01-01T00:00:00Z', ...more })).settlement;
  expect(read({ processing_fee: fees })).toEqual({ feeCents: -30, netCents: -970, currency: 'USD' });
  expect(read({})).toBeUndefined();
});
