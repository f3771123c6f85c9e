import { describe, expect, test } from 'vitest';
import {
  DEMO_ADMIN,
  DEMO_OWNER,
  expectError,
  recordOf,
  type SignedCaller,
  signed,
  service as startService,
  TIMESTAMP,
} from './http.ts';
import { recordsIn } from './records.ts';

/** Provider events in the interface's own shape, signed with the secret that the local host prints. */
const service = startService();
const make = recordsIn(service);

let events = 0;

interface ObjectOfEvent {
  readonly id: string;
  readonly amount?: number;
  readonly currency?: string;
  readonly status?: string;
  readonly customer?: string;
  readonly subscription?: string;
}

const eventOf = async (type: string, object: ObjectOfEvent) => {
  events += 1;
  const created = await service.now();
  return { id: `evt_${events}`, type, provider: 'provider_a', data: { object }, created };
};

const deliver = async (event: { readonly created: number }) => {
  const body = JSON.stringify(event);
  return service.post('/webhooks/provider_a', body, signed(body, await service.now()));
};

/** Delivers one event, and waits until it is applied. */
const report = async (type: string, object: ObjectOfEvent) => {
  const event = await eventOf(type, object);
  const answer = await deliver(event);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  await service.settle();
  return event;
};

const logged = async (caller: SignedCaller, query = '') =>
  recordOf(await service.get(`/webhooks/logs${query}`, caller));

describe('a payment event of provider_a', () => {
  const reported = async (type: string, status: string) => {
    const { id, provider_payment_id, created_at } = await make.payment(DEMO_OWNER);
    const customer = 'cus_1';
    await report(type, { id: provider_payment_id, amount: 2_500, currency: 'usd', status, customer });
    expect(created_at).toEqual(TIMESTAMP);
    return recordOf(await service.get(`/payments/${id}`, DEMO_OWNER));
  };

  test('makes a payment succeeded by payment_intent.succeeded, even within the second of its creation', async () => {
    const payment = await reported('payment_intent.succeeded', 'succeeded');
    expect(payment).toMatchObject({ status: 'succeeded', completed_at: TIMESTAMP });
  });

  test.each([
    ['payment_intent.failed', 'failed', 'failed'],
    ['payment_intent.canceled', 'canceled', 'canceled'],
    ['payment_intent.processing', 'processing', 'processing'],
    ['payment_intent.requires_action', 'requires_action', 'pending'],
  ])('maps the type %s with the status %s to the payment status %s', async (type, reportedStatus, status) => {
    expect(await reported(type, reportedStatus)).toMatchObject({ status });
  });

  test('is applied once if it arrives twice', async () => {
    const { id, provider_payment_id } = await make.payment(DEMO_OWNER);
    const object = { id: provider_payment_id, amount: 2_500, currency: 'usd', status: 'succeeded', customer: 'cus_1' };
    const event = await report('payment_intent.succeeded', object);
    const first = recordOf(await service.get(`/payments/${id}`, DEMO_OWNER));
    expect((await deliver(event)).status).toBe(200);
    await service.settle();
    expect(recordOf(await service.get(`/payments/${id}`, DEMO_OWNER))).toEqual(first);
  });

  test('is accepted for an unknown payment, so that the provider stops sending it', async () => {
    await report('payment_intent.succeeded', { id: 'pi_unknown', amount: 1, currency: 'usd', status: 'succeeded' });
  });

  test('changes nothing if its amount or currency differs', async () => {
    const { id, provider_payment_id } = await make.payment(DEMO_OWNER);
    await report('payment_intent.succeeded', {
      id: provider_payment_id,
      amount: 1,
      currency: 'usd',
      status: 'succeeded',
    });
    await report('payment_intent.succeeded', {
      id: provider_payment_id,
      amount: 2_500,
      currency: 'eur',
      status: 'succeeded',
    });
    expect(recordOf(await service.get(`/payments/${id}`, DEMO_OWNER))).toMatchObject({
      status: 'requires_payment_method',
    });
  });
});

