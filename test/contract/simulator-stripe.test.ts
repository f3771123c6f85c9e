import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, errorOf, type Rig } from './simulator-harness.ts';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.close());

const intent = (more: Partial<Stripe.PaymentIntentCreateParams> = {}) =>
  rig.stripe.paymentIntents.create({
    amount: 1099,
    currency: 'usd',
    metadata: { payment_id: 'pay_1' },
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    ...more,
  });

const ledger = async () => {
  const { body } = await rig.control('GET', '/ledger');
  return body as { charges: Record<string, unknown>[]; payment_intents: Record<string, unknown>[] };
};

describe('a payment intent', () => {
  it('waits for a method, then for its confirmation, then is paid by one charge', async () => {
    const created = await intent();
    expect(created).toMatchObject({
      status: 'requires_payment_method',
      amount: 1099,
      currency: 'usd',
      latest_charge: null,
    });
    expect(created.client_secret).toMatch(new RegExp(`^${created.id}_secret_`));

    const ready = await rig.stripe.paymentIntents.update(created.id, { payment_method: 'pm_card_visa' });
    expect(ready.status).toBe('requires_confirmation');

    const paid = await rig.stripe.paymentIntents.confirm(created.id, { expand: ['latest_charge', 'payment_method'] });
    expect(paid).toMatchObject({ status: 'succeeded', amount_received: 1099 });
    expect(paid.latest_charge).toMatchObject({ object: 'charge', status: 'succeeded', paid: true, amount: 1099 });
    expect(paid.payment_method).toMatchObject({ object: 'payment_method', card: { brand: 'visa', last4: '4242' } });
    expect((await ledger()).charges).toEqual([
      expect.objectContaining({
        provider: 'provider_a',
        payment_id: 'pay_1',
        amount: 1099,
        currency: 'USD',
        status: 'succeeded',
      }),
    ]);
  });

  it('is created and confirmed in one call', async () => {
    expect(await intent({ confirm: true, payment_method: 'pm_card_mastercard' })).toMatchObject({
      status: 'succeeded',
    });
  });

  it('cannot be confirmed again once it has succeeded', async () => {
    const paid = await intent({ confirm: true, payment_method: 'pm_card_visa' });
    const error = await errorOf(rig.stripe.paymentIntents.confirm(paid.id, { payment_method: 'pm_card_visa' }));
    expect(error).toMatchObject({
      statusCode: 400,
      code: 'payment_intent_unexpected_state',
      type: 'StripeInvalidRequestError',
    });
    expect(error.payment_intent).toMatchObject({ id: paid.id, status: 'succeeded' });
    expect((await ledger()).charges).toHaveLength(1);
  });

  it('is charged once however many confirmations arrive at the same time', async () => {
    const { id } = await intent();
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, () => rig.stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa' })),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await ledger()).charges).toHaveLength(1);
  });

  it('cannot be confirmed without a method', async () => {
    const { id } = await intent();
    const error = await errorOf(rig.stripe.paymentIntents.confirm(id));
    expect(error).toMatchObject({ code: 'payment_intent_unexpected_state' });
    expect(error.message).toContain('missing a payment method');
  });

  it('can be declined, keeps a failed charge per attempt, and can be paid by another card', async () => {
    const { id } = await intent();
    const first = await errorOf(
      rig.stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa_chargeDeclined' }),
    );
    expect(first).toMatchObject({
      statusCode: 402,
      type: 'StripeCardError',
      code: 'card_declined',
      decline_code: 'generic_decline',
    });
    expect(first.payment_intent).toMatchObject({
      status: 'requires_payment_method',
      payment_method: null,
      last_payment_error: { code: 'card_declined', decline_code: 'generic_decline', payment_method: { type: 'card' } },
    });
    const second = await errorOf(
      rig.stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_chargeDeclinedInsufficientFunds' }),
    );
    expect(second.decline_code).toBe('insufficient_funds');
    expect(second.payment_intent?.latest_charge).not.toBe(first.payment_intent?.latest_charge);

    const paid = await rig.stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa' });
    expect(paid).toMatchObject({ status: 'succeeded', last_payment_error: null });
    expect((await ledger()).charges.map(({ status }) => status)).toEqual(['failed', 'failed', 'succeeded']);
  });

  it.each([
    ['pm_card_chargeDeclined', 'card_declined', 'generic_decline'],
    ['pm_card_visa_chargeDeclinedLostCard', 'card_declined', 'lost_card'],
    ['pm_card_visa_chargeDeclinedStolenCard', 'card_declined', 'stolen_card'],
    ['pm_card_visa_chargeDeclinedInsufficientFunds', 'card_declined', 'insufficient_funds'],
    ['pm_card_chargeDeclinedExpiredCard', 'expired_card', 'expired_card'],
    ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_cvc', 'incorrect_cvc'],
    ['pm_card_chargeDeclinedProcessingError', 'processing_error', 'processing_error'],
    ['pm_card_chargeCustomerFail', 'card_declined', 'generic_decline'],
    ['pm_sim_do_not_honor', 'card_declined', 'do_not_honor'],
  ])('is declined for %s with %s and %s', async (method, code, declineCode) => {
    const error = await errorOf(intent({ confirm: true, payment_method: method }));
    expect(error).toMatchObject({ statusCode: 402, code, decline_code: declineCode });
  });

  it('accepts a card token and a card number, and stores no number', async () => {
    const first = await intent();
    const byToken = await rig.browser(`/v1/payment_intents/${first.id}/confirm`, {
      client_secret: first.client_secret ?? '',
      'payment_method_data[type]': 'card',
      'payment_method_data[card][token]': 'tok_mastercard',
      'expand[0]': 'payment_method',
    });
    expect(byToken.body).toMatchObject({ status: 'succeeded', payment_method: { card: { brand: 'mastercard' } } });
    const second = await intent();
    const byNumber = await rig.browser(`/v1/payment_intents/${second.id}/confirm`, {
      client_secret: second.client_secret ?? '',
      'payment_method_data[type]': 'card',
      'payment_method_data[card][number]': '4000 0000 0000 9995',
      'payment_method_data[card][exp_month]': '12',
      'payment_method_data[card][exp_year]': '34',
      'payment_method_data[card][cvc]': '123',
    });
    expect(byNumber).toMatchObject({ status: 402, body: { error: { decline_code: 'insufficient_funds' } } });
  });

  it.each([
    [{ number: '4242424242424241', exp_month: '1', exp_year: '2034' }, 'incorrect_number'],
    [{ number: '4242424242424242', exp_month: '13', exp_year: '2034' }, 'invalid_expiry_month'],
    [{ number: '4242424242424242', exp_month: '1', exp_year: '2029' }, 'invalid_expiry_year'],
  ])('refuses the card %j as %s', async (card, code) => {
    const fields = Object.fromEntries(Object.entries(card).map(([field, value]) => [`card[${field}]`, value]));
    expect(await rig.browser('/v1/payment_methods', { type: 'card', ...fields })).toMatchObject({
      status: 402,
      body: { error: { type: 'card_error', code } },
    });
  });

  it('refuses the requests that Stripe refuses, and changes nothing', async () => {
    const { id } = await intent();
    const errors = await Promise.all([
      errorOf(rig.stripe.paymentIntents.confirm(id, { payment_method: 'pm_unknown' })),
      errorOf(rig.stripe.paymentIntents.retrieve('pi_unknown')),
      errorOf(intent({ amount: 0 })),
      errorOf(intent({ amount: 100_000_000 })),
      errorOf(intent({ currency: 'xyz' })),
      errorOf(intent({ customer: 'cus_unknown' })),
      errorOf(intent({ off_session: true })),
      errorOf(intent({ nonsense: 'x' } as Partial<Stripe.PaymentIntentCreateParams>)),
      errorOf(rig.stripe.paymentIntents.create({ currency: 'usd' } as Stripe.PaymentIntentCreateParams)),
      errorOf(rig.stripe.paymentIntents.retrieve(id, { expand: ['nothing'] })),
    ]);
    expect(errors.map(({ statusCode, code, param }) => [statusCode, code, param])).toEqual([
      [400, 'resource_missing', 'payment_method'],
      [404, 'resource_missing', 'intent'],
      [400, 'parameter_invalid_integer', 'amount'],
      [400, 'amount_too_large', 'amount'],
      [400, undefined, 'currency'],
      [400, 'resource_missing', 'customer'],
      [400, undefined, 'off_session'],
      [400, 'parameter_unknown', 'nonsense'],
      [400, 'parameter_missing', 'amount'],
      [400, undefined, 'expand'],
    ]);
    expect(errors[0]?.message).toBe("No such PaymentMethod: 'pm_unknown'");
    expect((await ledger()).payment_intents).toHaveLength(1);
  });

  it('is not created if its confirmation in the same call is refused', async () => {
    expect(await errorOf(intent({ confirm: true }))).toMatchObject({ code: 'payment_intent_unexpected_state' });
    expect((await ledger()).payment_intents).toEqual([]);
    expect(await rig.events()).toEqual([]);
  });

  it('requires a return_url if redirects are allowed', async () => {
    const { id } = await intent({ automatic_payment_methods: { enabled: true } });
    const error = await errorOf(rig.stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa' }));
    expect(error).toMatchObject({ statusCode: 400, param: 'return_url' });
    const paid = await rig.stripe.paymentIntents.confirm(id, {
      payment_method: 'pm_card_visa',
      return_url: 'https://shop.example/back',
    });
    expect(paid.status).toBe('succeeded');
  });

  it('can be changed before it is paid, and then only in its description', async () => {
    const { id } = await intent({ payment_method: 'pm_card_visa', description: 'one' });
    expect(
      await rig.stripe.paymentIntents.update(id, { amount: 2000, currency: 'eur', metadata: { more: '1' } }),
    ).toMatchObject({
      amount: 2000,
      currency: 'eur',
      metadata: { payment_id: 'pay_1', more: '1' },
    });
    expect(await rig.stripe.paymentIntents.update(id, { payment_method: '' })).toMatchObject({
      status: 'requires_payment_method',
      payment_method: null,
    });
    await rig.stripe.paymentIntents.confirm(id, { payment_method: 'pm_card_visa' });
    expect(await errorOf(rig.stripe.paymentIntents.update(id, { amount: 1 }))).toMatchObject({
      code: 'payment_intent_unexpected_state',
    });
    expect(await rig.stripe.paymentIntents.update(id, { description: 'two', metadata: { more: '' } })).toMatchObject({
      description: 'two',
      metadata: { payment_id: 'pay_1' },
    });
  });

  it('can be canceled while it is open, and never afterwards', async () => {
    const open = await intent();
    const canceled = await rig.stripe.paymentIntents.cancel(open.id, { cancellation_reason: 'abandoned' });
    expect(canceled).toMatchObject({ status: 'canceled', cancellation_reason: 'abandoned' });
    expect(canceled.canceled_at).toBe(rig.clock.now() / 1000);
    for (const call of [
      rig.stripe.paymentIntents.cancel(open.id),
      rig.stripe.paymentIntents.confirm(open.id, { payment_method: 'pm_card_visa' }),
    ]) {
      expect(await errorOf(call)).toMatchObject({ code: 'payment_intent_unexpected_state' });
    }
    const paid = await intent({ confirm: true, payment_method: 'pm_card_visa' });
    expect(await errorOf(rig.stripe.paymentIntents.cancel(paid.id))).toMatchObject({
      code: 'payment_intent_unexpected_state',
    });
  });

  it('reserves money under manual capture, and captures or releases it later', async () => {
    const manual = { confirm: true, payment_method: 'pm_card_visa', capture_method: 'manual' } as const;
    const first = await intent(manual);
    expect(first).toMatchObject({ status: 'requires_capture', amount_capturable: 1099, amount_received: 0 });
    expect((await ledger()).charges).toMatchObject([{ status: 'pending' }]);
    expect(await rig.stripe.paymentIntents.capture(first.id, { amount_to_capture: 1000 })).toMatchObject({
      status: 'succeeded',
      amount_received: 1000,
    });
    const second = await intent(manual);
    await rig.stripe.paymentIntents.cancel(second.id);
    expect((await ledger()).charges.map(({ status }) => status)).toEqual(['succeeded', 'canceled']);
  });

  it('is found by our own id, and listed by customer, page by page', async () => {
    const customer = await rig.stripe.customers.create({ email: 'a@example.com' });
    for (let n = 1; n <= 5; n += 1) await intent({ customer: customer.id, metadata: { payment_id: `pay_${n}` } });
    await intent({ metadata: { payment_id: 'pay_other' } });
    const found = await rig.stripe.paymentIntents.search({ query: "metadata['payment_id']:'pay_3'" });
    expect(found.data.map(({ metadata }) => metadata)).toEqual([{ payment_id: 'pay_3' }]);
    expect((await rig.stripe.paymentIntents.search({ query: "metadata['payment_id']:'pay_unknown'" })).data).toEqual(
      [],
    );
    const paid = await rig.stripe.paymentIntents.search({ query: `customer:'${customer.id}' AND status:'succeeded'` });
    expect(paid.data).toEqual([]);
    const both = await rig.stripe.paymentIntents.search({
      query: `customer:'${customer.id}' AND status:'requires_payment_method'`,
      limit: 2,
    });
    expect(both).toMatchObject({ has_more: true, data: { length: 2 } });
    const listed: string[] = [];
    for await (const item of rig.stripe.paymentIntents.list({ customer: customer.id, limit: 2 })) {
      listed.push(item.metadata['payment_id'] ?? '');
    }
    expect(listed).toEqual(['pay_5', 'pay_4', 'pay_3', 'pay_2', 'pay_1']);
  });

  it('is refunded in parts, up to the paid amount', async () => {
    const paid = await intent({ confirm: true, payment_method: 'pm_card_visa' });
    expect(await rig.stripe.refunds.create({ payment_intent: paid.id, amount: 99 })).toMatchObject({
      status: 'succeeded',
      amount: 99,
    });
    expect(await errorOf(rig.stripe.refunds.create({ payment_intent: paid.id, amount: 1001 }))).toMatchObject({
      statusCode: 400,
    });
    await rig.stripe.refunds.create({ charge: String(paid.latest_charge) });
    expect((await ledger()).charges).toMatchObject([{ status: 'refunded', amount_refunded: 1099 }]);
    expect(await errorOf(rig.stripe.refunds.create({ payment_intent: paid.id }))).toMatchObject({ statusCode: 400 });
  });
});

describe('the authentication of a customer', () => {
  const ask = (more: Partial<Stripe.PaymentIntentCreateParams> = {}) =>
    intent({ confirm: true, payment_method: 'pm_card_authenticationRequired', ...more });

  it('lets the payment succeed if the customer approves', async () => {
    const waiting = await ask();
    expect(waiting).toMatchObject({
      status: 'requires_action',
      next_action: { type: 'use_stripe_sdk' },
      latest_charge: null,
    });
    expect((await ledger()).charges).toEqual([]);
    const step = await rig.control('POST', '/payments/pay_1/authenticate', { outcome: 'success' });
    expect(step).toMatchObject({ status: 200, body: { status: 'succeeded', id: waiting.id } });
    const paid = await rig.stripe.paymentIntents.retrieve(waiting.id, { expand: ['latest_charge'] });
    expect(paid.latest_charge).toMatchObject({
      payment_method_details: { card: { three_d_secure: { result: 'authenticated' } } },
    });
    expect(await rig.control('POST', '/payments/pay_1/authenticate', { outcome: 'success' })).toMatchObject({
      status: 409,
    });
  });

  it('makes the payment require another method if it fails', async () => {
    const waiting = await ask();
    await rig.control('POST', '/payments/pay_1/authenticate', { outcome: 'failure' });
    expect(await rig.stripe.paymentIntents.retrieve(waiting.id)).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { code: 'payment_intent_authentication_failure' },
      next_action: null,
    });
    expect((await ledger()).charges).toEqual([]);
  });

  it('redirects to a page of the simulator, and back to the shop', async () => {
    const waiting = await ask({ return_url: 'https://shop.example/back?order=7' });
    const action = waiting.next_action;
    expect(action?.type).toBe('redirect_to_url');
    const url = new URL(action?.redirect_to_url?.url ?? '');
    expect(url.pathname).toBe(`/_local/simulator/payments/${waiting.id}/authenticate`);
    const path = url.pathname.replace('/_local/simulator', '');
    const page = await rig.simulator.control(new Request(`http://localhost${path}`));
    expect(await page.text()).toContain('1099 USD');
    const back = await rig.simulator.control(
      new Request(`http://localhost${path}`, { method: 'POST', body: new URLSearchParams({ outcome: 'success' }) }),
    );
    expect(back.status).toBe(303);
    expect(back.headers.get('location')).toBe(
      `https://shop.example/back?order=7&payment_intent=${waiting.id}&redirect_status=succeeded`,
    );
  });

  it('is not possible off session', async () => {
    expect(await errorOf(ask({ off_session: true }))).toMatchObject({
      statusCode: 402,
      code: 'authentication_required',
    });
  });

  it('is required only once for a card that was set up', async () => {
    const customer = await rig.stripe.customers.create({});
    const waiting = await ask({
      payment_method: 'pm_card_authenticationRequiredOnSetup',
      customer: customer.id,
      setup_future_usage: 'off_session',
    });
    await rig.control('POST', '/payments/pay_1/authenticate', { outcome: 'success' });
    const later = await ask({
      payment_method: String(waiting.payment_method),
      customer: customer.id,
      off_session: true,
    });
    expect(later.status).toBe('succeeded');
  });

  it('is refused if no authentication is pending', async () => {
    expect(await rig.control('POST', '/payments/pay_x/authenticate', { outcome: 'success' })).toMatchObject({
      status: 404,
    });
    expect(await rig.control('POST', '/payments/pay_x/authenticate', { outcome: 'maybe' })).toMatchObject({
      status: 400,
    });
  });
});

