import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSimulator } from '../../infra/local/host/simulator.ts';
import { HOUR_MS, MINUTE_MS } from '../../shared/core/time.ts';
import { createRig, fakeClock, type Rig, SLOTS, WEBHOOK_SECRET } from './simulator-harness.ts';

let rig: Rig;
beforeEach(() => {
  rig = createRig();
});
afterEach(() => rig.close());

const pay = (method = 'pm_card_visa', metadata: Record<string, string> = {}) =>
  rig.stripe.paymentIntents.create({
    amount: 500,
    currency: 'usd',
    confirm: true,
    payment_method: method,
    metadata: { payment_id: 'pay_1', ...metadata },
    automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
  });
const types = async () => (await rig.events()).map(({ type }) => type);
const settled = () => rig.clock.settle(0);
const verify = ({ body, headers }: Rig['delivered'][number]) =>
  Stripe.webhooks.constructEvent(
    body,
    headers['stripe-signature'] ?? '',
    WEBHOOK_SECRET,
    300,
    undefined,
    rig.clock.now(),
  );
const mode = (setting: object) => rig.control('POST', '/webhooks', setting);

describe("the simulator's own events", () => {
  test('report every step of a payment, in order, signed at the time of sending', async () => {
    const { id } = await pay();
    expect(rig.delivered).toEqual([]);
    expect(await types()).toEqual(['payment_intent.created', 'charge.succeeded', 'payment_intent.succeeded']);
    const [created, , succeeded] = rig.delivered.map((delivery) => verify(delivery));
    expect(created).toMatchObject({
      object: 'event',
      api_version: '2026-10-28.endive',
      livemode: false,
      created: rig.clock.now() / 1000,
      data: { object: { id, object: 'payment_intent', status: 'requires_confirmation' } },
    });
    expect(created?.request?.id).toMatch(/^req_/);
    expect(succeeded?.data.object).toMatchObject({ status: 'succeeded', metadata: { payment_id: 'pay_1' } });
    expect(rig.delivered[0]?.url).toBe('http://127.0.0.1:3000/webhooks/provider_a');
    expect(await rig.stripe.events.retrieve(created?.id ?? '')).toMatchObject({
      id: created?.id,
      type: 'payment_intent.created',
    });
  });

  test.each([
    ['pm_card_chargeDeclined', ['charge.failed', 'payment_intent.payment_failed']],
    ['pm_card_authenticationRequired', ['payment_intent.requires_action']],
    ['pm_sim_processing_ok', ['charge.pending', 'payment_intent.processing']],
  ])('report a payment with %s as %j', async (method, expected) => {
    await pay(method).catch(() => undefined);
    expect(await types()).toEqual(['payment_intent.created', ...expected]);
  });

  test('are sent for due work and customer actions', async () => {
    await pay('pm_sim_processing_ok');
    await settled();
    rig.delivered.length = 0;
    await rig.clock.advance(MINUTE_MS);
    expect(await types()).toEqual(['charge.succeeded', 'payment_intent.succeeded']);
    expect(JSON.parse(rig.delivered[0]?.body ?? '')).toMatchObject({ request: { id: null, idempotency_key: null } });
    rig.delivered.length = 0;
    await pay('pm_card_authenticationRequired');
    await settled();
    rig.delivered.length = 0;
    await rig.control('POST', '/payments/pay_1/authenticate', { outcome: 'failure' });
    expect(await types()).toEqual(['payment_intent.payment_failed']);
  });

  test('report changes of customers and methods, with the previous values', async () => {
    const customer = await rig.stripe.customers.create({ email: 'a@example.com' });
    await rig.stripe.customers.update(customer.id, { name: 'Ana' });
    const method = await rig.stripe.paymentMethods.attach('pm_card_visa', { customer: customer.id });
    await rig.stripe.paymentMethods.update(method.id, { card: { exp_year: 2040 } });
    await rig.stripe.customers.del(customer.id);
    const events = await rig.events();
    const dataByType = Object.fromEntries(events.map((event) => [event.type, event.data]));
    expect(new Set(events.map(({ type }) => type))).toEqual(
      new Set([
        'customer.created',
        'customer.updated',
        'payment_method.attached',
        'payment_method.updated',
        'payment_method.detached',
        'customer.deleted',
      ]),
    );
    expect(dataByType['customer.updated']?.previous_attributes).toEqual({ name: null });
    expect(dataByType['payment_method.detached']).toMatchObject({
      object: { id: method.id, customer: null },
      previous_attributes: { customer: customer.id },
    });
    expect(dataByType['customer.deleted']?.object).toMatchObject({ id: customer.id, email: 'a@example.com' });
  });

  test('are retried with growing delays and new signatures, then dropped, and resent on request', async () => {
    rig.answerWith(500);
    await rig.stripe.customers.create({});
    await settled();
    expect(rig.delivered).toHaveLength(1);
    const daily = Array.from({ length: 4 }, () => 12 * HOUR_MS);
    const delays = [MINUTE_MS, 5 * MINUTE_MS, 30 * MINUTE_MS, 2 * HOUR_MS, 5 * HOUR_MS, 10 * HOUR_MS, ...daily];
    for (const [index, delay] of delays.entries()) {
      await rig.clock.advance(delay - 1);
      expect(rig.delivered).toHaveLength(index + 1);
      await rig.clock.advance(1);
      expect(rig.delivered).toHaveLength(index + 2);
      expect(verify(rig.delivered.at(-1) ?? expect.fail()).type).toBe('customer.created');
    }
    await rig.clock.advance(100 * HOUR_MS);
    expect(rig.delivered).toHaveLength(1 + delays.length);
    expect((await rig.control('GET', '/webhooks')).body).toMatchObject({ events: { given_up: 1 } });
    rig.answerWith(200);
    expect((await rig.control('POST', '/webhooks/resend')).body).toEqual({ resent: 1 });
    await settled();
    expect(rig.delivered).toHaveLength(2 + delays.length);
    expect((await rig.control('GET', '/webhooks')).body).toEqual(expect.objectContaining({ events: { delivered: 1 } }));
    expect((await rig.control('POST', '/webhooks/resend')).body).toEqual({ resent: 0 });
  });

  test('are retried for only one day at Square', async () => {
    const clock = fakeClock();
    const sentAt: number[] = [];
    const simulator = createSimulator({
      clock,
      file: ':memory:',
      slots: { ...SLOTS, provider_c: { ...SLOTS.provider_a, adapter: 'square', apiKey: 'local_token' } },
      deliver: async () => {
        sentAt.push(clock.now());
        return { status: 500, body: '' };
      },
    });
    clock.register(simulator);
    const headers = { authorization: 'Bearer local_token', 'content-type': 'application/json' };
    const body = JSON.stringify({ idempotency_key: 'one', email_address: 'a@example.com' });
    await simulator.provider(new Request('http://localhost/square/v2/customers', { method: 'POST', headers, body }));
    await clock.settle(0);
    await clock.advance(100 * HOUR_MS);
    const tookMs = Math.max(...sentAt) - Math.min(...sentAt);
    expect(tookMs).toBeGreaterThan(12 * HOUR_MS);
    expect(tookMs).toBeLessThanOrEqual(24 * HOUR_MS);
    simulator.close();
  });

  test('are not sent again after they were accepted', async () => {
    rig.answerWith(503);
    await rig.stripe.customers.create({});
    await settled();
    rig.answerWith(200);
    await rig.clock.advance(100 * HOUR_MS);
    expect(rig.delivered).toHaveLength(2);
  });
});

