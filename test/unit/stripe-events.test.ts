import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import type Stripe from 'stripe';
import { describe, expect, test } from 'vitest';
import { epochSeconds, SECOND_MS } from '../../shared/core/time.ts';
import { INBOUND_EVENTS } from '../../shared/providers/event-port.ts';
import type { ProviderPayment } from '../../shared/providers/payment-port.ts';
import { readStripeEvent } from '../../shared/providers/stripe/events.ts';
import { readStripePayment } from '../../shared/providers/stripe/report.ts';
import { NOON } from '../builders/payment.ts';
import { answers, paymentIntent, stripeThatAnswers } from '../builders/stripe.ts';

const own = (type: string, object: object = paymentIntent()) => ({
  id: 'evt_1',
  object: 'event',
  api_version: '2026-01-01',
  type,
  created: 1_773_144_000,
  livemode: false,
  data: { object },
});
/** The interface's payload, which is a part of Stripe's. */
const contract = (type: string, object: object = {}) => ({
  id: 'evt_1',
  type,
  provider: 'provider_a',
  created: 1_773_144_000,
  data: { object: { id: 'pi_1', amount: 2_500, currency: 'usd', status: 'succeeded', customer: null, ...object } },
});

describe('a Stripe event', () => {
  test.each(INBOUND_EVENTS)('is read in the interface’s own format under its own type: %s', (type) => {
    expect(readStripeEvent(contract(type))).toMatchObject({
      id: 'evt_1',
      type,
      rawType: type,
      createdAt: 1_773_144_000,
      object: { id: 'pi_1', amountCents: 2_500, currency: 'USD' },
    });
  });

  test.each([
    ['payment_intent.payment_failed', 'payment_intent.failed'],
    ['payment_intent.succeeded', 'payment_intent.succeeded'],
    ['setup_intent.setup_failed', 'setup_intent.failed'],
    ['setup_intent.succeeded', 'setup_intent.succeeded'],
    ['setup_intent.requires_action', undefined],
    ['payment_intent.requires_action', 'payment_intent.requires_action'],
    ['payment_method.automatically_updated', 'payment_method.updated'],
    ['customer.subscription.created', 'subscription.created'],
    ['customer.subscription.updated', 'subscription.updated'],
    ['customer.subscription.paused', 'subscription.updated'],
    ['customer.subscription.resumed', 'subscription.updated'],
    ['customer.subscription.deleted', 'subscription.deleted'],
    ['customer.subscription.trial_will_end', 'subscription.trial_will_end'],
    ['customer.deleted', 'customer.deleted'],
    ['invoice.payment_succeeded', 'invoice.payment_succeeded'],
    ['invoice.payment_failed', 'invoice.payment_failed'],
    ['invoice.paid', 'invoice.payment_succeeded'],
    ['invoice.finalized', undefined],
    ['payment_intent.amount_capturable_updated', 'payment_intent.amount_capturable_updated'],
    ['charge.refund.created', undefined],
    ['charge.dispute.other', undefined],
    ['constructor', undefined],
  ])('is read from Stripe’s %s as %s', (rawType, type) => {
    const event = readStripeEvent(own(rawType));
    expect([event?.rawType, event?.type]).toEqual([rawType, type]);
  });

  const charge = { id: 'ch_1', object: 'charge', amount: 2_500, currency: 'usd', payment_intent: 'pi_1' };
  const refund = {
    id: 're_1',
    object: 'refund',
    amount: 1_000,
    currency: 'isk',
    created: 1_773_144_001,
    status: 'succeeded',
    reason: null,
    charge: 'ch_1',
    payment_intent: { id: 'pi_1', object: 'payment_intent' },
    metadata: { refund_id: 'ref_1' },
  };
  const dispute = {
    id: 'du_1',
    object: 'dispute',
    amount: 2_500,
    currency: 'usd',
    created: 1_773_144_002,
    status: 'warning_needs_response',
    reason: 'fraudulent',
    charge: 'ch_1',
    payment_intent: 'pi_1',
    evidence_details: { due_by: 1_774_000_000 },
  };

  test('names only the payment of a refunded charge', () => {
    const event = readStripeEvent(own('charge.refunded', charge));
    expect(event?.type).toBe('charge.refunded');
    expect(event?.object).toMatchObject({ id: 'ch_1', chargedAs: ['pi_1'], amountCents: 2_500 });
    expect(event?.object.refund).toBeUndefined();
  });

  test.each(['refund.created', 'refund.updated', 'refund.failed', 'charge.refund.updated'])(
    'contains a refund in ISO minor units if its type is %s',
    (rawType) => {
      expect(readStripeEvent(own(rawType, refund))).toMatchObject({
        type: 'refund.updated',
        object: {
          id: 're_1',
          chargedAs: ['pi_1'],
          refund: {
            refundId: 're_1',
            status: 'succeeded',
            amountCents: 10,
            currency: 'ISK',
            ourRefundId: 'ref_1',
            reason: undefined,
            failureCode: undefined,
            createdAt: 1_773_144_001,
          },
        },
      });
    },
  );

  test.each([
    ['pending', 'pending'],
    ['requires_action', 'pending'],
    ['succeeded', 'succeeded'],
    ['failed', 'failed'],
    ['canceled', 'canceled'],
    ['of_a_later_version', 'pending'],
    [null, 'pending'],
  ])('with the refund status %s reports the status %s', (status, said) => {
    const event = readStripeEvent(own('refund.updated', { ...refund, status, failure_reason: 'declined' }));
    expect(event?.object.refund).toMatchObject({ status: said, failureCode: 'declined' });
  });

  test.each([
    ['duplicate', 'duplicate'],
    ['fraudulent', 'fraudulent'],
    ['requested_by_customer', 'requested_by_customer'],
    ['expired_uncaptured_charge', 'other'],
    [null, undefined],
  ])('with the refund reason %s reports the reason %s', (reason, said) => {
    expect(readStripeEvent(own('refund.updated', { ...refund, reason }))?.object.refund?.reason).toBe(said);
  });

  test.each(['created', 'updated', 'closed', 'funds_withdrawn', 'funds_reinstated'])(
    'contains a dispute if its type is charge.dispute.%s',
    (name) => {
      expect(readStripeEvent(own(`charge.dispute.${name}`, dispute))).toMatchObject({
        type: 'dispute.updated',
        object: {
          id: 'du_1',
          chargedAs: ['pi_1'],
          dispute: {
            disputeId: 'du_1',
            status: 'needs_response',
            amountCents: 2_500,
            currency: 'USD',
            reason: 'fraudulent',
            evidenceDueBy: 1_774_000_000,
            createdAt: 1_773_144_002,
          },
        },
      });
    },
  );

  test.each([
    ['warning_needs_response', 'needs_response'],
    ['warning_under_review', 'under_review'],
    ['warning_closed', 'closed'],
    ['needs_response', 'needs_response'],
    ['under_review', 'under_review'],
    ['appeal_needs_response', 'needs_response'],
    ['appeal_under_review', 'under_review'],
    ['won', 'won'],
    ['lost', 'lost'],
    ['prevented', 'closed'],
    ['of_a_later_version', 'under_review'],
  ])('with the dispute status %s reports the status %s', (status, said) => {
    const event = readStripeEvent(own('charge.dispute.updated', { ...dispute, status }));
    expect(event?.object.dispute?.status).toBe(said);
  });

  test.each([
    [0, null],
    [null, null],
    [undefined, undefined],
  ])('ignores the invalid evidence deadline %s', (due_by, expected) => {
    const event = readStripeEvent(own('charge.dispute.created', { ...dispute, evidence_details: { due_by } }));
    expect(event?.object.dispute?.evidenceDueBy).toBe(expected);
  });

  test('names no payment if its refund or dispute has no intent', () => {
    for (const [type, object] of [
      ['refund.created', refund],
      ['charge.dispute.created', dispute],
      ['charge.refunded', charge],
    ] as const) {
      expect(readStripeEvent(own(type, { ...object, payment_intent: null }))?.object.chargedAs).toEqual([]);
    }
  });

  test('is not read if its refund or dispute lacks an amount, currency or time', () => {
    for (const field of ['amount', 'currency', 'created']) {
      expect(readStripeEvent(own('refund.created', { ...refund, [field]: undefined }))).toBeUndefined();
      expect(readStripeEvent(own('charge.dispute.created', { ...dispute, [field]: undefined }))).toBeUndefined();
    }
  });

  test.each(['charge.refunded', 'refund.updated', 'charge.dispute.created'])(
    'has no known type if the interface’s own format names %s, and causes no action',
    (type) => {
      expect(readStripeEvent(contract(type))).toMatchObject({ rawType: type, type: undefined });
    },
  );

  test('contains the attempt, its failure and our own id', () => {
    const failed = paymentIntent({
      latest_charge: { id: 'ch_1', object: 'charge' },
      last_payment_error: { code: 'card_declined', decline_code: 'lost_card' },
    });
    expect(readStripeEvent(own('payment_intent.payment_failed', failed))?.object).toMatchObject({
      attemptRef: 'ch_1',
      failureCode: 'lost_card',
      ourPaymentId: 'pay_1',
    });
    const plain = readStripeEvent(contract('payment_intent.failed'))?.object;
    expect([plain?.attemptRef, plain?.failureCode, plain?.ourPaymentId]).toEqual([undefined, undefined, undefined]);
  });

  test('names the error’s charge as the attempt, but no attempt after a failed authentication', () => {
    const attemptOf = (last_payment_error: object) => {
      const failed = paymentIntent({ status: 'requires_payment_method', latest_charge: 'ch_1', last_payment_error });
      const event = readStripeEvent(own('payment_intent.payment_failed', failed));
      const read = readStripePayment(failed as unknown as Stripe.PaymentIntent);
      return [event?.object.attemptRef, read.attemptRef];
    };
    const unauthenticated = { code: 'payment_intent_authentication_failure' };
    expect(attemptOf(unauthenticated)).toEqual([undefined, undefined]);
    expect(attemptOf({ code: 'card_declined', charge: 'ch_2' })).toEqual(['ch_2', 'ch_2']);
  });

  test('contains the current fields of a method', () => {
    const card = { brand: 'visa', last4: '4242', exp_month: 3, exp_year: 2031, wallet: { type: 'apple_pay' } };
    expect(readStripeEvent(own('payment_method.updated', { id: 'pm_1', type: 'card', card }))?.object.method).toEqual({
      type: 'card',
      walletType: 'apple_pay',
      cardBrand: 'visa',
      lastFour: '4242',
      expiryMonth: '03',
      expiryYear: '2031',
    });
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'evt_1'],
    ['a list', [own('payment_intent.succeeded')]],
    ['without an id', { ...own('payment_intent.succeeded'), id: undefined }],
    ['with an empty id', { ...own('payment_intent.succeeded'), id: '' }],
    ['with a long id', { ...own('payment_intent.succeeded'), id: 'x'.repeat(256) }],
    ['without a type', { ...own('payment_intent.succeeded'), type: null }],
    ['without a time', { ...own('payment_intent.succeeded'), created: undefined }],
    ['with a time as text', { ...own('payment_intent.succeeded'), created: '2026-03-10' }],
    ['without an object', { ...own('payment_intent.succeeded'), data: {} }],
    ['with a fractional amount', contract('payment_intent.succeeded', { amount: 25.5 })],
    ['with an amount as text', contract('payment_intent.succeeded', { amount: '2500' })],
    ['with a charge that is a number', own('payment_intent.succeeded', paymentIntent({ latest_charge: 1 }))],
  ])('is rejected: %s', (_, body) => {
    expect(readStripeEvent(body)).toBeUndefined();
  });

  test.each<[string, object]>([
    ['balance.available', own('balance.available', { object: 'balance', available: [] })],
    ['tax.settings.updated', own('tax.settings.updated', { object: 'tax.settings', status: 'active' })],
    ['invoice.upcoming', own('invoice.upcoming', { object: 'invoice', amount_due: 100 })],
    ['terminal.reader.updated', own('terminal.reader.updated', { id: 'tmr_1', amount: 2.5, latest_charge: 7 })],
    [
      'v1.billing.meter.no_meter_found',
      {
        id: 'evt_1',
        object: 'v2.core.event',
        type: 'v1.billing.meter.no_meter_found',
        created: '2026-03-10T12:00:00.000Z',
      },
    ],
  ])('is accepted with any object if its kind is unknown: %s', (rawType, body) => {
    expect(readStripeEvent(body)).toMatchObject({ id: 'evt_1', rawType, type: undefined, createdAt: 1_773_144_000 });
  });

  test('is read or ignored, for any content', () => {
    fc.assert(
      fc.property(fc.json(), fc.json(), (object, body) => {
        const event = readStripeEvent({ ...own('payment_intent.succeeded'), data: { object: JSON.parse(object) } });
        expect(event === undefined || event.id === 'evt_1').toBe(true);
        expect(() => readStripeEvent(JSON.parse(body))).not.toThrow();
      }),
    );
  });
});

