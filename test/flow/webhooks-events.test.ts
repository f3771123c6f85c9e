import Stripe from 'stripe';
import { beforeAll, describe, expect, test } from 'vitest';
import { iso } from '../../shared/core/time.ts';
import { freePort } from '../builders/free-port.ts';
import { DECLINED, guestIntentBody, THREE_D_SECURE } from '../builders/intent.ts';
import { intentEvent } from '../builders/provider-event.ts';
import { confirm, createIntent, createPaidIntent, itemsOf, PATIENT, signIn, type User } from './flow.ts';
import { type SinkRequest, withHost } from './host.ts';
import { type Company, company, createCustomer } from './payers.ts';
import type { PaymentBody } from './routes.ts';
import { deliveredTo, eventOf, nodesAt, SECRET, sinkUrl, verified, webhookIdOf } from './targets.ts';

const OLD_SECRET = 'whsec_b2xkLXNlY3JldC1vZi10aGlydHktdHdvLWJ5dGVzLi4=';
const port = await freePort();
const service = withHost({
  frozen: true,
  port,
  env: {
    ...PATIENT,
    ...nodesAt(port, {
      canonical: { EVENTS: 'all', SECRET },
      raw: { EVENTS: 'all', EVENT_MODE: 'raw', SECRET: `${SECRET},${OLD_SECRET}` },
      both: { EVENTS: 'payment.succeeded', EVENT_MODE: 'both', SECRET },
      customers: { EVENTS: 'customer.*' },
      chat: { EVENTS: 'all', EVENT_MODE: 'both', FORMAT: 'chat', SECRET },
    }),
    EXTERNAL_WEBHOOK_URLS: sinkUrl(port, 'older'),
    EXTERNAL_WEBHOOK_EVENTS: 'payment_intent.*',
  },
});

let user: User;
let acme: Company;
beforeAll(async () => {
  user = await signIn(service, { email: 'jane@example.com' });
  acme = await company(service);
  const admin = await signIn(service, { is_admin: true });
  await service.put('/admin/projects/proj_1', { name: 'P', slug: 'p', owner_user_id: user.userId }, admin.options);
});

/** The deliveries to a sink of one event about one record, after all asynchronous work. */
const deliveriesOf = async (event: string, of: string, sink = 'canonical'): Promise<SinkRequest[]> => {
  await service.settle();
  return (await deliveredTo(service, sink, event)).filter(({ raw }) => raw.includes(of));
};

const only = <T>(found: readonly T[]): T => {
  expect(found).toHaveLength(1);
  return found[0] as T;
};

/** The body of the event's only delivery, with a verified signature. */
const bodyOf = async (event: string, of: string) => {
  const delivered = only(await deliveriesOf(event, of));
  expect(verified(delivered)).toEqual(delivered.body);
  return delivered.body;
};

const paymentData = (payment: PaymentBody, fields: object) => ({
  payment_id: payment.id,
  amount: 2_500,
  currency: 'USD',
  user: { id: user.userId, type: 'authenticated', email: 'jane@example.com' },
  project: null,
  provider_payment_id: payment.provider_payment_id,
  organization_id: null,
  customer_id: null,
  subscription_id: null,
  failure_code: null,
  ...{ reference_code: null, metadata: {}, product_id: null, quantity: 1, billing_address: null },
  ...{ subtotal: 2_500, tax: 0, discount: 0, discount_code: null },
  ...fields,
});

/** The card, or null if the provider did not report the card with the outcome. */
const CARD = expect.toSatisfy((shown) => shown === null || shown.type === 'card');

