/**
 * @module Runs each quick start guide of Stripe against the simulator with Stripe's own SDK, from the first call to the
 * webhook. The other simulator tests in this folder cover each Stripe operation with the same SDK.
 */
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '../../shared/core/time.ts';
import { STRIPE_API_VERSION } from '../../shared/providers/stripe/stripe.ts';
import { createRig, errorOf, type Rig, WEBHOOK_SECRET } from './simulator-harness.ts';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.close());

const PATHS = { paymentIntents: '/v1/payment_intents', setupIntents: '/v1/setup_intents' } as const;

/** The delivered events of a type, each verified as in Stripe's webhook guide. */
const verifiedEvents = async (type: string): Promise<Stripe.Event[]> => {
  await rig.events();
  return rig.delivered
    .map(({ body, headers }) => verify(body, headers['stripe-signature']))
    .filter((event) => event.type === type);
};

const verify = (body: string, signature = '', secret = WEBHOOK_SECRET): Stripe.Event =>
  Stripe.webhooks.constructEvent(body, signature, secret, 300, undefined, rig.clock.now());

const savedCard = async (card = 'pm_card_visa') => {
  const customer = await rig.stripe.customers.create({ name: 'Ana Silva', email: 'ana@example.com' });
  const setup = await rig.stripe.setupIntents.create({
    customer: customer.id,
    usage: 'off_session',
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
  });
  const confirmed = await rig.stripe.setupIntents.confirm(setup.id, { payment_method: card });
  return { customer: customer.id, setup: confirmed, method: String(confirmed.payment_method) };
};

const chargedBy = (card: string) =>
  rig.stripe.paymentIntents.create({
    amount: 2_000,
    currency: 'usd',
    payment_method: card,
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
    confirm: true,
  });

const subscribe = async (card?: string) => {
  const { customer, method } = await savedCard(card);
  const product = await rig.stripe.products.create({ name: 'Gold' });
  const price = await rig.stripe.prices.create({
    product: product.id,
    currency: 'usd',
    unit_amount: 1_500,
    recurring: { interval: 'month' },
  });
  const subscription = await rig.stripe.subscriptions.create({
    customer,
    items: [{ price: price.id }],
    payment_behavior: 'default_incomplete',
    payment_settings: { save_default_payment_method: 'on_subscription' },
    expand: ['latest_invoice.confirmation_secret', 'latest_invoice.payments'],
  });
  const { latest_invoice: invoice } = subscription;
  if (invoice === null || typeof invoice === 'string') throw new Error('the invoice was not expanded');
  return { subscription, invoice, method };
};

describe('the SDK of Stripe', () => {
  test('sends our adapter’s API version', async () => {
    const versions: (string | null)[] = [];
    const stripe = new Stripe('sk_test_local_provider_a', {
      httpClient: Stripe.createFetchHttpClient((input: URL | string | Request, init?: RequestInit) => {
        const { pathname, search } = new URL(input instanceof Request ? input.url : input);
        versions.push(new Headers(init?.headers).get('stripe-version'));
        return rig.raw(`${pathname}${search}`, init);
      }),
      telemetry: false,
    });
    await stripe.customers.create({});
    expect(versions).toEqual([STRIPE_API_VERSION]);
  });
});

describe('a removed API parameter', () => {
  test.each(['paymentIntents', 'setupIntents'] as const)('is refused by %s: payment_method_types', async (intents) => {
    const price = intents === 'paymentIntents' ? { amount: 2_000, currency: 'usd' } : {};
    const params = { ...price, payment_method_types: ['card'] };
    const error = await errorOf(rig.stripe.rawRequest('POST', PATHS[intents], params));
    expect(error).toMatchObject({ statusCode: 400, code: 'parameter_unknown', param: 'payment_method_types' });
  });
});

