import { describe, expect, test } from 'vitest';
import { expectError, idsOf, recordOf, service as startService, TIMESTAMP } from './http.ts';
import { CARD, HOME, MONTHLY, recordsIn } from './records.ts';

const service = startService();
const make = recordsIn(service);

const AMOUNTS = { subtotal_cents: 700, total_cents: 700, currency: 'EUR' };
/** For longer than this, guest data alone do not continue a guest. */
const HOUR = 3_600;

const newGuest = () => ({ email: service.email(), name: 'Gus' });
type Guest = ReturnType<typeof newGuest>;

/** What a guest creates, each time by guest_data alone. */
const create = async (path: string, guest_data: Guest, body: object) => {
  const answer = await service.post(path, { ...body, guest_data });
  expect(answer.status, `${path} ${JSON.stringify(answer.body)}`).toBe(201);
  return recordOf(answer);
};
const CARD_BODY = { provider_id: 'provider_a', provider_payment_method_token: CARD };
const pay = (guest: Guest, more = {}) => create('/payments/intents', guest, { ...AMOUNTS, ...more });
const saveCard = (guest: Guest, more = {}) => create('/payment-methods', guest, { ...CARD_BODY, ...more });
const enroll = (guest: Guest) => create('/customers', guest, { provider_id: 'provider_a' });

describe('a guest', () => {
  test('creates a payment with e-mail and name alone', async () => {
    const guest = newGuest();
    expect(await pay(guest)).toMatchObject({
      ...{ id: expect.any(String), client_secret: expect.any(String), provider_payment_id: expect.any(String) },
      ...{ ...AMOUNTS, is_guest_payment: true, guest_email: guest.email, created_at: TIMESTAMP },
    });
  });

  test('may add a phone number', async () => {
    expect(await create('/payments/intents', { ...newGuest(), ...{ phone: '+49 30 1234567' } }, AMOUNTS)).toMatchObject(
      {
        is_guest_payment: true,
      },
    );
  });

  test.each([
    ['without an e-mail address', { name: 'Gus' }],
    ['without a name', { email: 'gus@example.com' }],
    ['with an empty name', { email: 'gus@example.com', name: '' }],
    ['with an invalid e-mail address', { email: 'gus', name: 'Gus' }],
  ])('is refused %s', async (_, guest_data) => {
    for (const [path, body] of [
      ['/payments/intents', AMOUNTS],
      ['/customers', { provider_id: 'provider_a' }],
      ['/payment-methods', CARD_BODY],
      ['/addresses', HOME],
    ] as const) {
      expectError(await service.post(path, { ...body, guest_data }), 400);
    }
  });

  test('creates a customer without an e-mail address beside guest_data', async () => {
    const guest = newGuest();
    expect(await enroll(guest)).toMatchObject({
      ...{ id: expect.any(String), is_guest: true, user_id: null, guest_email: guest.email, provider_id: 'provider_a' },
    });
  });

  test('creates a payment method', async () => {
    expect(await saveCard(newGuest())).toMatchObject({ is_guest_method: true, card_last_four: '4242' });
  });

  test('creates an address', async () => {
    expect(await create('/addresses', newGuest(), HOME)).toMatchObject({ ...HOME, is_guest_address: true });
  });

  test('goes from the first create to a subscription with guest_data alone', async () => {
    const guest = newGuest();
    const { id: customer_id } = await enroll(guest);
    const { id: payment_method_id } = await saveCard(guest);
    const body = { ...MONTHLY, customer_id, payment_method_id, is_guest_subscription: true };
    expect(await create('/subscriptions', guest, body)).toMatchObject({
      ...{ payment_method_id, status: 'active', is_guest_subscription: true, user_id: null },
    });
  });

  test('subscribes with the customer created for the saved card', async () => {
    const guest = newGuest();
    const { id: payment_method_id, customer_id } = await saveCard(guest);
    const made = await create('/subscriptions', guest, { ...MONTHLY, customer_id, payment_method_id });
    expect(made).toMatchObject({ customer_id, payment_method_id, status: 'active' });
  });

  test('pays with the saved card and the address with guest_data alone', async () => {
    const guest = newGuest();
    const { id: billing_address_id } = await create('/addresses', guest, HOME);
    const { id: payment_method_id } = await saveCard(guest);
    expect(await pay(guest, { payment_method_id })).toMatchObject({ payment_method_id, status: 'created' });
    expect(await pay(guest, { billing_address_id })).toMatchObject({ billing_address_id });
    const linked = await saveCard(guest, { billing_address_id });
    expect(linked).toMatchObject({ billing_address_id, is_guest_method: true });
  });

  test('is recognized by the e-mail address in any case', async () => {
    const guest = newGuest();
    const { id: payment_method_id } = await saveCard(guest);
    const shouted = { ...guest, email: guest.email.toUpperCase() };
    expect(await pay(shouted, { payment_method_id })).toMatchObject({ payment_method_id });
  });

  test('cannot continue with records of another e-mail address', async () => {
    const { id: payment_method_id } = await saveCard(newGuest());
    const guest_data = newGuest();
    expectError(await service.post('/payments/intents', { ...AMOUNTS, payment_method_id, guest_data }), 404);
    const { id: customer_id } = await enroll(newGuest());
    expectError(await service.post('/payments/intents', { ...AMOUNTS, customer_id, guest_data }), 404);
    const { id: billing_address_id } = await create('/addresses', newGuest(), HOME);
    expectError(await service.post('/payments/intents', { ...AMOUNTS, billing_address_id, guest_data }), 404);
  });

  test('continues with guest_data for an hour, and then needs the guest token', async () => {
    const guest_data = newGuest();
    const { id: payment_method_id } = await saveCard(guest_data);
    await service.advance(HOUR - 60);
    await pay(guest_data, { payment_method_id });
    await service.advance(120);
    const late = await service.post('/payments/intents', { ...AMOUNTS, payment_method_id, guest_data });
    expectError(late, 404);
    expect(late.body.error).toContain('guest_token');
  });

  test('cannot use a user’s records', async () => {
    const person = await service.person();
    const { id: payment_method_id } = await make.method(person.caller);
    const guest_data = { email: person.email, name: 'Gus' };
    expectError(await service.post('/payments/intents', { ...AMOUNTS, payment_method_id, guest_data }), 404);
  });

  test('treats null and empty strings beside guest_data as absent', async () => {
    const body = { provider_id: 'provider_a', email: null, name: '', first_name: null, phone: '', metadata: null };
    expect(await create('/customers', newGuest(), body)).toMatchObject({ is_guest: true });
  });

  test('is rejected by routes that need a session', async () => {
    const { guest_token } = await pay(newGuest());
    const paths = ['/organizations', '/addresses', '/customers', '/subscriptions', '/webhooks/logs'];
    for (const path of paths) expectError(await service.get(`${path}?token=${guest_token}`), 401);
    expectError(await service.post('/organizations', { name: 'Acme', guest_data: newGuest() }), 401);
  });
});