describe('a subscription event of provider_a', () => {
  const subscribed = async () => {
    const person = await service.person();
    const subscription = await make.subscription(person);
    const show = async () => recordOf(await service.get(`/subscriptions/${subscription.id}`, person.caller));
    return { provider: subscription.provider_subscription_id, show, person };
  };

  test.each(['past_due', 'canceled', 'paused', 'active'])(
    'sets the status %s by subscription.updated',
    async (status) => {
      const { provider, show } = await subscribed();
      await report('subscription.updated', { id: provider, status, customer: 'cus_1' });
      // The event names no retry of a past due subscription.
      expect(await show()).toMatchObject({ status, next_billing_date: status === 'active' ? TIMESTAMP : null });
    },
  );

  test('makes a past due subscription active by subscription.updated', async () => {
    const { provider, show } = await subscribed();
    await service.advance(60);
    await report('subscription.updated', { id: provider, status: 'past_due' });
    expect(await show()).toMatchObject({ status: 'past_due' });
    await service.advance(1);
    await report('subscription.updated', { id: provider, status: 'active' });
    expect(await show()).toMatchObject({ status: 'active' });
  });

  test('cancels the subscription by subscription.deleted, and schedules no further charge', async () => {
    const { provider, show } = await subscribed();
    await report('subscription.deleted', { id: provider, status: 'canceled' });
    expect(await show()).toMatchObject({ status: 'canceled', next_billing_date: null });
  });

  test.each(['by the id of the subscription', 'by its own id beside the subscription'])(
    'makes a subscription past due and active again by invoice events that identify it %s',
    async (form) => {
      const { provider, show } = await subscribed();
      const invoice = (name: string) =>
        form === 'by the id of the subscription'
          ? { id: provider }
          : { id: `in_${name}_${provider}`, subscription: provider };
      await report('invoice.payment_failed', { ...invoice('1'), amount: 1_900, currency: 'usd', status: 'open' });
      expect(await show()).toMatchObject({ status: 'past_due' });
      await service.advance(1);
      await report('invoice.payment_succeeded', { ...invoice('2'), amount: 1_900, currency: 'usd', status: 'paid' });
      expect(await show()).toMatchObject({ status: 'active' });
    },
  );

  test.each(['subscription.created', 'subscription.trial_will_end'])('changes no status by %s', async (type) => {
    const { provider, show } = await subscribed();
    await report(type, { id: provider, status: 'active' });
    expect(await show()).toMatchObject({ status: 'active' });
  });
});

describe('a customer or payment method event of provider_a', () => {
  /** The log entry of this event, beside those that the provider sends itself. */
  const expectLogged = async (type: string, object: ObjectOfEvent) => {
    const event = await report(type, object);
    const entries = await logged(DEMO_ADMIN, `?event_type=${type}&provider=provider_a`);
    const own = entries.filter(({ payload }: { payload: { id?: string } }) => payload.id === event.id);
    expect(own).toMatchObject([{ provider: 'provider_a', event_type: type, status: 'success', payload: event }]);
  };

  test.each(['customer.created', 'customer.updated', 'customer.deleted'])(
    'is accepted and logged with the type %s',
    async (type) => {
      const { provider_customer_id } = await make.customer(await service.person());
      await expectLogged(type, { id: provider_customer_id });
    },
  );

  test.each(['payment_method.attached', 'payment_method.detached', 'payment_method.updated'])(
    'is accepted and logged with the type %s',
    async (type) => {
      const { provider_payment_method_id } = await make.method((await service.person()).caller);
      await expectLogged(type, { id: provider_payment_method_id });
    },
  );
});

describe('a webhook request', () => {
  test.each([
    ['without a signature', {}],
    ['with a made-up signature', { 'Stripe-Signature': 't=1,v1=00' }],
    ['with a session in place of a signature', DEMO_OWNER],
  ])('is refused and not processed %s', async (_, headers) => {
    const { id, provider_payment_id } = await make.payment(DEMO_OWNER);
    const object = { id: provider_payment_id, amount: 2_500, currency: 'usd', status: 'succeeded' };
    const event = await eventOf('payment_intent.succeeded', object);
    expectError(await service.post('/webhooks/provider_a', event, headers), 401);
    await service.settle();
    expect(recordOf(await service.get(`/payments/${id}`, DEMO_OWNER))).toMatchObject({
      status: 'requires_payment_method',
    });
  });

  test('is refused if the body was changed after the signature', async () => {
    const { provider_payment_id } = await make.payment(DEMO_OWNER);
    const object = { id: provider_payment_id, amount: 2_500, currency: 'usd', status: 'succeeded' };
    const body = JSON.stringify(await eventOf('payment_intent.succeeded', object));
    const signature = signed(body, await service.now());
    expectError(await service.post('/webhooks/provider_a', body.replace('2500', '2501'), signature), 401);
  });

  test.each(['provider_b', 'provider_c'])('is refused without a signature of %s', async (provider) => {
    expectError(await service.post(`/webhooks/${provider}`, { id: 'evt', type: 'payment_intent.succeeded' }), 401);
  });

  test.each([
    ['provider_b', 'EUR'],
    ['provider_c', 'USD'],
  ])('makes a payment succeeded by an event of %s in the interface’s shape', async (provider, currency) => {
    const { id, provider_payment_id } = await make.payment(DEMO_OWNER, { provider_id: provider, currency });
    const object = {
      ...{
        id: provider_payment_id,
        amount: 2_500,
        currency: currency.toLowerCase(),
        status: 'succeeded',
        customer: 'c',
      },
    };
    const sent = { provider, type: 'payment_intent.succeeded', object, vocabulary: 'contract' };
    await service.local('/simulator/events', sent);
    await service.settle();
    expect(recordOf(await service.get(`/payments/${id}`, DEMO_OWNER))).toMatchObject({ status: 'succeeded' });
  });
});
