/**
 * @module Tests first charges, renewals and set-ups that require authentication at Stripe (strong customer
 * authentication).
 */
import type Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../shared/core/time.ts';
import { createRig, errorOf, type Rig } from './simulator-harness.ts';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.close());

const ALWAYS = 'pm_card_authenticationRequired';
const UNTIL_SET_UP = 'pm_card_authenticationRequiredOnSetup';
const SET_UP_ELSEWHERE = 'pm_card_authenticationRequiredSetupForOffSession';
const THEN_DECLINES = 'pm_card_authenticationRequiredChargeDeclinedInsufficientFunds';

const WITH_PAYMENT = ['latest_invoice.payments', 'latest_invoice.confirmation_secret'];

interface Payer {
  readonly customer: string;
  readonly method: string;
}

const payerWith = async (card: string): Promise<Payer> => {
  const customer = await rig.stripe.customers.create({ email: 'ana@example.com' });
  const { id } = await rig.stripe.paymentMethods.attach(card, { customer: customer.id });
  return { customer: customer.id, method: id };
};

const subscribeAs = async (
  { customer, method }: Payer,
  params: Partial<Stripe.SubscriptionCreateParams> = {},
): Promise<Stripe.Subscription> => {
  const product = await rig.stripe.products.create({ name: 'Gold' });
  const price = {
    currency: 'eur',
    product: product.id,
    unit_amount: 1_000,
    recurring: { interval: 'month' as const },
  };
  return rig.stripe.subscriptions.create({
    customer,
    default_payment_method: method,
    items: [{ price_data: price }],
    metadata: { subscription_id: 'sub_1' },
    expand: WITH_PAYMENT,
    ...params,
  });
};

const subscribe = async (card: string, params: Partial<Stripe.SubscriptionCreateParams> = {}) =>
  subscribeAs(await payerWith(card), params);

const invoiceOf = ({ latest_invoice: invoice }: Stripe.Subscription): Stripe.Invoice => {
  if (invoice === null || typeof invoice === 'string') throw new Error('the invoice was not expanded');
  return invoice;
};

const read = ({ id }: Stripe.Subscription) => rig.stripe.subscriptions.retrieve(id, { expand: WITH_PAYMENT });
const intentOf = async (subscription: Stripe.Subscription): Promise<Stripe.PaymentIntent> => {
  const [payment] = invoiceOf(await read(subscription)).payments?.data ?? [];
  return rig.stripe.paymentIntents.retrieve(String(payment?.payment.payment_intent));
};

const step = (id: string, outcome: 'success' | 'failure') =>
  rig.control('POST', `/payments/${id}/authenticate`, { outcome });

const types = async (): Promise<string[]> =>
  (await rig.events()).map(({ type }) => type).filter((type) => /^(invoice|customer\.subscription)/.test(type));

