import { describe, expect, test } from 'vitest';
import { guestIntentBody, VISA } from '../builders/intent.ts';
import { present } from '../builders/present.ts';
import { DAY_SECONDS } from '../builders/seconds.ts';
import { confirm, confirmInBrowser, createIntent, createPaidIntent, signIn, type User } from './flow.ts';
import { type RequestOptions, withHost } from './host.ts';

const service = withHost({ frozen: true });
const signInAdmin = (): Promise<User> => signIn(service, { is_admin: true });

const changesOf = async (paymentId: string, options: RequestOptions) => {
  await service.settle();
  const { status, body } = await service.get(`/payments/${paymentId}/timeline`, options);
  expect(status).toBe(200);
  return body.data.filter(({ kind }) => kind === 'change');
};
const actorsOf = async (paymentId: string, options: RequestOptions) =>
  (await changesOf(paymentId, options)).map(({ cause, actor }) => [cause, actor]);

describe('the history of a payment', () => {
  test('names the user and the request of each change', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user, { payment_method_id: VISA });
    const confirmed = await confirm(service, payment.id, user.options);
    const changes = await changesOf(payment.id, user.options);
    expect(changes.map(({ cause, actor }) => [cause, actor])).toEqual(
      ['create', 'claim', 'answer'].map((cause) => [cause, { type: 'user', id: user.userId }]),
    );
    const requests = changes.map(({ request_id }) => request_id);
    expect(requests.slice(1)).toEqual([confirmed.headers.get('x-request-id'), confirmed.headers.get('x-request-id')]);
    expect(requests[0]).toEqual(expect.any(String));
    expect(requests[0]).not.toBe(requests[1]);
  });

  test('names a guest by guest_id, and never by e-mail', async () => {
    const body = guestIntentBody({ payment_method_id: VISA }, { email: 'gina@example.com' });
    const { body: payment } = await service.post('/payments/intents', body);
    const options = { guestToken: payment.guest_token };
    await confirm(service, payment.id, options);
    const changes = await changesOf(payment.id, options);
    const actors = changes.map(({ actor }) => actor);
    expect(actors[0]).toEqual({ type: 'guest', id: expect.stringMatching(/^gst_/) });
    expect(new Set(actors.map(({ id }) => id)).size).toBe(1);
    expect(JSON.stringify(changes)).not.toContain('gina@example.com');
  });

  test('names the provider and its event', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    await confirmInBrowser(service, payment, VISA);
    const last = (await changesOf(payment.id, user.options)).at(-1);
    expect(last).toMatchObject({ cause: 'event', actor: { type: 'provider', id: 'provider_a' } });
    expect(last?.request_id).toMatch(/^evt_/);
  });

  test('names the worker that expires a payment', async () => {
    const user = await signIn(service);
    const payment = await createIntent(service, user);
    await service.advance(2 * DAY_SECONDS);
    const { session_id: session } = await service.session({ user_id: user.userId });
    expect((await changesOf(payment.id, { session })).at(-1)).toMatchObject({
      cause: 'expiry',
      actor: { type: 'system', id: 'run-due' },
      request_id: expect.any(String),
    });
  });

  test('shows admins which platform admin canceled a payment, and shows the payer only “admin”', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin()];
    const payment = await createPaidIntent(service, user);
    const canceled = await service.post(`/payments/intents/${payment.id}/cancel`, {}, admin.options);
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled' } });
    expect(canceled.body).not.toHaveProperty('client_secret');
    const last = (await changesOf(payment.id, admin.options)).at(-1);
    expect(last).toMatchObject({ cause: 'cancel', actor: { type: 'admin', id: admin.userId } });
    expect(present(last).request_id).toBe(canceled.headers.get('x-request-id'));
    expect((await changesOf(payment.id, user.options)).at(-1)).toEqual({ ...last, actor: { type: 'admin' } });
  });

  test('names a platform admin as the user if the payment is their own', async () => {
    const admin = await signInAdmin();
    const payment = await createPaidIntent(service, admin);
    await service.post(`/payments/intents/${payment.id}/cancel`, {}, admin.options);
    const own = { type: 'user', id: admin.userId };
    expect(await actorsOf(payment.id, admin.options)).toEqual([
      ['create', own],
      ['cancel', own],
    ]);
  });

  test('names the platform admin whose sync found the provider’s state', async () => {
    const [user, admin] = [await signIn(service), await signInAdmin()];
    const payment = await createIntent(service, user);
    await service.control('POST', '/simulator/webhooks', { mode: 'drop' });
    await confirmInBrowser(service, payment, VISA);
    const synced = await service.post(`/payments/sync/${payment.provider_payment_id}`, {}, admin.options);
    await service.control('POST', '/simulator/webhooks', { mode: 'normal' });
    expect(synced).toMatchObject({ status: 200, body: { status: 'succeeded' } });
    expect((await changesOf(payment.id, admin.options)).at(-1)).toMatchObject({
      cause: 'sync',
      actor: { type: 'admin', id: admin.userId },
    });
  });
});