describe('a canonical target', () => {
  const event = (name: string, data: object) => ({
    event: name,
    provider: 'provider_a',
    timestamp: iso(service.now()),
    data,
  });

  test('receives payment.created when a payment is stored', async () => {
    const payment = await createPaidIntent(service, user, { project_id: 'proj_1' });
    expect(await bodyOf('payment.created', payment.id)).toEqual(
      event('payment.created', paymentData(payment, { status: 'created', project: { id: 'proj_1' } })),
    );
  });

  test('receives payment.succeeded when a payment is paid, with the organization if any', async () => {
    const { owner } = acme;
    const payment = await createPaidIntent(service, owner, { organization_id: acme.id });
    await confirm(service, payment.id, owner.options);
    const { body } = only(await deliveriesOf('payment.succeeded', payment.id));
    expect(body).toEqual(
      event(
        'payment.succeeded',
        paymentData(payment, {
          status: 'succeeded',
          user: { id: owner.userId, type: 'authenticated', email: body.data.user.email },
          organization_id: acme.id,
          payment_method_details: CARD,
        }),
      ),
    );
  });

  test('receives payment.failed when a payment is declined', async () => {
    const payment = await createIntent(service, user, { payment_method_id: DECLINED });
    expect((await confirm(service, payment.id, user.options)).status).toBe(402);
    expect(await bodyOf('payment.failed', payment.id)).toEqual(
      event(
        'payment.failed',
        paymentData(payment, { status: 'failed', failure_code: 'do_not_honor', payment_method_details: CARD }),
      ),
    );
  });

  test('receives guest payments marked as guest payments', async () => {
    const { body } = await service.post('/payments/intents', guestIntentBody({}, { email: 'Gina@Example.com' }));
    const { data } = await bodyOf('payment.created', body.id);
    expect(data.user).toEqual({ id: expect.stringMatching(/^gst_/), type: 'guest', email: 'gina@example.com' });
  });

  test('receives customer.created and customer.updated when a customer is stored and changed', async () => {
    const customer = await createCustomer(service, user.options, { email: 'payer@example.com', name: 'Pia' });
    await service.put(`/customers/${customer.id}`, { name: 'Pia Payer' }, user.options);
    const data = {
      customer_id: customer.id,
      provider_customer_id: customer.provider_customer_id,
      email: 'payer@example.com',
      is_guest: false,
      user: { id: user.userId, type: 'authenticated', email: 'payer@example.com' },
      project: null,
      organization_id: null,
    };
    expect(await bodyOf('customer.created', customer.id)).toEqual(event('customer.created', { ...data, name: 'Pia' }));
    expect(await bodyOf('customer.updated', customer.id)).toEqual(
      event('customer.updated', { ...data, name: 'Pia Payer' }),
    );
  });

  test('receives one event for a concurrent confirm, sync and provider event', async () => {
    const payments = await Promise.all(
      Array.from({ length: 8 }, () => createIntent(service, user, { payment_method_id: THREE_D_SECURE })),
    );
    await service.settle();
    await Promise.all(
      payments.flatMap((payment) => [
        confirm(service, payment.id, { ...user.options, body: { payment_method_id: 'pm_card_visa' } }),
        confirm(service, payment.id, user.options),
        service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options),
        service.sendEvent(intentEvent(payment, 'payment_intent.succeeded', { id: `evt_race_${payment.id}`, times: 3 })),
        service.post(`/payments/sync/${payment.provider_payment_id}`, {}, user.options),
      ]),
    );
    for (const payment of payments) {
      only(await deliveriesOf('payment.created', payment.id));
      only(await deliveriesOf('payment.succeeded', payment.id));
      only(await deliveriesOf('payment.succeeded', payment.id, 'chat'));
    }
  });
});

describe('a raw target', () => {
  const send = async (raw: string) => {
    const stripe = new Stripe('sk_test_x');
    const timestamp = Math.floor(service.now() / 1_000);
    const header = stripe.webhooks.generateTestHeaderString({
      payload: raw,
      secret: 'whsec_local_provider_a',
      timestamp,
    });
    const answer = await service.request('POST', '/webhooks/provider_a', {
      headers: { 'content-type': 'application/json', 'stripe-signature': header },
      body: raw,
    });
    expect(answer).toMatchObject({ status: 200, body: { received: true } });
    await service.settle();
  };

  test('receives the provider’s event byte for byte, under its full name, signed with both secrets', async () => {
    const raw = `{ "id":"evt_bytes", "type" : "payment_intent.canceled",\n\t"provider":"provider_a","created":${Math.floor(service.now() / 1_000)},
      "data":{"object":{"id":"pi_none","amount":2500.0e0,"currency":"usd","status":"canceled","note":"\\u00e4 ä 💳","number":"4242424242424242"}}}`;
    await send(raw);
    const delivered = only((await deliveredTo(service, 'raw')).filter(({ body }) => body.id === 'evt_bytes'));
    expect(delivered.raw).toBe(raw);
    expect(eventOf(delivered)).toBe('provider_a:payment_intent.canceled');
    for (const secret of [SECRET, OLD_SECRET]) expect(verified(delivered, secret)).toEqual(JSON.parse(raw));
    expect(() => verified(delivered, 'whsec_YW5vdGhlcg==')).toThrow();
  });

  test('receives events of unknown types and events that change no record', async () => {
    const before = (await deliveredTo(service, 'canonical')).length;
    const created = Math.floor(service.now() / 1_000);
    const object = { id: 'x', status: 'lost' };
    for (const type of ['charge.dispute.closed', 'payment_intent.succeeded']) {
      await send(JSON.stringify({ id: `evt_${type}`, type, created, data: { object } }));
      only(await deliveredTo(service, 'raw').then((all) => all.filter(({ body }) => body.id === `evt_${type}`)));
    }
    expect(await deliveredTo(service, 'canonical')).toHaveLength(before);
  });

  test('receives the events of refunds and disputes without a failed dispatch', async () => {
    const payment = await createPaidIntent(service, user);
    await confirm(service, payment.id, user.options);
    await service.control('POST', `/simulator/payments/${payment.id}/refunds`, { amount: 300 });
    await service.control('POST', `/simulator/payments/${payment.id}/disputes`, {});
    await service.settle();
    const names = (await deliveredTo(service, 'raw'))
      .filter(({ raw }) => raw.includes(payment.provider_intent_id))
      .map(eventOf);
    expect(names).toEqual(
      expect.arrayContaining(['charge.refunded', 'charge.dispute.created'].map((name) => `provider_a:${name}`)),
    );
  });

  test('receives a repeated event once', async () => {
    const payment = await createIntent(service, user);
    await service.sendEvent(intentEvent(payment, 'payment_intent.processing', { id: 'evt_thrice', times: 3 }));
    await service.settle();
    only((await deliveredTo(service, 'raw')).filter(({ body }) => body.id === 'evt_thrice'));
  });
});

