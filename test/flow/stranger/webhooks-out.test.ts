import { beforeEach, describe, expect, test } from 'vitest';
import {
  DEMO_ADMIN,
  expectError,
  idsOf,
  recordOf,
  type SignedCaller,
  service as startService,
  TIMESTAMP,
} from './http.ts';
import { CARD, recordsIn } from './records.ts';

/** The target of the local host stands for a receiver of our own: it takes all events, canonical and raw. */
const service = startService();
const make = recordsIn(service);

const SINK = '/_local/sink/default';

interface Received {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ReturnType<typeof JSON.parse>;
  readonly raw: string;
}

/** The deliveries with one name, once the service is quiet. */
const received = async (name: string): Promise<readonly Received[]> => {
  await service.settle();
  const { body } = await service.get(SINK);
  return body.filter(({ headers }: Received) => headers['webhook-event'] === name);
};
const only = async (name: string): Promise<Received> => {
  const found = await received(name);
  expect(found, name).toHaveLength(1);
  return found[0] ?? { headers: {}, body: undefined, raw: '' };
};

beforeEach(async () => {
  await service.settle();
  await service.delete(SINK);
});

const paid = async () => {
  const person = await service.person();
  const payment = await make.payment(person.caller, { payment_method_id: CARD });
  await make.confirm(payment.id, person.caller);
  return { ...person, payment };
};

describe('a canonical event', () => {
  test('has the payload of the interface for payment.succeeded', async () => {
    const { payment, userId, email } = await paid();
    const { body } = await only('payment.succeeded');
    expect(body).toMatchObject({
      event: 'payment.succeeded',
      provider: 'provider_a',
      timestamp: TIMESTAMP,
      data: {
        ...{ payment_id: payment.id, amount: 2_500, currency: 'USD', status: 'succeeded' },
        user: { id: userId, type: 'authenticated', email },
      },
    });
  });

  test('names the project of a payment', async () => {
    const { caller, userId } = await service.person();
    const project_id = await make.project({ owner_user_id: userId });
    await make.payment(caller, { project_id });
    expect((await only('payment.created')).body.data).toMatchObject({ project: { id: project_id } });
  });

  test('follows a declined charge as payment.failed', async () => {
    const { caller } = await service.person();
    const { id } = await make.payment(caller);
    const token = 'pm_card_visa_chargeDeclined';
    expectError(await service.post(`/payments/confirm/${id}`, { payment_method_id: token }, caller), 402);
    expect((await only('payment.failed')).body.data).toMatchObject({ payment_id: id, status: 'failed', amount: 2_500 });
  });

  test('follows the create of a guest as payment.created', async () => {
    const guest_data = { email: service.email(), name: 'Gus' };
    const body = { subtotal_cents: 700, total_cents: 700, currency: 'EUR', guest_data };
    const { id } = recordOf(await service.post('/payments/intents', body));
    const { data } = (await only('payment.created')).body;
    expect(data).toMatchObject({ payment_id: id, amount: 700, currency: 'EUR', user: { email: guest_data.email } });
  });

  test('follows each change of a customer', async () => {
    const person = await service.person();
    const { id } = await make.customer(person);
    await service.put(`/customers/${id}`, { name: 'Grace' }, person.caller);
    for (const name of ['customer.created', 'customer.updated']) {
      const { body } = await only(name);
      expect(body).toMatchObject({ event: name, provider: 'provider_a', timestamp: TIMESTAMP });
      expect(JSON.stringify(body.data)).toContain(id);
    }
  });

  test('follows each change of a subscription', async () => {
    const person = await service.person();
    const { id } = await make.subscription(person);
    await service.patch(`/subscriptions/${id}`, { metadata: { a: 1 } }, person.caller);
    await service.post(`/subscriptions/${id}/cancel`, { cancel_at_period_end: false }, person.caller);
    for (const name of ['subscription.created', 'subscription.cancelled']) {
      expect(JSON.stringify((await only(name)).body.data)).toContain(id);
    }
    expect((await received('subscription.updated')).length).toBeGreaterThan(0);
  });

  test('follows the membership of a subscription whose product has a tier', async () => {
    const membership_type_id = await make.tier();
    const product_id = await make.product({ billing_interval: 'monthly', metadata: { membership_type_id } });
    const person = await service.person();
    const { id: customer_id } = await make.customer(person);
    const { id: payment_method_id } = await make.method(person.caller);
    const made = await service.post('/subscriptions', { customer_id, payment_method_id, product_id }, person.caller);
    expect(JSON.stringify((await only('membership.activated')).body.data)).toContain(recordOf(made).id);
    const path = `/subscriptions/${recordOf(made).id}/cancel`;
    await service.post(path, { cancel_at_period_end: false }, person.caller);
    await only('membership.cancelled');
  });
});

describe('a raw event', () => {
  test('is named <provider>:<type>, and is sent as received', async () => {
    const { payment } = await paid();
    const { body } = await only('provider_a:payment_intent.succeeded');
    expect(body).toMatchObject({
      type: 'payment_intent.succeeded',
      data: { object: { id: payment.provider_payment_id } },
    });
  });
});

describe('a failed delivery', () => {
  test('is retried after 5, 10 and 20 seconds under one id, and each attempt is logged', async () => {
    await service.local('/clock', { freeze: true });
    await service.local('/sink/default/behaviour', { status: 500 });
    const person = await service.person();
    await make.customer(person);
    expect(await received('customer.created')).toHaveLength(1);
    for (const [index, seconds] of [5, 10, 20].entries()) {
      await service.advance(seconds - 1);
      expect(await received('customer.created')).toHaveLength(index + 1);
      if (seconds === 20) await service.local('/sink/default/behaviour', {});
      await service.advance(1);
      expect(await received('customer.created')).toHaveLength(index + 2);
    }
    await service.local('/clock', { freeze: false });
    const ids = (await received('customer.created')).map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids).size).toBe(1);
    /** The provider sends an event of that name too. */
    const attempts = async (status: string) => {
      const answer = await service.get(`/webhooks/logs?status=${status}&event_type=customer.created`, person.caller);
      return recordOf(answer).filter(({ payload }: { payload: { event?: string } }) => payload.event !== undefined);
    };
    expect(await attempts('failed')).toHaveLength(3);
    expect(await attempts('success')).toHaveLength(1);
  });
});