describe('a payment that settles later', () => {
  it.each([
    ['pm_sim_processing_ok', 'succeeded', 'succeeded'],
    ['pm_sim_processing_fail', 'requires_payment_method', 'failed'],
  ])('is processing with %s for a minute of the clock, then %s', async (method, status, charge) => {
    const { id } = await intent({ confirm: true, payment_method: method });
    expect(await rig.stripe.paymentIntents.retrieve(id)).toMatchObject({ status: 'processing' });
    expect((await ledger()).charges).toMatchObject([{ status: 'pending' }]);
    expect(await errorOf(rig.stripe.paymentIntents.confirm(id))).toMatchObject({
      code: 'payment_intent_unexpected_state',
    });
    expect(await errorOf(rig.stripe.paymentIntents.cancel(id))).toMatchObject({
      code: 'payment_intent_unexpected_state',
    });
    await rig.clock.advance(59_999);
    expect((await rig.stripe.paymentIntents.retrieve(id)).status).toBe('processing');
    await rig.clock.advance(1);
    expect((await rig.stripe.paymentIntents.retrieve(id)).status).toBe(status);
    expect((await ledger()).charges).toMatchObject([{ status: charge }]);
  });

  it('can succeed three times with a card and then be declined', async () => {
    const customer = await rig.stripe.customers.create({});
    const method = await rig.stripe.paymentMethods.attach('pm_sim_ok_3_then_decline', { customer: customer.id });
    const charge = () => intent({ confirm: true, off_session: true, customer: customer.id, payment_method: method.id });
    for (let n = 0; n < 3; n += 1) expect((await charge()).status).toBe('succeeded');
    expect(await errorOf(charge())).toMatchObject({ code: 'card_declined' });
  });
});