describe('the first charge of a simulated subscription', () => {
  test('waits for a confirmation if the subscription is created as incomplete', async () => {
    const subscription = await subscribe('pm_card_visa', { payment_behavior: 'default_incomplete' });
    expect(subscription.status).toBe('incomplete');
    const invoice = invoiceOf(subscription);
    expect(invoice).toMatchObject({ status: 'open', attempt_count: 0, attempted: false, auto_advance: false });
    const intent = await intentOf(subscription);
    expect(intent).toMatchObject({ status: 'requires_confirmation', setup_future_usage: 'off_session', amount: 1_000 });
    expect(invoice.confirmation_secret).toEqual({ client_secret: intent.client_secret, type: 'payment_intent' });

    expect((await rig.stripe.paymentIntents.confirm(intent.id)).status).toBe('succeeded');
    expect(await read(subscription)).toMatchObject({ status: 'active', latest_invoice: { status: 'paid' } });
    expect(await types()).toEqual([
      'customer.subscription.created',
      'invoice.paid',
      'invoice.payment_succeeded',
      'customer.subscription.updated',
    ]);
  });

  test('waits for a method if the customer has none', async () => {
    const customer = await rig.stripe.customers.create({});
    const product = await rig.stripe.products.create({ name: 'Gold' });
    const wanted: Stripe.SubscriptionCreateParams = {
      customer: customer.id,
      items: [
        {
          price_data: { currency: 'eur', product: product.id, unit_amount: 900, recurring: { interval: 'month' } },
        },
      ],
    };
    const error = await errorOf(rig.stripe.subscriptions.create(wanted));
    expect(error).toMatchObject({ statusCode: 400, code: 'resource_missing' });
    const subscription = await rig.stripe.subscriptions.create({
      ...wanted,
      payment_behavior: 'default_incomplete',
      payment_settings: { save_default_payment_method: 'on_subscription' },
    });
    const intent = await intentOf(subscription);
    expect(intent.status).toBe('requires_payment_method');
    const paid = await rig.stripe.paymentIntents.confirm(intent.id, { payment_method: 'pm_card_visa' });
    const active = await read(subscription);
    expect(active).toMatchObject({ status: 'active', default_payment_method: paid.payment_method });
    expect(active.payment_settings?.save_default_payment_method).toBe('on_subscription');
    const method = await rig.stripe.paymentMethods.retrieve(String(paid.payment_method));
    expect(method.customer).toBe(customer.id);
  });

  test.each([{}, { payment_behavior: 'allow_incomplete' as const }])(
    'leaves the subscription incomplete if it requires authentication: %o',
    async (params) => {
      const subscription = await subscribe(ALWAYS, params);
      expect(subscription.status).toBe('incomplete');
      const intent = await intentOf(subscription);
      expect(intent).toMatchObject({ status: 'requires_action', last_payment_error: null });
      expect(intent.next_action?.type).toBe('use_stripe_sdk');
      expect(await types()).toEqual(['customer.subscription.created', 'invoice.payment_action_required']);

      expect((await step(intent.id, 'success')).body).toMatchObject({ status: 'succeeded' });
      expect(await read(subscription)).toMatchObject({ status: 'active', latest_invoice: { status: 'paid' } });
      expect((await types()).slice(2)).toEqual([
        'invoice.paid',
        'invoice.payment_succeeded',
        'customer.subscription.updated',
      ]);
    },
  );

  test('requires authentication after the customer’s confirmation', async () => {
    const subscription = await subscribe(ALWAYS, { payment_behavior: 'default_incomplete' });
    const intent = await intentOf(subscription);
    const asked = await rig.browser(`/v1/payment_intents/${intent.id}/confirm`, {
      client_secret: String(intent.client_secret),
    });
    expect(asked.body['status']).toBe('requires_action');
    await step(intent.id, 'success');
    expect((await read(subscription)).status).toBe('active');
  });

  test('accepts another method after a failed authentication', async () => {
    const payer = await payerWith(ALWAYS);
    const subscription = await subscribeAs(payer);
    const { id } = await intentOf(subscription);
    await step(id, 'failure');
    expect(await intentOf(subscription)).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { code: 'payment_intent_authentication_failure' },
    });
    expect(await read(subscription)).toMatchObject({
      status: 'incomplete',
      latest_invoice: { status: 'open', next_payment_attempt: null },
    });
    expect((await types()).slice(-1)).toEqual(['invoice.payment_failed']);
    const other = await rig.stripe.paymentMethods.attach('pm_card_visa', { customer: payer.customer });
    await rig.stripe.paymentIntents.confirm(id, { payment_method: other.id });
    expect((await read(subscription)).status).toBe('active');
  });

  test('can be declined after the authentication', async () => {
    const subscription = await subscribe(THEN_DECLINES);
    await step((await intentOf(subscription)).id, 'success');
    expect(await intentOf(subscription)).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { decline_code: 'insufficient_funds' },
    });
    expect((await read(subscription)).status).toBe('incomplete');
  });

  test('leaves the subscription incomplete after a decline, and is not retried', async () => {
    const subscription = await subscribe('pm_card_chargeCustomerFail');
    expect(subscription.status).toBe('incomplete');
    expect(await intentOf(subscription)).toMatchObject({
      status: 'requires_payment_method',
      last_payment_error: { code: 'card_declined' },
    });
    await rig.clock.advance(22 * HOUR_MS);
    expect(await types()).toEqual(['customer.subscription.created', 'invoice.payment_failed']);
  });

  test('leaves no subscription if it requires authentication but must succeed immediately', async () => {
    const payer = await payerWith(ALWAYS);
    for (const offSession of [true, false]) {
      const error = await errorOf(
        subscribeAs(payer, { payment_behavior: 'error_if_incomplete', off_session: offSession }),
      );
      expect(error).toMatchObject({
        statusCode: 402,
        type: 'StripeCardError',
        code: 'subscription_payment_intent_requires_action',
      });
    }
    expect((await rig.stripe.subscriptions.list({ customer: payer.customer, status: 'all' })).data).toEqual([]);
  });

  test('shows the reason if it requires authentication off-session', async () => {
    const subscription = await subscribe(ALWAYS, { off_session: true });
    expect(subscription.status).toBe('incomplete');
    expect(await intentOf(subscription)).toMatchObject({
      status: 'requires_action',
      last_payment_error: { code: 'authentication_required', decline_code: 'authentication_required' },
    });
  });

  test('needs no confirmation in a trial', async () => {
    const trial = await subscribe(ALWAYS, { payment_behavior: 'default_incomplete', trial_period_days: 7 });
    expect(trial).toMatchObject({ status: 'trialing', latest_invoice: { status: 'paid' } });
  });

  test('activates the subscription when a processing payment is settled', async () => {
    const subscription = await subscribe('pm_sim_processing_ok');
    expect(subscription.status).toBe('incomplete');
    await rig.clock.advance(MINUTE_MS);
    expect((await read(subscription)).status).toBe('active');
  });
});