describe('the webhook mode', () => {
  test('duplicate sends each event three times, byte for byte', async () => {
    await mode({ mode: 'duplicate' });
    await rig.stripe.customers.create({});
    await settled();
    expect(rig.delivered).toHaveLength(3);
    expect(new Set(rig.delivered.map(({ body }) => body)).size).toBe(1);
  });

  test('delay sends each event an hour later by the clock', async () => {
    await mode({ mode: 'delay' });
    await rig.stripe.customers.create({});
    await rig.clock.advance(HOUR_MS - 1);
    expect(rig.delivered).toEqual([]);
    await rig.clock.advance(1);
    expect(rig.delivered).toHaveLength(1);
    expect(verify(rig.delivered[0] ?? expect.fail()).created).toBe((rig.clock.now() - HOUR_MS) / 1000);
  });

  test('reorder sends all events in a seeded random order', async () => {
    const orderWith = async (seed: number): Promise<string[]> => {
      const other = createRig();
      await other.control('POST', '/webhooks', { mode: 'reorder', seed });
      await other.stripe.paymentIntents.create({
        amount: 500,
        currency: 'usd',
        confirm: true,
        payment_method: 'pm_card_visa',
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
      });
      const order = (await other.events()).map(({ type }) => type);
      other.close();
      return order;
    };
    const orders = await Promise.all([1, 2, 3, 4, 5, 6].map(orderWith));
    expect(await orderWith(3)).toEqual(orders[2]);
    expect(new Set(orders.map(String)).size).toBeGreaterThan(1);
    for (const order of orders) expect(order).toHaveLength(3);
  });

  test('is refused if it is unknown', async () => {
    expect(await mode({ mode: 'chaos' })).toMatchObject({ status: 400 });
  });
});

describe('the webhook mode in metadata[sim_webhooks]', () => {
  test.each([
    ['dup', 9],
    ['drop', 0],
    ['delay', 0],
    ['reorder', 3],
  ])('%s sends %i events initially', async (wish, count) => {
    await pay('pm_card_visa', { sim_webhooks: wish });
    await settled();
    expect(rig.delivered).toHaveLength(count);
  });

  test('badsig signs events with the wrong secret, and causes no retries', async () => {
    rig.answerWith(401);
    await pay('pm_card_visa', { sim_webhooks: 'badsig' });
    await rig.clock.advance(HOUR_MS);
    expect(rig.delivered).toHaveLength(3);
    for (const delivery of rig.delivered) expect(() => verify(delivery)).toThrow(/signature/i);
  });

  test('stale signs events with a time outside the tolerance', async () => {
    await pay('pm_card_visa', { sim_webhooks: 'stale' });
    await settled();
    for (const delivery of rig.delivered) expect(() => verify(delivery)).toThrow(/tolerance/i);
  });
});

describe('a custom event', () => {
  const object = { id: 'pi_1', amount: 500, currency: 'usd', status: 'succeeded', customer: null };
  const send = (event: object) => rig.control('POST', '/events', { provider: 'provider_a', object, ...event });

  test('is refused for a slot without a vendor, and if it is malformed', async () => {
    expect(await send({ type: 'payment_intent.succeeded', provider: 'provider_b' })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('provider_b') },
    });
    expect(await send({ type: 'payment_intent.succeeded', provider: 'provider_z' })).toMatchObject({ status: 400 });
    expect(await rig.control('POST', '/events', { provider: 'provider_a' })).toMatchObject({ status: 400 });
    expect(await rig.control('GET', '/events')).toMatchObject({ status: 405 });
    expect(await rig.control('GET', '/nothing')).toMatchObject({ status: 404 });
  });
});