describe('a flow from Stripe’s guides', () => {
  test('accepts a payment, and results in its charge and a verified event', async () => {
    const { id, client_secret } = await rig.stripe.paymentIntents.create({
      amount: 1_999,
      currency: 'eur',
      automatic_payment_methods: { enabled: true },
      receipt_email: 'ana@example.com',
    });
    const paid = await rig.browser(`/v1/payment_intents/${id}/confirm`, {
      client_secret: String(client_secret),
      payment_method: 'pm_card_visa',
      return_url: 'https://shop.example/back',
    });
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    const read = await rig.stripe.paymentIntents.retrieve(id, { expand: ['latest_charge'] });
    expect(read).toMatchObject({ amount_received: 1_999, latest_charge: { paid: true, amount_captured: 1_999 } });
    const [event] = await verifiedEvents('payment_intent.succeeded');
    expect(event?.data.object).toMatchObject({ id, status: 'succeeded' });
  });

  test('holds an amount and captures a part', async () => {
    const held = await rig.stripe.paymentIntents.create({
      amount: 2_000,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      capture_method: 'manual',
      confirm: true,
    });
    expect(held).toMatchObject({ status: 'requires_capture', amount_capturable: 2_000 });
    const captured = await rig.stripe.paymentIntents.capture(held.id, { amount_to_capture: 750 });
    expect(captured).toMatchObject({ status: 'succeeded', amount_received: 750 });
  });

  test('refunds a payment, and the refund can be read and listed', async () => {
    const paid = await rig.stripe.paymentIntents.create({
      amount: 2_000,
      currency: 'usd',
      payment_method: 'pm_card_visa',
      automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      confirm: true,
    });
    const refund = await rig.stripe.refunds.create({ payment_intent: paid.id, amount: 500 });
    expect(await rig.stripe.refunds.retrieve(refund.id)).toMatchObject({ amount: 500, status: 'succeeded' });
    expect((await rig.stripe.refunds.list({ payment_intent: paid.id })).data.map(({ id }) => id)).toEqual([refund.id]);
    expect(await rig.stripe.charges.retrieve(String(paid.latest_charge))).toMatchObject({ amount_refunded: 500 });
  });

  test('refunds a payment, and an event reports the later success of a pending refund', async () => {
    const paid = await chargedBy('pm_card_pendingRefund');
    const refund = await rig.stripe.refunds.create({ payment_intent: paid.id, reason: 'requested_by_customer' });
    expect(refund).toMatchObject({ status: 'pending', amount: 2_000, reason: 'requested_by_customer' });
    expect(await verifiedEvents('refund.updated')).toEqual([]);
    await rig.clock.advance(MINUTE_MS);
    const [event] = await verifiedEvents('refund.updated');
    expect(event?.data.object).toMatchObject({ id: refund.id, status: 'succeeded' });
    expect(await verifiedEvents('refund.failed')).toEqual([]);
  });

  test('refunds a payment, and an event reports the failure if the bank returns the refund', async () => {
    const paid = await chargedBy('pm_card_refundFail');
    const refund = await rig.stripe.refunds.create({ payment_intent: paid.id });
    expect(refund.status).toBe('succeeded');
    await rig.clock.advance(MINUTE_MS);
    const [event] = await verifiedEvents('refund.failed');
    const failed = { id: refund.id, status: 'failed', failure_reason: 'expired_or_canceled_card' };
    expect(event?.data.object).toMatchObject(failed);
    expect(await rig.stripe.refunds.retrieve(refund.id)).toMatchObject(failed);
    expect(await rig.stripe.charges.retrieve(String(paid.latest_charge))).toMatchObject({
      amount_refunded: 0,
      refunded: false,
    });
  });

  test('updates a refund’s metadata twice, and cannot cancel a card refund', async () => {
    const { id } = await chargedBy('pm_card_visa');
    const refund = await rig.stripe.refunds.create({ payment_intent: id, metadata: { refund_id: 'ref_1' } });
    const changed = await rig.stripe.refunds.update(refund.id, { metadata: { ticket: '7' } });
    expect(changed.metadata).toEqual({ refund_id: 'ref_1', ticket: '7' });
    expect(await errorOf(rig.stripe.refunds.cancel(refund.id))).toMatchObject({ statusCode: 400 });
  });

  test('responds to a dispute, wins it, and allows refunds of the charge again', async () => {
    const paid = await chargedBy('pm_card_createDispute');
    const [opened] = await verifiedEvents('charge.dispute.created');
    const { data } = await rig.stripe.disputes.list({ payment_intent: paid.id });
    expect(data).toMatchObject([{ status: 'needs_response', reason: 'fraudulent', amount: 2_000 }]);
    const [dispute] = data;
    expect(opened?.data.object).toEqual(dispute);
    expect(await rig.stripe.charges.retrieve(String(paid.latest_charge))).toMatchObject({ disputed: true });
    expect(await verifiedEvents('charge.dispute.funds_withdrawn')).toHaveLength(1);
    expect(await errorOf(rig.stripe.refunds.create({ payment_intent: paid.id }))).toMatchObject({
      statusCode: 400,
      code: 'charge_disputed',
    });
    const evidence = { uncategorized_text: 'winning_evidence' };
    const won = await rig.stripe.disputes.update(String(dispute?.id), { evidence });
    expect(won).toMatchObject({ status: 'won', evidence_details: { submission_count: 1 } });
    expect((await verifiedEvents('charge.dispute.closed')).map(({ data: { object } }) => object)).toEqual([
      expect.objectContaining({ id: dispute?.id, status: 'won' }),
    ]);
    expect(await verifiedEvents('charge.dispute.funds_reinstated')).toHaveLength(1);
    expect(await rig.stripe.refunds.create({ payment_intent: paid.id })).toMatchObject({ status: 'succeeded' });
  });

  test('accepts a dispute and so loses it permanently', async () => {
    const paid = await chargedBy('pm_card_createDisputeProductNotReceived');
    const { data } = await rig.stripe.disputes.list({ charge: String(paid.latest_charge) });
    const id = String(data[0]?.id);
    expect(data[0]).toMatchObject({ reason: 'product_not_received' });
    expect(await rig.stripe.disputes.close(id)).toMatchObject({ status: 'lost' });
    for (const again of [
      () => rig.stripe.disputes.close(id),
      () => rig.stripe.disputes.update(id, { evidence: { uncategorized_text: 'winning_evidence' } }),
    ]) {
      expect(await errorOf(again())).toMatchObject({ statusCode: 400 });
    }
    expect(await rig.stripe.disputes.retrieve(id)).toMatchObject({ status: 'lost' });
  });

  test('responds to an inquiry, and no money moves', async () => {
    const paid = await chargedBy('pm_card_createDisputeInquiry');
    const { data } = await rig.stripe.disputes.list({ payment_intent: paid.id });
    expect(data).toMatchObject([{ status: 'warning_needs_response', is_charge_refundable: true }]);
    expect(await verifiedEvents('charge.dispute.funds_withdrawn')).toEqual([]);
    const evidence = { uncategorized_text: 'Delivered' };
    const staged = await rig.stripe.disputes.update(String(data[0]?.id), { evidence, submit: false });
    expect(staged.status).toBe('warning_needs_response');
    const sent = await rig.stripe.disputes.update(String(data[0]?.id), { evidence });
    expect(sent.status).toBe('warning_under_review');
    expect(await rig.stripe.refunds.create({ payment_intent: paid.id })).toMatchObject({ status: 'succeeded' });
  });

  test('saves a customer’s card and charges it later without the customer', async () => {
    const { customer, setup, method } = await savedCard();
    expect(setup.status).toBe('succeeded');
    const { data } = await rig.stripe.customers.listPaymentMethods(customer, { type: 'card' });
    expect(data.map(({ id }) => id)).toEqual([method]);
    const paid = await rig.stripe.paymentIntents.create({
      amount: 1_099,
      currency: 'usd',
      automatic_payment_methods: { enabled: true },
      customer,
      payment_method: method,
      return_url: 'https://shop.example/order/1',
      off_session: true,
      confirm: true,
    });
    expect(paid.status).toBe('succeeded');
    expect(await verifiedEvents('setup_intent.succeeded')).toHaveLength(1);
  });

  test('sells a subscription, and the first invoice is paid', async () => {
    const { subscription, invoice, method } = await subscribe();
    expect(subscription.status).toBe('incomplete');
    const secret = invoice.confirmation_secret?.client_secret ?? '';
    const [id] = secret.split('_secret_');
    const paid = await rig.browser(`/v1/payment_intents/${id}/confirm`, {
      client_secret: secret,
      payment_method: method,
      return_url: 'https://shop.example/back',
    });
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect((await rig.stripe.subscriptions.retrieve(subscription.id)).status).toBe('active');
    const [event] = await verifiedEvents('invoice.paid');
    expect(event?.data.object).toMatchObject({ id: invoice.id, status: 'paid' });
    expect(await rig.stripe.subscriptions.cancel(subscription.id)).toMatchObject({ status: 'canceled' });
    expect(await verifiedEvents('customer.subscription.deleted')).toHaveLength(1);
  });
});