describe('an incomplete simulated subscription', () => {
  test('expires after 23 hours with a void invoice and a canceled payment', async () => {
    const subscription = await subscribe(ALWAYS);
    await rig.clock.advance(23 * HOUR_MS - 1);
    expect((await read(subscription)).status).toBe('incomplete');
    await rig.clock.advance(1);
    const expired = await read(subscription);
    expect(expired).toMatchObject({ status: 'incomplete_expired', latest_invoice: { status: 'void' } });
    expect(expired.ended_at).not.toBeNull();
    expect(await intentOf(subscription)).toMatchObject({
      status: 'canceled',
      cancellation_reason: 'void_invoice',
      next_action: null,
    });
    expect((await types()).slice(2)).toEqual(['invoice.voided', 'customer.subscription.updated']);
    await rig.clock.advance(60 * DAY_MS);
    expect(await types()).toHaveLength(4);
    expect((await errorOf(rig.stripe.subscriptions.cancel(subscription.id))).code).toBe('resource_missing');
    expect((await step((await intentOf(subscription)).id, 'success')).status).toBe(409);
  });

  test('does not expire after it has become active', async () => {
    const subscription = await subscribe(ALWAYS);
    await step((await intentOf(subscription)).id, 'success');
    await rig.clock.advance(DAY_MS);
    expect((await read(subscription)).status).toBe('active');
  });

  test('expires immediately if it is canceled or its invoice is voided', async () => {
    const canceled = await subscribe(ALWAYS);
    expect(await rig.stripe.subscriptions.cancel(canceled.id)).toMatchObject({ status: 'incomplete_expired' });
    const voided = await subscribe(ALWAYS);
    expect(await rig.stripe.invoices.voidInvoice(invoiceOf(voided).id)).toMatchObject({ status: 'void' });
    expect((await read(voided)).status).toBe('incomplete_expired');
    expect((await rig.stripe.subscriptions.list({})).data).toEqual([]);
    expect((await rig.stripe.subscriptions.list({ status: 'ended' })).data).toHaveLength(2);
  });

  test('is canceled during a processing charge, and its payment is canceled once the charge fails', async () => {
    const subscription = await subscribe('pm_sim_processing_fail');
    await rig.stripe.subscriptions.cancel(subscription.id);
    expect((await intentOf(subscription)).status).toBe('processing');
    await rig.clock.advance(MINUTE_MS);
    expect(await intentOf(subscription)).toMatchObject({ status: 'canceled', cancellation_reason: 'void_invoice' });
  });

  test('is listed, and accepts only metadata', async () => {
    const subscription = await subscribe(ALWAYS);
    expect((await rig.stripe.subscriptions.list({ status: 'incomplete' })).data).toHaveLength(1);
    expect((await rig.stripe.subscriptions.list({})).data).toHaveLength(1);
    const { metadata } = await rig.stripe.subscriptions.update(subscription.id, { metadata: { more: '1' } });
    expect(metadata).toEqual({ subscription_id: 'sub_1', more: '1' });
    const refused = rig.stripe.subscriptions.update(subscription.id, { cancel_at_period_end: true });
    expect((await errorOf(refused)).statusCode).toBe(400);
  });
});