describe('the webhook logs', () => {
  const logs = async (caller: SignedCaller, query = '') => {
    await service.settle();
    const answer = await service.get(`/webhooks/logs${query}`, caller);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return recordOf(answer);
  };

  test('are an array of entries with the fields of the table', async () => {
    const { caller } = await paid();
    const entries = await logs(caller);
    expect(entries.length).toBeGreaterThan(1);
    for (const entry of entries) {
      expect(entry).toMatchObject({
        ...{ id: expect.any(String), provider: 'provider_a', event_type: expect.any(String), created_at: TIMESTAMP },
        status: expect.stringMatching(/^(success|failed)$/),
      });
    }
    expect(entries.map(({ event_type }: { event_type: string }) => event_type)).toContain('payment.succeeded');
  });

  test('filter by provider, type and status, and are paged by limit and offset', async () => {
    const { caller } = await paid();
    const all = await logs(caller);
    expect(await logs(caller, '?provider=provider_a')).toHaveLength(all.length);
    expect(await logs(caller, '?provider=PROVIDER_A&status=SUCCESS')).toHaveLength(all.length);
    expect(await logs(caller, '?provider=provider_b')).toEqual([]);
    expect(await logs(caller, '?status=failed')).toEqual([]);
    expect(await logs(caller, '?event_type=payment.succeeded')).toMatchObject([{ event_type: 'payment.succeeded' }]);
    expect(await logs(caller, '?provider=&event_type=&status=&limit=&offset=')).toHaveLength(all.length);
    const first = await logs(caller, '?limit=1');
    const second = await logs(caller, '?limit=1&offset=1');
    expect([...first, ...second].map(({ id }) => id)).toEqual(all.slice(0, 2).map(({ id }: { id: string }) => id));
    for (const query of ['?status=lost', '?provider=provider_x']) {
      expectError(await service.get(`/webhooks/logs${query}`, caller), 400);
    }
  });

  test('show one entry with payload and response', async () => {
    const { caller, payment } = await paid();
    const [{ id }] = await logs(caller, '?event_type=payment.succeeded');
    const answer = await service.get(`/webhooks/logs/${encodeURIComponent(id)}`, caller);
    expect(answer.status).toBe(200);
    expect(recordOf(answer)).toMatchObject({
      ...{ id, provider: 'provider_a', event_type: 'payment.succeeded', status: 'success', created_at: TIMESTAMP },
      payload: { event: 'payment.succeeded', data: { payment_id: payment.id } },
      response: expect.any(Object),
    });
  });

  test('hide the entries of another user', async () => {
    const { caller } = await paid();
    const [{ id }] = await logs(caller);
    const other = await service.person();
    expect(await logs(other.caller)).toEqual([]);
    expectError(await service.get(`/webhooks/logs/${encodeURIComponent(id)}`, other.caller), 404);
  });

  test('count their entries exactly', async () => {
    const { caller } = await paid();
    await service.settle();
    const answer = await service.get('/webhooks/logs', caller);
    expect(answer.headers.get('X-Total-Count')).toBe(String(idsOf(answer).length));
  });
});

describe('POST /webhooks/test', () => {
  test('sends a canonical event to the target', async () => {
    const test_data = { amount: 700, currency: 'EUR' };
    const answer = await service.post('/webhooks/test', { event: 'payment.succeeded', test_data }, DEMO_ADMIN);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect((await only('payment.succeeded')).body).toMatchObject({ event: 'payment.succeeded', data: test_data });
  });

  test('sends each canonical event of the interface', async () => {
    const events = [
      ...['payment.succeeded', 'payment.failed', 'payment.created', 'subscription.created', 'subscription.updated'],
      ...['subscription.cancelled', 'membership.activated', 'membership.extended', 'membership.pending'],
      ...['membership.cancelled', 'customer.created', 'customer.updated'],
    ];
    for (const event of events) {
      const answer = await service.post('/webhooks/test', { event, test_data: {} }, DEMO_ADMIN);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect((await only(event)).body).toMatchObject({ event, provider: expect.any(String), timestamp: TIMESTAMP });
    }
  });

  test.each([
    'payment_intent.succeeded',
    'payment_intent.requires_action',
    'payment_method.attached',
    'subscription.trial_will_end',
    'invoice.payment_failed',
    'customer.deleted',
  ])('sends the inbound type %s to raw targets, in the shape of a provider event', async (event) => {
    const answer = await service.post('/webhooks/test', { event, test_data: {} }, DEMO_ADMIN);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    expect((await only(`provider_a:${event}`)).body).toMatchObject({
      ...{ id: expect.any(String), type: event, provider: 'provider_a', test: true, created: expect.any(Number) },
      data: { object: { id: expect.any(String) } },
    });
  });

  test('requires a known event', async () => {
    for (const body of [{}, { event: '' }, { event: 'payment.lost', test_data: {} }]) {
      expectError(await service.post('/webhooks/test', body, DEMO_ADMIN), 400);
    }
  });

  test('treats test_data of null as absent', async () => {
    expect(
      (await service.post('/webhooks/test', { event: 'payment.created', test_data: null }, DEMO_ADMIN)).status,
    ).toBe(200);
  });
});