describe('an outbound webhook', () => {
  test('is sent according to the target’s mode and filters', async () => {
    const payment = await createPaidIntent(service, user);
    await confirm(service, payment.id, user.options);
    await createCustomer(service, user.options);
    await service.settle();
    const names = async (sink: string) => [...new Set((await deliveredTo(service, sink)).map(eventOf))];
    expect((await names('canonical')).filter((name) => name.includes(':'))).toEqual([]);
    expect((await names('raw')).filter((name) => !name.startsWith('provider_a:'))).toEqual([]);
    expect((await names('both')).sort()).toEqual(['payment.succeeded', 'provider_a:payment_intent.succeeded']);
    expect((await names('customers')).sort()).toEqual(['customer.created', 'customer.updated']);
    const older = await names('older');
    expect(older).toContain('provider_a:payment_intent.succeeded');
    expect(older.filter((name) => !name.startsWith('provider_a:payment_intent.'))).toEqual([]);
  });

  test('has the same unique id at every target', async () => {
    const [canonical, both] = [await deliveredTo(service, 'canonical'), await deliveredTo(service, 'both')];
    const byEvent = Map.groupBy([...canonical, ...both], ({ raw }) => raw);
    for (const same of byEvent.values()) expect(new Set(same.map(webhookIdOf)).size).toBe(1);
    expect(new Set(canonical.map(webhookIdOf)).size).toBe(canonical.length);
    expect(canonical.map(webhookIdOf).filter((id) => !/^msg_[0-9a-f]{24}$/.test(id))).toEqual([]);
  });

  test('names its event, and is unsigned if no secret is set', async () => {
    for (const { headers } of await deliveredTo(service, 'canonical')) {
      expect(headers).toMatchObject({
        'content-type': 'application/json',
        'user-agent': 'payments-webhooks',
        'webhook-timestamp': String(Math.floor(service.now() / 1_000)),
        'webhook-signature': expect.stringMatching(/^v1,/),
      });
    }
    for (const sink of ['customers', 'older']) {
      const [delivered] = await deliveredTo(service, sink);
      expect(delivered?.headers).toHaveProperty('webhook-id');
      expect(delivered?.headers).not.toHaveProperty('webhook-signature');
    }
  });

  test('passes an independent verifier, and is rejected after a change of one byte', async () => {
    const sinks = await Promise.all(['canonical', 'raw', 'both', 'chat'].map((sink) => deliveredTo(service, sink)));
    const all = sinks.flat();
    expect(all.length).toBeGreaterThan(100);
    for (const [index, delivered] of all.entries()) {
      const { raw, headers } = delivered;
      expect(verified(delivered)).toEqual(delivered.body);
      const at = (index * 7_919) % raw.length;
      const changed = `${raw.slice(0, at)}${raw[at] === 'x' ? 'y' : 'x'}${raw.slice(at + 1)}`;
      expect(() => verified({ headers, raw: changed })).toThrow('No matching signature found');
      for (const name of ['webhook-id', 'webhook-timestamp']) {
        const forged = { ...headers, [name]: `${headers[name]?.slice(0, -1)}${headers[name]?.endsWith('0') ? 1 : 0}` };
        expect(() => verified({ headers: forged, raw })).toThrow('No matching signature found');
      }
    }
    const [one] = all;
    for (let at = 0; one && at < one.raw.length; at += 1) {
      const raw = `${one.raw.slice(0, at)}${String.fromCharCode(one.raw.charCodeAt(at) ^ 1)}${one.raw.slice(at + 1)}`;
      expect(() => verified({ headers: one.headers, raw })).toThrow();
    }
  });

  test('is readable as a chat message, for every event', async () => {
    const messages = await deliveredTo(service, 'chat');
    const names = new Set(messages.map(eventOf));
    expect([...names]).toEqual(
      expect.arrayContaining(['payment.succeeded', 'customer.created', 'provider_a:payment_intent.succeeded']),
    );
    for (const { body } of messages) {
      expect(Object.keys(body)).toEqual(['text', 'blocks']);
      expect(body.text).toMatch(/^[A-Z][\w ]+/);
      for (const { type, text } of body.blocks) expect([type, text.type]).toEqual(['section', 'mrkdwn']);
    }
    expect(messages.map(({ body }) => body.text)).toContain('Payment succeeded: 25.00 USD');
  });

  test('is logged without secrets or personal data', async () => {
    const entries = (await itemsOf(service, 'LOG#')).filter(({ direction }) => direction === 'outbound');
    expect(entries.length).toBeGreaterThan(100);
    const text = JSON.stringify([entries, await deliveredTo(service, 'chat')]);
    const secrets = ['4242424242424242', 'jane@example.com', '_secret_', SECRET.slice(6)];
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
    expect(text.includes('j***@example.com')).toBe(true);
  });
});