describe('GET /payments/guest/:email', () => {
  test('lists the payments of an e-mail address without a credential, immediately after each create', async () => {
    const guest = newGuest();
    for (let count = 1; count <= 3; count += 1) {
      const { id } = await pay(guest);
      const answer = await service.get(`/payments/guest/${encodeURIComponent(guest.email)}`);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      expect(idsOf(answer)).toHaveLength(count);
      expect(idsOf(answer)[0]).toBe(id);
      const total = answer.body.meta?.total ?? Number(answer.headers.get('X-Total-Count'));
      expect(total).toBe(count);
    }
  });

  test('shows the limited set of fields, and no secret', async () => {
    const guest = newGuest();
    const { id } = await pay(guest);
    const [item] = recordOf(await service.get(`/payments/guest/${guest.email}`));
    expect(item).toMatchObject({
      ...{ id, ...AMOUNTS, tax_cents: 0, discount_cents: 0, guest_email: guest.email, provider_id: 'provider_a' },
      ...{ status: 'requires_payment_method', created_at: TIMESTAMP, updated_at: TIMESTAMP },
    });
    expect(item).not.toHaveProperty('client_secret');
  });

  test('accepts an e-mail address with a plus sign in the path, plain or encoded', async () => {
    const guest = { ...newGuest(), email: 'gus+shop@example.com' };
    const { id } = await pay(guest);
    expect(idsOf(await service.get('/payments/guest/gus+shop@example.com'))).toEqual([id]);
    expect(idsOf(await service.get('/payments/guest/gus%2Bshop%40example.com'))).toEqual([id]);
  });

  test('accepts the e-mail address in any case, and shows no other guest', async () => {
    const guest = newGuest();
    const { id } = await pay(guest);
    await pay(newGuest());
    expect(idsOf(await service.get(`/payments/guest/${guest.email.toUpperCase()}`))).toEqual([id]);
  });

  test('is empty for an unknown e-mail address', async () => {
    const answer = await service.get('/payments/guest/nobody@example.com');
    expect(answer.status).toBe(200);
    expect(recordOf(answer)).toEqual([]);
  });

  test('shows no payments of a user', async () => {
    const person = await service.person();
    await make.payment(person.caller);
    expect(recordOf(await service.get(`/payments/guest/${person.email}`))).toEqual([]);
  });
});