describe('a renewal that requires authentication', () => {
  const renewed = async () => {
    const payer = await payerWith('pm_sim_ok_1_then_authentication');
    const subscription = await subscribeAs(payer);
    const before = (await types()).length;
    await rig.clock.advance(31 * DAY_MS);
    return { subscription, payer, before };
  };

  test('leaves the subscription past due, and its payment open to the customer', async () => {
    const { subscription, before } = await renewed();
    expect(await read(subscription)).toMatchObject({
      status: 'past_due',
      latest_invoice: { status: 'open', attempt_count: 1 },
    });
    const intent = await intentOf(subscription);
    expect(intent).toMatchObject({
      status: 'requires_action',
      last_payment_error: { code: 'authentication_required', decline_code: 'authentication_required' },
      next_action: { type: 'use_stripe_sdk' },
    });
    expect((await types()).slice(before)).toEqual([
      'customer.subscription.updated',
      'invoice.payment_failed',
      'customer.subscription.updated',
      'invoice.payment_action_required',
    ]);

    await step(intent.id, 'success');
    expect(await read(subscription)).toMatchObject({ status: 'active', latest_invoice: { status: 'paid' } });
    expect((await types()).slice(-3)).toEqual([
      'invoice.paid',
      'invoice.payment_succeeded',
      'customer.subscription.updated',
    ]);
    expect((await intentOf(subscription)).last_payment_error).toBeNull();
  });

  test('leaves the subscription past due for a card that always requires authentication, too', async () => {
    const payer = await payerWith('pm_card_visa');
    const subscription = await subscribeAs(payer);
    const { id } = await rig.stripe.paymentMethods.attach(ALWAYS, { customer: payer.customer });
    await rig.stripe.subscriptions.update(subscription.id, { default_payment_method: id });
    await rig.clock.advance(31 * DAY_MS);
    expect((await read(subscription)).status).toBe('past_due');
    expect(await intentOf(subscription)).toMatchObject({
      status: 'requires_action',
      last_payment_error: { code: 'authentication_required' },
    });
  });

  test('can be confirmed again with a return URL', async () => {
    const { subscription } = await renewed();
    const { id } = await intentOf(subscription);
    const confirmed = await rig.stripe.paymentIntents.confirm(id, { return_url: 'https://shop.example/back' });
    expect(confirmed).toMatchObject({ status: 'requires_action', next_action: { type: 'redirect_to_url' } });
    await step(id, 'success');
    expect((await read(subscription)).status).toBe('active');
  });

  test('is retried only with another card', async () => {
    const { subscription, payer } = await renewed();
    await rig.clock.advance(5 * DAY_MS);
    expect((await types()).filter((type) => type === 'invoice.payment_failed')).toHaveLength(1);
    const { id } = await rig.stripe.paymentMethods.attach('pm_card_visa', { customer: payer.customer });
    await rig.stripe.subscriptions.update(subscription.id, { default_payment_method: id });
    await rig.clock.advance(3 * DAY_MS);
    expect((await read(subscription)).status).toBe('active');
  });

  test('ends the subscription if the invoice stays unpaid', async () => {
    const { subscription } = await renewed();
    await rig.clock.advance(14 * DAY_MS);
    expect((await read(subscription)).status).toBe('canceled');
  });

  test.each([true, false])(
    'can be paid through the invoice, which requires authentication again (off session: %s)',
    async (offSession) => {
      const { subscription } = await renewed();
      const invoice = invoiceOf(await read(subscription));
      const error = await errorOf(rig.stripe.invoices.pay(invoice.id, { off_session: offSession }));
      expect(error).toMatchObject({ statusCode: 402, code: 'invoice_payment_intent_requires_action' });
      expect(error.payment_intent).toMatchObject({ status: 'requires_action' });
      await step(String(error.payment_intent?.id), 'success');
      expect((await read(subscription)).status).toBe('active');
    },
  );

  test('succeeds with a card that the first charge authenticated for later use', async () => {
    const subscription = await subscribe(UNTIL_SET_UP);
    expect(subscription.status).toBe('incomplete');
    await step((await intentOf(subscription)).id, 'success');
    await rig.clock.advance(31 * DAY_MS);
    expect((await read(subscription)).status).toBe('active');
  });

  test('succeeds with a card that was set up elsewhere', async () => {
    const subscription = await subscribe(SET_UP_ELSEWHERE, { off_session: true });
    expect(subscription.status).toBe('active');
  });
});

