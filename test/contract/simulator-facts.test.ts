/** @module Checks that the facts from the adapters equal the ledger, for each test method and charge outcome. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../shared/core/outcome.ts';
import type { MethodDetails, PaymentFacts } from '../../shared/core/payment-facts.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../shared/core/time.ts';
import type { ProviderPayment } from '../../shared/providers/payment-port.ts';
import { openRig, type ProviderRig } from './provider-rig.ts';
import { PAYPAL, SQUARE, STRIPE } from './provider-subjects.ts';
import type { ProviderSubject } from './provider-suite.ts';

const AMOUNT = 2_500;
const PAYMENT_ID = 'pay_000000000000000000000001';
const OURS = /^fp_[0-9a-f]{24}$/;

interface LedgerCharge {
  readonly status: string;
  readonly fee: number | null;
  readonly payment_method_details: Readonly<Record<string, unknown>> | null;
}

let rig: ProviderRig;
const openFor = (subject: ProviderSubject) => async (): Promise<void> => {
  rig = await openRig({ ...subject, settings: { ...subject.settings, FINGERPRINT_SECRET: 'secret' } });
};
afterEach(() => rig.close());

const INTENT = {
  paymentId: PAYMENT_ID,
  amountCents: AMOUNT,
  currency: 'USD',
  customerId: undefined,
  returnUrl: undefined,
};

const pay = async (
  method: string,
): Promise<{ readonly intentId: string; readonly charged: Outcome<ProviderPayment> }> => {
  const input = { ...INTENT, description: undefined, method, saveMethod: false, idempotencyKey: 'create' };
  const made = await rig.provider.createIntent(input);
  if (made.kind !== 'done') throw new Error(`not made: ${JSON.stringify(made)}`);
  const { intentId } = made.value;
  return {
    intentId,
    charged: await rig.provider.confirmIntent({ ...INTENT, intentId, method, idempotencyKey: 'pay' }),
  };
};

const lastCharge = async (): Promise<LedgerCharge> => {
  const { charges } = await rig.control<{ charges: readonly LedgerCharge[] }>('GET', '/ledger');
  const charge = charges.at(-1);
  if (!charge) throw new Error('nothing was charged');
  return charge;
};

/**
 * The details in the ledger's format. Our fingerprint is left out, because the ledger has the provider's fingerprint.
 */
const shown = (details: MethodDetails | undefined) =>
  details && {
    type: details.type,
    wallet_type: details.walletType ?? null,
    bank_name: details.bankName ?? null,
    ...(details.type !== 'wallet' && {
      last_four: details.lastFour,
      country: details.country ?? null,
    }),
    ...(details.type === 'card' && {
      card_brand: details.cardBrand,
      expiry_month: details.expiryMonth,
      expiry_year: details.expiryYear,
      funding: details.funding,
      three_d_secure: details.threeDSecure ? { result: details.threeDSecure.result } : null,
    }),
  };

const factsOf = (outcome: Outcome<ProviderPayment>): PaymentFacts | undefined => {
  if (outcome.kind === 'done') return outcome.value.facts;
  return outcome.kind === 'declined' ? outcome.facts : undefined;
};

const find = (intentId: string, status: 'processing' | 'failed', more: object = {}) =>
  rig.provider.findPayment({ intentId, attemptRef: undefined, method: 'm', status, ...more });

const ACCEPTED: readonly (readonly [name: string, subject: ProviderSubject, methods: readonly string[]])[] = [
  [
    'Stripe',
    STRIPE,
    [
      ...['pm_card_visa', 'pm_card_visa_debit', 'pm_card_mastercard', 'pm_card_amex', 'pm_card_br', 'tok_visa'],
      ...['pm_sim_apple_pay', 'pm_sim_google_pay', 'tok_sim_apple_pay', 'tok_sim_google_pay'],
      ...['pm_sim_ok_3_then_lost', 'pm_card_pendingRefund', 'pm_card_createDispute', 'pm_sim_processing_ok'],
    ],
  ],
  ['PayPal', PAYPAL, ['SIM-OK', 'SIM-CARD', 'SIM-OK-3-THEN-LOST', 'SIM-REFUND-PENDING', 'SIM-PENDING-OK']],
  [
    'Square',
    SQUARE,
    ['cnon:card-nonce-ok', 'ccof:customer-card-id-ok', 'cnon:sim-ok-3-then-lost', 'bnon:bank-nonce-ok'],
  ],
];