describe('GET /subscriptions/guest/:email', () => {
  test('lists the subscriptions of an e-mail address without a credential, with their fields', async () => {
    const guest = newGuest();
    const { id: payment_method_id, customer_id } = await saveCard(guest);
    const { id } = await create('/subscriptions', guest, { ...MONTHLY, customer_id, payment_method_id });
    const answer = await service.get(`/subscriptions/guest/${guest.email}`);
    expect(answer.status).toBe(200);
    expect(recordOf(answer)).toMatchObject([
      {
        ...{ id, ...MONTHLY, status: 'active', guest_email: guest.email, provider_id: 'provider_a' },
        ...{ tax_cents: 0, discount_cents: 0, interval_multiplier: 1, next_billing_date: TIMESTAMP },
        ...{ created_at: TIMESTAMP, updated_at: TIMESTAMP },
      },
    ]);
    const total = answer.body.meta?.total ?? Number(answer.headers.get('X-Total-Count'));
    expect(total).toBe(1);
  });

  test('is empty for an unknown e-mail address', async () => {
    const answer = await service.get('/subscriptions/guest/nobody@example.com');
    expect(answer.status).toBe(200);
    expect(recordOf(answer)).toEqual([]);
  });
});

describe('a guest token', () => {
  test('reads the payments of its e-mail address by ?token=', async () => {
    const guest = newGuest();
    const { id, guest_token } = await pay(guest);
    const one = await service.get(`/payments/${id}?token=${guest_token}`);
    expect(one.body).toMatchObject({ success: true, data: { id, guest_email: guest.email } });
    const all = await service.get(`/payments?token=${guest_token}`);
    expect(all.body).toMatchObject({
      ...{ success: true, data: [{ id }], meta: { page: 1, limit: 20, total: 1, hasMore: false } },
      user_context: { authenticated: false, user_id: null },
    });
  });

  test('searches and filters the payments of its guest', async () => {
    const guest = newGuest();
    const { id, guest_token } = await pay(guest, { description: 'Poster' });
    for (const search of [id, encodeURIComponent(guest.email), 'poster']) {
      const answer = await service.get(`/payments?token=${guest_token}&search=${search}`);
      expect(answer.body).toMatchObject({ data: [{ id }], meta: { total: 1 } });
    }
    expect((await service.get(`/payments?token=${guest_token}&status=failed`)).body).toMatchObject({ data: [] });
  });

  test('reads the payment methods of its e-mail address by ?token=', async () => {
    const { id, guest_token } = await saveCard(newGuest());
    expect(recordOf(await service.get(`/payment-methods/${id}?token=${guest_token}`))).toMatchObject({ id });
    const all = await service.get(`/payment-methods?token=${guest_token}`);
    expect(all.body).toMatchObject([{ id, is_guest_method: true }]);
    expect(all.headers.get('X-Total-Count')).toBe('1');
  });

  test('reads the expanded payment method of a payment', async () => {
    const guest = newGuest();
    const { id: payment_method_id } = await saveCard(guest);
    const { id, guest_token } = await pay(guest, { payment_method_id });
    const answer = await service.get(`/payments/${id}?token=${guest_token}&include=payment_method`);
    expect(answer.body).toMatchObject({ data: { payment_method: { id: payment_method_id, last_four: '4242' } } });
  });

  test('reads nothing of another e-mail address', async () => {
    const { id } = await pay(newGuest());
    const { id: method } = await saveCard(newGuest());
    const { guest_token } = await pay(newGuest());
    expectError(await service.get(`/payments/${id}?token=${guest_token}`), 404);
    expectError(await service.get(`/payment-methods/${method}?token=${guest_token}`), 404);
  });

  test('is refused with 401 if it is invalid or empty', async () => {
    const { id } = await pay(newGuest());
    for (const query of ['', '?token=', '?token=made-up']) {
      expectError(await service.get(`/payments/${id}${query}`), 401);
      expectError(await service.get(`/payments${query}`), 401);
    }
  });

  test('reads records beside a session that the session may not read', async () => {
    const { caller } = await service.person();
    const { id, guest_token } = await pay(newGuest());
    expectError(await service.get(`/payments/${id}`, caller), 404);
    const answer = await service.get(`/payments/${id}?token=${guest_token}`, caller);
    expect(answer.body).toMatchObject({ data: { id } });
    const card = await saveCard(newGuest());
    const method = await service.get(`/payment-methods/${card.id}?token=${card.guest_token}`, caller);
    expect(recordOf(method)).toMatchObject({ id: card.id });
    const { id: own } = await make.payment(caller);
    expect((await service.get(`/payments/${own}?token=${guest_token}`, caller)).body).toMatchObject({
      data: { id: own },
    });
  });
});