describe('a simulated set-up', () => {
  const setUp = async (card: string, params: Partial<Stripe.SetupIntentCreateParams> = {}) => {
    const customer = await rig.stripe.customers.create({});
    return rig.stripe.setupIntents.create({
      customer: customer.id,
      payment_method: card,
      confirm: true,
      usage: 'off_session',
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      metadata: { payment_method_id: 'pm_ours' },
      ...params,
    });
  };
  const authenticate = (id: string, outcome: 'success' | 'failure') =>
    rig.control('POST', `/payment-methods/${id}/authenticate`, { outcome });
  const events = async () =>
    (await rig.events()).map(({ type }) => type).filter((type) => type.startsWith('setup_intent.'));
  const attached = async () => (await rig.events()).filter(({ type }) => type === 'payment_method.attached');
  const chargedOffSession = (customer: unknown, method: unknown) =>
    rig.stripe.paymentIntents.create({
      amount: 500,
      currency: 'eur',
      customer: String(customer),
      payment_method: String(method),
      confirm: true,
      off_session: true,
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    });

  test('attaches the card immediately if no authentication is required', async () => {
    const setup = await setUp('pm_card_visa');
    expect(setup).toMatchObject({ status: 'succeeded', usage: 'off_session', next_action: null });
    const method = await rig.stripe.paymentMethods.retrieve(String(setup.payment_method));
    expect(method.customer).toBe(setup.customer);
    expect(await events()).toEqual(['setup_intent.created', 'setup_intent.succeeded']);
    expect(await attached()).toHaveLength(1);
  });

  test.each([
    ['our id', () => 'pm_ours'],
    ['the id at Stripe', (setup: Stripe.SetupIntent) => String(setup.payment_method)],
  ])('waits for the customer, found by %s, and then attaches the card', async (_, idOf) => {
    const setup = await setUp(UNTIL_SET_UP, { return_url: 'https://shop.example/cards' });
    expect(setup).toMatchObject({ status: 'requires_action', next_action: { type: 'redirect_to_url' } });
    expect(setup.client_secret).toMatch(new RegExp(`^${setup.id}_secret_`));
    expect((await rig.stripe.paymentMethods.retrieve(String(setup.payment_method))).customer).toBeNull();

    expect(await authenticate(idOf(setup), 'success')).toMatchObject({
      status: 200,
      body: { id: setup.id, status: 'succeeded' },
    });
    expect(await events()).toEqual(['setup_intent.created', 'setup_intent.requires_action', 'setup_intent.succeeded']);
    expect(await attached()).toHaveLength(1);
    expect((await chargedOffSession(setup.customer, setup.payment_method)).status).toBe('succeeded');
  });

  test('attaches nothing after a failed authentication', async () => {
    const setup = await setUp(UNTIL_SET_UP);
    await authenticate('pm_ours', 'failure');
    expect(await rig.stripe.setupIntents.retrieve(setup.id)).toMatchObject({
      status: 'requires_payment_method',
      last_setup_error: { code: 'setup_intent_authentication_failure' },
    });
    expect((await events()).at(-1)).toBe('setup_intent.setup_failed');
    expect((await authenticate('pm_ours', 'success')).status).toBe(409);
    expect((await authenticate('pm_unknown', 'success')).status).toBe(404);
  });

  test('does not exempt a card that always requires authentication', async () => {
    const setup = await setUp(ALWAYS);
    await authenticate('pm_ours', 'success');
    const error = await errorOf(chargedOffSession(setup.customer, setup.payment_method));
    expect(error).toMatchObject({ statusCode: 402, code: 'authentication_required' });
  });

  test('is not replaced by attaching the card, so an off-session charge requires authentication', async () => {
    const { customer, method } = await payerWith(UNTIL_SET_UP);
    expect((await errorOf(chargedOffSession(customer, method))).code).toBe('authentication_required');
  });

  test('can be added later to an attached card', async () => {
    const { customer, method } = await payerWith(UNTIL_SET_UP);
    const setup = await setUp(method, { customer });
    await authenticate(method, 'success');
    expect((await rig.stripe.setupIntents.retrieve(setup.id)).status).toBe('succeeded');
    expect((await chargedOffSession(customer, method)).status).toBe('succeeded');
  });

  test.each<[string, Partial<Stripe.SetupIntentCreateParams>, RegExp]>([
    ['a return URL without a confirmation', { confirm: false, return_url: 'https://shop.example/' }, /return_url/],
    ['no return URL although redirects may be needed', { automatic_payment_methods: { enabled: true } }, /return_url/],
    ['an unknown usage', { usage: 'sometimes' as 'off_session' }, /usage/],
    ['an unknown parameter', { automatic_payment_methods: { enabled: true, x: 1 } as never }, /unknown parameter/],
  ])('is refused for %s', async (_, params, message) => {
    const error = await errorOf(setUp('pm_card_visa', params));
    expect(error).toMatchObject({ statusCode: 400, type: 'StripeInvalidRequestError' });
    expect(error.message).toMatch(message);
  });
});