describe.each(ACCEPTED)('a charge at %s', (name, subject, methods) => {
  beforeEach(openFor(subject));

  test.each(methods)('with %s shows the ledger’s details in its response and in a read', async (method) => {
    const { intentId, charged } = await pay(method);
    await rig.clock.advance(2 * MINUTE_MS);
    const { fee, payment_method_details: ledgers } = await lastCharge();
    const { fingerprint, ...details } = ledgers ?? {};
    const facts = factsOf(charged);
    if (facts) expect(shown(facts.details)).toEqual(details);
    expect(facts?.settlement === undefined || name === 'PayPal').toBe(true);
    const read = factsOf(await find(intentId, 'processing', { withSettlement: true }));
    expect(shown(read?.details)).toEqual(details);
    expect(read?.settlement).toMatchObject({ feeCents: fee, netCents: AMOUNT - (fee ?? 0), currency: 'USD' });
    if (name !== 'PayPal' && fingerprint) expect(read?.details?.fingerprint).toMatch(OURS);
  });

  test.each(Object.keys(subject.methods.declines))('with %s is declined with the ledger’s details', async (method) => {
    const { intentId, charged } = await pay(method);
    expect(charged.kind).toBe('declined');
    const { fee, payment_method_details: ledgers } = await lastCharge();
    const { fingerprint: _, ...details } = ledgers ?? {};
    expect(fee).toBeNull();
    expect(shown(factsOf(charged)?.details)).toEqual(details);
    expect(factsOf(charged)?.decline?.providerCode).toMatch(/^\w+$/);
    const read = factsOf(await find(intentId, 'failed'));
    if (read?.details) expect(shown(read.details)).toEqual(details);
  });

  test('shows the ledger’s details if its method settles later and fails', async () => {
    const { intentId, charged } = await pay(subject.methods.settlesLater.failed);
    expect(factsOf(charged)).toBeUndefined();
    await rig.clock.advance(MINUTE_MS);
    const { fingerprint: _, ...details } = (await lastCharge()).payment_method_details ?? {};
    const attemptRef = charged.kind === 'done' ? charged.value.attemptRef : undefined;
    const read = factsOf(await find(intentId, 'processing', { attemptRef }));
    expect(shown(read?.details)).toEqual(details);
  });

  test('needs no extra call for its details', async () => {
    await pay(subject.methods.succeeds);
    const calls = rig.exchanges
      .map(({ method, path }) => `${method} ${path}`)
      .filter((one) => !/oauth|vault/.test(one));
    expect(calls).toHaveLength(2);
  });
});

describe('the provider’s fee', () => {
  test.each([
    ['Stripe', STRIPE, 103],
    ['PayPal', PAYPAL, 136],
    ['Square', SQUARE, 103],
  ] as const)('of %s for 25.00 USD appears in the ledger', async (_, subject, fee) => {
    await openFor(subject)();
    await pay(subject.methods.succeeds);
    await rig.clock.advance(MINUTE_MS);
    expect(await lastCharge()).toMatchObject({ fee });
  });

  test('of Square arrives 30 seconds after the payment in a second payment.updated', async () => {
    await openFor(SQUARE)();
    const { intentId } = await pay(SQUARE.methods.succeeds);
    const feesSent = async () =>
      (await rig.delivered())
        .map(({ body }) => JSON.parse(body))
        .filter(({ type }) => type === 'payment.updated')
        .map((body) => rig.provider.readEvent(body)?.object.facts?.settlement?.feeCents);
    await rig.clock.advance(29 * SECOND_MS);
    expect(await feesSent()).toEqual([undefined]);
    expect(factsOf(await find(intentId, 'processing'))?.settlement).toBeUndefined();
    await rig.clock.advance(SECOND_MS);
    expect(await feesSent()).toEqual([undefined, 103]);
    expect(factsOf(await find(intentId, 'processing'))?.settlement).toMatchObject({ feeCents: 103, netCents: 2_397 });
  });

  test('of Stripe is available two days after the charge, and is 0 for a refund', async () => {
    await openFor(STRIPE)();
    const { intentId } = await pay('pm_card_visa');
    const availableOn = new Date(rig.clock.now() + 48 * HOUR_MS).toISOString();
    expect(factsOf(await find(intentId, 'processing', { withSettlement: true }))?.settlement).toEqual({
      ...{ feeCents: 103, netCents: 2_397, currency: 'USD', exchangeRate: undefined },
      availableOn,
    });
    const payment = { intentId, paymentId: intentId };
    const refund = {
      payment,
      refundId: `ref_${'0'.repeat(24)}`,
      amountCents: 1_000,
      currency: 'USD',
      reason: undefined,
    };
    await rig.provider.refunds?.createRefund({ ...refund, idempotencyKey: 'refund' });
    expect(await rig.provider.refunds?.listRefunds(payment)).toMatchObject({
      value: [{ settlement: { feeCents: 0, netCents: -1_000, currency: 'USD', availableOn } }],
    });
  });

  test('of PayPal is not returned with a refund', async () => {
    await openFor(PAYPAL)();
    const { intentId, charged } = await pay('SIM-OK');
    const paymentId = charged.kind === 'done' ? charged.value.paymentId : '';
    const refund = { refundId: `ref_${'0'.repeat(24)}`, amountCents: 1_000, currency: 'USD', reason: undefined };
    const made = { ...refund, payment: { intentId, paymentId }, idempotencyKey: 'refund' };
    expect(await rig.provider.refunds?.createRefund(made)).toMatchObject({
      value: { settlement: { feeCents: 0, netCents: -1_000, currency: 'USD' } },
    });
  });
});