describe('a Stripe intent', () => {
  // A PaymentIntent in wire format, as the SDK returns it.
  const report = (fields: object = {}): ProviderPayment =>
    readStripePayment(paymentIntent({ ...fields }) as unknown as Stripe.PaymentIntent);

  test.each<[object, ProviderPayment['status']]>([
    [{ status: 'requires_payment_method' }, 'requires_payment_method'],
    [{ status: 'requires_payment_method', last_payment_error: { code: 'card_declined' } }, 'failed'],
    [{ status: 'requires_confirmation' }, 'created'],
    [{ status: 'requires_action' }, 'pending'],
    [{ status: 'processing' }, 'processing'],
    [{ status: 'requires_capture' }, 'requires_capture'],
    [{ status: 'succeeded' }, 'succeeded'],
    [{ status: 'succeeded', last_payment_error: { code: 'card_declined' } }, 'succeeded'],
    [{ status: 'canceled' }, 'canceled'],
    [{ status: 'requires_moonlight' }, 'processing'],
  ])('is read from %j as %s', (fields, status) => {
    expect(report(fields).status).toBe(status);
  });

  test('is read into a payment report', () => {
    const fields = { latest_charge: 'ch_1', payment_method: { id: 'pm_1' }, currency: 'eur' };
    expect(report({ status: 'succeeded', ...fields })).toEqual({
      intentId: 'pi_1',
      paymentId: 'pi_1',
      status: 'succeeded',
      amountCents: 2_500,
      currency: 'EUR',
      attemptRef: 'ch_1',
      failureCode: undefined,
      clientSecret: 'pi_1_secret_x',
      nextAction: undefined,
      methodId: 'pm_1',
      ourPaymentId: 'pay_1',
    });
  });

  test('contains the payer’s next action while the payment requires an action', () => {
    const redirect = { type: 'redirect_to_url', redirect_to_url: { url: 'https://bank.example' } };
    expect(report({ status: 'requires_action', next_action: redirect }).nextAction).toEqual({
      type: 'redirect_to_url',
      url: 'https://bank.example',
    });
    expect(report({ status: 'requires_action', next_action: { type: 'use_stripe_sdk' } }).nextAction).toEqual({
      type: 'use_provider_sdk',
      url: undefined,
    });
    expect(report({ status: 'succeeded', next_action: redirect }).nextAction).toBeUndefined();
  });

  test('names the declined method', () => {
    const last_payment_error = { code: 'card_declined', payment_method: { id: 'pm_7' } };
    expect(report({ status: 'requires_payment_method', last_payment_error }).methodId).toBe('pm_7');
  });
});

