import { describe, expect, test } from 'vitest';
import { fullAddress } from '../builders/address.ts';
import { guestIntentBody, intentBody, paidIntentBody } from '../builders/intent.ts';
import { customerBody, methodBody } from '../builders/payer.ts';
import { subscriptionBody } from '../builders/subscription.ts';
import { confirm, signIn } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';
import { actingFor, asMerchant, createKey, newAdmin, type TestKey } from './keys.ts';
import { guestWithMethod, saveMethod } from './payers.ts';

const service = withHost({ frozen: true });

const newKey = async (fields: Readonly<Record<string, unknown>> = {}): Promise<TestKey> =>
  createKey(service, await newAdmin(service), fields);
const forGuest = (key: TestKey, guestId: string): RequestOptions => actingFor(key, `guest:${guestId}`);

let guests = 0;
/** A guest whose card a key has saved. */
const savedGuest = async (key: TestKey) => {
  guests += 1;
  const email = `guest.${guests}@example.com`;
  const method = await saveMethod(service, asMerchant(key), { guest_data: { email, name: 'Gina' } });
  return { email, method, guestId: String(method.guest_id), options: forGuest(key, String(method.guest_id)) };
};

describe('the guest_id', () => {
  test('appears only in the responses to a key’s own creates for a guest', async () => {
    const key = await newKey();
    const guest_data = { email: 'gus@example.com', name: 'Gus' };
    const ids: unknown[] = [];
    for (const [path, body] of [
      ['/payments/intents', guestIntentBody()],
      ['/payments', { ...paidIntentBody(), guest_data }],
      ['/customers', customerBody({ guest_data })],
      ['/payment-methods', methodBody({ guest_data })],
      ['/addresses', fullAddress({ guest_data })],
    ] as const) {
      const made = await service.post(path, body, asMerchant(key));
      expect({ path, made }).toMatchObject({ made: { body: { guest_id: expect.stringMatching(/^gst_/) } } });
      ids.push(made.body.guest_id);
      const byGuest = await service.post(path, body);
      expect({ path, status: byGuest.status }).toEqual({ path, status: made.status });
      expect(JSON.stringify(byGuest.body)).not.toContain('guest_id');
      const read = path.startsWith('/payment')
        ? await service.get(`${path.replace('/intents', '')}/${made.body.id}`, asMerchant(key))
        : undefined;
      expect(JSON.stringify(read?.body ?? {})).not.toContain('guest_id');
    }
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('a key that acts for a guest', () => {
  test('charges the saved card while the payer is absent, even 300 days later', async () => {
    const key = await newKey();
    const { method, options, guestId, email } = await savedGuest(key);
    await service.advance(300 * 86_400);
    const made = await service.post('/payments/intents', intentBody({ payment_method_id: method.id }), options);
    expect(made).toMatchObject({ status: 201, body: { is_guest_payment: true, guest_id: guestId } });
    expect(made.body).not.toHaveProperty('guest_token');
    const charged = await confirm(service, made.body.id, { ...options, body: { off_session: true } });
    expect(charged).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect(await service.get('/payments', options)).toMatchObject({
      status: 200,
      body: { data: [{ id: made.body.id }] },
    });
    const { body } = await service.get(`/payments/${made.body.id}/timeline`, asMerchant(key));
    expect(body.data).toContainEqual(
      expect.objectContaining({
        actor: { type: 'key', id: key.id, on_behalf_of: { type: 'guest', id: guestId } },
      }),
    );
    const events = (await service.busEvents()).filter(
      ({ source, detail }) => source === 'payments' && detail.payload.data.payment_id === made.body.id,
    );
    expect(events.length).toBeGreaterThan(0);
    for (const { detail } of events) expect(detail.payload.data.user).toMatchObject({ id: guestId, email });
  });

  test('subscribes the guest, and ends the subscription', async () => {
    const { method, options } = await savedGuest(await newKey());
    const names = { customer_id: method.customer_id, payment_method_id: method.id };
    const made = await service.post('/subscriptions', subscriptionBody(names), options);
    expect(made).toMatchObject({ status: 201, body: { status: 'active', is_guest_subscription: true } });
    expect(await service.get('/subscriptions', options)).toMatchObject({ body: [{ id: made.body.id }] });
    const canceled = await service.post(`/subscriptions/${made.body.id}/cancel`, {}, options);
    expect(canceled).toMatchObject({ status: 200 });
  });

  test('acts for a guest known only from a payment or an address', async () => {
    const key = await newKey();
    const { body: payment } = await service.post('/payments/intents', guestIntentBody(), asMerchant(key));
    const paid = await confirm(service, payment.id, {
      ...forGuest(key, payment.guest_id),
      body: { payment_method_id: 'pm_card_visa' },
    });
    expect(paid).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    const guest_data = { email: 'gil@example.com', name: 'Gil' };
    const { body: address } = await service.post('/addresses', fullAddress({ guest_data }), asMerchant(key));
    const read = await service.get(`/addresses/${address.id}`, forGuest(key, address.guest_id));
    expect(read).toMatchObject({ status: 200, body: { id: address.id } });
  });

  test('acts for a guest who saved the card in a browser, by the guest_id that events show', async () => {
    const key = await newKey();
    const { method } = await guestWithMethod(service, 'gwen@example.com');
    const { body } = await service.post('/payments/intents', paidIntentBody({ payment_method_id: method.id }), {
      guestToken: method.guest_token,
    });
    const [created] = (await service.busEvents('payment.created')).filter(
      ({ detail }) => detail.payload.data.payment_id === body.id,
    );
    const options = forGuest(key, String(created?.detail.payload.data.user.id));
    const made = await service.post('/payments/intents', intentBody({ payment_method_id: method.id }), options);
    expect(made).toMatchObject({ status: 201 });
  });

  test('never reaches another guest, a user, or an organization', async () => {
    const key = await newKey();
    const [one, other] = [await savedGuest(key), await savedGuest(key)];
    const user = await signIn(service);
    const theirs = await saveMethod(service, user.options);
    for (const id of [other.method.id, theirs.id]) {
      const made = await service.post('/payments/intents', intentBody({ payment_method_id: id }), one.options);
      expect(made).toMatchObject({ status: 404 });
      expect(await service.get(`/payment-methods/${id}`, one.options)).toMatchObject({ status: 404 });
    }
    const named = intentBody({ guest_data: { email: other.email, name: 'Gina' } });
    const made = await service.post('/payments/intents', named, one.options);
    expect(made).toMatchObject({ status: 201, body: { guest_id: one.guestId } });
    expect(await service.post('/organizations', { name: 'Acme' }, one.options)).toMatchObject({ status: 403 });
  });

  test.each([
    ['payments:write', 'POST', '/payments/intents', intentBody()],
    ['methods:write', 'POST', '/payment-methods', methodBody()],
    ['subscriptions:write', 'POST', '/subscriptions', subscriptionBody()],
    ['payments:read', 'GET', '/payments', undefined],
    ['refunds:write', 'POST', '/payments/pay_1/refunds', {}],
  ])('needs the scope of the route: %s', async (scope, method, path, body) => {
    const { guestId } = await savedGuest(await newKey());
    const scopes = ['payments:write', 'methods:write', 'subscriptions:write', 'payments:read'].filter(
      (one) => one !== scope,
    );
    const options = forGuest(await newKey({ scopes }), guestId);
    expect(await service.request(method, path, { ...options, ...(body !== undefined && { body }) })).toMatchObject({
      status: 403,
      body: { code: 'INSUFFICIENT_PERMISSIONS', details: { required_scope: scope } },
    });
  });

  test.each(['gst_000000000000000000000000', 'user_1', 'x'])('is refused for an unknown guest: %s', async (id) => {
    expect(await service.post('/payments/intents', intentBody(), forGuest(await newKey(), id))).toMatchObject({
      status: 404,
      body: { code: 'RESOURCE_NOT_FOUND', details: { resource: 'guest' } },
    });
  });

  test('is refused after the guest was erased', async () => {
    const key = await newKey();
    const { email, options } = await savedGuest(key);
    const erasure = await service.post('/admin/erasures', { email }, asMerchant(key));
    expect(erasure).toMatchObject({ status: 202 });
    await service.advance(3_600);
    await service.settle();
    expect(await service.get('/payments', options)).toMatchObject({
      status: 404,
      body: { details: { resource: 'guest' } },
    });
  });

  test('is the only way to act for a guest, because sessions and guest tokens are refused', async () => {
    const { guestId, method } = await savedGuest(await newKey());
    const headers = { 'x-act-for': `guest:${guestId}` };
    for (const options of [
      { ...(await signIn(service)).options, headers },
      { guestToken: method.guest_token, headers },
    ]) {
      expect(await service.post('/payments/intents', intentBody(), options)).toMatchObject({ status: 403 });
    }
  });
});