describe('3-D Secure', () => {
  test.each([
    ['Stripe', STRIPE, 'pm_card_authenticationRequired', { result: 'authenticated', version: '2.2.0' }],
    ['PayPal', PAYPAL, 'SIM-CARD-3DS', { result: 'authenticated' }],
  ] as const)(
    'at %s appears in the details once the payer has authenticated',
    async (...[name, subject, method, expected]) => {
      await openFor(subject)();
      const { intentId, charged } = await pay(method);
      expect(factsOf(charged)).toBeUndefined();
      await rig.control('POST', `/payments/${PAYMENT_ID}/authenticate`, { outcome: 'success' });
      if (name === 'PayPal') {
        await rig.provider.confirmIntent({ ...INTENT, intentId, method: undefined, idempotencyKey: 'again' });
      }
      expect(factsOf(await find(intentId, 'processing'))?.details).toMatchObject({ threeDSecure: expected });
      expect((await lastCharge()).payment_method_details).toMatchObject({
        three_d_secure: { result: 'authenticated' },
      });
    },
  );

  test('appears in the details of a declined attempt if it fails at Stripe', async () => {
    await openFor(STRIPE)();
    const { intentId } = await pay('pm_card_authenticationRequired');
    await rig.control('POST', `/payments/${PAYMENT_ID}/authenticate`, { outcome: 'failure' });
    expect(factsOf(await find(intentId, 'processing'))).toMatchObject({
      details: { lastFour: '3184', threeDSecure: { result: 'failed' } },
      decline: { providerCode: 'payment_intent_authentication_failure' },
    });
  });
});

describe('the fingerprint of a saved method', () => {
  test.each([
    ['Stripe', STRIPE, 'pm_card_visa', 'tok_visa', 'pm_card_mastercard'],
    ['Square', SQUARE, 'cnon:card-nonce-ok', 'cnon:card-nonce-ok', 'cnon:sim-fail-on-charge'],
  ] as const)('at %s is equal for equal cards only, and for their payments', async (...[, subject, ...tokens]) => {
    await openFor(subject)();
    const unnamed = { email: undefined, name: undefined, phone: undefined };
    const customer = await rig.provider.createCustomer({ ...unnamed, ourCustomerId: 'c', idempotencyKey: 'c' });
    const customerId = customer.kind === 'done' ? customer.value.customerId : '';
    const prints: (string | undefined)[] = [];
    for (const [n, token] of tokens.entries()) {
      const wanted = { token, customerId, paymentMethodId: `pmt_${n}`, idempotencyKey: `a${n}` };
      const saved = await rig.provider.attachMethod(wanted);
      prints.push(saved.kind === 'done' ? saved.value.fingerprint : undefined);
    }
    const [first, same, other] = prints;
    expect(first).toMatch(OURS);
    expect(same).toBe(first);
    expect(other).not.toBe(first);
    const { intentId } = await pay(tokens[0]);
    expect(factsOf(await find(intentId, 'processing'))?.details?.fingerprint).toBe(first);
  });
});