describe('the signature of a Stripe event at the receiver', () => {
  const SECRET = 'whsec_test';
  const body = JSON.stringify(own('payment_intent.succeeded'));
  const second = epochSeconds(NOON);
  const sign = (text: string, at: number, secret = SECRET) =>
    createHmac('sha256', secret).update(`${at}.${text}`).digest('hex');
  const header = (at = second, signature = sign(body, at)) => `t=${at},v1=${signature}`;

  const verdict = (given: string | undefined, raw = body, env = {}) =>
    stripeThatAnswers(answers(200, {}), { PROVIDER_A_API_KEY: '', ...env }).receiver?.verifyWebhook({
      raw: Buffer.from(raw),
      headers: { 'stripe-signature': given },
      now: NOON,
    });

  test('is valid for the raw bytes under the secret', async () => {
    expect(await verdict(header())).toBe('valid');
  });

  test.each([
    [-300, 'valid'],
    [-301, 'invalid'],
    [300, 'valid'],
    [301, 'invalid'],
    [86_400, 'invalid'],
  ])('with a time %i seconds from now is %s', async (after, expected) => {
    expect(await verdict(header(second + after))).toBe(expected);
  });

  test('is checked by our own clock, to the second', async () => {
    const raw = Buffer.from(body);
    const { receiver } = stripeThatAnswers(answers(200, {}));
    const headers = { 'stripe-signature': header() };
    const verify = (now: number) => receiver?.verifyWebhook({ raw, headers, now });
    expect(await verify(NOON + 300 * SECOND_MS)).toBe('valid');
    expect(await verify(NOON + 301 * SECOND_MS)).toBe('invalid');
  });

  test('is valid if one of several signatures is valid, while Stripe rotates its secret', async () => {
    const [old, current] = [sign(body, second, 'whsec_old'), sign(body, second)];
    expect(await verdict(`t=${second},v1=${old},v1=${current}`)).toBe('valid');
    expect(await verdict(`t=${second},v1=${old}`)).toBe('invalid');
  });

  test('is invalid in an unsupported scheme', async () => {
    expect(await verdict(`t=${second},v0=${sign(body, second)}`)).toBe('invalid');
  });

  test('is invalid for other bytes', async () => {
    const tampered = body.replace('2500', '2501');
    expect(tampered).not.toBe(body);
    expect(await verdict(header(), tampered)).toBe('invalid');
    expect(await verdict(header(), `${body} `)).toBe('invalid');
    expect(await verdict(header(), '')).toBe('invalid');
  });

  test('is invalid for a time other than the signed time', async () => {
    expect(await verdict(`t=${second + 1},v1=${sign(body, second)}`)).toBe('invalid');
  });

  test.each([undefined, '', 't=', 'v1=', 't=1', `t=${second}`, 't=x,v1=y', 'garbage', ',,,', `t=${second},v1=`])(
    'is invalid as %j',
    async (given) => {
      expect(await verdict(given)).toBe('invalid');
    },
  );

  test('is valid for bytes that are not JSON, which the reader then refuses', async () => {
    expect(await verdict(header(second, sign('not json', second)), 'not json')).toBe('valid');
  });

  test('is valid under each of several secrets, and under no other', async () => {
    const env = { PROVIDER_A_WEBHOOK_SECRET: 'whsec_old, whsec_new' };
    for (const secret of ['whsec_old', 'whsec_new']) {
      expect(await verdict(header(second, sign(body, second, secret)), body, env)).toBe('valid');
    }
    for (const secret of ['whsec_other', 'whsec_old, whsec_new', '']) {
      expect(await verdict(header(second, sign(body, second, secret)), body, env)).toBe('invalid');
    }
  });

  test.each(['', ' , '])('is never valid if no secret is set (%j)', (secret) => {
    expect(stripeThatAnswers(answers(200, {}), { PROVIDER_A_WEBHOOK_SECRET: secret }).receiver).toBeUndefined();
  });

  test('is valid for its own body only, and the body has no other valid signature', async () => {
    const good = sign(body, second);
    const changed = (text: string) =>
      fc
        .tuple(fc.integer({ min: 0, max: text.length - 1 }), fc.string({ maxLength: 2 }))
        .map(([at, piece]) => `${text.slice(0, at)}${piece}${text.slice(at + 1)}`)
        // Stripe's SDK ends a signature at a comma or an equals sign. The text before it may be a whole signature.
        .filter((mutant) => mutant !== text && !mutant.split(/[,=]/).some((part) => part === text));
    const { receiver } = stripeThatAnswers(answers(200, {}));
    const ask = (given: string, raw: string) =>
      receiver?.verifyWebhook({ raw: Buffer.from(raw), headers: { 'stripe-signature': given }, now: NOON });
    await fc.assert(
      fc.asyncProperty(changed(good), changed(body), async (mutant, other) => {
        expect([await ask(header(second, mutant), body), await ask(header(), other)]).toEqual(['invalid', 'invalid']);
      }),
      { numRuns: 10_000 },
    );
  });
});