describe('a setup intent at Stripe', () => {
  test('is final after its cancellation', async () => {
    const { id } = await rig.stripe.setupIntents.create({ usage: 'off_session' });
    expect(await rig.stripe.setupIntents.cancel(id, { cancellation_reason: 'abandoned' })).toMatchObject({
      status: 'canceled',
      cancellation_reason: 'abandoned',
    });
    expect((await rig.stripe.setupIntents.retrieve(id)).status).toBe('canceled');
    expect(await errorOf(rig.stripe.setupIntents.cancel(id))).toMatchObject({
      statusCode: 400,
      code: 'setup_intent_unexpected_state',
    });
  });
});

describe('an invoice at Stripe', () => {
  test('is paid by a call if automatic collection is off', async () => {
    const { subscription, method } = await subscribe('pm_sim_ok_1_then_decline');
    const { latest_invoice: first } = await rig.stripe.subscriptions.retrieve(subscription.id);
    await rig.stripe.invoices.pay(String(first), { payment_method: method });
    await rig.clock.advance(31 * DAY_MS);
    const { status, latest_invoice: id } = await rig.stripe.subscriptions.retrieve(subscription.id);
    expect(status).toBe('past_due');
    const kept = await rig.stripe.invoices.update(String(id), { auto_advance: false });
    expect(kept).toMatchObject({ status: 'open', auto_advance: false });
    await rig.clock.advance(20 * DAY_MS);
    const unpaid = await rig.stripe.invoices.retrieve(String(id), { expand: ['payments'] });
    expect(unpaid).toMatchObject({ status: 'open', attempt_count: 1, payments: { data: [{ status: 'open' }] } });
    const other = await rig.stripe.paymentMethods.attach('pm_card_mastercard', {
      customer: String(subscription.customer),
    });
    expect(await rig.stripe.invoices.pay(String(id), { payment_method: other.id })).toMatchObject({ status: 'paid' });
  });
});

describe('a Stripe webhook', () => {
  test('is verified only with its own body and secret, within five minutes', async () => {
    await rig.stripe.customers.create({ email: 'ana@example.com' });
    await rig.events();
    const [delivered] = rig.delivered;
    const { body = '', headers } = delivered ?? {};
    const signature = headers?.['stripe-signature'];
    expect(verify(body, signature).type).toBe('customer.created');
    const refused = Stripe.errors.StripeSignatureVerificationError;
    expect(() => verify(`${body} `, signature)).toThrow(refused);
    expect(() => verify(body, signature, 'whsec_of_another')).toThrow(refused);
    await rig.clock.advance(301_000);
    expect(() => verify(body, signature)).toThrow(refused);
  });
});
