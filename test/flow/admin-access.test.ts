import { describe, expect, test } from 'vitest';
import { guestIntentBody, THREE_D_SECURE, VISA } from '../builders/intent.ts';
import { confirm, createIntent, createPaidIntent, read, signIn, type User } from './flow.ts';
import { withHost } from './host.ts';
import { company, guestWithMethod, saveMethod } from './payers.ts';

const service = withHost({ frozen: true });
const signInAdmin = (): Promise<User> => signIn(service, { is_admin: true });

describe('a platform admin', () => {
  test('reads a user’s payment without its client secret', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin()];
    const payment = await createIntent(service, user);
    expect(await read(service, payment.id, user.options)).toHaveProperty('client_secret');
    const shown = await read(service, payment.id, admin.options);
    expect(shown).toMatchObject({ id: payment.id, user_id: user.userId });
    expect(JSON.stringify(shown)).not.toContain('client_secret');
  });

  test('reads a guest’s payment with its included method, and reads the method itself', async () => {
    const admin = await signInAdmin();
    const gina = await guestWithMethod(service, 'gina@example.com');
    const body = guestIntentBody({ payment_method_id: gina.method.id }, { email: 'gina@example.com' });
    const made = await service.post('/payments/intents', body, gina.options);
    expect(made.status).toBe(201);
    const answer = await service.get(`/payments/${made.body.id}?include=payment_method`, admin.options);
    expect(answer.body.data).toMatchObject({ id: made.body.id, payment_method: { id: gina.method.id } });
    const method = await service.get(`/payment-methods/${gina.method.id}`, admin.options);
    expect(method).toMatchObject({ status: 200, body: { id: gina.method.id } });
    expect(JSON.stringify([answer.body, method.body])).not.toMatch(/client_secret|guest_token/);
  });

  test('reads the lists of an organization, even after the organization is deleted', async () => {
    const admin = await signInAdmin();
    const acme = await company(service);
    const payment = await createIntent(service, acme.owner, { organization_id: acme.id });
    const lists = ['/payments', '/payment-methods', '/customers', '/addresses', '/subscriptions'];
    for (const path of lists) {
      expect((await service.get(`${path}?organization_id=${acme.id}`, admin.options)).status, path).toBe(200);
    }
    const shown = await service.get(`/organizations/${acme.id}`, admin.options);
    expect(shown).toMatchObject({ status: 200, body: { data: { id: acme.id, your_role: null } } });
    await service.request('DELETE', `/organizations/${acme.id}`, acme.owner.options);
    await service.settle();
    const listed = await service.get(`/payments?organization_id=${acme.id}`, admin.options);
    expect(listed.body.data).toMatchObject([{ id: payment.id }]);
    expect(JSON.stringify(listed.body)).not.toContain('client_secret');
  });

  test('sees that a payment waits for its payer, but not the authentication page', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin()];
    const payment = await createIntent(service, user, { return_url: 'https://shop.example/back' });
    await confirm(service, payment.id, { ...user.options, body: { payment_method_id: THREE_D_SECURE } });
    const shown = await read(service, payment.id, admin.options);
    expect(shown).toMatchObject({ status: 'pending', next_action: { type: expect.any(String) } });
    expect(Object.keys(shown.next_action)).toEqual(['type']);
    const canceled = await service.post(`/payments/intents/${payment.id}/cancel`, {}, admin.options);
    expect(canceled.status).toBe(200);
  });

  test('gets 403 for changing or confirming a user’s payment, and for changing or using a user’s method', async () => {
    const [user, admin, stranger] = [await signIn(service), await signInAdmin(), await signIn(service)];
    const payment = await createPaidIntent(service, user);
    const method = await saveMethod(service, user.options);
    const update = (by: User) =>
      service.request('PUT', `/payments/intents/${payment.id}`, { ...by.options, body: { description: 'x' } });
    const requests = [
      update,
      (by: User) => confirm(service, payment.id, by.options),
      (by: User) => service.request('DELETE', `/payment-methods/${method.id}`, by.options),
      (by: User) => service.post(`/payment-methods/${method.id}/set-default`, {}, by.options),
      (by: User) =>
        service.post('/payments/intents', { ...guestIntentBody(), payment_method_id: method.id }, by.options),
    ];
    for (const request of requests) {
      expect(await request(admin)).toMatchObject({ status: 403, body: { code: 'INSUFFICIENT_PERMISSIONS' } });
      expect((await request(stranger)).status).toBe(404);
    }
    expect(await read(service, payment.id, user.options)).toMatchObject({
      status: 'created',
      description: payment.description,
    });
  });

  test('gets the stored response if an action is repeated with the same Idempotency-Key', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin()];
    const payment = await createIntent(service, user, { payment_method_id: VISA });
    const cancel = () =>
      service.post(
        `/payments/intents/${payment.id}/cancel`,
        {},
        {
          ...admin.options,
          idempotencyKey: 'admin-cancel-1',
        },
      );
    const [first, second] = [await cancel(), await cancel()];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(second.body).toEqual(first.body);
  });
});
